"""What stands in the next request: what stood in the last one and what is new, or everything chosen anew.

The normal step appends: providers bill a prefix that they have seen at a fraction, so what was shown stays byte for
byte, and what is new or brought back follows it. A rewrite chooses anew what stands, and pays for all of it once.

When to rewrite is the ski-rental problem (Karlin et al., Competitive snoopy caching, 1988): keeping a long request
costs a little at every step, rewriting it costs much once, and how many steps follow is not known. Rewriting when what
was paid for keeping equals what rewriting costs is never more than twice as dear as knowing.
"""

from collections.abc import Iterable
from math import floor, log

from callsheet.assemble.appending import appended
from callsheet.assemble.basis import Basis
from callsheet.assemble.levels import standing_size
from callsheet.assemble.plans import Fresh, Plan, Rewrite, Standing
from callsheet.assemble.rewriting import begin, end, rewritten
from callsheet.graph.enums import Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection

_FREE = frozenset({Rewrite.EXPIRED, Rewrite.UNCACHED})
"""Where nothing is cached any more, a rewrite costs nothing, but must make the request smaller; every other reason
rewrites at any price."""

_LOOKS = 1.25
"""A rewrite that did not pay yet is looked at again when so many times as much was spent."""


def planned(basis: Basis, standing: Standing | None, fresh: Fresh, forced: Rewrite | None = None) -> Plan:
    """The next request after `standing`, or a rewrite where one is `forced`, due, or pays.

    Pure: the same arguments give the same plan.
    """
    if standing is None or (forced is not None and forced not in _FREE):
        return rewritten(basis, standing, fresh, forced or Rewrite.FIRST)
    selections = (*standing.selections, *appended(basis, standing, fresh))
    size = basis.size(selections)
    if forced is not None and size > basis.limits.low:
        return rewritten(basis, standing, fresh, forced)
    left_out: dict[RecordId, Reason] = {}
    if size > basis.limits.high:
        fewer = _without_given(basis, selections, standing, fresh)
        stands = {one.record for one in fewer}
        left_out = {one.record: Reason.OVER_BUDGET for one in selections if one.record not in stands}
        selections, size = fewer, basis.size(fewer)
    if basis.policy.verbatim:
        return Plan(selections=selections, rewrite=None, carried=0.0, left_out=left_out)
    if size > basis.limits.high:
        plan = rewritten(basis, standing, fresh, Rewrite.HIGH_WATER)
        if basis.size(plan.selections) < size or size > basis.limits.budget:
            return plan
    least = _protected_size(basis, standing, fresh)
    front = _front_size(basis, selections)
    carried = standing.carried + basis.prices.cached * max(0, size - least)
    due = (1 - basis.prices.cached) * max(1, least - front)
    if size > least and falls_due(standing.carried, carried, due):

        def pays(left: int) -> bool:
            """Whether a rewrite pays that leaves so much: the more it leaves, the less it does."""
            # What was carried is counted from the least that can stand; of that, this is what it had left out.
            saved = size - left
            return saved > 0 and carried * saved / (size - least) >= (1 - basis.prices.cached) * (left - front)

        begun = begin(basis, standing, fresh)
        if pays(begun.least) and pays(
            basis.size((plan := end(basis, begun, standing, fresh, Rewrite.PAYS)).selections)
        ):
            return plan
    stand = {selection.record for selection in selections}
    passed = {id: basis.items[id].reason for id in fresh.records if id not in stand}
    return Plan(selections=selections, rewrite=None, carried=carried, left_out={**passed, **left_out})


def falls_due(before: float, now: float, due: float) -> bool:
    """Whether a rewrite is to be looked at: once `due` is spent, and each time that `_LOOKS` times as much is."""
    return now >= due and (before < due or floor(log(now / due, _LOOKS)) > floor(log(before / due, _LOOKS)))


def _without_given(
    basis: Basis, selections: tuple[Selection, ...], standing: Standing, fresh: Fresh
) -> tuple[Selection, ...]:
    """What stood and the reader's own that is new, where the new work of others is what makes it too much."""
    new = selections[len(standing.selections) :]
    own = (one for one in new if not basis.items[one.record].given or one.record in fresh.pinned)
    fewer = (*standing.selections, *own)
    most = basis.limits.budget if basis.policy.verbatim else basis.limits.high
    return fewer if basis.size(fewer) <= most < basis.size(selections) else selections


def _front_size(basis: Basis, selections: Iterable[Selection]) -> int:
    """What a rewrite leaves where it stands, so that it stays cached: tools and instructions."""
    return basis.size(one for one in selections if basis.items[one.record].instruction)


def _protected_size(basis: Basis, standing: Standing, fresh: Fresh) -> int:
    """What every rewrite leaves: instructions and the last turns."""
    ids = dict.fromkeys([*(selection.record for selection in standing.selections), *fresh.records])
    kept = basis.kept([basis.items[id] for id in ids])
    return basis.limits.fixed + sum(standing_size(item, basis.first_level(item)) for item in kept)
