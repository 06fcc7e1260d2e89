"""The next request appends to the last one, or is chosen anew for one of six reasons."""

import pytest

from callsheet.assemble.basis import Basis
from callsheet.assemble.planning import planned
from callsheet.assemble.plans import Fresh, Plan, Rewrite, Standing
from callsheet.graph.enums import Level, Reason, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection
from callsheet.policy.sets import BALANCED, FAITHFUL, LEAN, REPLAY, PolicySetDocument
from tests.assemble.items import DIFFERS, NEVER, Story

Ids = list[RecordId]


def shown(plan: Plan) -> list[tuple[RecordId, Level, int]]:
    return [(selection.record, selection.level, selection.note) for selection in plan.selections]


def places(plan: Plan, note: int = 0) -> Ids:
    return [selection.record for selection in plan.selections if selection.note == note]


def level(plan: Plan, id: RecordId) -> Level:
    return next((selection.level for selection in plan.selections if selection.record == id), Level.NONE)


def standing(story: Story, *ids: RecordId, at: Level = Level.DENSE, carried: float = 0.0) -> Standing:
    """The last request, with these in their place: words raw, results at a level."""
    selections = (Selection(record=id, level=at if story.items[id].is_result else Level.RAW) for id in ids)
    return Standing(selections=tuple(selections), carried=carried)


def long_story(exchanges: int = 12, tokens: int = 100) -> Story:
    story = Story()
    story.said(Role.SYSTEM, 50)
    for _ in range(exchanges):
        story.exchange(tokens)
    story.said(Role.USER, 10)
    return story


# --------------------------------------------------------------------------- the normal step


@pytest.mark.parametrize("policy", [BALANCED, LEAN, FAITHFUL, REPLAY])
def test_the_normal_step_appends(policy: PolicySetDocument) -> None:
    story = Story()
    old = [*story.exchange(100), story.said(Role.ASSISTANT, 20)]
    before = standing(story, *old)
    new = story.said(Role.USER, 10)
    plan = planned(story.basis(policy=policy), before, Fresh(records=(new,)))
    assert plan.rewrite is None
    assert before.selections == plan.selections[: len(old)]
    assert [new] == [selection.record for selection in plan.selections[len(old) :]]


def test_what_is_brought_back_stands_in_one_note_before_the_users_turn() -> None:
    story = Story()
    first, second = story.exchange(100)[2], story.exchange(100)[2]
    rest = story.said(Role.ASSISTANT, 5)
    before = standing(story, rest)
    new = story.said(Role.USER, 10)
    plan = planned(story.basis(), before, Fresh(records=(new,), brought=(first, second)))
    assert [(rest, 0), (first, 1), (second, 1), (new, 0)] == [(s.record, s.note) for s in plan.selections]


def test_a_note_never_stands_between_a_call_and_its_result() -> None:
    story = Story()
    (_, _, old), question = story.exchange(100), story.said(Role.USER, 10)
    before = standing(story, question)
    call = story.said(Role.ASSISTANT, 5)
    results = (story.result(call, 40), story.result(call, 40))
    plan = planned(story.basis(), before, Fresh(records=(call, *results), brought=(old,)))
    assert [question, call, *results, old] == [selection.record for selection in plan.selections]
    assert 1 == plan.selections[-1].note


def test_a_user_turn_between_call_and_result_does_not_draw_the_note_before_the_result() -> None:
    story = Story()
    old = story.exchange(100)[2]
    call = story.said(Role.ASSISTANT, 5)
    question = story.said(Role.USER, 10)
    late = story.result(call, 40)
    plan = planned(story.basis(), standing(story), Fresh(records=(call, question, late), brought=(old,)))
    assert [call, question, late, old] == [selection.record for selection in plan.selections]


def test_notes_are_numbered_on() -> None:
    story = Story()
    first, second = story.exchange(100)[2], story.exchange(100)[2]
    before = Standing(selections=(Selection(record=first, level=Level.DENSE, note=3),))
    new = story.said(Role.USER, 10)
    plan = planned(story.basis(), before, Fresh(records=(new,), brought=(second,)))
    assert [second] == places(plan, note=4)


@pytest.mark.parametrize(("reason", "form"), [(Reason.STALE, Level.STALE), (Reason.SUPERSEDED, Level.REF)])
def test_a_soft_change_adds_one_notice_and_leaves_what_stands(reason: Reason, form: Level) -> None:
    story = Story()
    question, call = story.said(Role.USER, 10), story.said(Role.ASSISTANT, 5)
    old = story.result(call, 100, most=form, reason=reason)
    before = standing(story, question, call, old)
    new = story.said(Role.USER, 10)
    plan = planned(story.basis(), before, Fresh(records=(new,), notices=(old,)))
    assert plan.rewrite is None
    assert before.selections == plan.selections[:3]
    (notice,) = [selection for selection in plan.selections if selection.note]
    assert (old, form, reason) == (notice.record, notice.level, notice.reason)


def test_a_result_that_mostly_equals_one_in_view_stands_by_what_differs() -> None:
    story = Story()
    question, call, first = story.exchange(100)
    before = standing(story, question, call, first)
    again = story.said(Role.ASSISTANT, 5)
    repeated = story.result(again, 100, like=first)
    basis = story.basis()
    plan = planned(basis, before, Fresh(records=(again, repeated)))
    assert first == plan.selections[-1].against
    assert DIFFERS == basis.size_of(plan.selections[-1])


def test_where_the_other_does_not_stand_a_result_stands_itself() -> None:
    story = Story()
    first = story.exchange(100)[2]
    for _ in range(20):
        story.exchange(100)
    repeated = story.result(story.said(Role.ASSISTANT, 5), 100, like=first)
    basis = story.basis(low=900, needed=NEVER)
    plan = planned(basis, None, Fresh(records=tuple(story.items)))
    (selection,) = (one for one in plan.selections if one.record == repeated)
    assert selection.against is None
    assert 100 == basis.size_of(selection)


def test_what_the_newest_turn_asks_for_stands_in_the_note_of_a_rewrite_whatever_the_table_says() -> None:
    story = long_story(exchanges=20)
    asked = next(id for id, item in story.items.items() if item.is_result)
    basis = story.basis(low=1_500, needed=NEVER)
    plan = planned(basis, None, Fresh(records=tuple(story.items), brought=(asked,)))
    opening = next(id for id, item in story.items.items() if item.role is Role.USER)
    assert [opening, asked] == places(plan, note=1)
    assert basis.size(plan.selections) <= 1_500


def test_a_refused_class_stands_in_its_safe_form_from_the_beginning() -> None:
    story = Story()
    question, call = story.said(Role.USER, 10), story.said(Role.ASSISTANT, 5)
    kept = story.result(call, 100, most=Level.SAFE, most_hard=Level.SAFE, reason=Reason.PRIVACY_CLASS)
    plan = planned(story.basis(), None, Fresh(records=(question, call, kept)))
    assert (Level.SAFE, Reason.PRIVACY_CLASS) == (plan.selections[-1].level, plan.selections[-1].reason)


# --------------------------------------------------------------------------- why it is chosen anew


def test_what_was_never_shown_is_chosen_first() -> None:
    story = Story()
    ids = story.exchange(100)
    plan = planned(story.basis(), None, Fresh(records=ids))
    assert Rewrite.FIRST is plan.rewrite
    assert list(ids) == places(plan)


@pytest.mark.parametrize("why", [Rewrite.HARD, Rewrite.CHANGED])
def test_hard_changes_rewrite_at_any_price(why: Rewrite) -> None:
    story = Story()
    ids = story.exchange(100)
    plan = planned(story.basis(), standing(story, *ids), Fresh(), forced=why)
    assert why is plan.rewrite


def test_a_hard_verdict_takes_what_stands_out_of_the_request() -> None:
    story = Story()
    question, call = story.said(Role.USER, 10), story.said(Role.ASSISTANT, 5)
    gone = story.result(call, 100, most=Level.SAFE, most_hard=Level.SAFE, reason=Reason.PRIVACY_CLASS)
    before = standing(story, question, call, gone)
    plan = planned(story.basis(), before, Fresh(), forced=Rewrite.HARD)
    assert Level.SAFE is level(plan, gone)


def test_where_the_cache_is_gone_only_what_is_above_the_low_mark_is_rewritten() -> None:
    story = long_story()
    ids = list(story.items)
    assert planned(story.basis(low=5_000), standing(story, *ids), Fresh(), forced=Rewrite.EXPIRED).rewrite is None
    plan = planned(story.basis(low=800), standing(story, *ids), Fresh(), forced=Rewrite.EXPIRED)
    assert Rewrite.EXPIRED is plan.rewrite


def test_above_the_high_mark_it_is_shrunk_to_the_low_one() -> None:
    story = long_story(exchanges=30)
    *old, new = story.items
    basis = story.basis(budget=10_000, high=3_000, low=1_500)
    plan = planned(basis, standing(story, *old), Fresh(records=(new,)))
    assert Rewrite.HIGH_WATER is plan.rewrite
    assert basis.size(plan.selections) <= 1_500
    assert places(plan, note=1)


def until_it_pays(basis: Basis, before: Standing) -> tuple[int, Plan]:
    """Nothing new comes until a rewrite pays: the requests that were appended to, and the rewrite."""
    for steps in range(1_000):
        plan = planned(basis, before, Fresh())
        if plan.rewrite is not None:
            assert Rewrite.PAYS is plan.rewrite
            assert 0.0 == plan.carried
            return steps, plan
        assert plan.carried > before.carried
        before = Standing(selections=plan.selections, carried=plan.carried)
    raise AssertionError("it never paid")


@pytest.mark.parametrize("exchanges", [10, 20, 40])
def test_keeping_what_a_rewrite_would_drop_is_paid_for_until_it_costs_what_rewriting_costs(exchanges: int) -> None:
    story = long_story(exchanges)
    before = standing(story, *story.items)
    basis = story.basis(low=1_000, needed=NEVER)
    steps, plan = until_it_pays(basis, before)
    # Spent on keeping: what was left out, at the cached price. A rewrite costs afresh what it leaves, but for the
    # instructions in front, which stay cached.
    left = basis.size(plan.selections)
    spent = 0.1 * (basis.size(before.selections) - left)
    cost = 0.9 * (left - 50)
    assert steps * spent < cost <= (steps + 1) * spent


def test_the_more_a_rewrite_leaves_the_later_it_pays() -> None:
    story = long_story(exchanges=20)
    before = standing(story, *story.items)
    sooner, small = until_it_pays(story.basis(low=2_000, needed=NEVER), before)
    basis = story.basis(low=2_000)
    later, large = until_it_pays(basis, before)
    assert basis.size(small.selections) < basis.size(large.selections)
    assert sooner < later


def test_where_a_rewrite_would_leave_all_that_stands_none_is_made() -> None:
    story = long_story(exchanges=12)
    basis, before = story.basis(low=50_000), standing(story, *story.items)
    for _ in range(200):
        plan = planned(basis, before, Fresh())
        assert plan.rewrite is None
        before = Standing(selections=plan.selections, carried=plan.carried)


def test_verbatim_sets_never_rewrite_what_stands() -> None:
    story = long_story(exchanges=40)
    *old, new = story.items
    basis = story.basis(budget=100, policy=REPLAY)
    plan = planned(basis, standing(story, *old, at=Level.RAW), Fresh(records=(new,)))
    assert plan.rewrite is None
    assert len(story.items) == len(plan.selections)


def test_a_rewrite_tells_why_what_stood_does_not_any_more() -> None:
    story = Story()
    refused = story.result(story.said(Role.ASSISTANT, 5), 100, most=Level.NONE, reason=Reason.SUPERSEDED)
    unneeded = story.exchange(100)[2]
    for _ in range(20):
        story.exchange(100)
    plan = planned(story.basis(high=500, low=400, needed=NEVER), standing(story, *story.items), Fresh())
    assert set(story.items) - {selection.record for selection in plan.selections} == set(plan.left_out)
    assert Reason.SUPERSEDED is plan.left_out[refused]
    assert Reason.NOT_RELEVANT is plan.left_out[unneeded]


# --------------------------------------------------------------------------- the order of a rewrite


def test_a_rewrite_has_instructions_then_the_note_then_the_last_turns() -> None:
    story = long_story(exchanges=20)
    plan = planned(story.basis(low=1_500), None, Fresh(records=tuple(story.items)))
    kinds = ["i" if story.items[s.record].instruction else "n" if s.note else "t" for s in plan.selections]
    assert "".join(kinds) == "".join(sorted(kinds, key="int".index))
    for note in (0, 1):
        positions = [story.items[id].position for id in places(plan, note) if not story.items[id].instruction]
        assert positions == sorted(positions)


def test_the_last_turns_stand_in_their_place_with_their_calls() -> None:
    story = long_story(exchanges=20)
    plan = planned(story.basis(low=1_500), None, Fresh(records=tuple(story.items)))
    recent = [id for id, item in story.items.items() if item.turn > story.turn - BALANCED.turns]
    assert set(recent) <= set(places(plan))
    for id in places(plan):
        assert story.items[id].group in places(plan)


def test_instructions_that_came_later_stay() -> None:
    story = long_story(exchanges=20)
    late = story.said(Role.SYSTEM, 40)
    story.exchange(100)
    plan = planned(story.basis(low=1_500), None, Fresh(records=tuple(story.items)))
    assert late in places(plan)


def test_an_open_call_stays_in_its_place_however_old() -> None:
    story = Story()
    story.said(Role.USER, 10)
    waiting = story.said(Role.ASSISTANT, 5, open=True)
    for _ in range(20):
        story.exchange(100)
    plan = planned(story.basis(budget=3_000, low=500, needed=NEVER), None, Fresh(records=tuple(story.items)))
    assert waiting in places(plan)


def test_what_is_never_needed_is_left_out_and_what_is_likely_stands_in_a_note() -> None:
    story = long_story(exchanges=20)
    fresh = Fresh(records=tuple(story.items))
    opening = next(id for id, item in story.items.items() if item.role is Role.USER)
    assert places(planned(story.basis(low=5_000, needed=NEVER), None, fresh), note=1) == [opening]
    assert len(places(planned(story.basis(low=5_000), None, fresh), note=1)) > 1


@pytest.mark.parametrize("least", [Level.GIST, Level.REF])
def test_what_is_protected_is_at_least_named(least: Level) -> None:
    story = Story()
    call = story.said(Role.ASSISTANT, 5)
    kept = story.result(call, 100, least=least)
    for _ in range(20):
        story.exchange(100)
    plan = planned(story.basis(low=600, needed=NEVER), None, Fresh(records=tuple(story.items)))
    assert level(plan, kept) in (Level.DENSE, Level.GIST, least)
    opening = next(id for id, item in story.items.items() if item.role is Role.USER)
    assert [kept, opening] == places(plan, note=1)
