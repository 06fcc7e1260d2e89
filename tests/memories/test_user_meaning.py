"""Memories of a user are found by what they mean; repeats that come late; what an update rests on."""

from collections.abc import Iterator

import pytest

import callsheet
from callsheet import Runtime
from callsheet.testing import FixedClock, SequenceIds
from tests.runtime.test_alluding import Concepts


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with callsheet.open(
        ":memory:", embedder=Concepts(), ids=SequenceIds(), clock=FixedClock("2026-09-20T09:00:00Z")
    ) as made:
        yield made


def values(runtime: Runtime, query: str | None = None, *, as_of: str | None = None) -> list[str]:
    return [memory.value for memory in runtime.memories("mia", query, as_of=as_of)]


# ---------------------------------------------------------------------------------------------- by meaning


def test_a_query_finds_by_meaning_what_no_word_finds_once_there_are_vectors(runtime: Runtime) -> None:
    for text in ("Likes harbours.", "Eats no fish.", "Owns a kiln."):
        runtime.remember("mia", text)
    assert values(runtime, "dinner") == []
    runtime.work(works=["vectors"])
    assert values(runtime, "dinner")[0] == "Eats no fish."
    talk = runtime.conversation("a", user="mia")
    assert talk.user_memories("oven")[0].value == "Owns a kiln."


def test_what_holds_the_word_comes_before_what_means_the_like(runtime: Runtime) -> None:
    for text in ("Glaze is cheap.", "Owns an oven."):
        runtime.remember("mia", text)
    runtime.work(works=["vectors"])
    assert values(runtime, "oven")[0] == "Owns an oven."


def test_what_others_keep_and_what_is_forgotten_change_no_order(runtime: Runtime) -> None:
    for text in ("Eats no fish.", "Owns a kiln.", "Likes harbours."):
        runtime.remember("mia", text)
    gone = [runtime.remember("mia", f"Food {number}, dinner and fish.").id for number in range(12)]
    for number in range(12):
        runtime.remember("ben", f"Dinner {number}: fish and food.")
        runtime.remember("mia", f"Dinner {number}, food and fish.", participant="critic")
    runtime.work(works=["vectors"])
    runtime.forget("mia", *gone)
    talk = runtime.conversation("a", user="mia")
    found = talk.user_memories("dinner")
    assert (found[0].value, len(found)) == ("Eats no fish.", 3)


# ---------------------------------------------------------------------------------------------- repeats that come late


@pytest.mark.parametrize("attribute", [None, "tea"])
def test_a_repeat_that_comes_late_tells_since_when_it_held_and_stands_once(
    runtime: Runtime, attribute: str | None
) -> None:
    june = runtime.remember("mia", "likes tea", attribute=attribute, observed="2026-06-01T00:00:00Z")
    runtime.remember("mia", "likes tea", attribute=attribute, observed="2026-01-01T00:00:00Z")
    assert [memory.id for memory in runtime.memories("mia")] == [june.id]
    assert values(runtime, as_of="2026-03-01T00:00:00Z") == ["likes tea"]
    assert values(runtime, as_of="2025-12-01T00:00:00Z") == []
    runtime.remember("mia", "likes tea", attribute=attribute, observed="2026-02-01T00:00:00Z")
    assert [memory.id for memory in runtime.memories("mia")] == [june.id]
    assert len(runtime.memories("mia", history=True)) == 3


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
def test_in_whatever_order_repeats_come_one_stands(runtime: Runtime, order: tuple[int, ...]) -> None:
    days = ("2026-01-01", "2026-02-01", "2026-03-01")
    for place in order:
        runtime.remember("mia", "likes tea", observed=f"{days[place]}T00:00:00Z")
    assert values(runtime) == ["likes tea"]
    for day in days:
        assert values(runtime, as_of=f"{day}T12:00:00Z") == ["likes tea"]


def test_what_ended_before_it_was_said_again_is_no_repeat(runtime: Runtime) -> None:
    runtime.remember("mia", "is on leave", observed="2026-06-01T00:00:00Z")
    runtime.remember("mia", "is on leave", observed="2026-01-01T00:00:00Z", valid_until="2026-02-01T00:00:00Z")
    assert values(runtime, as_of="2026-01-15T00:00:00Z") == ["is on leave"]
    assert values(runtime, as_of="2026-03-15T00:00:00Z") == []
    assert values(runtime) == ["is on leave"]


# ---------------------------------------------------------------------------------------------- what an update rests on


def test_an_update_rests_on_what_the_memory_rested_on(runtime: Runtime) -> None:
    talk = runtime.conversation("a", user="mia")
    said = talk.record({"role": "user", "content": "I eat no fish."}).ids[0]
    first = runtime.remember("mia", "eats no fish", source=said)
    assert runtime.update("mia", first.id, "eats no fish at all").source == said
    locker, weaves = runtime.remember("mia", "locker 5512"), runtime.remember("mia", "weaves")
    both = runtime.remember("mia", "locker 5512, weaves", kind="episode", sources=[locker.id, weaves.id])
    newer = runtime.update("mia", both.id, "locker 5512, and she weaves")
    assert newer.sources == (locker.id, weaves.id)
    runtime.forget("mia", locker.id)
    assert not any("5512" in value for value in values(runtime))


def test_an_update_is_no_less_private_than_what_it_still_rests_on(runtime: Runtime) -> None:
    base = runtime.remember("mia", "has an account at the mill", privacy="connected_account")
    first = runtime.remember("mia", "banks at the mill", sources=[base.id])
    assert runtime.update("mia", first.id, "banks there", privacy="public").privacy == "connected_account"
