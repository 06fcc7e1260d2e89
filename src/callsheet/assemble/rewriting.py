"""The rewrite: everything that stands is chosen anew, in two steps, so that one that cannot pay ends with the first.

First what stands in its place, which says what the request takes at least; then what is worth its tokens in a note.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from callsheet.assemble.basis import Basis
from callsheet.assemble.episodes import Beside
from callsheet.assemble.fitting import fitted
from callsheet.assemble.items import Item
from callsheet.assemble.legible import Legible, only_points, said_by_one_of, told_by_episode
from callsheet.assemble.levels import is_whole, owed
from callsheet.assemble.noting import in_note, noted
from callsheet.assemble.plans import Fresh, Plan, Rewrite, Standing
from callsheet.assemble.remembered import Remembered, remembered
from callsheet.graph.enums import Level, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection

SPARE = 256
"""Tokens by which what compaction made may make a request larger: an episode in full, or a line of each of six ..."""

SPARE_SHARE = 10
"""... or, of a large one, one part in so many."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Begun:
    """A rewrite of which it is known what stands in its place."""

    #: All that may stand in it, in order of position, and that without what is second-hand.
    every: Sequence[Item]
    items: Sequence[Item]
    held: Remembered
    #: What stands in its place.
    stands: Mapping[RecordId, Selection]
    beside: Beside
    #: Tokens of what stands in its place, of what goes before all else in the note, and the low-water mark.
    size: int
    first: int
    low: int

    @property
    def room(self) -> int:
        """Tokens for the rest."""
        return self.low - self.size - self.first

    @property
    def least(self) -> int:
        """Tokens that the request takes at least, whatever else is chosen.

        Either the rest leaves what is second-hand all that it may take at any rate, or it takes that room itself.
        """
        return min(self.size + self.beside.wanted(SPARE), self.low - self.beside.most)


def rewritten(basis: Basis, standing: Standing | None, fresh: Fresh, why: Rewrite) -> Plan:
    """Both steps."""
    return end(basis, begin(basis, standing, fresh), standing, fresh, why)


def begin(basis: Basis, standing: Standing | None, fresh: Fresh) -> Begun:
    """What stands in its place, before anything is chosen for the note."""
    before = standing.selections if standing is not None else ()
    ids = dict.fromkeys([*(selection.record for selection in before), *fresh.brought, *fresh.records, *fresh.memories])
    every = sorted((basis.items[id] for id in ids), key=lambda item: item.position)
    beside = _beside(basis, every, fresh.brought)
    items = [item for item in every if item.second_hand is None]
    # What stands far behind the rest is told in a note, which also says how much lies between.
    near = [item for item in items if item.id not in fresh.behind and not item.covers]
    recent = (_whole_history(basis, near) if standing is None else None) or basis.kept(items)
    kept = {item.id: item for item in recent if not item.covers}
    held = remembered(items, kept, fresh.replaced_by)
    plain = {item.id: basis.stands(item) for item in kept.values()}
    stands = _by_difference(basis, plain)
    due = sum(owed(item) for item in items if item.id not in kept and item.id not in held.idle)
    if not basis.policy.verbatim and basis.size(stands.values()) + due > basis.limits.budget:
        # What is told by its difference rests on the other, which may be shortened now.
        over = basis.size(plain.values()) + due - basis.limits.budget
        stands = _by_difference(basis, fitted(basis, plain, over))
    return Begun(
        every=every,
        items=items,
        held=held,
        stands=stands,
        beside=beside,
        size=basis.size(stands.values()),
        first=beside.first(),
        low=basis.limits.low,
    )


def end(basis: Basis, begun: Begun, standing: Standing | None, fresh: Fresh, why: Rewrite) -> Plan:
    """The rewrite, with what else is worth its tokens in a note."""
    items, held, stands = begun.items, begun.held, begun.stands
    rest = [item for item in items if item.id not in stands and item.id not in held.idle]
    # What was said in a span is told by its episode.
    rest = [item for item in rest if not told_by_episode(item) or item.id in fresh.brought]
    note = noted(basis, rest, held, begun.room, fresh.brought)
    listed = sum(basis.size_of(selection) for selection in note.values())
    room = begun.room - listed
    if begun.beside.items:
        worth = _plain(basis, standing, fresh, why) - begun.size - listed
        room = min(room, worth - begun.first)
    beside = begun.beside.rest(room, Legible.of([*stands.values(), *note.values()]))
    in_full = {id for id, level in beside.items() if level is Level.DENSE}
    note = {
        id: one
        for id, one in note.items()
        if not said_by_one_of(in_full, basis.items[id]) and not only_points(one, basis.items[id], beside)
    }
    note |= {id: in_note(basis.items[id], level) for id, level in beside.items()}
    shown = [stands[item.id] for item in items if item.id in stands and stands[item.id].level is not Level.NONE]
    lines = [note[item.id] for item in begun.every if item.id in note]
    in_place = basis.policy.instructions_in_place
    front = [one for one in shown if basis.items[one.record].instruction and not in_place]
    back = [one for one in shown if in_place or not basis.items[one.record].instruction]
    left_out = _left_out(basis, begun, note, beside)
    return Plan(selections=(*front, *lines, *back), rewrite=why, carried=0.0, left_out=left_out)


def _plain(basis: Basis, standing: Standing | None, fresh: Fresh, why: Rewrite) -> int:
    """Tokens that a request may come to for what compaction made: what it would without, and a little more.

    What an episode stands for would often not stand in the request at all, or take less there than it does.
    """
    items = {
        id: dataclasses.replace(item, compacted=None, within=None) if item.compacted or item.within else item
        for id, item in basis.items.items()
        if item.second_hand is None
    }
    before = standing.selections if standing is not None else ()
    without = dataclasses.replace(
        fresh,
        brought=tuple(id for id in fresh.brought if id in items),
        memories=tuple(id for id in fresh.memories if id in items),
    )
    plain = dataclasses.replace(basis, items=items)
    stood = tuple(one for one in before if one.record in items)
    again = dataclasses.replace(standing, selections=stood) if standing is not None else None
    size = plain.size(rewritten(plain, again, without, why).selections)
    return size + max(SPARE, size // SPARE_SHARE)


def _left_out(
    basis: Basis, begun: Begun, note: Mapping[RecordId, Selection], beside: Mapping[RecordId, Level]
) -> dict[RecordId, Reason]:
    """Of what does not stand, why; the most telling reason goes last, over the others."""
    left_out = {item.id: _omission(item) for item in begun.every if item.id not in begun.stands and item.id not in note}
    told = {id for id, memory in begun.held.instead.items() if memory in note}
    left_out |= {
        id: reason
        for id, reason in begun.held.covered.items()
        if id in left_out and (reason is not Reason.REMEMBERED or id in told)
    }
    left_out |= {
        item.id: Reason.REMEMBERED
        for item in begun.items
        if item.id in left_out and item.compacted in beside and told_by_episode(item)
    }
    return left_out | {id: basis.items[id].reason for id, one in begun.stands.items() if one.level is Level.NONE}


def _omission(item: Item) -> Reason:
    return item.reason if item.most is Level.NONE else Reason.NOT_RELEVANT


def _beside(basis: Basis, items: Sequence[Item], brought: Sequence[RecordId]) -> Beside:
    """The episodes, milestones and facts among the items, to be chosen within their share of the low-water mark."""
    most = int(basis.policy.compaction.shown * max(0, basis.limits.low - basis.limits.fixed))
    told = [item for item in items if item.second_hand is not None]
    return Beside(items=told, brought=frozenset(brought), most=most)


def _whole_history(basis: Basis, items: Sequence[Item]) -> Sequence[Item] | None:
    """A history that was never shown, where it needs no note: the reader's own, and others' where they fit too."""
    own = [item for item in items if not item.given]
    if not _fits_whole(basis, own):
        return None
    return items if len(own) < len(items) and _fits_whole(basis, items) else own


def _fits_whole(basis: Basis, items: Sequence[Item]) -> bool:
    """Whether a history that was never shown needs no note: all of it stands within the low-water mark.

    A set whose mark is in tokens wants few of them, and leaves out what does not pay even where it fits; but never
    to save less than what leaving out brings with it.
    """
    there = {item.id for item in items}
    if not all(item.group in there and item.most is not Level.NONE and item.compacted is None for item in items):
        return False
    limit = basis.limits.low
    if basis.policy.low_water.tokens is not None:
        kept = basis.size(basis.stands(item) for item in basis.kept(items))
        limit = min(basis.limits.budget, kept + basis.limits.aside)
    return basis.size(basis.stands(item) for item in items) <= limit


def _by_difference(basis: Basis, stands: Mapping[RecordId, Selection]) -> dict[RecordId, Selection]:
    """The same, in order of position, with each by its difference that has the other before it in full."""
    told: dict[RecordId, Selection] = {}
    whole: set[RecordId] = set()
    for id, selection in stands.items():
        like = basis.items[id].like
        differs = selection.level is Level.DENSE and like in whole
        told[id] = replace(selection, against=like) if differs else selection
        if is_whole(told[id]):
            whole.add(id)
    return told
