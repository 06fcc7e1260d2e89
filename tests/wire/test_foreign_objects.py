"""Values of any Python type are read as what they hold, or refused with their place; nothing else is ever raised."""

import json
from collections import UserDict
from contextlib import suppress
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessage

from callsheet.assemble.blocks import Media, Said
from callsheet.errors import InvalidMessage
from callsheet.wire.formats import detect, export, history_key, is_reply, parse, parse_messages, parse_reply, render
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems

PICTURE = "data:image/png;base64,AAAA"


def failing(base: type, *methods: str, error: Exception) -> type:
    """A class whose methods fail."""

    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    return type("Failing", (base,), dict.fromkeys(methods, fail))


DICT = failing(dict, "items", "get", "keys", "__iter__", error=KeyError("lost"))
LIST = failing(list, "__iter__", error=RuntimeError("changed"))
ERRORS = [TypeError("x"), ValueError("x"), AttributeError("x"), RecursionError("x")]
DUMPS = [failing(object, "model_dump", error=error)() for error in ERRORS]
NO_DUMP = failing(object, "__getattr__", error=ValueError("x"))()

deep: dict[str, object] = {}
for _ in range(5_000):
    deep = {"x": deep}

FOREIGN: list[object] = [
    *DUMPS,
    NO_DUMP,
    ChatCompletionMessage,
    type("Message", (), {"model_dump": lambda self: 7})(),
    type("Message", (), {"model_dump": lambda self, **_: 7})(),
    type("Message", (), {"__module__": None})(),
    DICT(role="user"),
    UserDict({1: 2}),
    {("role",): "user"},
]


@pytest.mark.parametrize("value", FOREIGN, ids=lambda value: type(value).__name__)
def test_an_object_that_cannot_be_read_is_refused_with_its_place(value: object) -> None:
    for place, given_in in (
        ("message", value),
        ("messages[1]", [{"role": "user"}, value]),
        ("message.content[0]", {"role": "user", "content": [value]}),
        ("message", {"role": "user", "content": "x", "own": [value]}),
        ("message.content[0]", {"role": "user", "content": [{"type": "image_url", "image_url": value}]}),
        ("message.content[0].input", {"role": "assistant", "content": [{"type": "tool_use", "input": value}]}),
    ):
        with pytest.raises(InvalidMessage) as refused:
            parse(given_in)
        assert refused.value.where == place
    with pytest.raises(InvalidMessage):
        parse_reply(value)


@pytest.mark.parametrize(
    "value",
    [
        {"role": []},
        {"role": {}},
        {"role": "user", "content": [{"type": []}]},
        {"role": "user", "content": LIST([1])},
        {"role": "user", "own": LIST([1])},
        {"role": "user", "own": 10**5_000},
        {"role": "user", "own": deep},
        {"role": "user", "content": [{"type": "image", "source": deep}]},
        {"choices": [{"message": {"role": []}}]},
        {"object": [], "type": {}},
        LIST([{"role": "user"}]),
    ],
)
def test_values_in_the_wrong_places_are_refused(value: object) -> None:
    for wire in (None, *Wire):
        with pytest.raises(InvalidMessage):
            parse(value, wire)


KEYS = ["role", "content", "type", "text", "source", "data", "input", "id", "name", "choices", "message", "is_error"]
KEYS += ["tool_calls", "function", "image_url", "url", "usage", "model", "error", "object"]

_json = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.sampled_from(["user", "assistant", "tool", "message", "text", "image", "tool_use", "tool_result", ""]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    ),
    max_leaves=12,
)


@given(_json)
def test_any_json_is_read_or_refused(value: object) -> None:
    assert detect(value) in Wire
    assert is_reply(value) in (True, False)
    for wire in (None, *Wire):
        with suppress(InvalidMessage):
            parse(value, wire)


@given(_json, st.sampled_from(Wire))
def test_any_json_has_problems_as_a_request_or_none(value: object, wire: Wire) -> None:
    assert isinstance(problems({"model": "m", "messages": [value], "tools": [value]}, wire), list)


# --------------------------------------------------------------------------- other types that hold the same


def test_mappings_of_any_type_are_read_like_dicts() -> None:
    def mappings(value: object) -> object:
        if isinstance(value, dict):
            return UserDict({key: mappings(item) for key, item in value.items()})
        return tuple(map(mappings, value)) if isinstance(value, list) else value

    openai = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": PICTURE, "detail": "low"}}]}
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    anthropic = {"role": "user", "content": [{"type": "image", "source": source, "own": {"x": [1, {}]}}]}

    for message, wire in ((openai, Wire.OPENAI), (anthropic, Wire.ANTHROPIC)):
        blocks = parse_messages(mappings(message))
        (said,) = blocks
        assert isinstance(said, Said)
        assert isinstance(said.parts[0], Media)
        assert said.parts[0].data == b"\0\0\0"
        assert export(blocks, wire) == [message]


def test_an_input_whose_keys_are_no_text_is_refused() -> None:
    call = {"type": "tool_use", "id": "a", "name": "f", "input": {1: 2, "1": 3}}

    with pytest.raises(InvalidMessage, match="must have text as keys, not 1"):
        parse({"role": "assistant", "content": [call]})


def test_keys_that_differ_in_lone_surrogates_alone_are_sent_as_text() -> None:
    call = {"type": "tool_use", "id": "a", "name": "f", "input": dict(zip(("a\ud800", "a\ud801"), (1, 2), strict=True))}
    blocks = parse_messages({"role": "assistant", "content": [call]})

    (_, message, *_) = _messages(render(blocks, Wire.ANTHROPIC, model="m"))

    (sent,) = message["content"]
    assert sent["input"] == {"unparsed_arguments": '{"a\\ud800":1,"a\\ud801":2}'}
    assert export(blocks, Wire.ANTHROPIC) == [{"role": "assistant", "content": [call]}]


def _messages(request: dict[str, object]) -> list[dict[str, list[dict[str, object]]]]:
    found = request["messages"]
    assert isinstance(found, list)
    return found


# --------------------------------------------------------------------------- size


def test_a_message_with_many_calls_goes_through_every_format() -> None:
    count = 16_000
    calls = [{"id": f"c{at}", "type": "function", "function": {"name": "f", "arguments": "{}"}} for at in range(count)]
    results = [{"role": "tool", "tool_call_id": f"c{at}", "content": "x"} for at in range(count)]

    blocks = parse_messages([{"role": "assistant", "tool_calls": calls}, *results])

    for wire in Wire:
        assert len(json.dumps(render(blocks, wire, model="m")[history_key(wire)])) > 30 * count
        assert len(parse_messages(export(blocks, wire))) == count + 1
