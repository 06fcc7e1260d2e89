"""The memories that a request may tell in place of the results that they rest on, and what replaces what."""

from collections.abc import Iterable, Mapping, Sequence

from callsheet.graph.enums import Relation
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolMemory
from callsheet.graph.query import LinkQuery
from callsheet.graph.record import Record
from callsheet.runtime.deciding import Standings
from callsheet.runtime.ground import Ground
from callsheet.runtime.unseen import Visible

_STEPS = 64
"""Replacements of replacements that are followed."""


def memories_of(ground: Ground, results: Iterable[RecordId], visible: Visible) -> list[Record]:
    """The tool memories that the reader may see and that these results call for, in order of position.

    They rest on any of the results, replace one of them or such a memory, over however many steps, or contradict one.
    """
    wanted = tuple(dict.fromkeys(results))
    if not wanted:
        return []
    rests = LinkQuery(relation=Relation.DERIVED_FROM, targets=wanted, lineage=ground.lineage)
    told = _told(ground, (row.source for row in ground.ledger.links(ground.key, rests)))
    beside = _linked(ground, visible, Relation.CONFLICTS_WITH, tuple(told))
    told |= {id: record for id, record in _told(ground, beside).items() if id not in told}
    open_ = (*wanted, *told)
    for _ in range(_STEPS):
        new = _told(ground, _linked(ground, visible, Relation.SUPERSEDES, open_))
        open_ = tuple(id for id in new if id not in told)
        if not open_:
            break
        told |= new
    return sorted(told.values(), key=lambda record: record.position)


def _linked(ground: Ground, visible: Visible, relation: Relation, targets: tuple[RecordId, ...]) -> list[RecordId]:
    """What bears on these records by a relation, where what says so is visible."""
    if not targets:
        return []
    rows = ground.ledger.links(ground.key, LinkQuery(relation=relation, targets=targets, lineage=ground.lineage))
    return [row.source for row in visible.links(rows)] if rows else []


def _told(ground: Ground, ids: Iterable[RecordId]) -> dict[RecordId, Record]:
    """Those of the records that are tool memories and that the reader may see."""
    wanted = list(dict.fromkeys(ids))
    found = ground.ledger.get(ground.key, wanted) if wanted else []
    return {record.id: record for record in found if isinstance(record.body, ToolMemory) and _seen(ground, record)}


def _seen(ground: Ground, record: Record) -> bool:
    return ground.lineage.sees(record.branch, record.position) and ground.shows(record)


def replacements(standings: Standings, ids: Iterable[RecordId]) -> dict[RecordId, tuple[RecordId, ...]]:
    """What replaces each of these records, where anything visible does."""
    rows = standings.links.get(Relation.SUPERSEDES, ())
    wanted = frozenset(ids) if rows else frozenset()
    found: dict[RecordId, tuple[RecordId, ...]] = {}
    for row in rows:
        if row.target in wanted:
            found[row.target] = (*found.get(row.target, ()), row.source)
    return found


def replaced_with(memories: Sequence[Record], replaced_by: Mapping[RecordId, Sequence[RecordId]]) -> set[RecordId]:
    """The results of which every memory was replaced: what they show is how it was."""
    rests: dict[RecordId, bool] = {}
    for record in memories:
        if isinstance(record.body, ToolMemory):
            for source in record.body.sources:
                rests[source] = rests.get(source, True) and record.id in replaced_by
    return {source for source, all_replaced in rests.items() if all_replaced}
