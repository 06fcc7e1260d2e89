"""Which older records stand in the note of a rewrite, and in which level."""

from collections.abc import Mapping, Sequence

from callsheet.assemble.basis import Basis
from callsheet.assemble.items import Item
from callsheet.assemble.knapsack import Option, choose
from callsheet.assemble.levels import WHOLE, best, least, noted_size, selected, within
from callsheet.assemble.remembered import Remembered
from callsheet.assemble.signal import favoured
from callsheet.assemble.sorted_fill import fill
from callsheet.assemble.worth import chance
from callsheet.graph.enums import Level, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection
from callsheet.policy.settings import Fill
from callsheet.policy.verdict import DETAIL

FIRST_NOTE = 1
"""The number of the note that a rewrite begins with."""

_SAID: Mapping[Role | None, float] = {Role.USER: 0.002, Role.ASSISTANT: 0.001}
"""How likely what was said is needed. Not fitted: no value of a call need come from it, but it tells what the results
are about."""

_ASKED = 0.2
"""The same of what the user said since the present task began: without it nobody knows what is to be done."""

_SAID_FADES = 10
"""Turns after which the worth of what was said has halved."""

_MARKED = 0.5
"""What the marker of a memory that is out of date is worth beside the memory."""


def noted(
    basis: Basis, items: Sequence[Item], held: Remembered, room: int, brought: Sequence[RecordId]
) -> dict[RecordId, Selection]:
    """The note, with memories in place of the results that they stand for.

    No memory costs another result its place: what these leave, memories and what was said share.
    """
    without = [item for item in items if not item.covers]
    note = _noted(basis, without, room, brought)
    if len(without) == len(items):
        return note
    results = {id: one for id, one in note.items() if basis.items[id].is_result and id not in held.covered}
    left = room - sum(basis.size_of(selection) for selection in results.values())
    rest = [item for item in items if item.covers or not item.is_result]
    there = {item.id for item in rest}
    wanted = dict.fromkeys(held.instead.get(id, id) for id in brought)
    return results | _noted(basis, rest, left, tuple(id for id in wanted if id in there))


def in_note(item: Item, level: Level) -> Selection:
    """A record in the note of a rewrite."""
    return selected(item, level, note=FIRST_NOTE)


def _noted(basis: Basis, items: Sequence[Item], room: int, brought: Sequence[RecordId]) -> dict[RecordId, Selection]:
    """The reader's own first; others' fill what that leaves."""
    note = _filled(basis, [item for item in items if not item.given], room, brought)
    given = [item for item in items if item.given]
    if given:
        left = room - sum(basis.size_of(selection) for selection in note.values())
        # What belongs to the last turns stands as far as there is room, the newest first.
        last = [item.id for item in reversed(given) if item.turn > basis.turn - basis.policy.turns]
        note |= _filled(basis, given, left, [*last, *(id for id in brought if basis.items[id].given)])
    return note


def _filled(basis: Basis, items: Sequence[Item], room: int, brought: Sequence[RecordId]) -> dict[RecordId, Selection]:
    """What must stand, what is asked for now, and what is worth its tokens, as the policy set has notes filled."""
    must = {item.id: least(item) for item in items if item.least is not Level.NONE}
    room -= sum(item.noted.get(must[item.id], 0) for item in items if item.id in must)
    if basis.policy.fill is Fill.SORTED:
        levels = fill(items, must, room, weights=basis.policy.weights, brought=brought)
    else:
        wanted, room = _with_wanted(basis, items, must, room, brought)
        levels = wanted | _worth_it(basis, items, wanted, room)
    return {id: in_note(basis.items[id], level) for id, level in levels.items()}


def _with_wanted(
    basis: Basis, items: Sequence[Item], must: Mapping[RecordId, Level], room: int, brought: Sequence[RecordId]
) -> tuple[dict[RecordId, Level], int]:
    """What must stand with what is asked for now, and the room that this leaves."""
    wanted = dict(must)
    rest = {item.id: item for item in items}
    exact = [item.id for item in items if item.exact]
    for id in exact:
        # What was asked for to the letter is shown so far as it fits at all.
        size = noted_size(rest[id], Level.RAW) - noted_size(rest[id], wanted.get(id, Level.NONE))
        if size <= room + basis.limits.budget - basis.limits.low:
            wanted[id] = Level.RAW
            room -= size
    for item in _begun_with(basis, items):
        # The last turns may fill the low-water mark; what they are about is told all the same.
        whole = item.most is Level.RAW and noted_size(item, Level.RAW) <= basis.policy.narrowing.limit
        level = Level.RAW if whole else Level.GIST
        size = noted_size(item, level) - noted_size(item, wanted.get(item.id, Level.NONE))
        if 0 < size <= room + basis.limits.budget - basis.limits.low:
            wanted[item.id] = level
            room -= size
    for id in brought:
        if id in exact:
            continue
        for level in _told_best(rest[id]) if id in rest else ():
            size = noted_size(rest[id], level) - noted_size(rest[id], wanted.get(id, Level.NONE))
            if size <= room:
                wanted[id] = level
                room -= size
                break
    return wanted, room


def _begun_with(basis: Basis, items: Sequence[Item]) -> list[Item]:
    """What the user began the present task and the conversation with, as far as it is older than the last turns."""
    said = [
        item
        for item in items
        if item.role is Role.USER and Level.GIST in item.noted and DETAIL[item.most] <= DETAIL[Level.GIST]
    ]
    task = [item for item in said if item.turn >= basis.episode]
    return list({item.id: item for item in (*task[:1], *said[:1])}.values())


def _worth_it(
    basis: Basis, items: Sequence[Item], wanted: Mapping[RecordId, Level], room: int
) -> dict[RecordId, Level]:
    """What stands beside what is wanted, or in more detail than it, because it is worth its tokens."""
    offers: dict[RecordId, list[Option]] = {}
    levels: dict[RecordId, list[Level]] = {}
    for item in items:
        if item.most is Level.NONE or item.instruction:
            continue
        base = wanted.get(item.id, Level.NONE)
        usable = [
            level
            for level in sorted(item.noted, key=lambda level: -DETAIL[level])
            if DETAIL[item.most] <= DETAIL[level] < DETAIL[base] and item.noted[level] > item.noted.get(base, 0)
        ]
        worth = _worth(basis, item)
        levels[item.id] = usable
        offers[item.id] = [
            Option(size=item.noted[level] - item.noted.get(base, 0), value=worth * _shows(item, level))
            for level in usable
        ]
    price = (1 - basis.prices.cached) + basis.prices.cached * basis.policy.horizon
    chosen = choose(offers, max(0, room), price=price / max(1, basis.policy.miss))
    return {id: levels[id][option] for id, option in chosen.items()}


def _worth(basis: Basis, item: Item) -> float:
    """P(needed) of a result; what was said is worth less with every turn, and people's words more than models'."""
    policy, turn = basis.policy, basis.turn
    if item.is_result:
        return chance(
            item, needed=basis.needed, turn=turn, turns=policy.turns, habit=basis.habit, horizon=policy.horizon
        )
    asked = item.role is Role.USER and item.turn >= basis.episode
    said = _ASKED if asked else _SAID.get(item.role, 0.0)
    return favoured(said / (1 + (turn - item.turn) / _SAID_FADES), item)


def _shows(item: Item, level: Level) -> float:
    """The share of what may be needed that a level still shows."""
    if level in WHOLE:
        return 1.0
    if not item.is_result:
        return 1.0 if level is Level.GIST else 0.0
    if item.covers and level is Level.STALE:
        # That there was something, and how to learn how it is now.
        return _MARKED
    if level is Level.FOCUS:
        full = max(item.standing.get(Level.DENSE, 0), 1)
        return min(1.0, max(item.gist_keeps, item.noted[level] / full))
    return item.gist_keeps if level is Level.GIST else 0.0


def _told_best(item: Item) -> tuple[Level, ...]:
    """How a record comes back in a note: in full, or the parts of it that touch what is in play."""
    most = within(best(item.noted), item.most)
    narrowed = (Level.FOCUS,) if Level.FOCUS in item.noted and DETAIL[most] < DETAIL[Level.FOCUS] else ()
    return (most, *narrowed) if most is not Level.NONE else ()
