"""What is told at second hand and rests on something that may be told no more, or not as it is told."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from callsheet.assemble.contents import text_of
from callsheet.derive.classify import STRICTNESS
from callsheet.graph.enums import Privacy, Reason, Relation, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Episode, Fact, Milestone, ToolMemory
from callsheet.graph.query import LinkQuery
from callsheet.graph.record import Record
from callsheet.runtime.ground import Ground
from callsheet.runtime.unseen import Visible


@dataclass(frozen=True, kw_only=True, slots=True)
class Voiding:
    """Looks for one request."""

    ground: Ground
    changes: Visible

    def void(self, records: Sequence[Record]) -> dict[RecordId, Reason]:
        """Those that quote a record which is gone, of a stricter class now, replaced, or marked as out of date."""
        ground, changes = self.ground, self.changes
        ids = tuple(dict.fromkeys(id for record in records for id in sources_of(record)))
        if not ids:
            return {}
        gone = ground.ledger.erased(ground.key, ids)
        states = changes.states((StateField.PRIVACY, StateField.STALE), ids)
        now = {id: Privacy(value) for id, value in states[StateField.PRIVACY].items()}
        query = LinkQuery(relation=Relation.SUPERSEDES, targets=ids, lineage=ground.lineage)
        replaced = {row.target for row in changes.links(ground.ledger.links(ground.key, query))}
        stale = states[StateField.STALE].keys()
        out = outlived(self._memories(ids), ids)
        quoting = {record.id for record in records if out and self._quotes_results(record)}
        found: dict[RecordId, Reason] = {}
        for record in records:
            sources = sources_of(record)
            said = {out[id] for id in sources if id in out} if record.id in quoting else set()
            if any(id in gone or _stricter(now.get(id), record.header.privacy) for id in sources):
                found[record.id] = Reason.ERASED
            elif not replaced.isdisjoint(sources) or Reason.SUPERSEDED in said:
                found[record.id] = Reason.SUPERSEDED
            elif not stale.isdisjoint(sources) or Reason.STALE in said:
                found[record.id] = Reason.STALE
        return found

    def _quotes_results(self, record: Record) -> bool:
        """Whether it may tell what results of its span say: an extract does so in lines of its own."""
        body = record.body
        if not isinstance(body, Episode) or body.method != "extractive":
            return True
        return any(line.startswith("- result of ") for line in text_of(self.ground.read(body.summary)).split("\n"))

    def _memories(self, ids: tuple[RecordId, ...]) -> dict[RecordId, tuple[Reason | None, ...]]:
        """How the tool memories that rest on each of these records stand; None: as what holds."""
        ground, changes = self.ground, self.changes
        rests: dict[RecordId, list[RecordId]] = {}
        query = LinkQuery(relation=Relation.DERIVED_FROM, targets=ids, lineage=ground.lineage)
        for row in changes.links(ground.ledger.links(ground.key, query)):
            rests.setdefault(row.target, []).append(row.source)
        every = tuple(dict.fromkeys(id for found in rests.values() for id in found))
        records = ground.ledger.get(ground.key, every) if every else []
        memories = tuple(record.id for record in records if isinstance(record.body, ToolMemory))
        if not memories:
            return {}
        query = LinkQuery(relation=Relation.SUPERSEDES, targets=memories, lineage=ground.lineage)
        replaced = {row.target for row in changes.links(ground.ledger.links(ground.key, query))}
        stale = changes.states((StateField.STALE,), memories)[StateField.STALE]
        stand = {id: Reason.SUPERSEDED if id in replaced else Reason.STALE if id in stale else None for id in memories}
        return {id: tuple(stand[one] for one in found if one in stand) for id, found in rests.items()}


def outlived(memories: Mapping[RecordId, Sequence[Reason | None]], ids: Iterable[RecordId]) -> dict[RecordId, Reason]:
    """The records that say what no memory of them holds to be so any more, and why; without any, they stand."""
    found: dict[RecordId, Reason] = {}
    for id in ids:
        stand = memories.get(id, ())
        if stand and None not in stand:
            found[id] = Reason.SUPERSEDED if Reason.SUPERSEDED in stand else Reason.STALE
    return found


def _stricter(now: Privacy | None, than: Privacy) -> bool:
    return now is not None and STRICTNESS.index(now) > STRICTNESS.index(than)


def sources_of(record: Record) -> tuple[RecordId, ...]:
    """What an episode, milestone or fact was made of."""
    return record.body.sources if isinstance(record.body, Episode | Milestone | Fact) else ()
