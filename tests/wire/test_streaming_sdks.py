"""The official SDKs read our streams and our errors as their provider's own. No network: a transport in memory."""

from collections.abc import Callable, Iterator

import anthropic
import httpx2
import openai
import pytest
from openai.types.responses import ResponseCompletedEvent, ResponseFailedEvent, ResponseIncompleteEvent
from pydantic import BaseModel

from callsheet.wire.failures import Failure, error_body, error_event
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields
from callsheet.wire.streaming import events
from tests.wire.responses import Json

USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
CHAT: Json = {
    "id": "c1",
    "object": "chat.completion",
    "created": 7,
    "model": "gpt-4o",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "Hello\n\nthere",
                "refusal": None,
                "reasoning_content": "Hm.",
                "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": "ü"}'}},
                    {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}},
                ],
            },
            "logprobs": None,
            "finish_reason": "tool_calls",
        }
    ],
    "usage": USAGE,
    "service_tier": "default",
}
REFUSED: Json = {
    **CHAT,
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": None, "refusal": "No."},
            "logprobs": {
                "content": None,
                "refusal": [{"token": "No", "logprob": -1.0, "bytes": None, "top_logprobs": []}],
            },
            "finish_reason": "stop",
        }
    ],
}
CITATION = {
    "type": "char_location",
    "cited_text": "x",
    "document_index": 0,
    "document_title": None,
    "start_char_index": 0,
    "end_char_index": 1,
    "file_id": None,
}
MESSAGE: Json = {
    "id": "m1",
    "type": "message",
    "role": "assistant",
    "model": "claude-opus-4-8",
    "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "SIG="},
        {"type": "redacted_thinking", "data": "E="},
        {"type": "text", "text": "Hello\n\nthere", "citations": [CITATION, CITATION]},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "srvtoolu_1",
            "content": [
                {"type": "web_search_result", "title": "t", "url": "https://a.example", "encrypted_content": "E="}
            ],
        },
        {"type": "tool_use", "id": "t1", "name": "f", "input": {"x": ["ü", 1.5, None]}},
        {"type": "tool_use", "id": "t2", "name": "g", "input": {}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 9,
        "output_tokens": 12,
        "cache_creation_input_tokens": 2,
        "cache_read_input_tokens": 4,
        "server_tool_use": {"web_search_requests": 1, "web_fetch_requests": 0},
        "service_tier": "standard",
    },
}
ENDED: Json = {
    **MESSAGE,
    "content": [],
    "stop_reason": "refusal",
    "stop_details": {"type": "refusal", "category": "cyber", "explanation": "No."},
}

RESPONSE: Json = {
    "id": "resp_1",
    "object": "response",
    "created_at": 7.0,
    "model": "gpt-5.2",
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "temperature": None,
    "tool_choice": "auto",
    "tools": [],
    "top_p": None,
    "output": [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "Hm."}],
            "encrypted_content": "E=",
        },
        {
            "type": "web_search_call",
            "id": "ws_1",
            "status": "completed",
            "action": {"type": "search", "query": "x"},
        },
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [
                {
                    "type": "output_text",
                    "text": "Hello\n\nthere",
                    "annotations": [
                        {
                            "type": "url_citation",
                            "start_index": 0,
                            "end_index": 1,
                            "title": "t",
                            "url": "https://a.example",
                        }
                    ],
                },
                {"type": "refusal", "refusal": "No."},
            ],
        },
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "a",
            "name": "f",
            "arguments": '{"x": "ü"}',
            "status": "completed",
        },
        {"type": "function_call", "id": "fc_2", "call_id": "b", "name": "g", "arguments": "{}", "status": "completed"},
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "h", "input": "ls"},
    ],
    "usage": {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
        "output_tokens": 12,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 21,
    },
}

Answer = Callable[[httpx2.Request], httpx2.Response]


def _openai(answer: Answer) -> openai.OpenAI:
    client = httpx2.Client(transport=httpx2.MockTransport(answer))
    return openai.OpenAI(api_key="k", base_url="http://t/v1", http_client=client, max_retries=0)


def _anthropic(answer: Answer) -> anthropic.Anthropic:
    client = httpx2.Client(transport=httpx2.MockTransport(answer))
    return anthropic.Anthropic(api_key="k", base_url="http://t", http_client=client, max_retries=0)


class _Bytes(httpx2.SyncByteStream):
    """A body in pieces of 7 bytes."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def __iter__(self) -> Iterator[bytes]:
        for at in range(0, len(self._body), 7):
            yield self._body[at : at + 7]


def _streaming(body: bytes) -> Answer:
    headers = {"content-type": "text/event-stream"}
    return lambda request: httpx2.Response(200, headers=headers, stream=_Bytes(body), request=request)


def _filled(value: BaseModel) -> object:
    return value.model_dump(exclude_none=True, warnings=False)


def _dumped(value: BaseModel) -> object:
    return value.model_dump(exclude_unset=True, warnings=False)


@pytest.mark.parametrize("response", [CHAT, REFUSED], ids=["calls", "refusal"])
def test_openai_puts_our_stream_together_to_the_same_response(response: Json) -> None:
    client = _openai(_streaming(b"".join(events(response, Wire.OPENAI))))
    expected = openai.types.chat.ChatCompletion.model_validate(response)

    with client.chat.completions.stream(model="m", messages=[{"role": "user", "content": "?"}]) as stream:
        final = stream.get_final_completion()

    found = openai.types.chat.ChatCompletion.model_validate(final.model_dump(warnings=False))
    assert [each.model_dump() for each in found.choices] == [_as_the_sdk_has_it(each) for each in expected.choices]
    assert (found.id, found.model, found.usage) == (expected.id, expected.model, expected.usage)


def _as_the_sdk_has_it(choice: openai.types.chat.chat_completion.Choice) -> dict[str, object]:
    """A whole choice as the SDK makes it of chunks: calls have their number, and nothing parsed where nothing is."""
    made = choice.model_dump()
    message = made["message"]
    calls = message["tool_calls"] or []
    message["tool_calls"] = [{**call, "index": at} for at, call in enumerate(calls)] or None
    message["parsed"] = None
    for call in message["tool_calls"] or ():
        call["function"]["parsed_arguments"] = None
    return made


@pytest.mark.parametrize("response", [CHAT, REFUSED], ids=["calls", "refusal"])
def test_openai_reads_every_chunk_as_one(response: Json) -> None:
    client = _openai(_streaming(b"".join(events(response, Wire.OPENAI))))

    chunks = list(client.chat.completions.create(model="m", messages=[], stream=True))

    assert all(chunk.object == "chat.completion.chunk" for chunk in chunks)
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] is not None
    assert chunks[-1].usage is not None
    assert chunks[-1].choices == []


@pytest.mark.parametrize("response", [MESSAGE, ENDED], ids=["blocks", "refusal"])
def test_anthropic_puts_our_stream_together_to_the_same_message(response: Json) -> None:
    client = _anthropic(_streaming(b"".join(events(response, Wire.ANTHROPIC))))

    with client.messages.stream(model="m", max_tokens=9, messages=[]) as stream:
        final = stream.get_final_message()
    with client.beta.messages.stream(model="m", max_tokens=9, messages=[]) as beta:
        final_beta = beta.get_final_message()

    expected = anthropic.types.Message.model_validate(response)
    assert anthropic.types.Message.model_validate(_dumped(final)) == expected
    assert _filled(final_beta) == _filled(anthropic.types.beta.BetaMessage.model_validate(response))


def test_openai_puts_our_stream_of_items_together_to_the_same_response() -> None:
    client = _openai(_streaming(b"".join(events(RESPONSE, Wire.OPENAI_RESPONSES))))

    with client.responses.stream(model="m", input="?") as stream:
        said = [event.delta for event in stream if event.type == "response.output_text.delta"]
        final = stream.get_final_response()

    expected = openai.types.responses.Response.model_validate(RESPONSE)
    found = openai.types.responses.Response.model_validate(_dumped(final))
    assert [_filled(item) for item in found.output] == [_filled(item) for item in expected.output]
    assert (found.id, found.status, found.usage) == (expected.id, expected.status, expected.usage)
    assert "".join(said) == "Hello\n\nthere"


@pytest.mark.parametrize("status", ["completed", "incomplete", "failed"])
def test_openai_reads_every_event_of_items_as_one(status: str) -> None:
    failed = {"error": {"code": "server_error", "message": "broke off"}} if status == "failed" else {}
    response = RESPONSE | {"status": status} | failed
    client = _openai(_streaming(b"".join(events(response, Wire.OPENAI_RESPONSES))))

    found = list(client.responses.create(model="m", input="?", stream=True))

    assert found[-1].type == f"response.{status}"
    last = found[-1]
    assert isinstance(last, ResponseCompletedEvent | ResponseIncompleteEvent | ResponseFailedEvent)
    assert last.response.status == status
    assert [event.sequence_number for event in found] == list(range(len(found)))
    added = [event.output_index for event in found if event.type == "response.output_item.added"]
    assert added == list(range(6))


STATUSES = {
    Failure.INVALID: 400,
    Failure.AUTHENTICATION: 401,
    Failure.PERMISSION: 403,
    Failure.NOT_FOUND: 404,
    Failure.METHOD: 405,
    Failure.TOO_LARGE: 413,
    Failure.RATE: 429,
    Failure.SPENT: 429,
    Failure.INTERNAL: 500,
    Failure.UPSTREAM: 502,
    Failure.UNAVAILABLE: 503,
    Failure.TIMEOUT: 504,
}


@pytest.mark.parametrize("kind", list(Failure))
def test_each_failure_is_raised_by_the_sdks_as_their_providers(kind: Failure) -> None:
    def answer(wire: Wire) -> Answer:
        body: Fields = error_body(wire, STATUSES[kind], kind, "why", where="messages[0].role")
        return lambda request: httpx2.Response(STATUSES[kind], json=body, request=request)

    with pytest.raises(openai.APIStatusError, match="why") as of_openai:
        _openai(answer(Wire.OPENAI)).chat.completions.create(model="m", messages=[])
    with pytest.raises(openai.APIStatusError, match="why"):
        _openai(answer(Wire.OPENAI_RESPONSES)).responses.create(model="m", input="?")
    with pytest.raises(anthropic.APIStatusError, match="why") as of_anthropic:
        _anthropic(answer(Wire.ANTHROPIC)).messages.create(model="m", max_tokens=1, messages=[])

    assert of_openai.value.param == "messages[0].role"
    assert of_openai.value.type is not None
    assert of_anthropic.value.type is not None


def test_a_spent_limit_is_told_from_a_rate() -> None:
    spent, rate = (error_body(Wire.OPENAI, 429, kind, "") for kind in (Failure.SPENT, Failure.RATE))

    assert spent["error"] == {
        "message": "",
        "type": "insufficient_quota",
        "param": None,
        "code": "insufficient_quota",
    }
    assert spent != rate


def test_an_error_inside_a_stream_is_raised_by_the_sdks() -> None:
    begun = next(iter(events(CHAT, Wire.OPENAI)))
    client = _openai(_streaming(begun + error_event(Wire.OPENAI, 502, Failure.UPSTREAM, "broke off")))
    with pytest.raises(openai.APIError, match="broke off"):
        list(client.chat.completions.create(model="m", messages=[], stream=True))

    begun = next(iter(events(RESPONSE, Wire.OPENAI_RESPONSES)))
    client = _openai(_streaming(begun + error_event(Wire.OPENAI_RESPONSES, 502, Failure.UPSTREAM, "broke off")))
    with pytest.raises(openai.APIError, match="broke off"):
        list(client.responses.create(model="m", input="?", stream=True))

    begun = next(iter(events(MESSAGE, Wire.ANTHROPIC)))
    service = _anthropic(_streaming(begun + error_event(Wire.ANTHROPIC, 502, Failure.UPSTREAM, "broke off")))
    with pytest.raises(anthropic.APIStatusError, match="broke off"):
        list(service.messages.create(model="m", max_tokens=9, messages=[], stream=True))
