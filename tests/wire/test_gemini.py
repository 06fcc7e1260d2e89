"""Gemini's contents, responses and tools: read exactly, given back exactly, and what requests make of them."""

from base64 import urlsafe_b64encode
from collections.abc import Sequence

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from callsheet.assemble.blocks import Answer, Block, Call, Media, Opaque, Reasoning, Said, Text
from callsheet.errors import InvalidMessage
from callsheet.graph.enums import Defect, Role, RunStatus
from callsheet.wire.formats import check_tools, detect, export, is_reply, parse, parse_messages, parse_reply, render
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.wire.histories import PDF, PNG, composed

Json = dict[str, object]
GEMINI = Wire.GEMINI
BYPASS = "skip_thought_signature_validator"


def content(role: str, /, *parts: Json, **extras: object) -> Json:
    return {"role": role, "parts": list(parts)} | extras


def response(key: str = "functionResponse", /, **inner: object) -> Json:
    return {key: {"name": "f", **inner}}


CONTENTS: dict[str, Json] = {
    "text": content("user", {"text": "hi"}),
    "no text": content("user", {"text": ""}),
    "nothing": {"role": "model"},
    "null": {"role": "model", "parts": None},
    "no parts": content("model"),
    "no role": {"parts": [{"text": "hi"}]},
    "empty role": content("", {"text": "hi"}),
    "a part alone": {"role": "user", "parts": {"text": "hi"}},
    "a result alone": {"parts": response(response={"output": "1"})},
    "system": content("system", {"text": "be brief"}),
    "unclean": content("user", {"text": "\0\ud83e half"}),
    "unknown keys": content("model", {"text": "x", "partMetadata": {"n": float("inf")}}, x_step=3),
    "thoughts": content(
        "model",
        {"thought": True, "text": "Hm.\n ", "thoughtSignature": "QQ=="},
        {"text": "", "thoughtSignature": "Qg=="},
        {"thoughtSignature": "Qw=="},
        {"thought": False, "text": "So."},
        {"text": "signed", "thoughtSignature": "RA=="},
    ),
    "calls": content(
        "model",
        {"functionCall": {"name": "f", "args": {"z": 1, "a": None, "ä": 1.50}, "id": "a"}, "thoughtSignature": "QQ=="},
        {"functionCall": {"name": "f", "args": {}}},
        {"functionCall": {"name": "f"}},
        {"functionCall": {"name": "f", "args": None, "id": None}},
        {"functionCall": {"name": "", "args": "text", "id": ""}},
        {"functionCall": {}, "thought": True},
    ),
    "in the SDK's spelling": content(
        "model",
        {"function_call": {"name": "f", "args": {"x": 1}, "id": None}, "thought_signature": "QQ==", "text": None},
        {"executable_code": {"code": "1", "language": "PYTHON"}, "function_call": None},
        {"inline_data": {"mime_type": "image/png", "data": urlsafe_b64encode(b"\xfb\xff\xfe").decode()}},
    ),
    "code": content(
        "model",
        {"executableCode": {"language": "PYTHON", "code": "\ud83e"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "args": {"q": 1}}},
        {"unheardOf": {"x": 1}},
        {},
    ),
    "results": content(
        "user",
        response(response={"output": "1"}, id="a"),
        response(response={"result": [1, {"a": None}]}),
        response(response={"error": "off"}),
        response(response={"output": "1", "error": "off"}),
        response(response={"high": "05:12"}, willContinue=False),
        response(response={}),
        response(response={"result": None}),
        response(response={"output": ""}),
        response(response={"result": {"output": "1"}}),
        response(response=None),
        response(),
        response(response="text"),
        response(response=""),
        response(response=[1]),
        {"function_response": {"response": {"result": "1"}}, "x": 1},
        role="function",
        x=1,
    ),
    "a result with pictures": content(
        "user",
        response(response={"a": {"$ref": "p"}}, parts=[{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]),
        response(response={"output": "1"}, parts=[]),
        response(parts=[{"fileData": {"fileUri": "gs://a"}}, {"x": 1}]),
    ),
    "results among text": content(
        "user",
        {"text": "before"},
        response(response={"output": "1"}),
        response(response={"output": "2"}),
        {"text": "between", "x": 2},
        response(response={"output": "3"}),
        {"text": "after"},
        x=1,
    ),
    "media": content(
        "user",
        {"inlineData": {"mimeType": "image/png", "data": "AAAA"}, "mediaResolution": {"level": "LOW"}},
        {"inlineData": {"mimeType": "image/png", "data": "AAAB\nAA"}},
        {"inlineData": {"mimeType": "image/png", "data": "not base64!"}},
        {"inlineData": {"data": "AAAA"}},
        {"fileData": {"fileUri": "gs://b/c.mp4", "mimeType": "video/mp4"}, "videoMetadata": {"fps": 2}},
        {"fileData": {"fileUri": "https://generativelanguage.googleapis.com/v1beta/files/x"}},
        {"fileData": {}},
    ),
}


@pytest.mark.parametrize("message", CONTENTS.values(), ids=list(CONTENTS))
def test_a_content_comes_back_equal(message: Json) -> None:
    assert [message] == export(parse_messages(message, GEMINI), GEMINI)


_values: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)
_parts = st.one_of(
    st.builds(lambda text: {"text": text}, st.text(max_size=5)),
    st.builds(lambda text, on: {"text": text, "thought": on}, st.text(max_size=5), st.booleans()),
    st.builds(
        lambda args, key: {key: {"name": "f", "args": args}},
        st.dictionaries(st.text(max_size=5), _values, max_size=2),
        st.sampled_from(["functionCall", "function_call"]),
    ),
)
_responses = st.one_of(
    st.dictionaries(st.sampled_from(["output", "error", "result", "x"]), _values, max_size=2), _values
)


@given(st.lists(_parts, max_size=4), st.lists(_responses, min_size=1, max_size=4))
def test_whatever_stands_in_a_turn_and_its_results_comes_back(parts: list[Json], results: list[object]) -> None:
    messages = [
        content("model", *parts),
        content("user", *(response(response=one) for one in results)),
    ]

    assert messages == export(parse_messages(messages, GEMINI), GEMINI)


@pytest.mark.parametrize(
    ("value", "where", "says"),
    [
        ({"role": "assistant", "parts": []}, "messages.role", "must be one of"),
        ({"role": ["user"], "parts": []}, "messages.role", "must be one of"),
        ({"role": "user", "content": "x"}, "messages.parts", "is missing"),
        (content("user", {"text": 7}), "messages.parts[0].text", "must be text, not 7"),
        (content("user", {"functionCall": {"name": "f"}}), "messages.parts", "model's turns"),
        (content("model", response()), "messages.parts", "user's turns"),
        (content("model", {"functionCall": "f"}), "messages.parts[0].functionCall", "must be an object"),
        (content("model", {"functionCall": {"id": 7}}), "messages.parts[0].functionCall.id", "must be text"),
        (content("user", response(id=7)), "messages.parts[0].functionResponse.id", "must be text"),
        ({"role": "user", "parts": "hi"}, "messages.parts", "must be an object"),
        ({"role": "user", "parts": [["x"]]}, "messages.parts[0]", "must be an object"),
    ],
)
def test_a_wrong_shape_is_refused_with_its_place(value: object, where: str, says: str) -> None:
    with pytest.raises(InvalidMessage, match=says) as refused:
        parse_messages(value, GEMINI)
    assert refused.value.where == where


# --------------------------------------------------------------------------- what they mean


def test_calls_without_ids_and_arguments_are_usual() -> None:
    (said,) = parse_messages(content("model", {"functionCall": {"name": "f"}}), GEMINI)

    assert isinstance(said, Said)
    assert [(call.id, call.tool, call.arguments, call.defects) for call in said.calls] == [(None, "f", "{}", ())]


@pytest.mark.parametrize(
    ("given", "text", "failed"),
    [
        ({"output": "1\n"}, "1\n", None),
        ({"result": [1, "ä"]}, '[1,"ä"]', None),
        ({"error": "off"}, "off", True),
        ({"error": {"code": 7}}, '{"code":7}', True),
        ({"output": "", "error": "off"}, '{"output":"","error":"off"}', True),
        ({"error": None, "rows": 1}, '{"error":null,"rows":1}', None),
        ({"high": "05:12"}, '{"high":"05:12"}', None),
        ({}, "{}", None),
    ],
)
def test_a_response_is_the_text_of_what_it_holds(given: Json, text: str, failed: bool | None) -> None:
    (answer,) = parse_messages(content("user", response(response=given)), GEMINI)

    assert isinstance(answer, Answer)
    assert (answer.tool, answer.content, answer.failed) == ("f", (Text(text=text),), failed)


def test_objects_of_the_sdk_are_read_like_json() -> None:
    turn = types.Content(
        role="model",
        parts=[
            types.Part(text="Hm.", thought=True),
            types.Part(function_call=types.FunctionCall(name="f", args={"x": 1}), thought_signature=b"sig-77"),
            types.Part.from_bytes(data=PNG, mime_type="image/png"),
        ],
    )

    (said,) = parse_messages([turn])
    request = render(composed([said]), GEMINI, model="gemini-3-pro")

    assert isinstance(said, Said)
    assert [type(part) for part in said.parts] == [Reasoning, Call, Media]
    assert _parts_of(request, 1)[1]["thoughtSignature"] == "c2lnLTc3"
    assert problems(request, GEMINI) == []


def test_the_sdks_dicts_with_bytes_are_read_too() -> None:
    turn = types.Content(role="model", parts=[types.Part(text="x", thought_signature=b"\xff\xfe")])

    (said,) = parse_messages(turn.model_dump(), GEMINI)

    assert isinstance(said, Said)
    assert [part["thoughtSignature"] for part in _parts_of(render([said], GEMINI, model="m"), 1)] == ["//4="]


SHOWN: list[tuple[object, Wire]] = [
    ({"parts": [{"text": "x"}]}, GEMINI),
    (content("user", {"text": "x"}), GEMINI),
    ({"role": "model"}, GEMINI),
    ({"candidates": []}, GEMINI),
    ({"promptFeedback": {"blockReason": "SAFETY"}}, GEMINI),
    ({"usage_metadata": {"prompt_token_count": 1}}, GEMINI),
    (types.UserContent("x"), GEMINI),
    (types.GenerateContentResponse(candidates=[]), GEMINI),
    ([{"role": "user", "content": "x"}, content("model", {"text": "x"})], GEMINI),
    ({"role": "user", "content": "x", "parts": 1}, Wire.OPENAI),
]


@pytest.mark.parametrize(("value", "wire"), SHOWN)
def test_the_format_is_shown(value: object, wire: Wire) -> None:
    assert detect(value) is wire


# --------------------------------------------------------------------------- responses


def reply(*parts: Json, finish: str = "STOP", **more: object) -> Json:
    candidate: Json = {"index": 0, "finishReason": finish, "content": content("model", *parts)}
    return {"candidates": [candidate], "modelVersion": "gemini-3-pro", "responseId": "r1", **more}


def test_a_response_is_read_with_its_usage() -> None:
    usage = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 60,
        "toolUsePromptTokenCount": 7,
        "candidatesTokenCount": 20,
        "thoughtsTokenCount": 30,
        "totalTokenCount": 157,
    }
    (read,) = parse(reply({"text": "hi"}, usageMetadata=usage))

    assert not isinstance(read, Said | Answer)
    assert (read.status, read.model, read.finish, read.response) == (
        RunStatus.COMPLETED,
        "gemini-3-pro",
        "STOP",
        "r1",
    )
    assert read.usage is not None
    counted = (read.usage.input, read.usage.cached_input, read.usage.output, read.usage.reasoning)
    assert counted == (107, 60, 50, 30)


@pytest.mark.parametrize(
    ("given", "status", "finish"),
    [
        (reply({"text": "h"}, finish="MAX_TOKENS"), RunStatus.TRUNCATED, "MAX_TOKENS"),
        (reply(finish="SAFETY"), RunStatus.REFUSED, "SAFETY"),
        (reply(finish="MALFORMED_FUNCTION_CALL"), RunStatus.FAILED, "MALFORMED_FUNCTION_CALL"),
        ({"candidates": [{"finishReason": "MAX_TOKENS"}]}, RunStatus.TRUNCATED, "MAX_TOKENS"),
        ({"candidates": [{"finishReason": "UNHEARD_OF"}]}, RunStatus.COMPLETED, "UNHEARD_OF"),
        ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, RunStatus.REFUSED, "PROHIBITED_CONTENT"),
        ({"candidates": [], "promptFeedback": {"blockReason": "OTHER"}}, RunStatus.REFUSED, "OTHER"),
    ],
)
def test_how_a_response_ended(given: Json, status: RunStatus, finish: str) -> None:
    read = parse_reply(given)

    assert is_reply(given)
    assert (read.status, read.finish, read.said.role) == (status, finish, Role.ASSISTANT)


def test_a_call_at_the_token_limit_is_cut_off() -> None:
    read = parse_reply(reply({"functionCall": {"name": "f", "args": {"x": 1}}}, finish="MAX_TOKENS"))

    assert [call.defects for call in read.said.calls] == [(Defect.CUT_OFF_ARGUMENTS,)]


def test_what_the_sdk_adds_to_a_response_is_no_part_of_it() -> None:
    given = types.GenerateContentResponse.model_validate(reply({"text": "hi"}))
    given.sdk_http_response = types.HttpResponse(headers={"x-secret": "s3cret"})

    read = parse_reply(given)

    assert read.said.parts == (Text(text="hi"),)
    assert b"s3cret" not in read.extras


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"candidates": 7}, "reply.candidates"),
        ({"candidates": [7]}, "reply.candidates[0]"),
        (reply({"functionResponse": {"name": "f"}}), "reply.candidates[0].content.parts"),
        ({"candidates": [{"content": content("user", {"text": "x"})}]}, "reply.candidates[0].content.role"),
        (reply(usageMetadata={"promptTokenCount": -1}), "reply.usageMetadata.promptTokenCount"),
    ],
)
def test_a_broken_response_is_refused_with_its_place(given: object, where: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        parse_reply(given, GEMINI)
    assert refused.value.where == where


# --------------------------------------------------------------------------- requests


def _parts_of(request: Json, at: int) -> list[Json]:
    contents = request["contents"]
    assert isinstance(contents, list)
    parts: list[Json] = contents[at]["parts"]
    return parts


def asked(*calls: Call, wire: str = "") -> list[Block]:
    return [
        Said(role=Role.USER, parts=(Text(text="go"),)),
        Said(role=Role.ASSISTANT, parts=calls, wire=wire),
        *(Answer(call=call.id, content=(Text(text="1"),)) for call in calls),
    ]


FOREIGN = asked(Call(id="a", tool="f", arguments="{}"), Call(id="b", tool="f", arguments="{}"))


@pytest.mark.parametrize("model", ["gemini-3-pro", "models/gemini-3.5-flash", "gemini-4-pro", "m"])
def test_the_first_call_of_another_provider_gets_the_documented_signature(model: str) -> None:
    first, second = _parts_of(render(FOREIGN, GEMINI, model=model), 1)

    assert first["thoughtSignature"] == BYPASS
    assert "thoughtSignature" not in second


@pytest.mark.parametrize("model", ["gemini-2.5-flash", "models/gemini-2.5-pro", "Gemini-1.5-pro", "a/b/gemini-2-pro"])
def test_older_models_get_no_invented_signature(model: str) -> None:
    request = render(FOREIGN, GEMINI, model=model)

    assert all("thoughtSignature" not in part for part in _parts_of(request, 1))
    assert problems(request, GEMINI) == []


def test_a_signature_stays_on_its_part_and_goes_to_nobody_else() -> None:
    history = composed(
        parse_messages(
            [
                content("user", {"text": "tide?"}),
                content(
                    "model",
                    {"text": "I look.", "thoughtSignature": "QQ=="},
                    {"functionCall": {"name": "tide", "args": {"port": "Aask"}}, "thoughtSignature": "c2lnLTc3"},
                ),
                content("user", response(response={"high": "05:12"})),
            ]
        )
    )

    first, second = _parts_of(render(history, GEMINI, model="gemini-3-pro"), 1)

    assert first == {"text": "I look.", "thoughtSignature": "QQ=="}
    assert second == {
        "functionCall": {"name": "tide", "args": {"port": "Aask"}},
        "thoughtSignature": "c2lnLTc3",
    }
    for wire in set(Wire) - {GEMINI}:
        assert "c2lnLTc3" not in str(render(history, wire, model="m"))


def test_pictures_of_results_follow_all_results_of_their_turn() -> None:
    history = [
        *FOREIGN[:2],
        Answer(call="a", content=(Media(mime="image/png", data=PNG), Text(text="panel 6"))),
        FOREIGN[3],
        Said(role=Role.USER, parts=(Text(text="Well?"),)),
    ]

    parts = _parts_of(render(history, GEMINI, model="m"), 2)

    assert [next(iter(part)) for part in parts] == [
        "functionResponse",
        "functionResponse",
        "text",
        "inlineData",
        "text",
    ]
    assert "(image/png, behind the results)\\npanel 6" in str(parts[0])


@pytest.mark.parametrize(
    ("media", "shown"),
    [
        (Media(mime="image/jpeg", data=PNG), "inlineData"),
        (Media(mime="image/gif", data=b"GIF89a"), "text"),
        (Media(mime="application/pdf", data=PDF), "inlineData"),
        (Media(mime="text/csv", data=b"a;b"), "text"),
        (Media(mime="video/mp4", data=b"x"), "inlineData"),
        (Media(url="https://a.example/b.jpg?x=1"), "fileData"),
        (Media(url="https://a.example/b"), "text"),
        (Media(mime="application/pdf", url="https://a.example/b"), "fileData"),
        (Media(mime="application/pdf", url="http://a.example/b"), "text"),
    ],
)
def test_what_is_shown_of_media_of_others(media: Media, shown: str) -> None:
    request = render([Said(role=Role.USER, parts=(media,))], GEMINI, model="m")

    assert [*_parts_of(request, 0)[0]] == [shown]
    assert problems(request, GEMINI) == []


def test_pictures_that_the_model_made_go_back_to_it() -> None:
    turn = content("model", {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}, "thoughtSignature": "QQ=="})
    history: Sequence[Block] = [Said(role=Role.USER, parts=(Text(text="draw"),)), *parse_messages(turn)]

    assert _parts_of(render(history, GEMINI, model="m"), 1) == turn["parts"]
    assert "not shown" in str(render(history, Wire.ANTHROPIC, model="m"))


def test_code_goes_back_to_gemini_alone() -> None:
    turn = content("model", {"executable_code": {"code": "1", "language": "PYTHON", "id": None}}, {"text": "1"})
    history = [Said(role=Role.USER, parts=(Text(text="count"),)), *parse_messages(turn)]

    assert isinstance(history[1], Said)
    assert isinstance(history[1].parts[0], Opaque)
    assert _parts_of(render(history, GEMINI, model="m"), 1)[0] == {
        "executableCode": {"code": "1", "language": "PYTHON"}
    }
    assert "PYTHON" not in str(render(history, Wire.OPENAI, model="m"))


# --------------------------------------------------------------------------- tools

DECLARED: Json = {"name": "f", "description": "d", "parametersJsonSchema": {"type": "object", "properties": {}}}
DIALECT: Json = {
    "name": "g",
    "parameters": {
        "type": "OBJECT",
        "properties": {
            "a": {"type": "STRING", "nullable": True, "maxLength": "5"},
            "b": {"type": "ARRAY", "items": {"anyOf": [{"type": "INTEGER"}, {"type": "NUMBER"}]}},
        },
        "propertyOrdering": ["b", "a"],
        "required": ["a"],
    },
}
HELLO = [Said(role=Role.USER, parts=(Text(text="hi"),))]


def test_tools_of_gemini_are_taken_apart_and_put_together() -> None:
    given: list[Json] = [{"functionDeclarations": [DECLARED, DIALECT], "googleSearch": {}}, {"urlContext": {}}]

    assert [*map(str, check_tools(given))] == [
        str({"functionDeclarations": [DECLARED]}),
        str({"functionDeclarations": [DIALECT]}),
        "{'googleSearch': {}}",
        "{'urlContext': {}}",
    ]
    assert render(HELLO, GEMINI, model="m", tools=given)["tools"] == [
        {"functionDeclarations": [DECLARED, DIALECT]},
        {"googleSearch": {}},
        {"urlContext": {}},
    ]


def test_functions_of_gemini_are_offered_to_others_as_json_schema() -> None:
    tools = render(HELLO, Wire.OPENAI, model="m", tools=[{"function_declarations": [DECLARED, DIALECT]}])["tools"]
    assert isinstance(tools, list)

    assert tools[0]["function"]["parameters"] == DECLARED["parametersJsonSchema"]
    assert tools[1]["function"]["parameters"] == {
        "type": "object",
        "properties": {
            "a": {"type": ["string", "null"], "maxLength": 5},
            "b": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "number"}]}},
        },
        "required": ["a"],
    }


def test_the_sdks_tools_are_read() -> None:
    parameters = types.Schema(type=types.Type.OBJECT, properties={"a": types.Schema(type=types.Type.STRING)})
    tool = types.Tool(function_declarations=[types.FunctionDeclaration(name="f", parameters=parameters)])

    request = render(HELLO, GEMINI, model="m", tools=[tool, types.Tool(google_search=types.GoogleSearch())])

    assert request["tools"] == [
        {
            "functionDeclarations": [
                {"name": "f", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}}
            ]
        },
        {"googleSearch": {}},
    ]
    assert problems(request, GEMINI) == []


def test_schemas_of_others_lose_what_the_service_refuses() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "examples": {"const": "today"},
            "id": {"type": "string", "format": "uuid", "description": "Which."},
            "n": {"type": "number", "exclusiveMinimum": 0, "minimum": 0, "examples": [1]},
        },
        "additionalProperties": False,
    }
    tools = render(HELLO, GEMINI, model="m", tools=[{"name": "f", "input_schema": schema}])["tools"]

    assert isinstance(tools, list)
    assert tools[0]["functionDeclarations"][0]["parametersJsonSchema"] == {
        "type": "object",
        "properties": {
            "examples": {"enum": ["today"]},
            "id": {"type": "string", "description": "Which. (format: uuid)"},
            "n": {"type": "number", "minimum": 0},
        },
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("tool", "wire", "says"),
    [
        ({"googleSearch": {}}, Wire.OPENAI, "'googleSearch' is built in at gemini"),
        ({"type": "web_search_20250305", "name": "web_search"}, GEMINI, "is built in at anthropic"),
        ({"name": "1f", "input_schema": {"type": "object"}}, GEMINI, "the first a letter or '_'"),
        ({"functionDeclarations": [{"name": "a.b"}]}, Wire.ANTHROPIC, "letters, digits"),
        ({"functionDeclarations": [{"description": "x"}]}, GEMINI, "has no name"),
        ({"functionDeclarations": "f"}, GEMINI, "must be a list"),
        ({"functionDeclarations": [DECLARED, DECLARED]}, GEMINI, "'f' is offered twice"),
        ({"googleSearch": {}, "x": {}}, GEMINI, "is no tool"),
    ],
)
def test_a_tool_that_cannot_be_offered_is_refused(tool: Json, wire: Wire, says: str) -> None:
    with pytest.raises(InvalidMessage, match=says):
        render(HELLO, wire, model="m", tools=[tool])
