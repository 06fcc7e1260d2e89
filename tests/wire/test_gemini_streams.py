"""Streams and whole bodies of Gemini, in both forms of its stream, and as its own SDK sends and reads them."""

import json
from collections.abc import Iterator
from typing import cast

import httpx2
import pytest
from google import genai
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from callsheet.errors import InvalidMessage
from callsheet.testing import memory_runtime
from callsheet.wire.asked import ToolChoice, read_request, write_request
from callsheet.wire.failures import Failure, error_body, error_event
from callsheet.wire.formats import render
from callsheet.wire.gemini.array import Elements, written
from callsheet.wire.names import Wire
from callsheet.wire.sse import Event
from callsheet.wire.streaming import Gatherer, events, gathering
from callsheet.wire.validate import problems
from tests.wire.equivalence import own_blocks, says_the_same
from tests.wire.responses import Json, gemini_responses

GEMINI = Wire.GEMINI


def chunk(*parts: Json, **candidate: object) -> Json:
    return {"candidates": [{"index": 0, "content": {"role": "model", "parts": list(parts)}} | candidate]}


def gathered(*chunks: Json) -> Json | None:
    made = gathering(GEMINI)
    for each in chunks:
        made.feed(each)
    return made.response()


def parts(response: Json | None) -> object:
    assert response is not None
    (candidate,) = cast("list[Json]", response["candidates"])
    return cast("Json", candidate["content"])["parts"]


def test_texts_grow_and_signed_parts_stand_alone() -> None:
    made = gathered(
        chunk({"text": "Hm", "thought": True}),
        chunk({"text": ".", "thought": True}),
        chunk({"text": "It "}),
        chunk({"text": "is."}, {"text": "So"}),
        chunk({"text": " then", "thoughtSignature": "QQ=="}),
        chunk({"text": "?"}),
        chunk({"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "Qg=="}),
        chunk({"functionCall": {"name": "f", "args": {"x": 2}}}),
        chunk({"text": ""}, finishReason="STOP"),
    )

    assert parts(made) == [
        {"text": "Hm.", "thought": True},
        {"text": "It is."},
        {"text": "So"},
        {"text": " then", "thoughtSignature": "QQ=="},
        {"text": "?"},
        {"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "Qg=="},
        {"functionCall": {"name": "f", "args": {"x": 2}}},
        {"text": ""},
    ]


def test_arguments_in_pieces_become_whole() -> None:
    made = gathered(
        chunk({"functionCall": {"name": "f", "willContinue": True}, "thoughtSignature": "QQ=="}),
        chunk({"functionCall": {"partialArgs": [{"jsonPath": "$.city", "stringValue": "Nor"}], "willContinue": True}}),
        chunk(
            {"functionCall": {"partialArgs": [{"jsonPath": "$.city", "stringValue": "rholm"}], "willContinue": True}}
        ),
        chunk(
            {
                "functionCall": {
                    "partialArgs": [
                        {"jsonPath": "$.days[0].n", "numberValue": 4},
                        {"jsonPath": "$['odd key']", "boolValue": False},
                        {"jsonPath": "$.none", "nullValue": "NULL_VALUE"},
                        {"jsonPath": "no path", "stringValue": "x"},
                    ],
                    "willContinue": True,
                }
            }
        ),
        chunk({"functionCall": {}}),
        chunk({"functionCall": {"name": "g", "partialArgs": [{"jsonPath": "$.a", "stringValue": "b"}]}}),
    )

    args = {"city": "Norrholm", "days": [{"n": 4}], "odd key": False, "none": None}
    assert parts(made) == [
        {"functionCall": {"name": "f", "args": args}, "thoughtSignature": "QQ=="},
        {"functionCall": {"name": "g", "args": {"a": "b"}}},
    ]


def test_the_last_counts_are_the_totals_and_the_end_is_known() -> None:
    made, ends = gathering(GEMINI), list[bool]()
    assert made.response() is None
    made.feed(chunk({"text": "a"}) | {"usageMetadata": {"promptTokenCount": 7, "cachedContentTokenCount": 3}})
    ends.append(made.ended)
    made.feed(
        chunk({"text": "b"}, finishReason="STOP") | {"usageMetadata": {"promptTokenCount": 7, "totalTokenCount": 9}}
    )

    assert [*ends, made.ended] == [False, True]
    usage = {"promptTokenCount": 7, "cachedContentTokenCount": 3, "totalTokenCount": 9}
    assert (made.response() or {})["usageMetadata"] == usage


def test_a_refused_prompt_and_an_error_end_a_stream() -> None:
    refused, broken = gathering(GEMINI), gathering(GEMINI)
    refused.feed({"promptFeedback": {"blockReason": "SAFETY"}})
    broken.feed(chunk({"text": "a"}))
    broken.feed({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}})

    assert refused.ended
    assert refused.failure is None
    assert broken.ended
    assert broken.failure == {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}


# --------------------------------------------------------------------------- a list instead of events


@given(st.data())
def test_a_response_comes_back_from_a_list_however_that_is_cut(data: st.DataObject) -> None:
    response = data.draw(gemini_responses)
    stream = b"".join(written(response))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=10)))

    elements, found = Elements(), list[Event]()
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += elements.feed(stream[start:end])
    found += elements.close()

    assert b"".join(event.raw for event in found) == stream
    assert not any(event.broken for event in found)
    assert gathered(*(event.fields for event in found if event.fields is not None)) == response
    assert isinstance(json.loads(stream), list)


def test_a_list_that_breaks_off_is_marked() -> None:
    elements = Elements()
    found = elements.feed(
        b'[{"a": "}{\\"',
    ) + elements.feed(b'"}\r\n,\r\n{"b": 1}, {"c')

    assert [event.fields for event in found] == [{"a": '}{"'}, {"b": 1}]
    assert [event.broken for event in elements.close()] == [True]


def test_an_element_that_is_too_large_comes_broken_and_whole_in_bytes() -> None:
    elements = Elements(largest=64)
    stream = b'[{"a": "' + b"x" * 300 + b'"},\r\n{"b": 1}]'
    found = [event for at in range(0, len(stream), 7) for event in elements.feed(stream[at : at + 7])]
    found += elements.close()

    assert b"".join(event.raw for event in found) == stream
    assert [event.fields for event in found if not event.broken and event.data] == [{"b": 1}]
    assert any(event.broken for event in found)
    assert max(len(event.raw) for event in found) < 90


# --------------------------------------------------------------------------- whole bodies

BODY: Json = {
    "system_instruction": {"parts": {"text": "Be brief."}},
    "contents": [
        {"role": "user", "parts": [{"text": "tide?"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "c2lnLTc3"}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"high": "05:12"}}}]},
    ],
    "tools": [{"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT"}}]}, {"googleSearch": {}}],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
    "generationConfig": {"temperature": 0.5, "thinkingConfig": {"thinkingLevel": "low"}, "responseJsonSchema": {}},
    "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}],
    "cachedContent": "cachedContents/x",
    "unheardOf": [None, {"x": 1}],
}


def test_a_body_comes_back_but_for_what_is_exchanged() -> None:
    asked = read_request(BODY, GEMINI, model="gemini-3-pro", stream=True)

    body = write_request(asked, render(own_blocks(asked), GEMINI, model="gemini-3-pro"))

    assert (asked.model, asked.stream, asked.choice) == ("gemini-3-pro", True, ToolChoice.NAMED)
    assert body["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    kept = BODY.keys() - {"system_instruction"}
    assert {key: body[key] for key in kept} == {key: BODY[key] for key in kept}
    assert body.keys() == {*kept, "systemInstruction"}
    assert says_the_same(read_request(body, GEMINI, model="gemini-3-pro", stream=True), asked)
    assert problems({"model": "gemini-3-pro", **body}, GEMINI) == []


def test_calls_without_ids_keep_their_order() -> None:
    names = ["f", "g", "f"]
    contents = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [{"functionCall": {"name": name, "args": {}}} for name in names]},
        {"role": "user", "parts": [{"functionResponse": {"name": name, "response": {}}} for name in names]},
    ]
    asked = read_request({"contents": contents}, GEMINI, model="gemini-2.5-pro")

    assert write_request(asked, render(asked.blocks, GEMINI, model=asked.model))["contents"] == contents


def test_tools_of_ours_stand_behind_the_clients() -> None:
    asked = read_request(BODY, GEMINI, model="gemini-3-pro")
    ours = [{"type": "function", "function": {"name": "recall"}}, {"type": "function", "function": {"name": "f"}}]

    body = write_request(asked, render(own_blocks(asked), GEMINI, model="gemini-3-pro", tools=ours))

    assert body["tools"] == [*cast("list[Json]", BODY["tools"]), {"functionDeclarations": [{"name": "recall"}]}]


def test_a_turn_that_the_model_shall_go_on_with_stays_the_last() -> None:
    contents = [{"role": "user", "parts": [{"text": "rhyme"}]}, {"role": "model", "parts": [{"text": "A tide"}]}]
    asked = read_request({"contents": contents}, GEMINI, model="m")

    assert write_request(asked, render(asked.blocks, GEMINI, model="m"))["contents"] == contents


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"contents": []}, "contents"),
        ({"contents": "hi"}, "contents"),
        ({"contents": [{"role": "user", "parts": [{"text": 7}]}]}, "contents[0].parts[0].text"),
        ({"systemInstruction": "x", "system_instruction": None}, "systemInstruction"),
        ({"tools": {}}, "tools"),
        ({"toolConfig": {"functionCallingConfig": {"mode": "SOME"}}}, "toolConfig.functionCallingConfig.mode"),
    ],
)
def test_a_broken_body_is_refused_with_its_place(change: Json, where: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        read_request(BODY | change, GEMINI, model="m")
    assert refused.value.where == where


@pytest.mark.parametrize(
    ("mode", "choice"),
    [
        ("AUTO", ToolChoice.AUTO),
        ("none", ToolChoice.NONE),
        ("ANY", ToolChoice.REQUIRED),
        ("VALIDATED", ToolChoice.AUTO),
    ],
)
def test_the_choice_of_tools_is_read(mode: str, choice: ToolChoice) -> None:
    body = {"contents": BODY["contents"], "tool_config": {"function_calling_config": {"mode": mode}}}

    assert read_request(body, GEMINI, model="m").choice is choice


# --------------------------------------------------------------------------- the SDK

REPLY: Json = {
    "candidates": [
        {
            "index": 0,
            "finishReason": "STOP",
            "content": {
                "role": "model",
                "parts": [
                    {"text": "Hm.", "thought": True},
                    {"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "c2lnLTc3"},
                    {"text": "Done."},
                ],
            },
        }
    ],
    "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 2, "totalTokenCount": 9},
    "modelVersion": "gemini-3-pro",
    "responseId": "r1",
}


class Service:
    """Answers what the SDK sends, and keeps it."""

    def __init__(self) -> None:
        self.sent: list[Json] = []
        self.error: tuple[int, Json] | None = None

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.sent.append(json.loads(request.content))
        if self.error is not None:
            return httpx2.Response(self.error[0], json=self.error[1])
        if "alt=sse" in str(request.url):
            stream = b"".join(events(REPLY, GEMINI))
            return httpx2.Response(200, content=stream, headers={"content-type": "text/event-stream"})
        return httpx2.Response(200, json=REPLY)


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def client(service: Service) -> Iterator[genai.Client]:
    options = types.HttpOptions(base_url="http://gemini.test", client_args={"transport": httpx2.MockTransport(service)})
    with genai.Client(api_key="none", http_options=options) as made:
        yield made


def test_the_sdk_sends_the_request_as_it_is_and_its_replies_are_recorded(
    client: genai.Client, service: Service
) -> None:
    tool = {"functionDeclarations": [{"name": "f", "parametersJsonSchema": {"type": "object"}}]}
    with memory_runtime() as runtime:
        talk = runtime.conversation("tides")
        talk.record(
            [{"role": "system", "parts": [{"text": "Be brief."}]}, {"role": "user", "parts": [{"text": "tide?"}]}]
        )
        for turn in range(2):
            sheet = talk.assemble(provider="google", model="gemini-3-pro", tools=[tool])
            reply = client.models.generate_content(**sheet.arguments())  # type: ignore[arg-type]
            talk.record(reply, sheet=sheet)
            assert _as_sent(service.sent[turn]) == {**sheet.request(), "generationConfig": {}}
            talk.record(
                {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"result": [turn]}}}]}
            )
        last = talk.assemble(provider="gemini", model="gemini-3-pro", tools=[tool]).request()

    assert problems(last, GEMINI) == []
    assert "c2lnLTc3" in str(last)


def _as_sent(body: Json) -> object:
    """What the SDK sent, with the model, which is in the address, and one key in the API's own spelling."""
    spelled: object = json.loads(json.dumps(body).replace("parameters_json_schema", "parametersJsonSchema"))
    assert isinstance(spelled, dict)
    return {"model": "gemini-3-pro", **spelled}


def test_the_sdk_reads_our_events(client: genai.Client) -> None:
    read = list(client.models.generate_content_stream(model="m", contents="hi"))

    found = [part for chunk in read for part in (chunk.parts or [])]
    assert [(part.text, part.thought) for part in found if part.text] == [("Hm.", True), ("Done.", None)]
    assert found[1].thought_signature == b"sig-77"
    assert read[-1].usage_metadata is not None
    assert read[-1].usage_metadata.total_token_count == 9


def test_the_sdk_raises_our_errors(client: genai.Client, service: Service) -> None:
    service.error = (400, error_body(GEMINI, 400, Failure.INVALID, "contents: must be a list"))

    with pytest.raises(genai.errors.ClientError) as raised:
        client.models.generate_content(model="m", contents="hi")

    assert (raised.value.code, raised.value.status) == (400, "INVALID_ARGUMENT")
    assert raised.value.message == "contents: must be a list"


def test_an_error_inside_a_stream_is_one_event() -> None:
    made = Gatherer(GEMINI)
    made.feed(error_event(GEMINI, 503, Failure.UNAVAILABLE, "later"))

    assert made.failure == {"error": {"code": 503, "message": "later", "status": "UNAVAILABLE"}}
