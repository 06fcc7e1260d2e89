"""Tools in either provider's shape are offered in the request's own; what is no tool is refused."""

import json
from types import MappingProxyType

import pytest

from callsheet.assemble.blocks import Answer, Block, Call, Said, Text
from callsheet.errors import InvalidMessage
from callsheet.graph.enums import Role
from callsheet.wire.formats import check_tools, each_tool, render, sent_tools, tool_name
from callsheet.wire.jsonvalue import NESTING_LIMIT
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.wire.sdk import accept

OPENAI, ANTHROPIC = Wire.OPENAI, Wire.ANTHROPIC
Json = dict[str, object]

SCHEMA: Json = {"type": "object", "properties": {"room": {"type": "string"}}, "required": ["room"]}
ASK: list[Block] = [Said(role=Role.USER, parts=(Text(text="Book it."),))]


def function(**keys: object) -> Json:
    return {"type": "function", "function": keys}


def offered(tool: object, wire: Wire) -> object:
    request = render(ASK, wire, model="m", tools=[tool])
    assert problems(request, wire) == []
    accept(request, wire)
    tools = request["tools"]
    assert isinstance(tools, list)
    return tools[0]


SHAPES: list[tuple[Json, Json, Json]] = [
    (
        function(name="book", description="Book.", parameters=SCHEMA, strict=True),
        function(name="book", description="Book.", parameters=SCHEMA, strict=True),
        {"name": "book", "description": "Book.", "input_schema": SCHEMA, "strict": True},
    ),
    (
        {"function": {"name": "book", "parameters": SCHEMA}},
        function(name="book", parameters=SCHEMA),
        {"name": "book", "input_schema": SCHEMA},
    ),
    (
        {"type": "function", "name": "book", "parameters": SCHEMA, "strict": False},
        function(name="book", parameters=SCHEMA, strict=False),
        {"name": "book", "input_schema": SCHEMA},
    ),
    (
        function(name="now", description=None, parameters=None),
        function(name="now"),
        {"name": "now", "input_schema": {"type": "object", "properties": {}}},
    ),
    (
        function(name="book", parameters={"properties": {"room": {}}}),
        function(name="book", parameters={"properties": {"room": {}}}),
        {"name": "book", "input_schema": {"properties": {"room": {}}, "type": "object"}},
    ),
    (
        {"name": "book", "description": "Book.", "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}},
        function(name="book", description="Book.", parameters=SCHEMA),
        {"name": "book", "description": "Book.", "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}},
    ),
    (
        {"name": "book", "input_schema": {"properties": {"room": {}}}},
        function(name="book", parameters={"properties": {"room": {}}, "type": "object"}),
        {"name": "book", "input_schema": {"properties": {"room": {}}, "type": "object"}},
    ),
    (
        {"type": "custom", "custom": {"name": "sh", "description": "Run."}},
        {"type": "custom", "custom": {"name": "sh", "description": "Run."}},
        {
            "name": "sh",
            "description": "Run.",
            "input_schema": {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]},
        },
    ),
    (
        function(name="book", description="a\0\ud83e", parameters={"type": "object", "title": "\0"}),
        function(name="book", description="a␀\ufffd", parameters={"type": "object", "title": "␀"}),
        {"name": "book", "description": "a␀\ufffd", "input_schema": {"type": "object", "title": "␀"}},
    ),
]


@pytest.mark.parametrize(("given", "openai", "anthropic"), SHAPES)
def test_a_tool_is_offered_in_the_shape_of_the_request(given: Json, openai: Json, anthropic: Json) -> None:
    assert offered(given, OPENAI) == openai
    assert offered(given, ANTHROPIC) == anthropic


def test_a_built_in_tool_goes_to_its_provider_alone() -> None:
    search: Json = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}

    assert offered(search, ANTHROPIC) == search
    with pytest.raises(InvalidMessage, match="'web_search' is built in at anthropic"):
        render(ASK, OPENAI, model="m", tools=[search])


def nested(depth: int) -> Json:
    """A schema with so many levels."""
    schema: Json = {}
    for _ in range(depth - 1):
        schema = {"items": schema}
    return schema


def test_a_schema_may_be_nested_as_deep_as_a_message() -> None:
    deep = nested(NESTING_LIMIT - 2)  # inside the tool, and in OpenAI's shape inside the function

    assert offered(function(name="book", parameters={"type": "object"} | deep), OPENAI)


@pytest.mark.parametrize("tools", [7, "book", {"name": "book"}, iter([{"name": "book", "input_schema": SCHEMA}])])
def test_tools_that_are_no_list_are_refused(tools: object) -> None:
    with pytest.raises(InvalidMessage, match="tools must be a list"):
        render(ASK, OPENAI, model="m", tools=tools)
    with pytest.raises(InvalidMessage, match="tools must be a list"):
        check_tools(tools)


def test_no_tools_are_no_list_to_check_but_may_be_rendered() -> None:
    with pytest.raises(InvalidMessage, match="tools must be a list, not None"):
        check_tools(None)
    assert "tools" not in render(ASK, OPENAI, model="m", tools=None)


def test_checked_tools_are_plain_and_clean_and_of_their_shape() -> None:
    given = [
        MappingProxyType({"name": "book", "input_schema": MappingProxyType({"required": ("a",), "\ud800": "\0"})}),
        function(name="see", description="\ud800"),
    ]

    assert check_tools(given) == [
        {"name": "book", "input_schema": {"required": ["a"], "\ufffd": "␀"}},
        function(name="see", description="\ufffd"),
    ]
    with pytest.raises(InvalidMessage, match="'book' is offered twice"):
        check_tools([given[0], given[0]])


@pytest.mark.parametrize("wire", Wire)
def test_all_that_is_offered_is_clean(wire: Wire) -> None:
    odd = {
        "name": "book",
        "description": "a\ud800",
        "input_schema": {"type": "object", "properties": {"k\ud800": {"type": "string", "title": "\0"}}},
        "cache_control": {"type": "ephemeral", "\ud800": "\ud800"},
    }
    own = odd if wire is ANTHROPIC else function(name="book", description="\ud800", parameters=odd["input_schema"])

    for tool in (odd, own | {"k\ud800": "\ud800"}):
        request = render(ASK, wire, model="m", tools=[tool])
        assert json.dumps(request["tools"], ensure_ascii=False).encode()
        assert "\0" not in str(request["tools"])


NO_TOOLS: list[tuple[object, str, str]] = [
    ("book", "tools[0]", "must be an object, not 'book'"),
    ({}, "tools[0]", "is no tool"),
    ({"name": "book"}, "tools[0]", "is no tool"),
    ({"type": "unheard_of"}, "tools[0]", "is no tool"),
    ({"type": "function", "function": "book"}, "tools[0].function", "must be an object"),
    (function(), "tools[0].function.name", "has no name"),
    (function(name=7), "tools[0].function.name", "must be text, not 7"),
    (function(name="book it"), "tools[0].function.name", "must be 1 to 64 letters"),
    (function(name="b" * 65), "tools[0].function.name", "must be 1 to 64 letters"),
    (function(name="book", description=7), "tools[0].function.description", "must be text, not 7"),
    (function(name="book", parameters=[]), "tools[0].function.parameters", "must be an object, not []"),
    (function(name="book", parameters={"type": "array"}), "tools[0].function.parameters.type", "not 'array'"),
    (function(name="book", parameters={"default": float("nan")}), "tools[0]", "cannot be written as JSON"),
    (function(name="book", parameters={"default": {1}}), "tools[0]", "cannot be written as JSON"),
    ({"name": "book", "input_schema": "x"}, "tools[0].input_schema", "must be an object"),
    ({"name": "book", "input_schema": {"enum": {1: 2}}}, "tools[0]", "'book' must have text as keys, not 1"),
    ({"name": "book", "input_schema": nested(NESTING_LIMIT)}, "tools[0]", "'book' must be nested at most 128 deep"),
    (function(name="book", parameters=nested(100_000)), "tools[0]", "'book' must be nested at most 128 deep"),
    (
        function(name="book", parameters=dict.fromkeys(("a\ud800", "a\ud801"), 1)),
        "tools[0]",
        "'book' has keys that differ",
    ),
    (dict, "tools[0]", "must be an object, not <class 'dict'>"),
]


@pytest.mark.parametrize(("tool", "where", "says"), NO_TOOLS)
def test_what_is_no_tool_is_refused(tool: object, where: str, says: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        render(ASK, OPENAI, model="m", tools=[tool])

    assert where == refused.value.where
    assert says in str(refused.value)


def test_a_name_stands_once() -> None:
    with pytest.raises(InvalidMessage, match=r"tools\[1\].name: 'book' is offered twice"):
        render(ASK, OPENAI, model="m", tools=[function(name="book"), {"name": "book", "input_schema": SCHEMA}])


def test_the_name_is_read_from_either_shape() -> None:
    assert tool_name(function(name="book"), "tools[0]") == "book"
    assert tool_name({"name": "book", "input_schema": SCHEMA}, "tools[0]") == "book"
    with pytest.raises(InvalidMessage, match=r"tools\[3\]: is no tool"):
        tool_name({}, "tools[3]")


def test_the_tools_given_are_not_changed() -> None:
    given: Json = {"name": "book", "input_schema": {"properties": {}}}

    render(ASK, ANTHROPIC, model="m", tools=[given])

    assert given == {"name": "book", "input_schema": {"properties": {}}}


def test_tools_of_the_history_are_named_only_where_a_request_without_tools_is_refused() -> None:
    call = Call(id="b1", tool="book_room", arguments='{"room":"oak"}')
    blocks = [*ASK, Said(role=Role.ASSISTANT, parts=(call,)), Answer(call="b1", content=(Text(text="booked"),))]

    assert "tools" not in render(blocks, OPENAI, model="m")
    assert "tools" not in render(ASK, ANTHROPIC, model="m")
    remembered = render(blocks, ANTHROPIC, model="m")
    assert [tool["name"] for tool in _list(remembered["tools"])] == ["book_room"]
    assert remembered["tool_choice"] == {"type": "none"}
    given = render(blocks, ANTHROPIC, model="m", tools=[function(name="reserve_room")])
    assert [tool["name"] for tool in _list(given["tools"])] == ["reserve_room"]
    assert "tool_choice" not in given


def _list(value: object) -> list[Json]:
    assert isinstance(value, list)
    return value


@pytest.mark.parametrize("wire", list(Wire))
@pytest.mark.parametrize("given", [shape for shapes in SHAPES for shape in shapes])
def test_what_is_sent_is_told_beforehand_and_stays_what_it_is(given: Json, wire: Wire) -> None:
    sent = sent_tools([given], wire)
    assert sent == render(ASK, wire, model="m", tools=[given])["tools"]
    assert sent_tools(each_tool(sent), wire) == sent
    assert sent_tools([], wire) == []
