"""Whole request bodies in and out: what the client set survives, whatever it is, and its history can be exchanged."""

import json
from collections.abc import Callable
from copy import deepcopy

import pytest
from anthropic.types import message_count_tokens_params, message_create_params
from anthropic.types.beta import message_create_params as beta_create_params
from openai.types.chat import completion_create_params
from openai.types.responses import response_create_params

from callsheet.errors import InvalidMessage
from callsheet.wire.asked import Asked, ToolChoice, read_request, write_request
from callsheet.wire.formats import export, history_key, render
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields
from callsheet.wire.validate import problems
from tests.wire.equivalence import atoms, everything, own_blocks, says_the_same

Json = dict[str, object]
HOUR: Json = {"type": "ephemeral", "ttl": "1h"}
SHORT: Json = {"type": "ephemeral"}
POINT: Json = {"mode": "explicit"}


def written(asked: Asked, history: list[Json] | None = None, tools: list[Json] | None = None) -> Fields:
    """The body with its own history, or another one of its format."""
    blocks = own_blocks(asked)
    if history is not None:
        blocks = own_blocks(read_request({"model": "m", history_key(asked.wire): history}, asked.wire))
    return write_request(asked, render(blocks, asked.wire, model="another", tools=tools), passes=everything)


CHAT: Json = {
    "model": "gpt-4o",
    "messages": [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Weather?"}], "name": "ada"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}},
                {"id": "b", "type": "function", "function": {"name": "f", "arguments": '{"x": 2}'}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "sunny"},
        {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "rain"}]},
        {"role": "assistant", "content": "Sun, then rain."},
        {"role": "user", "content": "Thanks"},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}, "strict": True}}],
}
MESSAGES: Json = {
    "model": "claude-opus-4-8",
    "max_tokens": 1024,
    "system": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Rules.", "cache_control": HOUR}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Weather?", "cache_control": SHORT}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.\n", "signature": "SIG="},
                {"type": "redacted_thinking", "data": "E="},
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "none", "is_error": True},
                {"type": "text", "text": "Hurry"},
            ],
        },
    ],
    "tools": [
        {"name": "f", "input_schema": {"type": "object"}, "cache_control": HOUR},
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
        {"type": "mcp_toolset", "mcp_server_name": "s"},
    ],
}
ITEMS: Json = {
    "model": "gpt-5.2",
    "instructions": "Be brief.",
    "input": [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Rules."}]},
        {"role": "user", "content": [{"type": "input_text", "text": "Weather?", "prompt_cache_breakpoint": POINT}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E="},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "phase": "commentary",
            "content": [{"type": "output_text", "text": "Let me see.", "annotations": []}],
        },
        {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "f", "arguments": '{"x": 1}'},
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "b", "name": "g", "input": "ls"},
        {"type": "function_call_output", "call_id": "a", "output": "sunny"},
        {"type": "custom_tool_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "rain"}]},
        {"role": "assistant", "content": "Sun, then rain."},
        {"role": "user", "content": "Thanks"},
    ],
    "tools": [
        {"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": True},
        {"type": "custom", "name": "g"},
        {"type": "web_search"},
        {"type": "mcp", "server_label": "s", "server_url": "https://s.example"},
    ],
}
BODIES = {Wire.OPENAI: CHAT, Wire.OPENAI_RESPONSES: ITEMS, Wire.ANTHROPIC: MESSAGES}

table = pytest.mark.parametrize("wire", BODIES)

# --------------------------------------------------------------------------- what survives


def _keys(*params: type) -> list[str]:
    return sorted({key for each in params for base in each.__mro__ for key in getattr(base, "__annotations__", {})})


_READ = {"model", "messages", "system", "tools", "stream", "tool_choice", "thread", "functions", "function_call"} | {
    "input",
    "instructions",
    "previous_response_id",
    "conversation",
}
DOCUMENTED = {
    Wire.OPENAI: _keys(completion_create_params.CompletionCreateParamsBase),
    Wire.OPENAI_RESPONSES: _keys(response_create_params.ResponseCreateParamsBase),
    Wire.ANTHROPIC: _keys(
        message_create_params.MessageCreateParamsBase,
        beta_create_params.MessageCreateParamsBase,
        message_count_tokens_params.MessageCountTokensParams,
    ),
}


@table
def test_every_documented_parameter_survives_and_so_do_unknown_ones(wire: Wire) -> None:
    given = {key: {"sample": [key, 1.5, None]} for key in [*DOCUMENTED[wire], "unheard_of"] if key not in _READ}
    assert len(given) > 15
    given.pop("cache_control", None)
    body = BODIES[wire] | given

    found = written(read_request(body, wire), [{"role": "user", "content": "Hi"}])

    assert {key: found[key] for key in given} == given
    assert found["model"] == body["model"]
    assert found["tools"] == body["tools"]
    assert found.keys() == body.keys() - {"system", "instructions"}


VALUES: list[tuple[Wire, Json]] = [
    (
        Wire.OPENAI,
        {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {}, "strict": True}}},
    ),
    (Wire.OPENAI, {"tool_choice": "required", "parallel_tool_calls": False}),
    (Wire.OPENAI, {"tool_choice": {"type": "function", "function": {"name": "f"}}}),
    (Wire.OPENAI, {"stream": True, "stream_options": {"include_usage": True}}),
    (Wire.OPENAI, {"metadata": {"a": "b"}, "store": True, "service_tier": "flex", "seed": 7, "stop": ["x"]}),
    (Wire.OPENAI, {"temperature": 0, "top_p": 1, "logit_bias": {"50256": -100}, "n": 2, "user": None}),
    (Wire.OPENAI, {"modalities": ["text", "audio"], "audio": {"voice": "alloy", "format": "wav"}}),
    (Wire.OPENAI_RESPONSES, {"text": {"format": {"type": "json_schema", "name": "n", "schema": {}, "strict": True}}}),
    (Wire.OPENAI_RESPONSES, {"reasoning": {"effort": "high", "summary": "auto"}, "store": False, "background": None}),
    (Wire.OPENAI_RESPONSES, {"include": ["reasoning.encrypted_content"], "truncation": "auto", "stream": True}),
    (Wire.OPENAI_RESPONSES, {"tool_choice": "required", "parallel_tool_calls": False, "max_tool_calls": 3}),
    (Wire.OPENAI_RESPONSES, {"prompt_cache_key": "k", "metadata": {"a": "b"}, "user": "u", "top_logprobs": 2}),
    (Wire.ANTHROPIC, {"thinking": {"type": "enabled", "budget_tokens": 2048}, "betas": ["interleaved-thinking"]}),
    (Wire.ANTHROPIC, {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}}),
    (Wire.ANTHROPIC, {"output_config": {"format": {"type": "json_schema", "schema": {}}, "effort": "low"}}),
    (Wire.ANTHROPIC, {"metadata": {"user_id": "u"}, "service_tier": "auto", "stop_sequences": ["x"], "top_k": 3}),
    (Wire.ANTHROPIC, {"context_management": {"edits": []}, "container": "c", "mcp_servers": [{"name": "s"}]}),
]


@pytest.mark.parametrize(("wire", "values"), VALUES, ids=[f"{wire}-{'-'.join(each)}" for wire, each in VALUES])
def test_values_survive_as_they_are(wire: Wire, values: Json) -> None:
    found = written(read_request(BODIES[wire] | values, wire))

    assert {key: found[key] for key in values} == values


@table
def test_nothing_that_was_given_is_changed(wire: Wire) -> None:
    body = deepcopy(BODIES[wire])
    asked = read_request(body, wire)
    rendered = render(own_blocks(asked), wire, model="m")
    before = deepcopy(rendered)

    write_request(asked, rendered)

    assert body == BODIES[wire]
    assert rendered == before


@table
def test_a_body_with_its_own_history_is_an_equivalent_request(wire: Wire) -> None:
    asked = read_request(BODIES[wire], wire)

    again = read_request(written(asked), wire)

    assert says_the_same(again, asked)
    assert written(again) == written(asked)


@table
def test_the_messages_come_back_exactly_as_they_came(wire: Wire) -> None:
    asked = read_request(BODIES[wire], wire)

    system = BODIES[wire].get("system", BODIES[wire].get("instructions"))
    messages = BODIES[wire][history_key(wire)]
    assert isinstance(messages, list)
    expected = messages if system is None else [{"role": "system", "content": system}, *messages]
    assert export(own_blocks(asked), wire) == expected


@table
def test_only_the_history_is_exchanged(wire: Wire) -> None:
    asked = read_request(BODIES[wire], wire)

    found = written(asked, [{"role": "user", "content": "Hi"}])

    assert atoms(read_request(found, wire).blocks) == [("user", "text", "Hi")]
    assert found["tools"] == BODIES[wire]["tools"]


# --------------------------------------------------------------------------- tools and choices

OWN_TOOL: Json = {"name": "recall", "description": "Look up.", "input_schema": {"type": "object", "properties": {}}}


@table
def test_our_tools_are_appended_and_the_clients_stay_byte_for_byte(wire: Wire) -> None:
    asked = read_request(BODIES[wire], wire)
    theirs = BODIES[wire]["tools"]
    assert isinstance(theirs, list)
    offered = [tool for tool in theirs if tool.get("type") != "mcp_toolset"]

    tools = written(asked, tools=[*offered, OWN_TOOL])["tools"]

    assert isinstance(tools, list)
    assert json.dumps(tools[: len(theirs)]) == json.dumps(theirs)
    assert [_name(tool) for tool in tools[len(theirs) :]] == ["recall"]


def _name(tool: Json) -> object:
    function = tool.get("function")
    return function["name"] if isinstance(function, dict) else tool.get("name")


@pytest.mark.parametrize("tool", [{"function": {"name": "f"}}, {"type": "custom", "custom": {"name": "f"}}], ids=str)
def test_a_tool_of_the_clients_is_not_offered_twice(tool: Json) -> None:
    asked = read_request(CHAT | {"tools": [tool]}, Wire.OPENAI)

    assert written(asked, tools=[tool, OWN_TOOL])["tools"] == [tool, _written_recall()]


def _written_recall() -> Json:
    parameters = {"name": "recall", "description": "Look up.", "parameters": {"type": "object", "properties": {}}}
    return {"type": "function", "function": parameters}


def test_functions_in_the_older_shape_are_tools_and_ours_join_them() -> None:
    body: Json = {"model": "m", "messages": CHAT["messages"], "functions": [{"name": "f", "parameters": {}}]}
    asked = read_request(body | {"function_call": "none"}, Wire.OPENAI)

    assert asked.tools == ({"type": "function", "function": {"name": "f", "parameters": {}}},)
    assert asked.choice is ToolChoice.NONE
    found = written(asked, tools=[OWN_TOOL])
    assert "tools" not in found
    assert found["functions"] == [
        {"name": "f", "parameters": {}},
        {"name": "recall", "description": "Look up.", "parameters": {"type": "object", "properties": {}}},
    ]


def test_calls_without_tools_are_named_for_anthropic_and_may_not_be_made() -> None:
    body = {key: value for key, value in MESSAGES.items() if key != "tools"}

    found = written(read_request(body, Wire.ANTHROPIC))

    assert [_name(tool) for tool in _list(found["tools"])] == ["f"]
    assert found["tool_choice"] == {"type": "none"}


CHOICES: list[tuple[Wire, object, ToolChoice]] = [
    (Wire.OPENAI, None, ToolChoice.AUTO),
    (Wire.OPENAI, "auto", ToolChoice.AUTO),
    (Wire.OPENAI, "none", ToolChoice.NONE),
    (Wire.OPENAI, "required", ToolChoice.REQUIRED),
    (Wire.OPENAI, {"type": "function", "function": {"name": "f"}}, ToolChoice.NAMED),
    (Wire.OPENAI, {"type": "custom", "custom": {"name": "f"}}, ToolChoice.NAMED),
    (Wire.OPENAI, {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}, ToolChoice.NAMED),
    (Wire.OPENAI_RESPONSES, None, ToolChoice.AUTO),
    (Wire.OPENAI_RESPONSES, "none", ToolChoice.NONE),
    (Wire.OPENAI_RESPONSES, "required", ToolChoice.REQUIRED),
    (Wire.OPENAI_RESPONSES, {"type": "function", "name": "f"}, ToolChoice.NAMED),
    (Wire.OPENAI_RESPONSES, {"type": "web_search"}, ToolChoice.NAMED),
    (Wire.OPENAI_RESPONSES, {"type": "allowed_tools", "mode": "auto", "tools": []}, ToolChoice.NAMED),
    (Wire.ANTHROPIC, None, ToolChoice.AUTO),
    (Wire.ANTHROPIC, {"type": "auto"}, ToolChoice.AUTO),
    (Wire.ANTHROPIC, {"type": "none"}, ToolChoice.NONE),
    (Wire.ANTHROPIC, {"type": "any"}, ToolChoice.REQUIRED),
    (Wire.ANTHROPIC, {"type": "tool", "name": "f"}, ToolChoice.NAMED),
]


@pytest.mark.parametrize(("wire", "given", "choice"), CHOICES)
def test_the_choice_of_tools_is_read(wire: Wire, given: object, choice: ToolChoice) -> None:
    asked = read_request(BODIES[wire] | {"tool_choice": given}, wire)

    assert asked.choice is choice
    assert written(asked)["tool_choice"] == given


@table
@pytest.mark.parametrize(
    ("given", "of_address", "stream"), [(None, None, False), (True, None, True), (None, True, True)]
)
def test_streaming_is_read(wire: Wire, given: bool | None, of_address: bool | None, stream: bool) -> None:
    body = BODIES[wire] if given is None else BODIES[wire] | {"stream": given}

    assert read_request(body, wire, stream=of_address).stream is stream


@table
def test_the_model_of_the_address_counts_where_the_body_has_none(wire: Wire) -> None:
    body = {key: value for key, value in BODIES[wire].items() if key != "model"}

    assert read_request(body, wire, model="m").model == "m"
    assert read_request(BODIES[wire], wire, model="m").model == BODIES[wire]["model"]


# --------------------------------------------------------------------------- what is refused

REFUSED: list[tuple[Wire, object, str]] = [
    (Wire.OPENAI, [], ""),
    (Wire.OPENAI, "text", ""),
    (Wire.OPENAI, {"model": "m"}, "messages"),
    (Wire.OPENAI, {"model": "m", "messages": []}, "messages"),
    (Wire.OPENAI, {"model": "m", "messages": {}}, "messages"),
    (Wire.OPENAI, CHAT | {"model": None}, "model"),
    (Wire.OPENAI, CHAT | {"stream": "yes"}, "stream"),
    (Wire.OPENAI, CHAT | {"tools": {}}, "tools"),
    (Wire.OPENAI, CHAT | {"tools": [1]}, "tools[0]"),
    (Wire.OPENAI, CHAT | {"tool_choice": "sometimes"}, "tool_choice"),
    (Wire.OPENAI, {"model": "m", "messages": [{"role": "user", "content": [{"type": 1}]}]},
     "messages[0].content[0].type"),
    (Wire.OPENAI, {"model": "m", "messages": [{"role": "robot", "content": "x"}]}, "messages[0].role"),
    (Wire.OPENAI_RESPONSES, None, ""),
    (Wire.OPENAI_RESPONSES, {"model": "m"}, "input"),
    (Wire.OPENAI_RESPONSES, {"model": "m", "input": []}, "input"),
    (Wire.OPENAI_RESPONSES, {"model": "m", "input": {}}, "input"),
    (Wire.OPENAI_RESPONSES, {"model": "m", "input": ["x"]}, "input[0]"),
    (Wire.OPENAI_RESPONSES, {"model": "m", "input": [{"content": "x"}]}, "input[0]"),
    (Wire.OPENAI_RESPONSES, {"model": "m", "input": [{"role": "tool", "content": "x"}]}, "input[0].role"),
    (Wire.OPENAI_RESPONSES, {"model": "m", "input": [{"type": "function_call", "call_id": 7}]}, "input[0].call_id"),
    (Wire.OPENAI_RESPONSES, {"model": "m", "input": [{"type": "function_call_output", "output": [1]}]},
     "input[0].output[0]"),
    (Wire.OPENAI_RESPONSES, {"input": "x"}, "model"),
    (Wire.OPENAI_RESPONSES, ITEMS | {"instructions": ["x"]}, "instructions"),
    (Wire.OPENAI_RESPONSES, ITEMS | {"previous_response_id": 3}, "previous_response_id"),
    (Wire.OPENAI_RESPONSES, ITEMS | {"conversation": {}}, "conversation.id"),
    (Wire.OPENAI_RESPONSES, ITEMS | {"tool_choice": "sometimes"}, "tool_choice"),
    (Wire.ANTHROPIC, None, ""),
    (Wire.ANTHROPIC, {"model": "m"}, "messages"),
    (Wire.ANTHROPIC, MESSAGES | {"model": 1}, "model"),
    (Wire.ANTHROPIC, MESSAGES | {"system": 1}, "system"),
    (Wire.ANTHROPIC, MESSAGES | {"system": [{"type": "text"}]}, "system.0.text"),
    (Wire.ANTHROPIC, MESSAGES | {"tools": [[]]}, "tools.0"),
    (Wire.ANTHROPIC, MESSAGES | {"tool_choice": "auto"}, "tool_choice"),
    (Wire.ANTHROPIC, MESSAGES | {"tool_choice": {"type": "maybe"}}, "tool_choice.type"),
    (Wire.ANTHROPIC, {"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": 1}]}]},
     "messages.0.content.0.text"),
    (Wire.ANTHROPIC, {"model": "m", "messages": [{"role": "tool", "content": "x"}]}, "messages.0.role"),
]  # fmt: skip


@pytest.mark.parametrize(("wire", "body", "where"), REFUSED, ids=[f"{wire}-{where}" for wire, _, where in REFUSED])
def test_what_is_no_request_is_refused_with_its_place_as_the_provider_writes_it(
    wire: Wire, body: object, where: str
) -> None:
    with pytest.raises(InvalidMessage) as refused:
        read_request(body, wire)

    assert refused.value.where == where
    assert not where or str(refused.value).startswith(f"{where}: ")


# --------------------------------------------------------------------------- system text of Messages

SYSTEMS: dict[str, tuple[object, list[Json], object]] = {
    "one text": ("Be brief.", [{"role": "system", "content": "Be brief."}], "Be brief."),
    "no text": ("", [], None),
    "blocks": (MESSAGES["system"], [{"role": "system", "content": MESSAGES["system"]}], MESSAGES["system"]),
    "blocks recorded as one text": (
        MESSAGES["system"],
        [{"role": "system", "content": "Be brief.\n\nRules."}],
        MESSAGES["system"],
    ),
    "more behind": (
        MESSAGES["system"],
        [{"role": "system", "content": MESSAGES["system"]}, {"role": "system", "content": "Also."}],
        [*MESSAGES["system"], {"type": "text", "text": "Also."}],  # type: ignore[misc]
    ),
    "the second changed": (
        MESSAGES["system"],
        [{"role": "system", "content": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Law."}]}],
        [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Law."}],
    ),
    "all changed": (MESSAGES["system"], [{"role": "system", "content": "Sing."}], [{"type": "text", "text": "Sing."}]),
    "a blank block among them": (
        [{"type": "text", "text": " "}, {"type": "text", "text": "Rules.", "cache_control": SHORT}],
        [{"role": "system", "content": "Rules."}],
        [{"type": "text", "text": "Rules.", "cache_control": SHORT}],
    ),
}


@pytest.mark.parametrize(("system", "recorded", "expected"), SYSTEMS.values(), ids=SYSTEMS)
def test_the_system_text_keeps_the_clients_blocks_and_marks_as_far_as_it_is_unchanged(
    system: object, recorded: list[Json], expected: object
) -> None:
    asked = read_request(MESSAGES | {"system": system}, Wire.ANTHROPIC)

    found = written(asked, [*recorded, {"role": "user", "content": "Hi"}])

    assert found.get("system") == expected


def test_a_turn_that_the_model_shall_go_on_with_stays_the_last() -> None:
    history = [{"role": "user", "content": "Sun?"}, {"role": "assistant", "content": "The answer is ("}]
    asked = read_request({"model": "m", "max_tokens": 5, "messages": history}, Wire.ANTHROPIC)

    messages = _list(written(asked)["messages"])

    assert messages[-1] == {"role": "assistant", "content": [{"type": "text", "text": "The answer is ("}]}


def test_a_thread_of_the_provider_is_begun_anew_where_the_whole_history_is_sent() -> None:
    thread = {"type": "continue", "previous_message_id": "msg_1"}
    asked = read_request(MESSAGES | {"thread": thread}, Wire.ANTHROPIC)

    assert asked.previous == "msg_1"
    assert written(asked)["thread"] == {"type": "create"}
    fresh = read_request(MESSAGES | {"thread": {"type": "create"}}, Wire.ANTHROPIC)
    assert fresh.previous is None
    assert written(fresh)["thread"] == {"type": "create"}


def test_a_thread_goes_on_without_a_message_where_the_service_paused_its_turn() -> None:
    thread = {"type": "continue", "previous_message_id": "msg_1"}
    asked = read_request(MESSAGES | {"messages": [], "thread": thread}, Wire.ANTHROPIC)

    assert (asked.previous, asked.blocks) == ("msg_1", ())
    with pytest.raises(InvalidMessage, match="must hold a message"):
        read_request(MESSAGES | {"messages": [], "thread": {"type": "create"}}, Wire.ANTHROPIC)


def test_a_token_count_has_no_limit_of_the_reply() -> None:
    body = {key: value for key, value in MESSAGES.items() if key != "max_tokens"}

    found = written(read_request(body, Wire.ANTHROPIC))

    assert "max_tokens" not in found


# --------------------------------------------------------------------------- cache marks of Messages


def _marks(body: Json) -> dict[str, object]:
    """Place and life of every mark."""
    found: dict[str, object] = {}
    waiting: list[tuple[str, object]] = [("", body)]
    while waiting:
        where, value = waiting.pop()
        if isinstance(value, dict):
            mark = value.get("cache_control")
            if isinstance(mark, dict):
                found[where] = mark.get("ttl", "5m")
            waiting += [(f"{where}.{key}".strip("."), item) for key, item in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{where}.{at}", item) for at, item in enumerate(value)]
    return found


def _user(*texts: str, mark: Json | None = None) -> Json:
    blocks: list[Json] = [{"type": "text", "text": text} for text in texts]
    if mark is not None:
        blocks[-1]["cache_control"] = mark
    return {"role": "user", "content": blocks}


_REPLY: Json = {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]}


def _body(*messages: Json, system: Json | None = None, tools: int = 0, **rest: object) -> Json:
    body: Json = {"model": "m", "max_tokens": 9, "messages": list(messages), **rest}
    if system is not None:
        body["system"] = [{"type": "text", "text": "Rules.", "cache_control": system}]
    if tools:
        named = ({"name": f"f{at}", "input_schema": {"type": "object"}} for at in range(tools))
        body["tools"] = [{**tool, "cache_control": HOUR} for tool in named]
    return body


MARKED: dict[str, tuple[Json, dict[str, object]]] = {
    "one question": (_body(_user("Hi")), {}),
    "a conversation that goes on": (
        _body(_user("Hi"), _REPLY, _user("a", "b")),
        {"messages.0.content.0": "5m", "messages.2.content.1": "5m"},
    ),
    "a client that caches": (
        _body(_user("Hi"), system=SHORT),
        {"system.0": "5m", "messages.0.content.0": "5m"},
    ),
    "the client's marks in messages move": (
        _body(_user("Hi", mark=SHORT), _REPLY, _user("a"), _REPLY, _user("b")),
        {"messages.2.content.0": "5m", "messages.4.content.0": "5m"},
    ),
    "a client that has its messages kept for an hour": (
        _body(_user("Hi", mark=HOUR), _REPLY, _user("a", mark=HOUR), system=HOUR),
        {"system.0": "1h", "messages.0.content.0": "1h", "messages.2.content.0": "1h"},
    ),
    "no longer than what stands before": (
        _body(_user("Hi", mark=HOUR), _REPLY, _user("a"), system=SHORT),
        {"system.0": "5m", "messages.0.content.0": "5m", "messages.2.content.0": "5m"},
    ),
    "one is left": (
        _body(_user("Hi"), _REPLY, _user("a"), system=HOUR, tools=2),
        {"tools.0": "1h", "tools.1": "1h", "system.0": "1h", "messages.2.content.0": "5m"},
    ),
    "none is left": (
        _body(_user("Hi"), _REPLY, _user("a"), tools=4),
        {f"tools.{at}": "1h" for at in range(4)},
    ),
    "the provider marks by itself": (
        _body(_user("Hi"), _REPLY, _user("a"), cache_control=SHORT),
        {"": "5m"},
    ),
    "a turn of the model that goes on": (
        _body(_user("Hi"), _REPLY, _user("a"), _REPLY),
        {"messages.0.content.0": "5m", "messages.2.content.0": "5m"},
    ),
    "a result is the newest": (
        _body(
            _user("Hi"),
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f0", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "1"}]},
            tools=1,
        ),
        {"tools.0": "1h", "messages.0.content.0": "5m", "messages.2.content.0": "5m"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), MARKED.values(), ids=MARKED)
def test_marks_stand_where_the_next_request_finds_them(body: Json, expected: dict[str, object]) -> None:
    found = written(read_request(body, Wire.ANTHROPIC))

    assert _marks(found) == expected


def test_the_next_request_begins_with_what_was_marked() -> None:
    history = [_user("Hi"), _REPLY, _user("a", "b")]
    first = written(read_request(_body(*history), Wire.ANTHROPIC))
    second = written(read_request(_body(*history, _REPLY, _user("c")), Wire.ANTHROPIC))

    (newest,) = set(_marks(first)) - {"messages.0.content.0"}
    assert newest in _marks(second)
    assert _unmarked(_list(second["messages"])[:3]) == _unmarked(first["messages"])


def _unmarked(value: object) -> object:
    if isinstance(value, dict):
        return {key: _unmarked(item) for key, item in value.items() if key != "cache_control"}
    return [_unmarked(item) for item in value] if isinstance(value, list) else value


# --------------------------------------------------------------------------- what other services want back

_OTHERS: Json = {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm.", "annotations": []}
KEPT: dict[str, Callable[[list[Json]], list[Json]]] = {
    "the same history": lambda messages: messages,
    "another beginning": lambda messages: [{"role": "user", "content": "Before."}, *messages[1:]],
}


@pytest.mark.parametrize("changed", KEPT.values(), ids=KEPT)
def test_reasoning_of_other_services_goes_back_on_messages_that_are_shown_unchanged(
    changed: Callable[[list[Json]], list[Json]],
) -> None:
    history: list[Json] = [
        {"role": "user", "content": "Well?"},
        _OTHERS,
        {"role": "user", "content": "Sure?"},
        {**_OTHERS, "content": "No.", "reasoning_content": "Hm, hm."},
        {"role": "user", "content": "Hm?"},
    ]
    asked = read_request({"model": "m", "messages": history}, Wire.OPENAI)

    messages = _list(written(asked, changed(history))["messages"])

    assert [each.get("reasoning_content") for each in messages] == [None, "Hm.", None, "Hm, hm.", None]
    assert not any("annotations" in each for each in messages)


def test_what_was_said_aloud_goes_back_by_its_id() -> None:
    history: list[Json] = [
        {"role": "user", "content": "Well?"},
        {"role": "assistant", "content": None, "audio": {"id": "audio_1"}},
        {"role": "user", "content": "Sure?"},
    ]

    assert written(read_request({"model": "m", "messages": history}, Wire.OPENAI))["messages"] == history


def test_signatures_of_calls_go_back_with_their_calls() -> None:
    signed: Json = {"extra_content": {"google": {"thought_signature": "SIG="}}}
    calls = [
        {"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}, **more}
        for id, more in (("a", signed), ("b", {}))
    ]
    history: list[Json] = [
        {"role": "user", "content": "Well?"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
    ]

    assert written(read_request({"model": "m", "messages": history}, Wire.OPENAI))["messages"] == history


def test_marks_of_services_that_cache_by_them_stay_on_messages_that_are_shown_unchanged() -> None:
    parts: list[Json] = [{"type": "text", "text": "Rules."}, {"type": "text", "text": "More.", "cache_control": SHORT}]
    history: list[Json] = [{"role": "system", "content": parts}, {"role": "user", "content": parts[1:]}]
    asked = read_request({"model": "m", "messages": history}, Wire.OPENAI)

    assert written(asked)["messages"] == history
    changed = written(asked, [{"role": "system", "content": "Sing."}, {"role": "user", "content": parts[1:]}])
    assert changed["messages"] == [{"role": "system", "content": "Sing."}, history[1]]


def test_reasoning_goes_back_on_its_own_message_where_others_say_the_same() -> None:
    plain: Json = {"role": "assistant", "content": "Yes."}
    history: list[Json] = [
        {"role": "user", "content": "Well?"},
        plain,
        {"role": "user", "content": "Sure?"},
        {**plain, "reasoning_content": "Hm."},
        {"role": "user", "content": "Hm?"},
    ]

    assert written(read_request({"model": "m", "messages": history}, Wire.OPENAI))["messages"] == history


def test_reasoning_that_does_not_pass_goes_nowhere() -> None:
    history: list[Json] = [{"role": "user", "content": "Well?"}, _OTHERS, {"role": "user", "content": "Sure?"}]
    asked = read_request({"model": "m", "messages": history}, Wire.OPENAI)
    rendered = render(own_blocks(asked), Wire.OPENAI, model="m")

    for passes in (lambda text: False, lambda text: "Hm." not in text):
        messages = _list(write_request(asked, rendered, passes=passes)["messages"])
        assert messages[1] == {"role": "assistant", "content": "Yes."}
    assert write_request(asked, rendered)["messages"] == rendered["messages"]


def test_reasoning_of_messages_that_are_not_shown_goes_nowhere() -> None:
    history: list[Json] = [{"role": "user", "content": "Well?"}, _OTHERS, {"role": "user", "content": "Sure?"}]
    asked = read_request({"model": "m", "messages": history}, Wire.OPENAI)

    messages = _list(written(asked, [history[0], {"role": "assistant", "content": "…"}, history[2]])["messages"])

    assert not any("reasoning_content" in each for each in messages)


def test_a_written_body_is_accepted() -> None:
    for wire, body in BODIES.items():
        found = written(read_request(body, wire))
        found["tools"] = [tool for tool in _list(found["tools"]) if tool.get("type") != "mcp_toolset"]

        assert problems(found, wire) == []


def _list(value: object) -> list[Json]:
    assert isinstance(value, list)
    return value


# --------------------------------------------------------------------------- items of Responses


def test_text_alone_is_what_the_user_says() -> None:
    asked = read_request({"model": "m", "input": "Hi"}, Wire.OPENAI_RESPONSES)

    assert written(asked) == {"model": "m", "input": [{"role": "user", "content": "Hi"}]}


@pytest.mark.parametrize(
    ("said", "sent"),
    [
        ({"instructions": "Be brief.", "input": "Hi"}, None),
        ({"input": [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Hi"}]}, None),
        (
            {"input": [{"role": "system", "content": [{"type": "input_text", "text": "Be brief."}]}]},
            {"input": [{"role": "system", "content": [{"type": "input_text", "text": "Be brief."}]}]},
        ),
    ],
)
def test_instructions_stay_where_the_client_had_them(said: Json, sent: Json | None) -> None:
    asked = read_request({"model": "m", **said}, Wire.OPENAI_RESPONSES)

    found = written(asked)
    other = written(asked, [{"role": "developer", "content": "Sing."}, {"role": "user", "content": "Hi"}])

    assert ("instructions" in found) is ("instructions" in other) is ("instructions" in said)
    assert [atom[1:] for atom in atoms(asked.instructions)] == [("text", "Be brief.")]
    assert "Sing." in json.dumps(other)
    assert "Be brief." not in json.dumps(other)
    if sent is not None:
        assert _list(found["input"])[0] == _list(sent["input"])[0]


@pytest.mark.parametrize(
    ("given", "previous"),
    [
        ({"previous_response_id": "resp_1"}, "resp_1"),
        ({"conversation": "conv_1"}, "conv_1"),
        ({"conversation": {"id": "conv_1"}}, "conv_1"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}, {"role": "user", "content": "x"}]}, "msg_1"),
        ({"input": [{"id": "rs_1"}, {"role": "user", "content": "x"}]}, "rs_1"),
        # What it refers to is as unknown where the response is known that it goes on from.
        ({"previous_response_id": "resp_1", "input": [{"type": "item_reference", "id": "msg_1"}]}, "msg_1"),
        ({"input": [{"type": "program", "id": "p_1"}, {"role": "user", "content": "x"}]}, "p_1"),
        ({"input": [{"type": "configuration_update"}, {"role": "user", "content": "x"}]}, "configuration_update"),
        ({"input": [{"type": "compaction", "encrypted_content": "E="}, {"role": "user", "content": "x"}]}, None),
        ({"input": [{"role": "user", "content": [{"type": "unheard_of"}]}]}, "unheard_of"),
        ({"previous_response_id": None, "conversation": None}, None),
    ],
)
def test_what_only_the_provider_knows_is_told(given: Json, previous: str | None) -> None:
    asked = read_request(ITEMS | given, Wire.OPENAI_RESPONSES)

    assert asked.previous == previous
    # What is written holds the whole history.
    assert not {"previous_response_id", "conversation"} & written(asked).keys()


def test_a_request_that_goes_on_from_kept_items_needs_none() -> None:
    asked = read_request({"model": "m", "previous_response_id": "resp_1"}, Wire.OPENAI_RESPONSES)

    assert (asked.previous, asked.blocks) == ("resp_1", ())


def test_a_prompt_that_is_kept_may_name_the_model() -> None:
    asked = read_request({"prompt": {"id": "pmpt_1"}}, Wire.OPENAI_RESPONSES)

    assert asked.model == ""
    assert written(asked, [{"role": "user", "content": "Hi"}])["prompt"] == {"id": "pmpt_1"}


def test_cache_marks_stay_on_items_that_are_shown_unchanged() -> None:
    found = written(read_request(ITEMS, Wire.OPENAI_RESPONSES))

    marked = [part for item in _list(found["input"]) for part in _parts(item) if "prompt_cache_breakpoint" in part]
    assert marked == [{"type": "input_text", "text": "Weather?", "prompt_cache_breakpoint": POINT}]


def _parts(item: Json) -> list[Json]:
    content = item.get("content")
    return content if isinstance(content, list) else []
