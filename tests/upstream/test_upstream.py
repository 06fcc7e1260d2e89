"""The service of the tests, tried by the official SDKs: it must be one that they take for their provider's."""

import json
from collections.abc import Callable, Iterator

import anthropic
import httpx2
import openai
import pytest
from google import genai
from google.genai import errors as genai_errors
from google.genai import types as genai_types

from tests.upstream import Broken, Called, Failing, Gate, Reply, Upstream
from tests.upstream.raw import Ending, RawUpstream

Json = dict[str, object]

CALLS = (Called("f", {"x": "ü"}), Called("g"))
FULL = Reply(thinking="Let me think.", text="Hello there, all of you.", calls=CALLS)
TOOL: Json = {"type": "object", "properties": {}}


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as started:
        yield started


def _openai(upstream: Upstream) -> openai.OpenAI:
    return openai.OpenAI(api_key="k", base_url=f"{upstream.url}/v1", max_retries=0)


def _anthropic(upstream: Upstream) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key="k", base_url=upstream.url, max_retries=0)


def _genai(upstream: Upstream) -> genai.Client:
    return genai.Client(api_key="k", http_options=genai_types.HttpOptions(base_url=upstream.url))


def test_chat_completions(upstream: Upstream) -> None:
    upstream.will(FULL, FULL)
    with _openai(upstream) as client:
        whole = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])
        with client.chat.completions.stream(
            model="m", messages=[{"role": "user", "content": "Hi"}], stream_options={"include_usage": True}
        ) as stream:
            streamed = stream.get_final_completion()

    for found in whole, streamed:
        message = found.choices[0].message
        assert message.content == FULL.text
        calls = [call.function for call in message.tool_calls or () if call.type == "function"]
        assert [(call.name, json.loads(call.arguments)) for call in calls] == [("f", {"x": "ü"}), ("g", {})]
        assert found.usage is not None
        assert found.usage.completion_tokens == 14


def test_responses(upstream: Upstream) -> None:
    upstream.will(FULL, FULL, Reply(text="Done"))
    with _openai(upstream) as client:
        whole = client.responses.create(model="m", input="Hi")
        with client.responses.stream(model="m", input="Hi", include=["reasoning.encrypted_content"]) as stream:
            streamed = stream.get_final_response()
        outputs = [
            {"type": "function_call_output", "call_id": item.call_id, "output": "1"}
            for item in whole.output
            if item.type == "function_call"
        ]
        after = client.responses.create(model="m", previous_response_id=whole.id, input=outputs)  # type: ignore[arg-type]
        kept = client.responses.retrieve(whole.id)

    for found in whole, streamed:
        assert found.output_text == FULL.text
        assert [item.type for item in found.output] == ["reasoning", "message", "function_call", "function_call"]
    assert streamed.output[0].to_dict()["encrypted_content"]
    assert after.output_text == "Done"
    assert kept.id == whole.id


def test_messages(upstream: Upstream) -> None:
    upstream.will(FULL, FULL)
    with _anthropic(upstream) as client:
        whole = client.messages.create(model="m", max_tokens=99, messages=[{"role": "user", "content": "Hi"}])
        with client.messages.stream(model="m", max_tokens=99, messages=[{"role": "user", "content": "Hi"}]) as stream:
            streamed = stream.get_final_message()
        counted = client.messages.count_tokens(model="m", messages=[{"role": "user", "content": "Hi"}])

    for found in whole, streamed:
        assert [block.type for block in found.content] == ["thinking", "text", "tool_use", "tool_use"]
        assert found.stop_reason == "tool_use"
    assert whole.content[0].to_dict() == streamed.content[0].to_dict()
    assert counted.input_tokens > 0


def test_gemini(upstream: Upstream) -> None:
    upstream.will(FULL, FULL)
    client = _genai(upstream)
    whole = client.models.generate_content(model="m", contents="Hi")
    streamed = list(client.models.generate_content_stream(model="m", contents="Hi"))
    client.close()

    assert whole.text == FULL.text
    assert [call.name for call in whole.function_calls or ()] == ["f", "g"]
    assert "".join(chunk.text or "" for chunk in streamed) == FULL.text
    assert whole.usage_metadata is not None
    assert streamed[-1].usage_metadata == whole.usage_metadata


def test_gemini_as_one_list(upstream: Upstream) -> None:
    upstream.will(FULL)
    found = _post(
        upstream, "/v1beta/models/m:streamGenerateContent?key=k", {"contents": [_turn("user", {"text": "Hi"})]}
    )

    assert len(found.json()) > 3
    assert found.json()[-1]["usageMetadata"]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503, 529])
def test_scripted_errors_are_raised_by_the_sdks(upstream: Upstream, status: int) -> None:
    upstream.will(*[Failing(status, retry_after=3)] * 4)
    client = _genai(upstream)
    with _openai(upstream) as of_openai, _anthropic(upstream) as of_anthropic:
        with pytest.raises(openai.APIStatusError) as first:
            of_openai.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])
        with pytest.raises(openai.APIStatusError):
            of_openai.responses.create(model="m", input="Hi")
        with pytest.raises(anthropic.APIStatusError) as third:
            of_anthropic.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "Hi"}])
    with pytest.raises(genai_errors.APIError) as fourth:
        client.models.generate_content(model="m", contents="Hi")
    client.close()

    assert first.value.response.headers["retry-after"] == "3"
    assert [each.value.status_code for each in (first, third)] == [status, status]
    assert fourth.value.code == status


def _user(text: str = "Hi") -> Json:
    return {"role": "user", "content": text}


def _asks(*ids: str) -> Json:
    calls = [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}} for id in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _tells(id: str) -> Json:
    return {"role": "tool", "tool_call_id": id, "content": "1"}


def _uses(*ids: str, thinking: Json | None = None) -> Json:
    uses: list[Json] = [{"type": "tool_use", "id": id, "name": "f", "input": {}} for id in ids]
    return {"role": "assistant", "content": [*([thinking] if thinking is not None else []), *uses]}


def _results(*ids: str) -> Json:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "1"} for id in ids]}


def _chat(*messages: Json, **more: object) -> tuple[str, Json]:
    return "/v1/chat/completions", {"model": "m", "messages": list(messages), **more}


def _messages(*messages: Json, **more: object) -> tuple[str, Json]:
    tools = [{"name": "f", "input_schema": TOOL}]
    return "/v1/messages", {"model": "m", "max_tokens": 2000, "messages": list(messages), "tools": tools, **more}


def _items(*items: Json, **more: object) -> tuple[str, Json]:
    return "/v1/responses", {"model": "m", "input": list(items), **more}


def _contents(*contents: Json, **more: object) -> tuple[str, Json]:
    return "/v1beta/models/m:generateContent", {"contents": list(contents), **more}


def _turn(role: str, *parts: Json) -> Json:
    return {"role": role, "parts": list(parts)}


_FORGED: Json = {"type": "thinking", "thinking": "Hm.", "signature": "forged"}
_MARKED: Json = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
_OUTPUT: Json = {"type": "function_call_output", "call_id": "a", "output": "1"}
_CALL: Json = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
_G_CALL: Json = {"functionCall": {"name": "f", "args": {}}}
_G_RESULT: Json = {"functionResponse": {"name": "f", "response": {}}}

REFUSED: dict[str, tuple[tuple[str, Json], str]] = {
    "chat: no model": (("/v1/chat/completions", {"messages": [_user()]}), "model"),
    "chat: no messages": (_chat(), "empty array"),
    "chat: unknown parameter": (_chat(_user(), sing=True), "sing"),
    "chat: a call without result": (_chat(_user(), _asks("a", "b"), _tells("a"), _user()), "did not have response"),
    "chat: a call without result at the end": (_chat(_user(), _asks("a")), "did not have response"),
    "chat: a result without call": (_chat(_user(), _tells("a")), "must be a response"),
    "chat: a result of another call": (_chat(_user(), _asks("a"), _tells("b")), "not found"),
    "chat: choice without tools": (_chat(_user(), tool_choice="none"), "tool_choice"),
    "chat: stream options without stream": (_chat(_user(), stream_options={}), "stream_options"),
    "chat: no tools": (_chat(_user(), tools=[]), "empty array"),
    "messages: no limit": (("/v1/messages", {"model": "m", "messages": [_user()]}), "max_tokens"),
    "messages: unknown parameter": (_messages(_user(), sing=True), "sing"),
    "messages: the model first": (_messages({"role": "assistant", "content": "Hi"}), "first message"),
    "messages: a call without result": (_messages(_user(), _uses("a"), _user()), "without `tool_result`"),
    "messages: a result without call": (_messages(_user(), _results("a")), "unexpected `tool_use_id`"),
    "messages: one result twice": (_messages(_user(), _uses("a"), _results("a", "a")), "single result"),
    "messages: an id twice": (
        _messages(_user(), _uses("a"), _results("a"), _uses("a"), _results("a")),
        "unique",
    ),
    "messages: a forged thought": (
        _messages(_user(), _uses("a", thinking=_FORGED), _results("a")),
        "Invalid `signature`",
    ),
    "messages: a thought is missing": (
        _messages(_user(), _uses("a"), _results("a"), thinking={"type": "enabled", "budget_tokens": 1024}),
        "must start with a thinking block",
    ),
    "messages: five marks": (_messages({"role": "user", "content": [_MARKED] * 5}), "maximum of 4"),
    "messages: blank text": (_messages({"role": "user", "content": [{"type": "text", "text": " "}]}), "non-whitespace"),
    "messages: a system message before the user": (
        _messages(_user(), {"role": "system", "content": "x"}, _user()),
        "must precede",
    ),
    "responses: a call without output": (_items(_user(), _CALL), "No tool output found"),
    "responses: an output without call": (_items(_user(), _OUTPUT), "No tool call found"),
    "responses: unknown response": (_items(_user(), previous_response_id="resp_x"), "not found"),
    "responses: a reasoning alone": (
        _items(_user(), {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "forged"}),
        "could not be verified",
    ),
    "responses: unknown parameter": (_items(_user(), sing=True), "sing"),
    "gemini: no contents": (_contents(), "not specified"),
    "gemini: a call without result": (
        _contents(_turn("user", {"text": "x"}), _turn("model", _G_CALL), _turn("user", {"text": "y"})),
        "number of function response parts",
    ),
    "gemini: a result without call": (_contents(_turn("user", _G_RESULT)), "immediately after a function call"),
    "gemini: a call first": (_contents(_turn("model", _G_CALL), _turn("user", _G_RESULT)), "after a user turn"),
    "gemini: a forged thought": (
        _contents(
            _turn("user", {"text": "x"}), _turn("model", {**_G_CALL, "thoughtSignature": "x"}), _turn("user", _G_RESULT)
        ),
        "not valid",
    ),
}  # fmt: skip


def _post(upstream: Upstream, path: str, body: object, **headers: str) -> httpx2.Response:
    names = {"authorization": "Bearer k", "anthropic-version": "2023-06-01", **headers}
    with httpx2.Client() as client:
        return client.post(upstream.url + path, json=body, headers=names)


@pytest.mark.parametrize(("asked", "why"), REFUSED.values(), ids=REFUSED)
def test_what_the_providers_refuse_is_refused(asked: tuple[str, Json], why: str) -> None:
    with Upstream(rules=False) as upstream:
        found = _post(upstream, *asked)

        assert found.status_code == 400
        error = found.json()["error"]
        assert why in error["message"]
        assert upstream.received[0].refused == error["message"]


def test_the_rules_of_the_library_refuse_too() -> None:
    unnamed = _asks("a")
    unnamed["tool_calls"][0]["function"]["name"] = ""  # type: ignore[index]
    asked = _chat(_user(), unnamed, _tells("a"))
    with Upstream(rules=False) as lenient:
        assert _post(lenient, *asked).status_code == 200
    with Upstream() as strict:
        assert _post(strict, *asked).status_code == 400


@pytest.mark.parametrize("headers", [{"authorization": ""}, {"authorization": "Bearer wrong"}], ids=["none", "wrong"])
def test_keys_are_wanted(upstream: Upstream, headers: dict[str, str]) -> None:
    assert _post(upstream, *_chat(_user()), **headers).status_code == 401


def test_what_is_no_json_is_refused_and_other_paths_are_echoed(upstream: Upstream) -> None:
    with httpx2.Client(headers={"authorization": "Bearer k"}) as client:
        broken = client.post(f"{upstream.url}/v1/chat/completions", content=b"{")
        other = client.post(f"{upstream.url}/v1/embeddings?x=1", content=b"abc")
        models = client.get(f"{upstream.url}/v1/models")

    assert broken.status_code == 400
    assert other.json() == {"object": "echo", "path": "/v1/embeddings?x=1", "method": "POST", "bytes": 3}
    assert models.json()["data"][0]["id"] == "m"


STREAMED = (_chat(_user(), stream=True), _messages(_user(), stream=True), _items(_user(), stream=True))


@pytest.mark.parametrize("asked", STREAMED, ids=["chat", "messages", "responses"])
def test_a_stream_breaks_as_scripted(asked: tuple[str, Json]) -> None:
    with Upstream() as upstream:
        upstream.will(
            Broken(reply=FULL, after=2),
            Broken(reply=FULL, after=2, cut=False),
            Broken(reply=FULL, after=2, error=True, cut=False),
        )
        with pytest.raises(httpx2.RemoteProtocolError):
            _post(upstream, *asked)
        ended, failed = _post(upstream, *asked), _post(upstream, *asked)

        assert ended.text.count("data:") == 2
        assert "verloaded" in failed.text
        assert [received.events for received in upstream.received] == [2, 2, 2]


def test_a_stream_waits_at_its_gate_and_notices_that_the_client_left(upstream: Upstream) -> None:
    gate, shut = Gate(), Gate()
    upstream.will(Reply(text="x" * 99, gate=gate, gate_before=2), Reply(text="x" * 99, gate=shut))
    path, body = _chat(_user(), stream=True)
    headers = {"authorization": "Bearer k"}
    with httpx2.Client(headers=headers) as client:
        with client.stream("POST", upstream.url + path, json=body) as response:
            pieces = response.iter_bytes()
            first = next(pieces) + next(pieces)
            gate.wait_until_reached()
            assert upstream.received[0].events == 2
            gate.open()
            rest = b"".join(pieces)
        assert b"[DONE]" not in first
        assert b"[DONE]" in rest
        with client.stream("POST", upstream.url + path, json=body) as response:
            next(response.iter_bytes())
            shut.wait_until_reached()
    assert upstream.received[1].over.wait(30)

    assert upstream.received[1].left
    assert not upstream.received[0].left


def test_an_answer_that_is_not_streamed_breaks_too(upstream: Upstream) -> None:
    upstream.will(Broken(reply=FULL, after=0))

    with pytest.raises(httpx2.RemoteProtocolError):
        _post(upstream, *_chat(_user()))


def test_answers_can_depend_on_what_was_asked(upstream: Upstream) -> None:
    upstream.otherwise(lambda received: Reply(text=str(received.body["model"])))

    assert _post(upstream, *_chat(_user())).json()["choices"][0]["message"]["content"] == "m"


def test_a_lean_service_without_checks_answers_anything_and_keeps_nothing() -> None:
    with Upstream(checks=False, lean=True) as upstream:
        found = _post(upstream, *_chat(_user(), _tells("a")))

        assert found.status_code == 200
        assert (upstream.received[0].status, upstream.received[0].body, upstream.received[0].raw) == (200, {}, b"")


LONG = "word " * 2_000


def test_what_openai_has_cached_is_reported(upstream: Upstream) -> None:
    def usage(*messages: Json) -> Json:
        found: Json = _post(upstream, *_chat(*messages)).json()["usage"]
        return found

    usage(_user(LONG))
    second = usage(_user(LONG), {"role": "assistant", "content": "ok"}, _user())
    third = usage(_user("No"), _user(LONG))

    details = second["prompt_tokens_details"]
    assert isinstance(details, dict)
    assert details["cached_tokens"] > 2_000
    assert details["cached_tokens"] % 128 == 0
    assert third["prompt_tokens_details"] == {"cached_tokens": 0, "audio_tokens": 0}


def test_what_anthropic_has_cached_is_reported(upstream: Upstream) -> None:
    def usage(*messages: Json) -> Json:
        found: Json = _post(upstream, *_messages(*messages)).json()["usage"]
        return found

    marked: Json = {"role": "user", "content": [{**_MARKED, "text": LONG}]}
    bare: Json = {"role": "user", "content": [{"type": "text", "text": LONG}]}
    then: Json = {"role": "user", "content": [_MARKED]}
    replied: Json = {"role": "assistant", "content": "ok"}
    unmarked = usage(bare)
    first = usage(marked)
    second = usage(bare, replied, then)

    assert unmarked["cache_creation_input_tokens"] == unmarked["cache_read_input_tokens"] == 0
    assert first["cache_read_input_tokens"] == 0
    written = first["cache_creation_input_tokens"]
    assert isinstance(written, int)
    assert written > 2_000
    assert second["cache_read_input_tokens"] == written


SENT: list[tuple[bytes, Ending, Callable[[httpx2.Response], bool] | None]] = [
    (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", Ending.CLOSED, lambda found: found.text == "ok"),
    (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", Ending.HALF, lambda found: found.text == "ok"),
    (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok", Ending.CLOSED, None),
    (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok", Ending.RESET, None),
    (b"garbage\r\n\r\n", Ending.CLOSED, None),
    (b"", Ending.CLOSED, None),
]


@pytest.mark.parametrize(("sends", "ending", "fine"), SENT)
def test_connections_end_as_told(sends: bytes, ending: Ending, fine: Callable[[httpx2.Response], bool] | None) -> None:
    with RawUpstream(sends, ending) as upstream, httpx2.Client() as client:
        if fine is None:
            with pytest.raises(httpx2.TransportError):
                client.post(upstream.url, content=b"body")
        else:
            assert fine(client.post(upstream.url, content=b"body"))
        assert upstream.received[0].endswith(b"\r\n\r\nbody")
