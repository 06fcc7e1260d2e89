"""Tokens of a request, and how many of them a prompt cache would serve."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.evaluate.billing import Bill, Meter
from callsheet.evaluate.messages import Call, Message
from tests.evaluate.conversations import Words


def said(text: str | None, *calls: tuple[str, str], role: str = "assistant", call_id: str = "c") -> Message:
    asked = tuple(Call(id=call_id, name=name, arguments=arguments) for name, arguments in calls)
    return Message(role=role, content=text, calls=asked)


def cached(request: Sequence[Message], previous: Sequence[Message]) -> int:
    return Meter(Words()).bill(request, previous).cached


def test_contents_tool_names_and_arguments_are_counted() -> None:
    assert Meter(Words()).tokens(said("one two", ("look up", '{"a": 1}'), ("t", "{}"))) == 2 + 2 + 2 + 1 + 1


def test_a_text_is_tokenised_once() -> None:
    class Counting(Words):
        texts: list[str] = []  # noqa: RUF012

        def count(self, text: str) -> int:
            self.texts.append(text)
            return super().count(text)

    meter = Meter(Counting())
    for _ in range(2):
        meter.total([said("a b"), said("a b", role="user"), said("a b")])
    assert Counting.texts == ["a b"]


def test_cached_tokens_cost_a_tenth() -> None:
    assert Bill(tokens=100, cached=80).billed == pytest.approx(28)


A, B = said("a a a", role="user"), said("b b")


@pytest.mark.parametrize(
    ("request_", "previous", "expected"),
    [
        ([A, B], [], 0),
        ([A, B], [A], 3),
        ([A], [A, B], 3),
        ([A, B, A], [A, A, A], 3),
        # Within the first message that differs, its own common start counts, but only of the same role.
        ([said("x y z")], [said("x y w")], 2),
        ([said("x y z"), A], [said("x y w"), A], 2),
        ([said("x y")], [said("x y z")], 2),
        ([said("x y", role="user")], [said("x y z", role="tool")], 0),
        # Ids are not sent in a way that counts.
        ([said("x", ("t", "{}"), call_id="1"), A], [said("x", ("t", "{}"), call_id="2"), A], 6),
        ([said(None, ("t", "{}"))], [said("", ("t", "{}"))], 2),
        # Calls are compared one by one.
        ([said("x", ("t", "1 2 3"))], [said("x", ("t", "1 2 4"))], 4),
        ([said("x", ("t", "1"), ("u", "2"))], [said("x", ("t", "1"))], 3),
        ([said("x", ("t", "1"), ("u", "2"))], [said("x", ("u", "1"), ("u", "2"))], 1),
        ([said("x", ("t", "1 2"), ("u", "2"))], [said("x", ("t", "1 3"), ("u", "2"))], 3),
    ],
)
def test_the_common_prefix(request_: list[Message], previous: list[Message], expected: int) -> None:
    assert cached(request_, previous) == expected


MESSAGES = st.lists(
    st.builds(said, st.sampled_from(["a", "a b", "b a", "", None]), role=st.sampled_from(["user", "assistant"])),
    max_size=5,
)


@given(MESSAGES, MESSAGES)
def test_the_cached_part_is_never_more_than_either_request(ours: list[Message], theirs: list[Message]) -> None:
    meter = Meter(Words())
    bill = meter.bill(ours, theirs)
    assert bill.tokens == meter.total(ours)
    assert 0 <= bill.cached <= min(bill.tokens, meter.total(theirs))
    assert meter.bill(ours, ours).cached == bill.tokens
    assert meter.bill([*ours, *theirs], ours).cached >= meter.total(ours)
