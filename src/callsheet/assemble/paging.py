"""What a rewrite let go of that had stood in view, and why: ids and codes for the record of the request."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TypeAlias

from callsheet.assemble.items import Item
from callsheet.assemble.plans import Plan, Standing
from callsheet.graph.enums import Reason
from callsheet.graph.ids import RecordId
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.settings import Fill

PagedOut: TypeAlias = tuple[tuple[str, tuple[RecordId, ...]], ...]
"""Records by why they left, in the order of the codes; of each code in the order in which they stood."""


class PageOut(StrEnum):
    """Why a record left that nothing but planning left out; else the code is that of its `Reason`."""

    #: The sorted fill: a message that was neither said nor used within the idle time of the set.
    IDLE = "idle"
    #: The sorted fill: a result or memory that is less similar to the newest turns than the set asks.
    DISSIMILAR = "dissimilar"
    #: There was no room.
    OVER_BUDGET = "over_budget"
    #: The knapsack: it was not worth its tokens.
    NOT_RELEVANT = "not_relevant"


def paged_out(
    plan: Plan, standing: Standing | None, items: Mapping[RecordId, Item], policy: PolicySetDocument
) -> PagedOut:
    """Of what stood in the request before, what a rewrite left out; nothing where nothing was written anew."""
    if plan.rewrite is None or standing is None:
        return ()
    shown = {selection.record for selection in plan.selections}
    left: dict[str, list[RecordId]] = {}
    for id in dict.fromkeys(selection.record for selection in standing.selections):
        if id not in shown:
            left.setdefault(_why(items[id], plan.left_out.get(id), policy), []).append(id)
    return tuple((code, tuple(left[code])) for code in sorted(left))


def codes(paged: PagedOut) -> dict[RecordId, str]:
    """Why each of them left."""
    return {id: code for code, ids in paged for id in ids}


def _why(item: Item, reason: Reason | None, policy: PolicySetDocument) -> str:
    if reason not in (None, Reason.NOT_RELEVANT, Reason.INCLUDED):
        return reason.value
    if policy.fill is not Fill.SORTED:
        return PageOut.NOT_RELEVANT.value
    if item.role is not None:
        return (PageOut.IDLE if item.minutes > policy.weights.idle else PageOut.OVER_BUDGET).value
    return (PageOut.DISSIMILAR if item.similar < policy.weights.similarity else PageOut.OVER_BUDGET).value


def told(paged: PagedOut, most: int) -> Sequence[str]:
    """A line for each code: how many, and the first of them."""
    return [
        f"{len(ids):,} ({code.replace('_', ' ')}): {', '.join(ids[:most])}{', ...' if len(ids) > most else ''}"
        for code, ids in paged
    ]
