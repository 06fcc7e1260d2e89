"""Looking up memories of the user for one request: how they stand, what holds in their place, what policies say."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from callsheet.graph.ids import RecordId
from callsheet.graph.index import Index
from callsheet.graph.times import Instant
from callsheet.policy.freshness import SECOND
from callsheet.policy.verdict import Decision
from callsheet.runtime.deciding import Deciding
from callsheet.runtime.ground import Ground
from callsheet.runtime.personalising.book import Shelf
from callsheet.runtime.personalising.standing import Held, Known, held, standings

_STEPS = 16
"""Replacements of replacements that are followed at once."""


@dataclass(kw_only=True)
class Looking:
    """Looks up for one request; what was looked up once is at hand."""

    ground: Ground
    shelf: Shelf
    known: Known
    #: The turn that the request answers.
    turn: int
    _decided: dict[RecordId, Decision] = field(default_factory=dict)

    def _stood(self) -> Iterable[RecordId]:
        """What is looked up in any case."""
        return ()

    @cached_property
    def _held(self) -> dict[RecordId, Held]:
        found = self.known.at(self.shelf.position).held
        self._know_into(found, self._stood())
        return found

    def _know(self, ids: Iterable[RecordId]) -> None:
        self._know_into(self._held, ids)

    def _know_into(self, known: dict[RecordId, Held], ids: Iterable[RecordId]) -> None:
        """Have at hand how these stand, and what replaced or contradicts them."""
        wanted = [id for id in dict.fromkeys(ids) if id not in known]
        for _ in range(_STEPS):
            if not wanted:
                return
            found = held(self.shelf, self.shelf.get(wanted))
            known.update((one.id, one) for one in found)
            beside = (id for one in found for id in (*one.successors[:1], *one.conflicts))
            wanted = [id for id in dict.fromkeys(beside) if id not in known]

    def _indexes(self, memories: Sequence[Held]) -> list[tuple[RecordId, Index]]:
        """What memories are found by, oldest first."""
        known = self.known.indexes
        known.update(self.shelf.indexes([one.record for one in memories if one.id not in known]))
        ordered = sorted(memories, key=lambda one: one.record.position)
        return [(one.id, known[one.id]) for one in ordered if one.id in known]

    def _holds(self, id: RecordId) -> bool:
        return self._held[id].holds(self._now)

    def _current(self, id: RecordId) -> list[RecordId]:
        """What holds now in the place of a memory, itself where it does, with what contradicts that."""
        for _ in range(_STEPS):
            one = self._held.get(id)
            if one is None or one.body.observed > self._now:
                return []
            if one.ended is None or one.ended > self._now or not one.successors:
                return [id, *(other for other in one.conflicts if other in self._held and self._holds(other))]
            id = one.successors[0]
            self._know((id,))
        return []

    def _decision(self, id: RecordId) -> Decision:
        """What the policies say of a memory; remembered for as long as time alone changes nothing of it."""
        one, ground = self._held[id], self.ground
        known = self._decided.get(id) or ground.desk.remembered.decision(one.record, self.shelf.position, self._now)
        if known is None:
            beside = [self._held[other] for other in one.conflicts if other in self._held]
            deciding = Deciding(
                boundary=ground.boundary,
                policy=ground.policy,
                standings=standings((one, *beside), self._now),
                calls={},
                open=frozenset(),
                turn=self.turn,
            )
            known = deciding.decide(one.record, self.turn, derived=None, resolved=False, newest=False)
            if not one.conflicts:
                until = self._until(one)
                ground.desk.remembered.decided(one.record, self.shelf.position, known, since=self._now, until=until)
        self._decided[id] = known
        return known

    @property
    def _now(self) -> Instant:
        return self.ground.boundary.now

    def _until(self, one: Held) -> Instant | None:
        """When time next changes how a memory stands; None: never."""
        seconds = self.ground.policy.freshness.of(one.body.freshness)
        ages = Instant(one.body.observed + seconds * SECOND) if seconds is not None else None
        moments = (one.body.observed, one.until, one.body.stale_after, ages)
        return min((moment for moment in moments if moment is not None and moment > self._now), default=None)
