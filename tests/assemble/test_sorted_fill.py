"""The sorted fill: the best by score first, skipping what does not fit."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from callsheet.assemble.items import Item
from callsheet.assemble.planning import planned
from callsheet.assemble.plans import Fresh
from callsheet.assemble.sorted_fill import fill, score
from callsheet.graph.enums import Level, Reason, Role
from callsheet.graph.ids import RecordId
from callsheet.policy.sets import BALANCED, PolicySetDocument
from callsheet.policy.settings import Fill, Weights
from tests.assemble.items import ASKED, Story

SORTED = replace(BALANCED, name="sorted", fill=Fill.SORTED, turns=0)
KNAPSACK = replace(BALANCED, name="knapsack", turns=0)
DEFAULT = Weights()


@pytest.mark.parametrize(
    ("minutes", "similarity", "leads", "utilisation", "expected"),
    [
        (0, 0.0, False, 0.0, 0.35 + 0.07),
        (45, 0.0, False, 0.0, 0.175 + 0.07),
        (90, 0.0, False, 0.0, 0.0875 + 0.07),
        (0, 1.0, False, 0.0, 0.35 + 0.45 + 0.07),
        (0, 0.0, True, 0.0, 0.35 + 0.10),
        (0, 0.0, False, 0.5, 0.35 + 0.07 + 0.05),
        (0, 1.0, True, 7.0, 1.0),
        (-3, 1.0, True, 1.0, 1.0),
    ],
)
def test_the_score_is_the_weighted_sum_of_the_sources(
    minutes: float, similarity: float, leads: bool, utilisation: float, expected: float
) -> None:
    found = score(DEFAULT, minutes=minutes, similarity=similarity, leads=leads, utilisation=utilisation)
    assert found == pytest.approx(expected)


def told(story: Story, room: int, *, brought: tuple[RecordId, ...] = ()) -> dict[RecordId, Level]:
    return fill(tuple(rested(story)), {}, room, weights=DEFAULT, brought=brought)


def rested(story: Story) -> list[Item]:
    """The items of a conversation whose turns take a minute each."""
    return [dataclasses.replace(item, minutes=float(story.turn - item.turn)) for item in story.items.values()]


def test_what_does_not_fit_is_skipped_and_what_follows_is_not() -> None:
    story = Story()
    oldest, large, newest = (story.exchange(tokens)[2] for tokens in (60, 150, 60))
    room = 2 * (60 + ASKED) + 3 * 15 + 45
    chosen = told(story, room)
    assert {id: level for id, level in chosen.items() if id in (oldest, large, newest)} == {
        newest: Level.DENSE,
        oldest: Level.DENSE,
    }


def test_what_is_asked_for_now_and_what_was_used_come_before_what_is_newer() -> None:
    story = Story()
    first, second, third = (story.exchange(100)[2] for _ in range(3))
    one = 100 + ASKED
    assert first not in told(story, one)
    assert told(story, one, brought=(first,))[first] is Level.DENSE
    story.items[second] = dataclasses.replace(story.items[second], used=story.turn)
    found = told(story, one)
    assert (second in found, third in found) == (True, False)


def test_what_tells_nothing_takes_no_room() -> None:
    story = Story()
    stale = story.result(story.said(Role.ASSISTANT, 5), 80, most=Level.STALE, reason=Reason.STALE)
    refused = story.result(story.said(Role.ASSISTANT, 5), 80, most=Level.NONE, reason=Reason.BRANCH)
    assert not {stale, refused} & told(story, 10_000).keys()


def test_what_must_stand_stands_whatever_the_room() -> None:
    story = Story()
    kept = story.exchange(100)[2]
    assert fill(tuple(story.items.values()), {kept: Level.REF}, -50, weights=DEFAULT) == {kept: Level.REF}


@given(
    sizes=st.lists(st.integers(1, 400), min_size=1, max_size=12),
    room=st.integers(-100, 2_000),
    brought=st.sets(st.integers(0, 11)),
)
def test_it_fits_is_greedy_and_is_the_same_again(sizes: list[int], room: int, brought: set[int]) -> None:
    story = Story()
    results = [story.exchange(size)[2] for size in sizes]
    named = tuple(results[place] for place in sorted(brought) if place < len(results))
    chosen = told(story, room, brought=named)
    used = sum(story.items[id].noted[level] for id, level in chosen.items())
    assert used <= max(0, room)
    assert chosen == told(story, room, brought=named)
    left = [item for item in story.items.values() if item.id not in chosen and not item.instruction]
    most = [min(item.noted, key=list(Level).index) for item in left]
    assert all(item.noted[level] > room - used for item, level in zip(left, most, strict=True))


@pytest.mark.parametrize("policy", [SORTED, KNAPSACK])
def test_the_policy_set_says_which_fill_a_rewrite_goes_by(policy: PolicySetDocument) -> None:
    story = Story()
    old, late = story.exchange(140)[2], story.exchange(140)[2]
    last = story.said(Role.USER, 10)
    ids = tuple(story.items)
    plan = planned(story.basis(policy=policy, low=10 + 10 + 140 + ASKED + 2 * 25), None, Fresh(records=ids))
    noted = {selection.record: selection.level for selection in plan.selections if selection.note}
    assert last not in noted
    if policy is SORTED:
        # In full or not at all, however long it is.
        assert noted[late] is Level.DENSE
        assert old not in noted
    else:
        assert {noted.get(old), noted.get(late)} != {Level.DENSE, None}
