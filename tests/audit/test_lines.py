"""What a line may look like, and why one is refused: the place, the value, and the problem."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.assemble.blocks import Answer, Said
from callsheet.audit.exchange.lines import parse_line
from callsheet.errors import InputError
from callsheet.graph.enums import ArtifactStatus, Defect, Role
from callsheet.graph.times import instant

REFUSED = [
    (b"not json", "not JSON (Expecting value"),
    (b'{"id": "a"', "not JSON (Expecting"),
    (b"", "not JSON"),
    (b'"text"', 'must be an object with "messages", or a list of messages'),
    (b"7", 'must be an object with "messages", or a list of messages'),
    (b'{"id": "a"}', 'must be an object with "messages", or a list of messages'),
    (b'{"messages": {}}', "messages: must be a list, not {}"),
    (b'{"messages": [7]}', "messages[0]: must be an object, not 7"),
    (b'{"messages": [{"content": "x"}]}', "messages[0].role: is missing"),
    (b'{"messages": [{"role": "alien", "content": "x"}]}', "messages[0].role: must be one of"),
    (b'{"messages": [{"role": []}]}', "messages[0].role: must be text, not []"),
    (b'{"messages": [{"role": {}}]}', "messages[0].role: must be text, not {}"),
    (b'{"messages": [{"role": "user", "content": 7}]}', "messages[0].content: must be text or a list of parts"),
    (b'[{"role": "user", "content": "x"}, {"role": "tool"}, []]', "messages[2]: must be an object"),
    (b'{"id": 7, "messages": []}', "id: must be text and not empty, not 7"),
    (b'{"id": "", "messages": []}', "id: must be text and not empty"),
    (b'{"user": ["mia"], "messages": []}', "user: must be text and not empty"),
    (b'{"branch": {"name": "b", "at": 1}, "messages": []}', 'a branch must name its conversation by "id"'),
    (b'{"id": "a", "branch": "b", "messages": []}', "branch: must be an object"),
    (b'{"id": "a", "branch": {"at": 1}, "messages": []}', "branch.name: a branch must have a name"),
    (b'{"id": "a", "branch": {"name": "b"}, "messages": []}', "branch.at: must be a number of messages, not None"),
    (b'{"id": "a", "branch": {"name": "b", "at": -1}, "messages": []}', "branch.at: must be a number of messages"),
    (b'{"id": "a", "branch": {"name": "b", "at": true}, "messages": []}', "branch.at: must be a number of messages"),
    (
        b'[{"role": "user", "content": "x", "x_at": "2026-01-01T09:00:00"}]',
        "messages[0].x_at: 2026-01-01T09:00:00 has no zone",
    ),
    (b'[{"role": "user", "content": "x", "x_at": "noon"}]', "messages[0].x_at: 'noon' is not an ISO 8601 time"),
    (b'[{"role": "user", "content": "x", "x_at": []}]', "messages[0].x_at: must be a time, not []"),
    (
        b'[{"role": "tool", "content": "x", "x_status": "broken"}]',
        "messages[0].x_status is 'broken'; it must be one of",
    ),
    (b'[{"role": "tool", "content": "x", "x_status": 7}]', "messages[0].x_status: must be text, not 7"),
    (b'[{"role": "user", "content": "x", "x_status": "failed"}]', "messages[0].x_status: goes with a tool result"),
    (b'[{"role": "user", "content": "x", "content": "y"}]', "the key 'content' stands twice in one object"),
    (b'[{"role": "user", "content": "\xff"}]', "not UTF-8 (byte 30)"),
    (b'[{"role": "user", "content": ' + b"[" * 100_000 + b"]" * 100_000 + b"}]", "nested too deep"),
    (b'[{"role": "user", "content": "x", "y": ' + b"[" * 500 + b"]" * 500 + b"}]", "must be nested at most 128 deep"),
    (b'{"system": 7, "messages": []}', "system.content: must be text or a list of parts"),
]


@pytest.mark.parametrize(("content", "problem"), REFUSED, ids=[problem for _, problem in REFUSED])
def test_a_broken_line_is_refused_with_place_and_problem(content: bytes, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_line(content)

    assert problem in str(refused.value)


KEYS = ["role", "content", "type", "text", "x_at", "x_status", "tool_calls", "function", "source", "data", "id", "name"]
json_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.sampled_from(["user", "tool", "system", "text", "tool_result", "failed", "2026-01-01T09:00:00Z", "\ud800"]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["id", "user", "branch", "system"]), json_values), json_values)
def test_a_line_of_any_json_is_read_or_refused(more: dict[str, object], messages: object) -> None:
    for value in (messages, {**more, "messages": messages}, {**more, "messages": [messages]}):
        with suppress(InputError):
            parse_line(json.dumps(value).encode())


def test_times_and_statuses_are_read() -> None:
    line = parse_line(
        b'{"id": "a", "messages": [{"role": "user", "content": "x", "x_at": "2026-03-02T09:00:20+01:00"},'
        b' {"role": "tool", "tool_call_id": "c", "content": "x", "x_status": "timed_out"}]}'
    )

    assert [message.at for message in line.messages] == [instant("2026-03-02T08:00:20Z"), None]
    assert [message.status for message in line.messages] == [None, ArtifactStatus.TIMED_OUT]


def test_anthropics_instruction_stands_first() -> None:
    line = parse_line(
        b'{"system": [{"type": "text", "text": "be kind"}], "messages": [{"role": "user", "content": "x"}]}'
    )

    blocks = [block for message in line.messages for block in message.items]
    assert [block.role for block in blocks if isinstance(block, Said)] == [Role.SYSTEM, Role.USER]


def test_the_results_of_one_anthropic_message_stay_together() -> None:
    line = parse_line(
        b'[{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "1"},'
        b' {"type": "tool_result", "tool_use_id": "b", "content": "2"}, {"type": "text", "text": "go on"}]}]'
    )

    (message,) = line.messages
    assert [type(block) for block in message.items] == [Answer, Answer, Said]


def test_what_is_merely_odd_is_read_with_a_mark() -> None:
    line = parse_line(b'[{"role": "user", "content": "\\u0000 \\ud800"}, {"role": "assistant", "content": ""}]')

    marks = [block.defects for message in line.messages for block in message.items if isinstance(block, Said)]
    assert marks == [(Defect.NUL, Defect.LONE_SURROGATES), (Defect.EMPTY_CONTENT,)]
