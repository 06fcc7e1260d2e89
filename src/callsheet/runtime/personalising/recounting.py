"""What a past request may tell of memories of the user: as they were for its reader, without what they say."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from msgspec.structs import replace

from callsheet.explain.facts import Known, known
from callsheet.graph.enums import Level
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, UserMemory
from callsheet.graph.record import Record
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.verdict import DETAIL, Decision
from callsheet.runtime.deciding import Deciding
from callsheet.runtime.desk import Desk
from callsheet.runtime.naming import means
from callsheet.runtime.personalising.book import PROPOSED, Shelf
from callsheet.runtime.personalising.seeing import shelf_for
from callsheet.runtime.personalising.standing import Held, held, standings
from callsheet.runtime.place import Place


@dataclass(frozen=True, kw_only=True)
class Recounting:
    """Recounts for one request."""

    place: Place
    boundary: Boundary
    desk: Desk
    #: What the request saw of the user's own stream.
    upto: int

    @cached_property
    def shelf(self) -> Shelf | None:
        """What the reader saw, and the proposals that it did not; None: nothing was kept."""
        seen = shelf_for(self.place, self.boundary, self.desk, self.upto)
        return seen.over((*(one.branch for one in seen.lineage.segments), PROPOSED)) if seen is not None else None

    def records(self, ids: Iterable[RecordId]) -> list[Record]:
        """Those of these that are memories of the user which the reader saw, or proposals."""
        found = self.shelf.get(ids) if self.shelf is not None else []
        return [record for record in found if record.header.kind == "user_memory"]

    def meant(self, wanted: str) -> list[Record]:
        """The memories whose ids begin so."""
        found = self.shelf.nodes("user_memory") if self.shelf is not None else []
        return [record for record in found if means(record.id, wanted)]

    def known(self, ids: Iterable[RecordId]) -> dict[RecordId, Known]:
        """The facts of memories, with what had replaced them by then."""
        records = self.records(ids)
        replaced = {
            one.id: one.successors[:1]
            for one in self._held(records)
            if one.ended is not None and one.ended <= self.boundary.now
        }
        return {
            record.id: replace(known(record), replaced_by=replaced.get(record.id, ()), sources=_sources(record))
            for record in records
        }

    def decisions(self, ids: Iterable[RecordId], policy: PolicySetDocument) -> dict[RecordId, Decision]:
        """What the policies say of memories, as of the request: one that may say nothing does not stand at all."""
        there = {one.id: one for one in self._held(self.records(ids))}
        beside = self._held(self.records(other for one in there.values() for other in one.conflicts))
        deciding = Deciding(
            boundary=self.boundary,
            policy=policy,
            standings=standings({**{one.id: one for one in beside}, **there}.values(), self.boundary.now),
            calls={},
            open=frozenset(),
            turn=0,
        )
        found = {
            id: deciding.decide(one.record, 0, derived=None, resolved=False, newest=False) for id, one in there.items()
        }
        return {id: said if _tells(said) else replace(said, most=Level.NONE) for id, said in found.items()}

    def _held(self, records: Iterable[Record]) -> list[Held]:
        return held(self.shelf, records) if self.shelf is not None else []


def _tells(decision: Decision) -> bool:
    """Whether a memory may be shown with what it says, or at least with its day."""
    return DETAIL[decision.most] <= DETAIL[Level.STALE]


def _sources(record: Record) -> tuple[RecordId, ...]:
    return record.body.sources if isinstance(record.body, UserMemory) else ()
