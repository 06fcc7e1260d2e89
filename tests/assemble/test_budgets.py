"""A plan keeps within the budget as long as the least of it fits, and gives up detail in the order that it states."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.assemble.basis import Basis
from callsheet.assemble.planning import planned
from callsheet.assemble.plans import Fresh, Plan, Rewrite, Standing
from callsheet.graph.enums import Level, Role
from callsheet.graph.ids import RecordId
from callsheet.policy.sets import BALANCED, FAITHFUL, LEAN, PolicySetDocument
from tests.assemble.items import LEFT, NARROW, Story


def first(basis: Basis) -> Plan:
    return planned(basis, None, Fresh(records=tuple(basis.items)))


def levels(plan: Plan, *ids: RecordId) -> list[Level]:
    known = {selection.record: selection.level for selection in plan.selections if not selection.note}
    return [known.get(id, Level.NONE) for id in ids]


def three_results() -> tuple[Story, list[RecordId]]:
    """One question, three calls with large results of different sizes, the newest the largest."""
    story = Story()
    story.said(Role.USER, 10)
    return story, [story.result(story.said(Role.ASSISTANT, 5), tokens) for tokens in (500, 900, 1_000)]


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (2_500, [Level.DENSE, Level.DENSE, Level.DENSE]),
        # The largest of the older results first; the newest, which is to be read now, last.
        (2_000, [Level.DENSE, Level.FOCUS, Level.DENSE]),
        (1_500, [Level.FOCUS, Level.FOCUS, Level.DENSE]),
        (700, [Level.FOCUS, Level.FOCUS, Level.FOCUS]),
        (550, [Level.GIST, Level.FOCUS, Level.FOCUS]),
        (300, [Level.GIST, Level.GIST, Level.FOCUS]),
        (130, [Level.GIST, Level.GIST, Level.GIST]),
        (110, [Level.REF, Level.GIST, Level.GIST]),
        (75, [Level.REF, Level.REF, Level.REF]),
    ],
)
def test_results_are_shortened_before_anything_goes(budget: int, expected: list[Level]) -> None:
    story, results = three_results()
    basis = story.basis(budget=budget)
    plan = first(basis)
    assert expected == levels(plan, *results)
    assert basis.size(plan.selections) <= budget


def test_then_the_oldest_groups_go_whole_and_the_newest_stays() -> None:
    story, results = three_results()
    plan = first(story.basis(budget=60))
    assert [Level.NONE, Level.REF, Level.REF] == levels(plan, *results)
    assert story.items[results[0]].group not in {selection.record for selection in plan.selections}


def test_the_newest_question_is_verbatim_at_every_budget() -> None:
    story, _ = three_results()
    question = story.said(Role.USER, 70)
    for budget in (2_500, 300, 90, 1):
        plan = first(story.basis(budget=budget))
        assert [Level.RAW] == levels(plan, question)


def test_a_narrowed_result_that_stands_raw_elsewhere_costs_what_it_shows() -> None:
    story, results = three_results()
    basis = story.basis(budget=700)
    plan = first(basis)
    narrowed = [selection for selection in plan.selections if selection.level is Level.FOCUS]
    assert {NARROW + 10} == {basis.size_of(selection) for selection in narrowed}
    assert all(selection.segments for selection in narrowed)
    assert len(results) == len(narrowed)


def test_what_must_be_named_has_its_room_before_the_last_turns_take_theirs() -> None:
    story = Story()
    failed = story.result(story.said(Role.ASSISTANT, 5), 400, least=Level.GIST)
    for _ in range(BALANCED.turns):
        story.exchange(300)
    basis = story.basis(budget=900)
    plan = first(basis)
    assert failed in {selection.record for selection in plan.selections}
    assert basis.size(plan.selections) <= 900


_RESULTS = st.tuples(st.integers(1, 900), st.sampled_from([Level.NONE, Level.NONE, Level.GIST, Level.REF]))
_TURNS = st.lists(
    st.one_of(
        st.tuples(st.just("user"), st.integers(1, 60)),
        st.tuples(st.just("call"), st.lists(_RESULTS, max_size=3)),
        st.tuples(st.just("open"), st.integers(1, 30)),
    ),
    min_size=1,
    max_size=16,
)


def told(turns: list[tuple[object, ...]]) -> Story:
    story = Story()
    story.said(Role.SYSTEM, 20)
    for turn in turns:
        match turn:
            case ("user", int(tokens)):
                story.said(Role.USER, tokens)
            case ("call", list(results)):
                call = story.said(Role.ASSISTANT, 5)
                for tokens, least in results:
                    story.result(call, tokens, least=least)
            case ("open", int(tokens)):
                story.said(Role.ASSISTANT, tokens, open=True)
    return story


def least(story: Story) -> int:
    """What no plan can do without: instructions, the newest question and group; of open calls and what is protected,
    its line in the note."""
    items = list(story.items.values())
    newest = max((item.position for item in items if item.role is Role.USER), default=0)
    stays = {items[-1].group} | {item.group for item in items if item.position == newest}
    total = 0
    for item in items:
        if item.instruction or (item.group in stays and not item.is_result):
            total += item.standing[Level.RAW]
        elif item.group in stays:
            total += min(item.standing[form] for form in (Level.DENSE, Level.GIST, Level.REF))
        elif item.least is not Level.NONE:
            total += min(size for form, size in item.noted.items() if form in (Level.GIST, item.least))
    return total


@given(_TURNS, st.sampled_from([BALANCED, LEAN, FAITHFUL]), st.integers(0, 3_000))
def test_a_budget_that_the_least_fits_into_is_kept(
    turns: list[tuple[object, ...]], policy: PolicySetDocument, more: int
) -> None:
    story = told(turns)
    budget = least(story) + more
    basis = story.basis(budget=budget, policy=policy)
    assert basis.size(first(basis).selections) <= budget


@given(_TURNS, st.integers(0, 3_000), st.integers(1, 12))
def test_step_by_step_the_budget_is_kept_and_what_stands_stays_unless_rewritten(
    turns: list[tuple[object, ...]], more: int, pace: int
) -> None:
    story = told(turns)
    budget = least(story) + more
    before: Standing | None = None
    ids = list(story.items)
    for start in range(0, len(ids), pace):
        told_so_far = story.items[ids[min(start + pace, len(ids)) - 1]].turn
        story.turn = told_so_far
        part = Story(items={id: story.items[id] for id in ids[: start + pace]}, turn=told_so_far)
        budget = least(part) + more
        basis = part.basis(budget=budget)
        plan = planned(basis, before, Fresh(records=tuple(ids[start : start + pace])))
        assert basis.size(plan.selections) <= budget
        assert plan == planned(basis, before, Fresh(records=tuple(ids[start : start + pace])))
        if plan.rewrite is None and before is not None:
            assert before.selections == plan.selections[: len(before.selections)]
        if before is None:
            assert Rewrite.FIRST is plan.rewrite
        before = Standing(selections=plan.selections, carried=plan.carried)


@given(st.lists(st.integers(1, 500), min_size=2, max_size=8), st.integers(1, 3_000), st.integers(0, 14))
def test_what_is_told_by_its_difference_has_the_other_in_its_place_in_full(
    sizes: list[int], budget: int, turns: int
) -> None:
    story = Story()
    earlier: RecordId | None = None
    for tokens in sizes:
        story.said(Role.USER, 10)
        earlier = story.result(story.said(Role.ASSISTANT, 5), tokens, like=earlier)
    for _ in range(turns):
        story.said(Role.USER, 5)
    stood: set[RecordId] = set()
    for selection in first(story.basis(budget=budget)).selections:
        assert selection.against is None or selection.against in stood
        if not selection.note and selection.level in (Level.RAW, Level.DENSE):
            stood.add(selection.record)


def test_a_call_without_a_result_is_named_where_it_cannot_stand() -> None:
    story = Story()
    opening = story.said(Role.USER, 10)
    waiting = story.said(Role.ASSISTANT, 200, open=True)
    story.exchange(30)
    assert [Level.RAW] == levels(first(story.basis(budget=300)), waiting)
    plan = first(story.basis(budget=90))
    assert [(opening, Level.RAW), (waiting, Level.DENSE)] == [(s.record, s.level) for s in plan.selections if s.note]


def test_a_reference_is_the_least_that_a_result_of_the_last_group_takes() -> None:
    story, results = three_results()
    basis = story.basis(budget=1)
    plan = first(basis)
    assert [Level.REF] == levels(plan, results[-1])
    assert LEFT + 5 + 10 == basis.size(plan.selections)
