"""What is refused, and what is recorded with a mark."""

import json
from collections.abc import Callable

import pytest

from callsheet.assemble.blocks import Answer, Call, Media, Opaque, Reasoning, Said, Text
from callsheet.errors import InvalidMessage
from callsheet.graph.enums import Defect, Role
from callsheet.wire.formats import parse, parse_messages
from callsheet.wire.jsonvalue import NESTING_LIMIT
from callsheet.wire.names import Wire

OPENAI, ANTHROPIC = Wire.OPENAI, Wire.ANTHROPIC
Json = dict[str, object]


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


def call(**changes: object) -> Json:
    made: Json = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [made | changes]}


def block(**keys: object) -> Json:
    return {"role": "user", "content": [keys]}


REFUSED: list[tuple[Wire, object, str, str]] = [
    (OPENAI, "hello", "messages", "must be an object, not 'hello'"),
    (OPENAI, None, "messages", "must be an object, not None"),
    (OPENAI, 3, "messages", "must be an object, not 3"),
    (OPENAI, {1: 2}, "messages", "must have text as keys, not 1"),
    (OPENAI, {"content": "x"}, "messages.role", "is missing"),
    (OPENAI, {"role": None, "content": "x"}, "messages.role", "must be text, not None"),
    (OPENAI, {"role": "human", "content": "x"}, "messages.role", "must be one of assistant, developer, function"),
    (OPENAI, {"role": "user", "content": 3}, "messages.content", "must be text or a list of parts, not 3"),
    (OPENAI, {"role": "user", "content": {"a": 1}}, "messages.content", "not {'a': 1}"),
    (OPENAI, {"role": "user", "content": b"x"}, "messages.content", "not 1 bytes"),
    (OPENAI, {"role": "tool", "tool_call_id": "a", "content": True}, "messages.content", "not True"),
    (OPENAI, {"role": "user", "content": ["x"]}, "messages.content[0]", "must be an object, not 'x'"),
    (OPENAI, block(text="x"), "messages.content[0]", "has no type"),
    (OPENAI, block(type=None), "messages.content[0].type", "must be a text that is not empty, not None"),
    (OPENAI, block(type="text"), "messages.content[0].text", "is missing"),
    (OPENAI, block(type="text", text=None), "messages.content[0].text", "must be text, not None"),
    (OPENAI, block(type="refusal", refusal=4), "messages.content[0].refusal", "must be text, not 4"),
    (OPENAI, {"role": "user", "content": "x", "name": ["Mia"]}, "messages.name", "must be text, not ['Mia']"),
    (OPENAI, {"role": "tool", "tool_call_id": 7, "content": "x"}, "messages.tool_call_id", "must be text, not 7"),
    (OPENAI, {"role": "assistant", "tool_calls": {"id": "a"}}, "messages.tool_calls", "must be a list"),
    (OPENAI, {"role": "assistant", "tool_calls": ["a"]}, "messages.tool_calls[0]", "must be an object, not 'a'"),
    (OPENAI, call(id=7), "messages.tool_calls[0].id", "must be text, not 7"),
    (OPENAI, call(function=None), "messages.tool_calls[0].function", "must be an object, not None"),
    (OPENAI, call(function={"name": "f", "arguments": {}}), "messages.tool_calls[0].function.arguments", "not {}"),
    (OPENAI, call() | {"role": "user"}, "messages.tool_calls", "calls stand in assistant messages, not in one of user"),
    (OPENAI, {"role": "assistant", "function_call": "f"}, "messages.function_call", "must be an object, not 'f'"),
    (OPENAI, {"role": "user", "content": "x", "at": {1, 2}}, "messages", "cannot be written as JSON"),
    (OPENAI, {"role": "user", "content": "x", "y": nested(NESTING_LIMIT)}, "messages", "nested at most 128 deep"),
    (OPENAI, {"role": "user", "content": "x", "y": nested(100_000)}, "messages", "nested at most 128 deep"),
    (
        ANTHROPIC,
        {"role": "tool", "content": "x"},
        "messages.role",
        "must be one of assistant, system, user, not 'tool'",
    ),
    (ANTHROPIC, {"role": "user", "content": 3}, "messages.content", "must be text or a list of parts, not 3"),
    (ANTHROPIC, block(text="x"), "messages.content[0]", "has no type"),
    (ANTHROPIC, block(type="tool_use", id="a", name="f"), "messages.content", "tool_use blocks stand in assistant"),
    (ANTHROPIC, block(type="tool_result") | {"role": "assistant"}, "messages.content", "tool_result blocks stand in"),
    (ANTHROPIC, block(type="tool_result", tool_use_id=3), "messages.content[0].tool_use_id", "must be text, not 3"),
    (ANTHROPIC, block(type="tool_result", content=3), "messages.content[0].content", "not 3"),
    (ANTHROPIC, block(type="tool_result", content=[{}]), "messages.content[0].content[0]", "has no type"),
    (ANTHROPIC, block(type="tool_result", is_error="no"), "messages.content[0].is_error", "must be true or false"),
    (
        ANTHROPIC,
        block(type="tool_use", input={"1": {2}}) | {"role": "assistant"},
        "messages.content[0].input",
        "as JSON",
    ),
]


@pytest.mark.parametrize(("wire", "message", "where", "says"), REFUSED)
def test_a_wrong_shape_is_refused_with_place_and_value(wire: Wire, message: object, where: str, says: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        parse_messages(message, wire)

    assert where == refused.value.where
    assert says in str(refused.value)
    assert len(str(refused.value)) < 400


def test_the_place_names_the_message_in_a_list() -> None:
    with pytest.raises(InvalidMessage) as refused:
        parse([{"role": "user", "content": "x"}, {"role": "user", "content": [{"type": "text", "text": 5}]}])

    assert refused.value.where == "messages[1].content[0].text"


def test_a_long_value_is_shortened() -> None:
    with pytest.raises(InvalidMessage) as refused:
        parse_messages({"role": "x" * 1_000_000, "content": ""}, OPENAI)

    assert len(str(refused.value)) < 300


MARKED: list[tuple[Wire, Json, set[Defect]]] = [
    (OPENAI, {"role": "user", "content": "x"}, set()),
    (OPENAI, {"role": "user", "content": ""}, {Defect.EMPTY_CONTENT}),
    (OPENAI, {"role": "user", "content": " \n"}, {Defect.EMPTY_CONTENT}),
    (OPENAI, {"role": "user", "content": []}, {Defect.EMPTY_CONTENT}),
    (OPENAI, {"role": "assistant"}, {Defect.EMPTY_CONTENT}),
    (OPENAI, {"role": "assistant", "content": None, "refusal": "no"}, set()),
    (OPENAI, {"role": "user", "content": "a\0"}, {Defect.NUL}),
    (OPENAI, {"role": "user", "content": "a\0\ud83e"}, {Defect.NUL, Defect.LONE_SURROGATES}),
    (OPENAI, {"role": "user", "content": "\U0001f99c"}, set()),
    (OPENAI, {"role": "tool", "tool_call_id": "a", "content": ""}, {Defect.EMPTY_CONTENT}),
    (OPENAI, {"role": "tool", "content": "x"}, {Defect.MISSING_ID}),
    (OPENAI, {"role": "tool", "tool_call_id": "", "content": "x"}, {Defect.MISSING_ID}),
    (OPENAI, {"role": "function", "name": "f", "content": "x"}, set()),
    (OPENAI, {"role": "tool", "tool_call_id": "a", "content": b"caf\xe9"}, {Defect.INVALID_UTF8}),
    (OPENAI, {"role": "tool", "tool_call_id": "a", "content": b"\0"}, {Defect.NUL}),
    (OPENAI, {"role": "tool", "tool_call_id": "a", "content": b""}, {Defect.EMPTY_CONTENT}),
    (ANTHROPIC, {"role": "assistant", "content": [{"type": "thinking", "thinking": "x"}]}, {Defect.EMPTY_CONTENT}),
    (ANTHROPIC, block(type="tool_result", content="x"), {Defect.MISSING_ID}),
    (ANTHROPIC, block(type="tool_result", tool_use_id="a"), {Defect.EMPTY_CONTENT}),
    (ANTHROPIC, block(type="x_new"), set()),
]


@pytest.mark.parametrize(("wire", "message", "marks"), MARKED)
def test_an_odd_message_is_recorded_with_a_mark(wire: Wire, message: Json, marks: set[Defect]) -> None:
    (found,) = parse_messages(message, wire)

    assert marks == set(found.defects)


MARKED_CALLS: list[tuple[Json, set[Defect]]] = [
    (call(), set()),
    (call(id=None), {Defect.MISSING_ID}),
    (call(id=""), {Defect.MISSING_ID}),
    (call(function={"name": "", "arguments": "{}"}), {Defect.MISSING_NAME}),
    (call(function={"arguments": "{}"}), {Defect.MISSING_NAME}),
    (call(function={"name": "f"}), {Defect.INVALID_ARGUMENTS}),
    (call(function={"name": "f", "arguments": ""}), {Defect.INVALID_ARGUMENTS}),
    (call(function={"name": "f", "arguments": '{"a'}), {Defect.INVALID_ARGUMENTS}),
    (call(function={"name": "f", "arguments": "[1]"}), {Defect.INVALID_ARGUMENTS}),
    (call(function={"name": "f", "arguments": '{"a": NaN}'}), {Defect.INVALID_ARGUMENTS}),
    (call(function={"name": "f", "arguments": '{"a": 1e999, "a": 2}'}), set()),
    (call(function={"name": "f", "arguments": '{"a": ' + "[" * 10**5 + "]" * 10**5 + "}"}), {Defect.INVALID_ARGUMENTS}),
    (call(function={"name": "f\0", "arguments": '{"a": "\ud83e"}'}), {Defect.NUL, Defect.LONE_SURROGATES}),
    (call(type="custom", custom={"name": "f", "input": "ls -l"}), set()),
    ({"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}, set()),
    ({"role": "assistant", "content": [{"type": "tool_use", "name": "f", "input": {}}]}, {Defect.MISSING_ID}),
    (
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {"x": float("nan")}}]},
        {Defect.INVALID_ARGUMENTS},
    ),
    (
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": "x"}]},
        {Defect.INVALID_ARGUMENTS},
    ),
]


@pytest.mark.parametrize(("message", "marks"), MARKED_CALLS)
def test_an_odd_call_is_recorded_with_a_mark(message: Json, marks: set[Defect]) -> None:
    (said,) = parse_messages(message)
    assert isinstance(said, Said)

    assert marks == set(said.calls[0].defects)
    assert said.defects == ()


RESULTS: dict[str, Callable[[], str | bytes]] = {
    "deep JSON": lambda: "[" * 100_000 + "]" * 100_000,
    "a number beyond floats": lambda: '{"a": 1e999}',
    "NaN": lambda: "NaN",
    "a number of 10,000 digits": lambda: "9" * 10_000,
    "5 MB": lambda: "x" * 5_000_000,
    "half an emoji": lambda: "\ud83e",
    "UTF-16": lambda: "pump 4 offline\n".encode("utf-16"),
    "NUL": lambda: b"\x00\x00tag7\x00",
    "any byte": lambda: bytes(range(256)),
}


@pytest.mark.parametrize("wire", list(Wire))
@pytest.mark.parametrize("made", RESULTS.values(), ids=list(RESULTS))
def test_a_result_is_never_refused_for_what_is_in_it(wire: Wire, made: Callable[[], str | bytes]) -> None:
    content = made()
    results: dict[Wire, Json] = {
        OPENAI: {"role": "tool", "tool_call_id": "a", "content": content},
        Wire.OPENAI_RESPONSES: {"type": "function_call_output", "call_id": "a", "output": content},
        ANTHROPIC: block(type="tool_result", tool_use_id="a", content=content),
        Wire.GEMINI: {"parts": [{"functionResponse": {"name": "f", "response": {"output": content}}}]},
    }

    (answer,) = parse_messages(results[wire], wire)

    assert isinstance(answer, Answer)
    (part,) = answer.content
    assert content == (part.text if isinstance(content, str) and isinstance(part, Text) else _bytes(part))


def _bytes(part: object) -> bytes:
    if isinstance(part, Text):
        return part.text.encode()
    assert isinstance(part, Media)
    assert part.mime == "application/octet-stream"
    assert part.data is not None
    return part.data


def test_anthropic_blocks_become_parts_in_order() -> None:
    thinking = {"signature": "S", "type": "thinking", "thinking": "Hm.\n "}
    server: Json = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": "ä\ud83e"}}
    message = {
        "role": "assistant",
        "content": [
            thinking,
            {"type": "text", "text": "Searching."},
            server,
            {"type": "tool_use", "id": "t", "name": "f", "input": {"z": 1, "a": float("nan"), "ä": "\ud83e"}},
        ],
    }

    (said,) = parse_messages(message)

    assert isinstance(said, Said)
    assert said.role is Role.ASSISTANT
    assert said.parts[0] == Reasoning(wire="anthropic", raw=b'{"signature":"S","type":"thinking","thinking":"Hm.\\n "}')
    assert said.parts[1] == Text(text="Searching.")
    assert isinstance(said.parts[2], Opaque)
    assert json.loads(said.parts[2].raw) == server
    assert "ä\\ud83e".encode() in said.parts[2].raw
    assert isinstance(said.parts[3], Call)
    assert said.parts[3].arguments == '{"z":1,"a":NaN,"ä":"\\ud83e"}'


def test_a_user_message_with_results_and_text_gives_answers_then_what_was_said() -> None:
    content: list[Json] = [
        {"type": "text", "text": "and now?"},
        {"type": "tool_result", "tool_use_id": "a", "content": "1", "is_error": True},
        {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "2"}], "is_error": False},
        {"type": "tool_result", "tool_use_id": "c"},
    ]

    first, second, third, said = parse_messages({"role": "user", "content": content})

    assert isinstance(first, Answer)
    assert isinstance(second, Answer)
    assert isinstance(third, Answer)
    assert [(a.call, a.form, a.failed) for a in (first, second, third)] == [
        ("a", "string", True),
        ("b", "parts", False),
        ("c", "absent", None),
    ]
    assert isinstance(said, Said)
    assert said.parts == (Text(text="and now?"),)


def test_data_urls_become_bytes() -> None:
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAEC", "detail": "low"}}

    (said,) = parse_messages({"role": "user", "content": [part]})

    assert isinstance(said, Said)
    (media,) = said.parts
    assert isinstance(media, Media)
    assert (media.mime, media.data, media.url, media.wire) == ("image/png", b"\x00\x01\x02", None, "openai")
    assert b"AAEC" not in media.extras


def test_the_older_shape_has_no_ids() -> None:
    asked, answered = parse_messages(
        [
            {"role": "assistant", "content": None, "function_call": {"name": "price", "arguments": "{}"}},
            {"role": "function", "name": "price", "content": "2.10"},
        ]
    )

    assert isinstance(asked, Said)
    assert asked.calls[0].id is None
    assert asked.calls[0].tool == "price"
    assert isinstance(answered, Answer)
    assert (answered.call, answered.tool) == (None, "price")
