"""What holds when: of two memories on one subject the newer ends the older, whichever way and order they come in."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callsheet import Runtime
from callsheet.audit.verify import verify
from callsheet.errors import InvalidOption, NotFound
from callsheet.graph.enums import Freshness, Privacy
from callsheet.runtime.personalising.listing import MemoryStatus
from callsheet.testing import FixedClock, memory_runtime
from tests.memories.user_worlds import NOW, opened, place, values
from tests.runtime.replies import asks, call, result, user

JANUARY, FEBRUARY, JUNE = "2026-01-10T00:00:00Z", "2026-02-01T00:00:00Z", "2026-06-02T00:00:00Z"


@pytest.fixture(params=["memory", "sqlite"])
def runtime(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Runtime]:
    with opened(place(request.param, tmp_path)) as runtime:
        yield runtime


@pytest.mark.parametrize("path", ["add", "edit"])
def test_dev_23_the_newer_memory_ends_the_older_one_and_nothing_is_deleted(runtime: Runtime, path: str) -> None:
    tea = runtime.remember("mia", "likes Chinese tea", kind="preference")
    old = runtime.remember("mia", "I eat no meat.", attribute="diet", observed=JANUARY)
    said = "I eat fish and chicken again."
    if path == "add":
        new = runtime.remember("mia", said, attribute="Diet ", observed=JUNE)
    else:
        other = runtime.remember("mia", "something else", attribute="hobby", observed=FEBRUARY)
        new = runtime.update("mia", other.id, said, attribute="diet", observed=JUNE)
        assert runtime.memory("mia", other.id).replaced_by == (new.id,)

    assert values(runtime.memories("mia", "what does the user eat?")) == [said]
    assert values(runtime.memories("mia", attribute="diet")) == [said]
    assert values(runtime.memories("mia", attribute="diet", as_of=FEBRUARY)) == ["I eat no meat."]
    before = runtime.memory("mia", old.id)
    assert (before.status, before.replaced_by) == (MemoryStatus.REPLACED, (new.id,))
    assert before.valid_until is not None
    assert before.valid_until.isoformat() == "2026-06-02T00:00:00+00:00"
    assert runtime.memory("mia", tea.id) == tea


moments = st.lists(st.integers(1, 28), min_size=1, max_size=7)


@settings(max_examples=60, deadline=None)
@given(moments, st.randoms(use_true_random=False))
def test_any_order_of_arrival_tells_the_same_history(days: list[int], random: object) -> None:
    days = sorted(set(days))
    order = list(days)
    random.shuffle(order)  # type: ignore[attr-defined]
    with memory_runtime(clock=FixedClock(NOW)) as runtime:
        for day in order:
            runtime.remember("mia", f"lives in {day}", attribute="home", observed=f"2026-05-{day:02}T00:00:00Z")

        for day in days:
            (then,) = runtime.memories("mia", as_of=f"2026-05-{day:02}T12:00:00Z")
            assert then.value == f"lives in {day}"
        assert values(runtime.memories("mia")) == [f"lives in {days[-1]}"]
        assert len(runtime.memories("mia", history=True)) == len(days)
        if days[0] > 1:
            assert runtime.memories("mia", as_of="2026-05-01T00:00:00Z") == []


observations = st.lists(
    st.tuples(
        st.sampled_from([0.1, 0.3, 0.6, 0.9, 1.0]),
        # Days that it holds at most; None: it is not known to end.
        st.sampled_from([None, None, 1, 2]),
    ),
    min_size=4,
    max_size=4,
)


def history(observed: Sequence[tuple[int, tuple[float, int | None]]]) -> list[tuple[object, ...]]:
    """What is read of four observations on one subject, recorded in this order."""
    with memory_runtime(clock=FixedClock(NOW)) as runtime:
        names: dict[str, str] = {}
        for day, (confidence, lasts) in observed:
            kept = runtime.remember(
                "mia",
                f"lives in {day}",
                attribute="home",
                observed=f"2026-05-{day + 1:02}T00:00:00Z",
                valid_until=f"2026-05-{day + 1 + lasts:02}T00:00:00Z" if lasts is not None else None,
                confidence=confidence,
            )
            names[kept.id] = kept.value
        return [
            (
                one.value,
                one.status,
                one.valid_until,
                *(names[other] for other in one.replaced_by[:1]),
                sorted(names[other] for other in one.conflicts_with),
            )
            for days in range(1, 6)
            for one in runtime.memories("mia", history=True, as_of=f"2026-05-{days:02}T12:00:00Z")
        ]


@settings(max_examples=25, deadline=None)
@given(observations)
def test_any_order_of_arrival_comes_to_the_same_whatever_is_believed(
    observed: list[tuple[float, int | None]],
) -> None:
    expected = history(list(enumerate(observed)))
    for order in permutations(enumerate(observed)):
        assert history(order) == expected, order


def test_what_comes_late_is_held_against_all_that_came_before_it(runtime: Runtime) -> None:
    for value, observed, confidence in (("b", FEBRUARY, 0.3), ("d", JUNE, 0.9), ("a", JANUARY, 1.0)):
        runtime.remember("mia", value, attribute="x", observed=observed, confidence=confidence)
    assert values(runtime.memories("mia")) == ["d"]


def test_writers_at_once_agree_on_what_holds(tmp_path: Path) -> None:
    location = str(tmp_path / "agent.db")

    def writes(number: int) -> None:
        with opened(location) as runtime:
            for day in range(1, 6):
                at = f"2026-05-{day * 4 + number:02}T00:00:00Z"
                runtime.remember("mia", f"lives in {day} {number}", attribute="home", observed=at)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(writes, range(4)))
    with opened(location) as runtime:
        everything = runtime.memories("mia", history=True)
        assert len(everything) == 20
        assert values(runtime.memories("mia")) == ["lives in 5 3"]
        for one, after in pairwise(everything):
            assert one.valid_until == after.observed
            assert one.replaced_by[0] == after.id
        assert verify(runtime.ledger).ok


SAID: list[tuple[str, dict[str, object], dict[str, object], list[str]]] = [
    ("another attribute", {"attribute": "diet"}, {"attribute": "sport"}, ["one", "two"]),
    ("another entity", {"attribute": "diet", "entity": "Orla"}, {"attribute": "diet"}, ["one", "two"]),
    ("no attribute", {}, {}, ["one", "two"]),
    ("other readers", {"attribute": "diet", "participant": "critic"}, {"attribute": "diet"}, ["one", "two"]),
    ("the same subject", {"attribute": "diet", "entity": "Orla"}, {"attribute": "DIET", "entity": "orla"}, ["two"]),
]


@pytest.mark.parametrize(("first", "second", "stand"), [case[1:] for case in SAID], ids=[case[0] for case in SAID])
def test_only_the_same_subject_for_the_same_readers_is_replaced(
    runtime: Runtime, first: dict[str, object], second: dict[str, object], stand: list[str]
) -> None:
    runtime.remember("mia", "one", observed=JANUARY, **first)  # type: ignore[arg-type]
    runtime.remember("mia", "two", observed=JUNE, **second)  # type: ignore[arg-type]

    assert values(runtime.memories("mia")) == stand


def test_time_alone_does_not_decide_against_what_is_to_be_believed_more(runtime: Runtime) -> None:
    sure = runtime.remember("mia", "born in Kiel", attribute="birthplace", observed=JANUARY)
    guess = runtime.remember("mia", "born in Bonn", attribute="birthplace", observed=JUNE, confidence=0.4)

    assert values(runtime.memories("mia")) == ["born in Kiel", "born in Bonn"]
    assert runtime.memory("mia", sure.id).conflicts_with == (guess.id,)
    assert runtime.memory("mia", guess.id).conflicts_with == (sure.id,)

    settled = runtime.update("mia", sure.id, "born in Kiel, says the passport")
    assert values(runtime.memories("mia")) == ["born in Kiel, says the passport"]
    assert settled.conflicts_with == ()


def test_a_contradiction_without_a_winner_stays_one(runtime: Runtime) -> None:
    one = runtime.remember("mia", "has two cats")
    other = runtime.remember("mia", "has no pets")
    third = runtime.remember("mia", "has a parrot", contradicts=[other.id])
    runtime.contradict("mia", one.id, other.id, reason="asked_twice")

    assert runtime.memory("mia", other.id).conflicts_with == (third.id, one.id)
    assert len(runtime.memories("mia")) == 3
    runtime.forget("mia", one.id)
    assert runtime.memory("mia", other.id).conflicts_with == (third.id,)


def test_what_says_the_same_is_kept_once_unless_it_ages(runtime: Runtime) -> None:
    one = runtime.remember("mia", "likes tea", kind="preference")
    assert runtime.remember("mia", "likes tea", kind="preference").id == one.id
    assert runtime.remember("mia", "likes tea", kind="preference", always=True).always
    assert len(runtime.memories("mia", history=True)) == 1

    seen = runtime.remember("mia", "is in Oslo", attribute="whereabouts", freshness="volatile", observed=JANUARY)
    again = runtime.remember("mia", "is in Oslo", attribute="whereabouts", freshness="volatile", observed=JUNE)
    assert again.id != seen.id
    assert runtime.memory("mia", seen.id).replaced_by == (again.id,)


def test_what_is_made_of_others_is_as_strict_and_as_short_lived_as_they_are(runtime: Runtime) -> None:
    one = runtime.remember("mia", "card ends in 4410", privacy="document", freshness="time_bounded")
    two = runtime.remember("mia", "pays by card", privacy="connected_account", stale_after="2027-01-01T00:00:00Z")
    both = runtime.remember("mia", "pays by the card 4410", kind="episode", privacy="public", sources=[one.id, two.id])

    assert (both.privacy, both.freshness) == (Privacy.CONNECTED_ACCOUNT, Freshness.TIME_BOUNDED)
    assert both.stale_after == two.stale_after
    assert both.sources == (one.id, two.id)


def test_a_memory_names_the_message_that_it_was_taken_from(runtime: Runtime) -> None:
    talk = runtime.conversation("kitchen", user="mia")
    (said,) = talk.record(user("I eat no meat.")).ids
    kept = talk.remember("eats no meat", message=said[:9] if len(said) > 9 else said, attribute="diet")
    assert kept.source == said

    talk.record(asks(call("c1", "fetch_page")))
    (found,) = talk.record(result("c1", "Mia loves tripe.")).ids
    for refused in (found, talk.history()[0][1].id):
        with pytest.raises(InvalidOption, match="propose"):
            talk.remember("loves tripe", message=refused)
    with pytest.raises(NotFound):
        runtime.remember("mia", "loves tripe", source="msg_of_nobody")
    other = runtime.conversation("elsewhere", user="ben")
    (bens,) = other.record(user("I love tripe.")).ids
    with pytest.raises(NotFound, match="no such record"):
        runtime.remember("mia", "loves tripe", source=bens)
    assert values(runtime.memories("mia")) == ["eats no meat"]


REFUSED: list[tuple[dict[str, object], str]] = [
    ({"value": ""}, "not empty"),
    ({"value": "  \n"}, "not empty"),
    ({"value": "a\0b"}, "NUL"),
    ({"value": "\ud800"}, "surrogates"),
    ({"value": "x" * 2_001}, "at most"),
    ({"value": "v", "kind": "rule"}, "preference, fact, episode"),
    ({"value": "v", "entity": ""}, "entity"),
    ({"value": "v", "confidence": 1.5}, "from 0 to 1"),
    ({"value": "v", "confidence": float("nan")}, "from 0 to 1"),
    ({"value": "v", "freshness": "session"}, "outlives"),
    ({"value": "v", "attributes": {"lifetime": "task"}}, "outlives"),
    ({"value": "v", "observed": "2027-01-01T00:00:00Z"}, "yet to come"),
    ({"value": "v", "observed": JUNE, "valid_until": JANUARY}, "not after"),
    ({"value": "v", "observed": JUNE, "stale_after": JUNE}, "not after"),
    ({"value": "v", "privacy": "top"}, "privacy"),
]


@pytest.mark.parametrize(("given", "says"), REFUSED, ids=[str(case[0])[:60] for case in REFUSED])
def test_what_is_no_memory_is_refused_and_nothing_is_kept(
    runtime: Runtime, given: dict[str, object], says: str
) -> None:
    with pytest.raises(InvalidOption, match=says):
        runtime.remember("mia", **given)  # type: ignore[arg-type]

    assert runtime.memories("mia", history=True) == []
    assert runtime.ledger.streams() == []


def test_a_memory_that_was_replaced_is_not_edited_again(runtime: Runtime) -> None:
    old = runtime.remember("mia", "one", attribute="a", observed=JANUARY)
    new = runtime.update("mia", old.id, "two", observed=FEBRUARY)
    with pytest.raises(InvalidOption, match=new.id):
        runtime.update("mia", old.id, "three")
    with pytest.raises(InvalidOption, match="before"):
        runtime.update("mia", new.id, "three", observed=JANUARY)
    kept = runtime.update("mia", new.id, "three")
    assert (kept.attribute, kept.entity, kept.kind) == ("a", "user", "fact")
    assert _chain(runtime.memories("mia", history=True)) == ["one", "two", "three"]


def _chain(memories: Sequence[object]) -> list[str]:
    return [one.value for one in memories]  # type: ignore[attr-defined]


def test_an_update_keeps_what_is_not_given(runtime: Runtime) -> None:
    told = {"valid_until": "2026-12-01T00:00:00Z", "stale_after": "2026-11-01T00:00:00Z", "confidence": 0.4}
    old = runtime.remember("mia", "stays in Kiel", attribute="home", observed=JANUARY, **told)  # type: ignore[arg-type]
    new = runtime.update("mia", old.id, "stays in Kiel, at the harbour")
    assert (new.valid_until, new.stale_after, new.confidence) == (old.valid_until, old.stale_after, 0.4)
    changed = runtime.update("mia", new.id, "stays in Kiel", valid_until="2026-10-20T00:00:00Z", confidence=0.9)
    assert (str(changed.valid_until)[:10], changed.stale_after, changed.confidence) == (
        "2026-10-20",
        old.stale_after,
        0.9,
    )


def test_an_update_after_the_end_of_a_memory_holds(runtime: Runtime) -> None:
    old = runtime.remember("mia", "stays in Kiel", observed=JANUARY, valid_until=FEBRUARY, stale_after=FEBRUARY)
    new = runtime.update("mia", old.id, "stays in Kiel after all")
    assert (new.valid_until, new.stale_after, new.status) == (None, None, MemoryStatus.CURRENT)
