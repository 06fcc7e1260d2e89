"""What stands in its place in a rewrite, made to fit a budget that is too small for it."""

from collections.abc import Iterable, Mapping

from callsheet.assemble.basis import Basis
from callsheet.assemble.items import Item
from callsheet.assemble.levels import owed, selected, standing_size
from callsheet.graph.enums import Level, Reason, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection
from callsheet.policy.verdict import DETAIL


def fitted(basis: Basis, stands: Mapping[RecordId, Selection], over: int) -> dict[RecordId, Selection]:
    """The last turns with `over` tokens less: the largest results shorter, then the oldest groups out of their place.

    The results that were just given are shortened last, and calls without a result go last. Instructions and the
    newest user turn stay; when even that is too large, the caller says so.
    """
    fits = dict(stands)
    last = _last_group(basis, fits)
    results = [basis.items[id] for id in fits if basis.items[id].is_result]
    for lower in (Level.FOCUS, Level.GIST, Level.REF):
        for item in sorted(results, key=lambda item: (item.group == last, -basis.size_of(fits[item.id]))):
            if over <= 0:
                return fits
            if (lower not in item.standing and lower not in item.noted) or DETAIL[lower] < DETAIL[item.most]:
                continue
            saved = basis.size_of(fits[item.id]) - standing_size(item, lower)
            if saved > 0:
                over -= saved
                fits[item.id] = selected(item, lower, Reason.OVER_BUDGET)
    return _without_oldest(basis, fits, over)


def _without_oldest(basis: Basis, stands: dict[RecordId, Selection], over: int) -> dict[RecordId, Selection]:
    items = [basis.items[id] for id in stands if not basis.items[id].instruction]
    newest = max((item.position for item in items if item.role is Role.USER), default=0)
    last = _last_group(basis, stands)
    groups: dict[RecordId, list[Item]] = {}
    for item in sorted(items, key=lambda item: item.position):
        groups.setdefault(item.group, []).append(item)
    waiting = {group for group, members in groups.items() if any(item.open for item in members)}
    for group, members in sorted(groups.items(), key=lambda entry: entry[0] in waiting):
        if over <= 0:
            break
        if group == last or any(item.position == newest for item in members):
            continue
        saved = sum(basis.size_of(stands[item.id]) - owed(item) for item in members)
        if saved <= 0:
            continue
        over -= saved
        for item in members:
            del stands[item.id]
    return stands


def _last_group(basis: Basis, ids: Iterable[RecordId]) -> RecordId | None:
    last = max((basis.items[id] for id in ids), key=lambda item: item.position, default=None)
    return last.group if last is not None else None
