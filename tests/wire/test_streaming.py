"""Streams gathered to whole responses, event by event, and whole responses as streams."""

import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.assemble.blocks import Call
from callsheet.graph.enums import Defect, RunStatus
from callsheet.wire.formats import parse_reply
from callsheet.wire.names import Wire
from callsheet.wire.sse import Lines
from callsheet.wire.streaming import Gatherer, events, gathering
from tests.wire.responses import Json, anthropic_responses, chat_responses, gemini_responses, item_responses

RESPONSES = {
    Wire.OPENAI: chat_responses,
    Wire.OPENAI_RESPONSES: item_responses,
    Wire.GEMINI: gemini_responses,
    Wire.ANTHROPIC: anthropic_responses,
}

table = pytest.mark.parametrize("wire", RESPONSES)


def gathered(wire: Wire, data: Iterable[Json]) -> Json | None:
    made = gathering(wire)
    for each in data:
        before = json.dumps(each)
        made.feed(each)
        assert json.dumps(each) == before, "what was given is not changed"
    return made.response()


@table
@given(data=st.data())
def test_a_response_comes_back_from_its_own_stream_however_that_is_cut(wire: Wire, data: st.DataObject) -> None:
    response = data.draw(RESPONSES[wire])
    stream = b"".join(events(response, wire))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=10)))

    whole = Gatherer(wire)
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        whole.feed(stream[start:end])
    whole.close()

    assert whole.response() == response
    assert whole.ended
    assert whole.failure is None
    assert whole.broken == 0


@table
@given(data=st.data())
def test_half_a_stream_is_not_ended_and_can_be_read(wire: Wire, data: st.DataObject) -> None:
    response = data.draw(RESPONSES[wire])
    pieces = list(events(response, wire))
    half = Gatherer(wire)
    for piece in pieces[: data.draw(st.integers(0, len(pieces) - 1))]:
        half.feed(piece)
    found = half.response()

    if found is not None:
        finish = parse_reply(found, wire).finish
        assert half.ended or finish is None or len(_listed(response.get("choices"))) > 1


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


_anything: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def _damaged(data: st.DataObject, value: object) -> object:
    """The value with something else in one place."""
    if data.draw(st.integers(0, 3)) == 0:
        return data.draw(_anything)
    if isinstance(value, dict) and value:
        key = data.draw(st.sampled_from(sorted(value)))
        return {**value, key: _damaged(data, value[key])}
    if isinstance(value, list) and value:
        at = data.draw(st.integers(0, len(value) - 1))
        return [*value[:at], _damaged(data, value[at]), *value[at + 1 :]]
    return data.draw(_anything)


@table
@given(data=st.data())
def test_nothing_that_a_service_streams_makes_gathering_fail(wire: Wire, data: st.DataObject) -> None:
    made = gathering(wire)
    lines = Lines()
    for piece in events(data.draw(RESPONSES[wire]), wire):
        for each in lines.feed(piece):
            found = _damaged(data, each.fields) if each.fields is not None and data.draw(st.booleans()) else each.fields
            if isinstance(found, dict):
                made.feed(found)
                made.response()


# --------------------------------------------------------------------------- Chat Completions


def _chunk(**said: object) -> Json:
    return {"id": "c1", "object": "chat.completion.chunk", "created": 7, "model": "m", **said}


def _delta(finish: str | None = None, index: int = 0, **delta: object) -> Json:
    return _chunk(choices=[{"index": index, "delta": delta, "finish_reason": finish, "logprobs": None}])


def _piece(index: int | None = None, **said: object) -> list[Json]:
    return [said if index is None else {"index": index, **said}]


def _called(id: str, name: str, arguments: str) -> Json:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


_FIRST = _delta(role="assistant", content="", refusal=None)
_PARALLEL = [_called("a", "f", '{"x": 1}'), _called("b", "g", "{}")]

MESSAGES: dict[str, tuple[list[Json], Json]] = {
    "text": ([_FIRST, _delta(content="He"), _delta(content="llo")], {"content": "Hello", "refusal": None}),
    "the role in every chunk": (
        [_delta(role="assistant", content="a"), _delta(role="assistant", content="b")],
        {"content": "ab"},
    ),
    "a refusal": ([_FIRST, _delta(refusal="I "), _delta(refusal="won't.")], {"content": "", "refusal": "I won't."}),
    "parallel calls, mixed": (
        [
            _delta(role="assistant", content=None, tool_calls=_piece(0, **_called("a", "f", ""))),
            _delta(tool_calls=_piece(1, **_called("b", "g", ""))),
            _delta(tool_calls=_piece(0, function={"arguments": '{"x"'})),
            _delta(tool_calls=_piece(1, function={"arguments": "{}"})),
            _delta(tool_calls=_piece(0, function={"arguments": ": 1}"})),
        ],
        {"content": None, "tool_calls": _PARALLEL},
    ),
    "several pieces in one chunk": (
        [
            _delta(
                tool_calls=[
                    {"index": 0, **_called("a", "f", '{"x"')},
                    {"index": 1, **_called("b", "g", "{}")},
                    {"index": 0, "function": {"arguments": ": 1}"}},
                ]
            )
        ],
        {"tool_calls": _PARALLEL},
    ),
    "calls without numbers": (
        [
            _delta(tool_calls=[_called("a", "f", '{"x"')]),
            _delta(tool_calls=_piece(function={"arguments": ": 1}"})),
            _delta(tool_calls=[_called("b", "g", "{}")]),
        ],
        {"tool_calls": _PARALLEL},
    ),
    "all calls under one number": (
        [
            _delta(tool_calls=_piece(0, **_called("a", "f", '{"x": 1}'))),
            _delta(tool_calls=_piece(0, **_called("b", "g", "{}"))),
        ],
        {"tool_calls": _PARALLEL},
    ),
    "id and name in every piece": (
        [
            _delta(tool_calls=_piece(0, **_called("a", "f", '{"x"'))),
            _delta(tool_calls=_piece(0, **_called("a", "f", ": 1}"))),
        ],
        {"tool_calls": _PARALLEL[:1]},
    ),
    "an empty id in later pieces": (
        [
            _delta(tool_calls=_piece(0, **_called("a", "f", '{"x"'))),
            _delta(tool_calls=_piece(0, id="", function={"arguments": ": 1}"})),
        ],
        {"tool_calls": _PARALLEL[:1]},
    ),
    "a name in pieces": (
        [
            _delta(tool_calls=_piece(0, id="a", type="function", function={"name": "get_", "arguments": ""})),
            _delta(tool_calls=_piece(0, function={"name": "time"})),
        ],
        {"tool_calls": [_called("a", "get_time", "")]},
    ),
    "a custom call": (
        [
            _delta(tool_calls=_piece(0, id="a", type="custom", custom={"name": "sh", "input": "l"})),
            _delta(tool_calls=_piece(0, custom={"input": "s"})),
        ],
        {"tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "sh", "input": "ls"}}]},
    ),
    "the older function call": (
        [_delta(function_call={"name": "f", "arguments": ""}), _delta(function_call={"arguments": "{}"})],
        {"function_call": {"name": "f", "arguments": "{}"}},
    ),
    "reasoning of others": (
        [_delta(reasoning_content="Hm"), _delta(reasoning_content="."), _delta(content="Yes", reasoning_content=None)],
        {"reasoning_content": "Hm.", "content": "Yes"},
    ),
    "reasoning in details": (
        [
            _delta(reasoning_details=[{"type": "reasoning.text", "index": 0, "text": "H", "format": "x"}]),
            _delta(reasoning_details=[{"type": "reasoning.text", "index": 0, "text": "m", "format": "x"}]),
            _delta(reasoning_details=[{"type": "reasoning.encrypted", "index": 0, "data": "E="}]),
        ],
        {
            "reasoning_details": [
                {"type": "reasoning.text", "index": 0, "text": "Hm", "format": "x"},
                {"type": "reasoning.encrypted", "index": 0, "data": "E="},
            ]
        },
    ),
    "content in parts and text": (
        [_delta(content=[{"type": "thinking", "thinking": "Hm"}]), _delta(content="Yes"), _delta(content="")],
        {"content": [{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Yes"}]},
    ),
    "sound": (
        [
            _delta(audio={"id": "a", "transcript": "He"}),
            _delta(audio={"transcript": "llo"}),
            _delta(audio={"expires_at": 9}),
        ],
        {"audio": {"id": "a", "transcript": "Hello", "expires_at": 9}},
    ),
}


@pytest.mark.parametrize(("data", "message"), MESSAGES.values(), ids=MESSAGES)
def test_chunks_become_the_message(data: list[Json], message: Json) -> None:
    found = gathered(Wire.OPENAI, [*data, _delta(finish="stop")])

    assert found == {
        "id": "c1",
        "object": "chat.completion",
        "created": 7,
        "model": "m",
        "choices": [
            {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop", "logprobs": None}
        ],
    }


def test_choices_usage_and_filters_are_gathered_beside_the_message() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    found = gathered(
        Wire.OPENAI,
        [
            _chunk(choices=[], prompt_filter_results=[{"prompt_index": 0}], id="", model=""),
            _delta(index=1, content="b"),
            _delta(index=0, content="a"),
            _delta(index=0, finish="stop"),
            _chunk(choices=[{"index": 1, "delta": {}, "finish_reason": "length", "content_filter_results": {"x": 1}}]),
            _chunk(choices=[], usage=usage, obfuscation="xxxx", service_tier="default"),
            _chunk(choices=[], usage=None, service_tier=None, id="", model=""),
        ],
    )

    assert found is not None
    assert found["usage"] == usage
    assert (found["id"], found["model"], found["service_tier"]) == ("c1", "m", "default")
    assert found["prompt_filter_results"] == [{"prompt_index": 0}]
    assert "obfuscation" not in found
    choices = found["choices"]
    assert isinstance(choices, list)
    assert [(each["message"]["content"], each["finish_reason"]) for each in choices] == [("a", "stop"), ("b", "length")]
    assert choices[1]["content_filter_results"] == {"x": 1}


def test_figures_of_tokens_add_up_over_chunks() -> None:
    def of(token: str) -> Json:
        said = {"content": [{"token": token}], "refusal": None}
        return _chunk(choices=[{"index": 0, "delta": {"content": token}, "logprobs": said, "finish_reason": None}])

    found = gathered(Wire.OPENAI, [of("a"), of("b")])

    assert found is not None
    assert found["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "ab"},
            "finish_reason": None,
            "logprobs": {"content": [{"token": "a"}, {"token": "b"}], "refusal": None},
        }
    ]


def test_an_error_among_chunks_is_a_failure_and_what_came_before_is_kept() -> None:
    made = Gatherer(Wire.OPENAI)
    made.feed(b'data: {"id":"c1","choices":[{"index":0,"delta":{"content":"Hal"}}]}\n\n')
    made.feed(b'data: {"error":{"message":"overloaded","type":"server_error"}}\n\n')

    assert made.ended
    assert made.failure == {"error": {"message": "overloaded", "type": "server_error"}}
    reply = made.response()
    assert reply is not None
    assert parse_reply(reply, Wire.OPENAI).finish is None


# --------------------------------------------------------------------------- Messages

_START: Json = {
    "type": "message_start",
    "message": {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": 4, "service_tier": "standard"},
    },
}
_STOP: list[Json] = [
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 12, "cache_read_input_tokens": None, "server_tool_use": {"web_search_requests": 1}},
    },
    {"type": "message_stop"},
]


def _block(index: int, block: Json, *deltas: Json) -> list[Json]:
    made = [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    start: Json = {"type": "content_block_start", "index": index, "content_block": block}
    return [start, *made, {"type": "content_block_stop", "index": index}]


def _input(*pieces: str) -> list[Json]:
    return [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


_CITED: Json = {"type": "char_location", "cited_text": "x"}
_USE: Json = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
_SEARCH: Json = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
_FOUND: Json = {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"type": "web_search_result"}]}

BLOCKS: dict[str, tuple[list[Json], list[Json]]] = {
    "text": (
        _block(
            0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "He"}, {"type": "text_delta", "text": "y"}
        ),
        [{"type": "text", "text": "Hey"}],
    ),
    "ping between": (
        [{"type": "ping"}, *_block(0, {"type": "text", "text": "a"}), {"type": "ping"}],
        [{"type": "text", "text": "a"}],
    ),
    "thinking with a signature": (
        _block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "H"},
            {"type": "thinking_delta", "thinking": "m"},
            {"type": "signature_delta", "signature": "SIG="},
        ),
        [{"type": "thinking", "thinking": "Hm", "signature": "SIG="}],
    ),
    "redacted thinking": (
        _block(0, {"type": "redacted_thinking", "data": "E="}),
        [{"type": "redacted_thinking", "data": "E="}],
    ),
    "a call": (_block(0, _USE, *_input("", '{"a"', ": [1, 2.50]}")), [{**_USE, "input": {"a": [1, 2.5]}}]),
    "a call without arguments": (_block(0, _USE, *_input("")), [_USE]),
    "a call that was cut off": (_block(0, _USE, *_input('{"a"')), [{**_USE, "input": '{"a"'}]),
    "calls side by side": (
        [*_block(0, _USE, *_input('{"a":1}')), *_block(1, {**_USE, "id": "u"}, *_input('{"b":2}'))],
        [{**_USE, "input": {"a": 1}}, {**_USE, "id": "u", "input": {"b": 2}}],
    ),
    "a server tool": (
        [*_block(0, _SEARCH, *_input('{"query":"x"}')), *_block(1, _FOUND)],
        [{**_SEARCH, "input": {"query": "x"}}, _FOUND],
    ),
    "citations": (
        _block(
            0,
            {"type": "text", "text": "", "citations": []},
            {"type": "text_delta", "text": "x"},
            {"type": "citations_delta", "citation": _CITED},
            {"type": "citations_delta", "citation": _CITED},
        ),
        [{"type": "text", "text": "x", "citations": [_CITED, _CITED]}],
    ),
    "citations of a block that has none yet": (
        _block(0, {"type": "text", "text": "x"}, {"type": "citations_delta", "citation": _CITED}),
        [{"type": "text", "text": "x", "citations": [_CITED]}],
    ),
    "a compaction": (
        _block(
            0,
            {"type": "compaction", "content": None},
            {"type": "compaction_delta", "content": "so far", "encrypted_content": "E="},
        ),
        [{"type": "compaction", "content": "so far", "encrypted_content": "E="}],
    ),
    "a delta of no block": ([{"type": "content_block_delta", "index": 7, "delta": {"type": "text_delta"}}], []),
    "events unheard of": ([{"type": "unheard_of", "index": 0}, {}], []),
}


@pytest.mark.parametrize(("data", "content"), BLOCKS.values(), ids=BLOCKS)
def test_events_become_the_blocks(data: list[Json], content: list[Json]) -> None:
    found = gathered(Wire.ANTHROPIC, [_START, *data, *_STOP])

    message = _START["message"]
    assert isinstance(message, dict)
    assert found == {
        **message,
        "content": content,
        "stop_reason": "end_turn",
        "usage": {**message["usage"], "output_tokens": 12, "server_tool_use": {"web_search_requests": 1}},
    }


def test_what_is_known_at_the_end_alone_is_taken_then() -> None:
    refused = {"stop_reason": "refusal", "stop_details": {"type": "refusal"}, "container": {"id": "c"}}
    end: Json = {"type": "message_delta", "delta": refused, "usage": {"output_tokens": 1}, "context_management": None}

    found = gathered(Wire.ANTHROPIC, [_START, {**end, "context_management": {"applied_edits": []}}, end])

    assert found is not None
    assert {key: found[key] for key in refused} == refused
    assert found["context_management"] == {"applied_edits": []}
    assert parse_reply(found, Wire.ANTHROPIC).status is RunStatus.REFUSED


def test_another_model_that_takes_over_gives_the_response_its_name() -> None:
    fallback: Json = {"type": "fallback", "to": {"model": "claude-b"}}

    found = gathered(Wire.ANTHROPIC, [_START, *_block(0, fallback)])

    assert found is not None
    assert found["model"] == "claude-b"


def test_a_stream_that_breaks_off_in_a_call_keeps_what_came() -> None:
    made = gathering(Wire.ANTHROPIC)
    for each in [_START, *_block(0, _USE, *_input('{"path": "/et'))]:
        made.feed(each)
    found = made.response()

    assert not made.ended
    assert found is not None
    (part,) = parse_reply({**found, "stop_reason": "max_tokens"}, Wire.ANTHROPIC).said.parts
    assert isinstance(part, Call)
    assert part.defects == (Defect.CUT_OFF_ARGUMENTS,)
    assert part.arguments == '{"path": "/et'


def test_an_error_event_is_a_failure() -> None:
    made = Gatherer(Wire.ANTHROPIC)
    made.feed(b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n')

    assert made.ended
    assert made.response() is None
    assert made.failure == {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


@table
def test_events_that_cannot_be_read_are_counted_and_passed_over(wire: Wire) -> None:
    made = Gatherer(wire)
    for piece in (b": open\n\n", b"data: {\n\n", b"data: \xff\n\n", b"data: 1\n\n", b"data: [DONE]\n\n", b"data: {"):
        made.feed(piece)
    made.close()

    assert made.broken == 4
    assert made.response() is None
    assert made.ended
