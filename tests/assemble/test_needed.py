"""How likely a result is needed: what other conversations did, moved by what this one does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.assemble.needed import AGES, SIZES, STRENGTH, Habit, Needed, age_bin, shipped
from callsheet.assemble.planning import falls_due, planned
from callsheet.assemble.plans import Fresh
from callsheet.graph.enums import Level, Role
from tests.assemble.items import LIKELY, NEVER, Story
from tests.assemble.test_planning import long_story, standing

BINS = len(AGES) + 1
COUNTS = st.integers(min_value=0, max_value=200)
HABITS = st.builds(
    Habit, turns=COUNTS, results=COUNTS, uses=st.lists(COUNTS, min_size=BINS, max_size=BINS).map(tuple) | st.just(())
)
FLAT = Needed(name="flat@1", uses=(0.2,) * BINS, size=(1.0,) * (len(SIZES) + 1))


@pytest.mark.parametrize(
    ("age", "place"), [(0, 0), (1, 1), (3, 1), (4, 2), (6, 2), (7, 3), (20, 4), (21, 5), (80, 6), (81, 7), (10_000, 7)]
)
def test_a_bound_belongs_to_the_bin_that_it_ends(age: int, place: int) -> None:
    assert place == age_bin(age)


@given(habit=HABITS, age=COUNTS, size=st.integers(0, 10_000), horizon=st.integers(1, 1_000))
def test_it_is_a_probability(habit: Habit, age: int, size: int, horizon: int) -> None:
    assert 0 <= shipped().of(age=age, size=size, habit=habit, horizon=horizon) <= 1


@given(habit=HABITS.filter(lambda habit: habit.uses), place=st.integers(0, BINS - 1), age=st.integers(0, 200))
def test_a_use_more_makes_it_no_less_likely(habit: Habit, place: int, age: int) -> None:
    more = tuple(count + (at == place) for at, count in enumerate(habit.uses))
    used = Habit(turns=habit.turns, results=habit.results, uses=more)
    before = FLAT.of(age=age, size=100, habit=habit, horizon=20)
    assert before <= FLAT.of(age=age, size=100, habit=used, horizon=20)


@given(age=st.integers(0, 200), results=COUNTS)
def test_where_nothing_grew_so_old_others_alone_speak(age: int, results: int) -> None:
    known = Habit(turns=2, results=results, uses=(results, results))
    # From turn 3 on no result of a conversation of two turns has an age.
    later = FLAT.of(age=age + 3, size=100, habit=known, horizon=20)
    assert FLAT.of(age=age + 3, size=100, habit=Habit(), horizon=20) == later


def test_what_others_did_weighs_as_much_as_ten_results() -> None:
    # Within the bin of 0 turns to 3, of which every result is old enough.
    habit = Habit(turns=50, results=10, uses=(0, 10))
    rate = (10 + STRENGTH * 0.2) / (10 + STRENGTH)
    alone = Needed(name="same@1", uses=(rate,) * BINS, size=FLAT.size)
    expected = alone.of(age=0, size=100, habit=Habit(), horizon=3)
    assert expected == pytest.approx(FLAT.of(age=0, size=100, habit=habit, horizon=3))


def test_two_conversations_differ_by_what_they_did() -> None:
    never = Habit(turns=100, results=100, uses=(0,) * BINS)
    always = Habit(turns=100, results=100, uses=(100,) * BINS)
    unlikely, likely = (FLAT.of(age=10, size=100, habit=habit, horizon=20) for habit in (never, always))
    assert unlikely < FLAT.of(age=10, size=100, habit=Habit(), horizon=20) < likely


def test_what_never_reuses_keeps_less_than_what_always_does() -> None:
    story = long_story(exchanges=30)
    never = Habit(turns=story.turn, results=30, uses=(0,) * BINS)
    always = Habit(turns=story.turn, results=30, uses=(30,) * BINS)
    table = Needed(name="rare@1", uses=(0.005,) * BINS, size=FLAT.size)
    kept = [
        len(
            planned(
                story.basis(low=4_000, needed=table, habit=habit), None, Fresh(records=tuple(story.items))
            ).selections
        )
        for habit in (never, always)
    ]
    assert kept[0] < kept[1]


@pytest.mark.parametrize("field", ["uses", "size"])
def test_a_table_has_a_factor_for_each_bin(field: str) -> None:
    factors = {"uses": FLAT.uses, "size": FLAT.size, field: (1.0,)}
    with pytest.raises(ValueError, match="1 factors"):
        Needed(name="short@1", uses=factors["uses"], size=factors["size"])


def test_the_larger_the_factor_of_its_size_the_likelier() -> None:
    table = Needed(name="sized@1", uses=FLAT.uses, size=(0.5, 1.0, 2.0, 1.0, 1.0))
    small, middle, large = (table.of(age=5, size=size, habit=Habit(), horizon=20) for size in (50, 51, 151))
    assert small < middle < large


@pytest.mark.parametrize(
    ("before", "now", "falls"),
    [
        (0.0, 99.0, False),
        (99.0, 100.0, True),
        (0.0, 500.0, True),
        (100.0, 124.0, False),
        (124.0, 126.0, True),
        (126.0, 155.0, False),
        (155.0, 157.0, True),
        (157.0, 157.0, False),
    ],
)
def test_a_rewrite_is_looked_at_when_it_is_due_and_at_each_quarter_more(before: float, now: float, falls: bool) -> None:
    assert falls is falls_due(before, now, 100.0)


def test_what_was_asked_in_the_present_task_outlives_what_was_asked_before() -> None:
    story = long_story(exchanges=20)
    questions = [id for id, item in story.items.items() if item.role == "user"]
    since = story.items[questions[5]].turn
    plan = planned(story.basis(needed=NEVER, low=3_000, episode=since), None, Fresh(records=tuple(story.items)))
    noted = {one.record for one in plan.selections if one.note}
    # But for the one that the conversation began with.
    assert noted & set(questions[:5]) == {questions[0]}
    assert set(questions[8:13]) <= noted


def test_what_is_likely_is_kept_where_a_rewrite_leaves_it() -> None:
    story = long_story(exchanges=20)
    view = standing(story, *story.items)
    plans = [planned(story.basis(high=2_200, low=1_800, needed=table), view, Fresh()) for table in (NEVER, LIKELY)]
    assert len(plans[0].selections) < len(plans[1].selections)


def test_what_a_task_began_with_stands_where_the_last_turns_fill_the_low_water_mark() -> None:
    story = Story()
    task = story.said(Role.USER, 120)
    for _ in range(30):
        call = story.said(Role.ASSISTANT, 5)
        story.result(call, 400)
    newest = story.said(Role.USER, 10)
    plan = planned(story.basis(budget=9_000, low=500, needed=NEVER), None, Fresh(records=tuple(story.items)))
    shown = {one.record: one for one in plan.selections}
    assert shown[task].level is Level.RAW
    assert shown[task].note
    assert not shown[newest].note


def test_a_long_beginning_stands_with_its_first_line() -> None:
    story = Story()
    task = story.said(Role.USER, 20_000)
    for _ in range(30):
        story.exchange(100)
    plan = planned(story.basis(budget=50_000, low=500, needed=NEVER), None, Fresh(records=tuple(story.items)))
    assert [one.level for one in plan.selections if one.record == task] == [Level.GIST]


def test_no_budget_is_broken_for_what_a_task_began_with() -> None:
    story = Story()
    task = story.said(Role.USER, 120)
    for _ in range(30):
        story.exchange(100)
    fresh = Fresh(records=tuple(story.items))
    for budget in range(50, 900, 25):
        basis = story.basis(budget=budget, low=min(500, budget), needed=NEVER)
        plan = planned(basis, None, fresh)
        told = [one for one in plan.selections if one.record == task]
        without = basis.size([one for one in plan.selections if one.record != task])
        assert basis.size(plan.selections) <= max(budget, without)
        assert all(one.level in (Level.RAW, Level.GIST) for one in told)
