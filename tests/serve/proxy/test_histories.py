"""What is known of histories that came before never changes what is made of one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.errors import InvalidMessage
from callsheet.serve.proxy.hashing import Chain, mark
from callsheet.serve.proxy.histories import Chains, Messages
from callsheet.wire.asked import read_request
from callsheet.wire.body import ReadMessage
from callsheet.wire.names import Wire
from callsheet.wire.openai_chat.parse import parse_message

START = Chain.empty(mark(b"history", b"k" * 32, b"one"))
OTHER = Chain.empty(mark(b"history", b"k" * 32, b"two"))

_CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
_TURNS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {"role": "user", "content": "a"},
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
        {"role": "assistant", "content": "b"},
        {"role": "assistant", "content": " "},
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": None, "tool_calls": [_CALL]},
        {"role": "assistant", "content": None, "tool_calls": [_CALL, {**_CALL, "id": "d"}]},
        {"role": "tool", "tool_call_id": "c", "content": "1"},
        {"role": "tool", "tool_call_id": "d", "content": "1.0"},
        {"role": "tool", "tool_call_id": "c", "content": ""},
        {"role": "system", "content": "s"},
    ]
)
_HISTORIES = st.lists(st.lists(_TURNS, min_size=1, max_size=14), min_size=1, max_size=6)


@given(_HISTORIES, st.integers(0, 40), st.sampled_from([1, 9, 1 << 20]))
def test_a_history_has_the_links_that_it_has_by_itself(
    histories: list[list[dict[str, Any]]], most: int, bytes: int
) -> None:
    messages, chains = Messages(bytes), Chains(most)
    # Each also as it begins, with the next behind it, and again.
    asked = [
        [*one[:at], *then] for one, then in zip(histories, [*histories[1:], []], strict=True) for at in (99, 5, 99)
    ]
    for start in (START, OTHER, START):
        for history in filter(None, asked):
            body = json.loads(json.dumps({"model": "m", "messages": history}))
            plain = read_request(body, Wire.OPENAI)
            known = read_request(body, Wire.OPENAI, remember=messages.remembered)
            assert known == plain
            assert chains.links(start, known.blocks) == start.links(plain.blocks)


def test_a_message_that_came_before_is_not_read_again() -> None:
    read: list[str] = []

    def reads(message: object, where: str) -> Any:
        read.append(where)
        return parse_message(message, where)

    messages = Messages()
    for _ in range(3):
        for at, text in enumerate("aba"):
            messages.remembered(reads)({"role": "user", "content": text}, f"messages[{at}]")
    assert read == ["messages[0]", "messages[1]"]


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), (1, True), (0, False), (0.0, -0.0), (None, "null"), ("1", 1)])
def test_what_only_looks_alike_is_read(one: object, other: object) -> None:
    read = Messages().remembered(parse_message)
    for value in (one, other):
        message = {"role": "user", "content": "a", "more": value}
        assert read(message, "m") == parse_message(message, "m")


def test_another_format_reads_by_itself() -> None:
    messages, message = Messages(), {"role": "user", "content": "a"}

    def others(message: object, where: str) -> Any:
        return ()

    kinds: list[ReadMessage] = [parse_message, others]
    assert [messages.remembered(kind)(message, "m") for kind in kinds] == [parse_message(message, "m"), ()]


def test_what_is_refused_is_refused_each_time_at_its_place() -> None:
    read = Messages().remembered(parse_message)
    for where in ("messages[1]", "messages[7]"):
        with pytest.raises(InvalidMessage) as refused:
            read({"role": "nobody"}, where)
        assert refused.value.where == f"{where}.role"


def test_so_much_is_remembered_and_no_more() -> None:
    messages, chains = Messages(10_000), Chains(100)
    for number in range(200):
        history = [{"role": "user", "content": f"{number}/{at} {'x' * 100}"} for at in range(10)]
        asked = read_request({"model": "m", "messages": history}, Wire.OPENAI, remember=messages.remembered)
        chains.links(START, asked.blocks)
    assert sum(len(written) for _, written in [*messages._young, *messages._old]) < 2 * 10_000 + 200
    assert sum(len(links) for _, links in chains._known.values()) == chains._size <= 100
