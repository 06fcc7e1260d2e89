"""The normal step: what follows the last request, which stays byte for byte as it was."""

from collections.abc import Iterable

from callsheet.assemble.basis import Basis
from callsheet.assemble.items import Item
from callsheet.assemble.legible import Legible, said_by_one_of
from callsheet.assemble.levels import best, is_whole, selected, within
from callsheet.assemble.plans import Fresh, Standing
from callsheet.assemble.remembered import remembered
from callsheet.graph.enums import Level, Reason, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection


def appended(basis: Basis, standing: Standing, fresh: Fresh) -> list[Selection]:
    """What follows: notices and what is brought back in one note, before the user's turn where there is one."""
    items = basis.items
    note = max((selection.note for selection in standing.selections), default=0) + 1
    told = [_noticed(items[id], note) for id in fresh.notices]
    told += [_brought(items[id], note) for id in _back(basis, standing, fresh)]
    likes = {items[id].like for id in fresh.records}
    whole = {one.record for one in standing.selections if one.record in likes and is_whole(one)}
    news = [basis.stands(items[id], whole) for id in fresh.records]
    news = [selection for selection in news if selection.level is not Level.NONE]
    asks = bool(news) and items[news[-1].record].role is Role.USER
    place = len(news) - asks
    return [*news[:place], *(entry for entry in told if entry.level is not Level.NONE), *news[place:]]


def _back(basis: Basis, standing: Standing, fresh: Fresh) -> list[RecordId]:
    """What comes back into view: memories and what was asked for first, then results whose exact bytes are wanted."""
    stand = {selection.record for selection in standing.selections}
    held = remembered(_visible(basis, standing, fresh), {*stand, *fresh.records}, fresh.replaced_by)
    replacing = [id for id in fresh.replacing if id not in held.idle]
    back = dict.fromkeys([*replacing, *(held.instead.get(id, id) for id in fresh.brought)])
    exact = [id for id in fresh.exact if basis.items[id].exact and id not in fresh.records]
    raw = {one.record for one in standing.selections if one.level is Level.RAW} if exact else ()
    exact = [id for id in exact if id not in raw]
    there = {*stand, *fresh.records, *exact}
    return [*_not_said(basis, [id for id in back if id not in there], standing, fresh), *exact]


def _not_said(basis: Basis, back: Iterable[RecordId], standing: Standing, fresh: Fresh) -> list[RecordId]:
    """What comes back without what is said already: by an episode that stands in full, or by what it quotes."""
    in_full = {one.record for one in standing.selections if one.level is Level.DENSE}
    left = [item for item in (basis.items[id] for id in back) if not said_by_one_of(in_full, item)]
    legible = Legible.of((*standing.selections, *(_brought(item) for item in left)), fresh.records)
    return [item.id for item in left if not legible.tells(item)]


def _visible(basis: Basis, standing: Standing, fresh: Fresh) -> list[Item]:
    """The items that the next request may show beside what is new."""
    ids = [*(selection.record for selection in standing.selections), *fresh.brought, *fresh.memories]
    return [basis.items[id] for id in dict.fromkeys(ids)]


def _brought(item: Item, note: int = 0) -> Selection:
    # A long one comes back in the parts that touch what is in play.
    narrowed = Level.FOCUS in item.noted and not item.exact
    return selected(item, within(Level.FOCUS if narrowed else best(item.noted), item.most), note=note)


def _noticed(item: Item, note: int) -> Selection:
    reason = Reason.SUPERSEDED if item.replaced else item.reason
    level = Level.STALE if reason is Reason.STALE else Level.GIST if reason is Reason.CONFLICT else Level.REF
    return selected(item, level, reason, note=note)
