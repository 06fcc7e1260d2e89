"""A fact that was observed several times: what came late, observed in between, ends nothing that came after."""

from collections.abc import Iterator, Sequence
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callsheet import Runtime
from callsheet.graph.enums import Privacy
from callsheet.testing import FixedClock, memory_runtime
from tests.memories.user_worlds import NOW, asked, shown, text, values

Observed = tuple[str, int, float]
"""What was said, on which day, and how sure it is."""


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with memory_runtime(clock=FixedClock(NOW)) as made:
        yield made


def day(number: int) -> str:
    return f"2026-05-{number:02}T00:00:00Z"


def told(order: Sequence[Observed], attribute: str | None) -> list[list[tuple[object, ...]]]:
    """The history of these, recorded in this order, as of each day and of now."""
    with memory_runtime(clock=FixedClock(NOW)) as runtime:
        for value, at, confidence in order:
            runtime.remember("mia", value, attribute=attribute, observed=day(at), confidence=confidence)
        times = [*(f"2026-05-{number:02}T12:00:00Z" for number in range(1, 10)), NOW]
        return [
            [(one.value, one.observed, one.status, one.valid_until) for one in found]
            for found in (runtime.memories("mia", history=True, as_of=at) for at in times)
        ]


ORDERS: list[tuple[str, list[Observed], list[str]]] = [
    ("another in between", [("D", 1, 1), ("D", 8, 1), ("C", 6, 1)], ["D"]),
    ("two of each", [("A", 5, 1), ("B", 8, 1), ("B", 2, 1), ("A", 7, 1)], ["B"]),
    ("one surer in between", [("A", 5, 0.5), ("A", 8, 0.5), ("B", 6, 1)], ["B", "A"]),
    ("one less sure in between", [("D", 1, 1), ("D", 8, 1), ("A", 2, 0.5)], ["D"]),
]


@pytest.mark.parametrize(("observed", "stand"), [case[1:] for case in ORDERS], ids=[case[0] for case in ORDERS])
def test_any_order_of_repeats_tells_the_same_history(observed: list[Observed], stand: list[str]) -> None:
    expected = told(observed, "diet")
    assert [value for value, _, status, _ in expected[-1] if status == "current"] == stand
    for order in permutations(observed):
        assert told(order, "diet") == expected, order


SAID = st.lists(
    st.tuples(st.sampled_from("AB"), st.integers(1, 8), st.sampled_from([1.0, 1.0, 0.5])),
    min_size=2,
    max_size=4,
    unique_by=lambda one: one[1],
)


@settings(max_examples=40, deadline=None)
@given(SAID, st.sampled_from([None, "diet"]))
def test_whatever_is_repeated_any_order_tells_the_same(observed: list[Observed], attribute: str | None) -> None:
    expected = told(observed, attribute)
    assert len(expected[-1]) == len(observed)
    for order in permutations(observed):
        assert told(order, attribute) == expected, order


@pytest.mark.parametrize("attribute", [None, "tea"])
def test_a_repeat_is_as_private_as_much_shown_and_reached_by_the_id_of_the_first(
    runtime: Runtime, attribute: str | None
) -> None:
    first = runtime.remember(
        "mia", "likes tea", attribute=attribute, observed=day(1), privacy="connected_account", always=True
    )
    again = runtime.remember("mia", "likes tea", attribute=attribute, observed=day(8))
    assert (again.privacy, again.always) == (Privacy.CONNECTED_ACCOUNT, True)

    runtime.pin("mia", first.id, pinned=False)
    assert not runtime.memory("mia", again.id).always
    new = runtime.update("mia", first.id, "likes coffee")
    assert values(runtime.memories("mia")) == ["likes coffee"]
    assert runtime.memory("mia", again.id).replaced_by == (new.id,)


@pytest.mark.parametrize("attribute", [None, "tea"])
def test_forgetting_a_fact_forgets_it_as_often_as_it_was_observed_in_a_row(
    runtime: Runtime, attribute: str | None
) -> None:
    one, *_, last = (runtime.remember("mia", "likes tea", attribute=attribute, observed=day(at)).id for at in (1, 9, 5))
    assert runtime.forget("mia", last).gone
    assert runtime.memories("mia", history=True) == []
    assert runtime.forget("mia", one).already_gone == (one,)


def test_what_held_in_between_keeps_the_others(runtime: Runtime) -> None:
    first = runtime.remember("mia", "likes tea", attribute="drink", observed=day(1))
    runtime.remember("mia", "likes tea", attribute="drink", observed=day(8))
    runtime.remember("mia", "likes coffee", attribute="drink", observed=day(5))
    assert runtime.forget("mia", first.id).gone == (first.id,)
    assert values(runtime.memories("mia", history=True)) == ["likes coffee", "likes tea"]


def test_a_request_that_shows_a_fact_is_not_told_that_it_holds_no_more_when_it_is_repeated(runtime: Runtime) -> None:
    first = runtime.remember("mia", "drinks oolong", attribute="tea", observed=day(1))
    talk = runtime.conversation("kitchen", user="mia")
    assert shown(asked(talk, "Which tea do I drink?")) == [first.id]
    runtime.remember("mia", "drinks oolong", attribute="tea", observed=day(8))
    then = asked(talk, "Thanks.")
    assert shown(then) == [first.id]
    assert "holds no more" not in text(then)

    runtime.remember("mia", "drinks sencha", attribute="tea", observed=day(9))
    assert "sencha" in text(asked(talk, "Thanks again."))
