"""How the memories of a user stand: what holds when, what replaced what, what contradicts what."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from callsheet.graph.enums import Level, Privacy, Reason, Relation, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Index
from callsheet.graph.nodes import UserMemory
from callsheet.graph.query import LinkRow
from callsheet.graph.record import Record
from callsheet.graph.times import Instant
from callsheet.runtime.deciding import Standings
from callsheet.runtime.personalising.book import Shelf

_STATES = (
    StateField.PRIVACY,
    StateField.STALE,
    StateField.PINNED,
    StateField.PROMOTION,
    StateField.ERASED,
    StateField.UNTIL,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """One memory with all that later records say of it."""

    record: Record
    body: UserMemory
    privacy: Privacy
    #: When something newer ended it; None: nothing did.
    ended: Instant | None = None
    #: What replaced it, the newest word first.
    successors: tuple[RecordId, ...] = ()
    conflicts: tuple[RecordId, ...] = ()
    pinned: bool = False
    stale: bool = False
    #: Of a proposal: what became of it; empty: it was declined; None: nothing yet.
    became: str | None = None

    @property
    def id(self) -> RecordId:
        return self.record.id

    @property
    def until(self) -> Instant | None:
        """From when on it holds no more; None: it is not known to end."""
        known = [moment for moment in (self.ended, self.body.valid_until) if moment is not None]
        return min(known, default=None)

    def holds(self, at: Instant) -> bool:
        """Whether it was true then, as far as is known now."""
        return self.body.observed <= at and (self.until is None or at < self.until)

    @property
    def order(self) -> tuple[Instant, int]:
        """By when it was observed; at the same time by when it was recorded."""
        return self.body.observed, self.record.position


def held(shelf: Shelf, records: Iterable[Record]) -> list[Held]:
    """How these memories stand, in order of position; those that were erased, and what is no memory, are left out."""
    there = {record.id: record for record in records if isinstance(record.body, UserMemory)}
    if not there:
        return []
    ids = tuple(sorted(there, key=lambda id: there[id].position))
    seen = shelf.over(record.branch for record in there.values()) if shelf.whole else shelf
    states = seen.states(_STATES, ids)
    replaced = _sources(seen.links(Relation.SUPERSEDES, targets=ids))
    contradicted = _sources(seen.links(Relation.CONFLICTS_WITH, targets=ids))
    found: list[Held] = []
    for id in ids:
        record = there[id]
        body = record.body
        if not isinstance(body, UserMemory) or id in states[StateField.ERASED]:
            continue
        until = states[StateField.UNTIL].get(id)
        found.append(
            Held(
                record=record,
                body=body,
                privacy=Privacy(states[StateField.PRIVACY].get(id) or record.header.privacy),
                ended=Instant(int(until)) if until is not None else None,
                successors=tuple(dict.fromkeys(reversed(replaced.get(id, ())))),
                conflicts=tuple(dict.fromkeys(contradicted.get(id, ()))),
                pinned=id in states[StateField.PINNED],
                stale=id in states[StateField.STALE],
                became=states[StateField.PROMOTION].get(id),
            )
        )
    return _at_once(seen, found)


def _at_once(shelf: Shelf, memories: list[Held]) -> list[Held]:
    """The memories without contradictions to what never held while they did.

    One may have been recorded before that was known: what comes late can end a memory before the other began.
    """
    others = {id for one in memories for id in one.conflicts}
    if not others:
        return memories
    spans = {one.id: (one.body.observed, one.until) for one in memories}
    missing = tuple(sorted(others - spans.keys()))
    ended = shelf.states((StateField.UNTIL,), missing)[StateField.UNTIL] if missing else {}
    for record in shelf.get(missing):
        if isinstance(record.body, UserMemory):
            until = Instant(int(ended[record.id])) if record.id in ended else None
            ends = [moment for moment in (until, record.body.valid_until) if moment is not None]
            spans[record.id] = (record.body.observed, min(ends, default=None))
    return [
        replace(one, conflicts=tuple(id for id in one.conflicts if id not in spans or _meet(spans[one.id], spans[id])))
        for one in memories
    ]


def _meet(one: tuple[Instant, Instant | None], other: tuple[Instant, Instant | None]) -> bool:
    """Whether two stretches of time have a moment in common."""
    begun = max(one[0], other[0])
    return all(until is None or begun < until for _, until in (one, other))


def _sources(rows: Sequence[LinkRow]) -> Mapping[RecordId, list[RecordId]]:
    found: dict[RecordId, list[RecordId]] = {}
    for row in rows:
        found.setdefault(row.target, []).append(row.source)
    return found


def standings(memories: Iterable[Held], now: Instant) -> Standings:
    """The same as the policies are asked about it, as of one time: what ends later has not ended yet."""
    known = tuple(memories)
    current = {one.id for one in known if one.holds(now)}
    replaced = [
        LinkRow(relation=Relation.SUPERSEDES, source=source, target=one.id, position=one.record.position)
        for one in known
        if one.ended is not None and one.ended <= now
        for source in one.successors[:1]
    ]
    against = [
        LinkRow(relation=Relation.CONFLICTS_WITH, source=source, target=one.id, position=one.record.position)
        for one in known
        for source in one.conflicts
        if source in current
    ]
    states: dict[StateField, Mapping[str, str]] = {
        StateField.PRIVACY: {one.id: one.privacy.value for one in known},
        StateField.STALE: {one.id: "" for one in known if one.stale},
        StateField.PINNED: {one.id: "" for one in known if one.pinned},
    }
    return Standings(states=states, links={Relation.SUPERSEDES: replaced, Relation.CONFLICTS_WITH: against})


_KEPT = 512
"""Memories of which is kept what was looked up."""


@dataclass(kw_only=True, slots=True)
class Known:
    """What is known of memories that were looked at lately, as of one position of their stream; it decides nothing."""

    position: int = -1
    held: dict[RecordId, Held] = field(default_factory=dict)
    indexes: dict[RecordId, Index] = field(default_factory=dict)
    #: Their lines, by what a line depends on beside its memory.
    lines: dict[tuple[RecordId, Level, Reason, bool], str] = field(default_factory=dict)

    def at(self, position: int) -> "Known":
        """The same as of a position: emptied where the stream has gone on since, or too much is kept."""
        if position != self.position or len(self.held) > _KEPT:
            self.position = position
            self.held.clear()
            self.indexes.clear()
            self.lines.clear()
        return self
