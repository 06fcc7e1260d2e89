"""What a rewrite let go of is told by why, and nothing else is."""

import dataclasses
from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from callsheet.assemble.paging import PageOut, codes, paged_out, told
from callsheet.assemble.planning import planned
from callsheet.assemble.plans import Fresh, Plan, Rewrite, Standing
from callsheet.graph.enums import Level, Reason, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection
from callsheet.policy.sets import BALANCED
from callsheet.policy.settings import Fill
from tests.assemble.items import Story

SORTED = replace(BALANCED, name="sorted", fill=Fill.SORTED)


def selected(*ids: RecordId) -> tuple[Selection, ...]:
    return tuple(Selection(record=id, level=Level.DENSE, reason=Reason.INCLUDED, turn=1) for id in ids)


def plan(*shown: RecordId, left: Mapping[RecordId, Reason], why: Rewrite | None = Rewrite.PAYS) -> Plan:
    return Plan(selections=selected(*shown), rewrite=why, carried=0.0, left_out=left)


@pytest.mark.parametrize(
    ("minutes", "similar", "message", "result"),
    [
        (121.0, 0.1, PageOut.IDLE, PageOut.DISSIMILAR),
        (119.0, 0.1, PageOut.OVER_BUDGET, PageOut.DISSIMILAR),
        (121.0, 0.25, PageOut.IDLE, PageOut.OVER_BUDGET),
        (120.0, 0.9, PageOut.OVER_BUDGET, PageOut.OVER_BUDGET),
    ],
)
def test_the_sorted_fill_lets_idle_messages_and_dissimilar_results_go(
    minutes: float, similar: float, message: str, result: str
) -> None:
    story = Story()
    said = story.said(Role.USER, 10)
    found = story.result(said, 50)
    items = {id: dataclasses.replace(item, minutes=minutes, similar=similar) for id, item in story.items.items()}
    standing = Standing(selections=selected(said, found))
    out = plan(left={said: Reason.NOT_RELEVANT, found: Reason.NOT_RELEVANT})
    assert codes(paged_out(out, standing, items, SORTED)) == {said: message, found: result}
    # The knapsack does not ask for either.
    assert set(codes(paged_out(out, standing, items, BALANCED)).values()) == {PageOut.NOT_RELEVANT}


def test_what_stands_what_never_stood_and_what_was_appended_left_nothing() -> None:
    story = Story()
    stays, goes, never = (story.exchange(40)[2] for _ in range(3))
    standing = Standing(selections=selected(stays, goes, goes))
    out = {goes: Reason.OVER_BUDGET, never: Reason.OVER_BUDGET}
    assert paged_out(plan(stays, left=out), standing, story.items, BALANCED) == ((PageOut.OVER_BUDGET, (goes,)),)
    assert paged_out(plan(stays, left=out, why=None), standing, story.items, BALANCED) == ()
    assert paged_out(plan(stays, left=out), None, story.items, BALANCED) == ()


def test_another_reason_is_its_code_and_the_order_is_fixed() -> None:
    story = Story()
    first, second, third = (story.exchange(40)[2] for _ in range(3))
    standing = Standing(selections=selected(third, second, first))
    out = plan(left={first: Reason.SUPERSEDED, second: Reason.REMEMBERED, third: Reason.SUPERSEDED})
    found = paged_out(out, standing, story.items, SORTED)
    assert found == (("remembered", (second,)), ("superseded", (third, first)))
    assert told(found, 1) == [f"1 (remembered): {second}", f"2 (superseded): {third}, ..."]


def test_what_another_gave_stands_over_the_high_water_mark_only_where_it_is_pinned() -> None:
    story = Story()
    first, call, own = story.exchange(300)
    lent = story.result(call, 150, least=Level.REF)
    story.items[lent] = dataclasses.replace(story.items[lent], given=True)
    standing = Standing(selections=selected(first, call, own))
    basis = story.basis(high=330, low=200)
    for pinned in (frozenset[RecordId](), frozenset({lent})):
        fresh = Fresh(brought=(lent,), pinned=pinned)
        shown = {one.record for one in planned(basis, standing, fresh).selections}
        assert (lent in shown) == bool(pinned)
