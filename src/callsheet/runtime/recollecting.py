"""The memories that a request may tell in place of the results that they rest on."""

from collections.abc import Iterable, Sequence

from callsheet.graph.enums import Relation
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolMemory
from callsheet.graph.query import LinkQuery
from callsheet.graph.record import Record
from callsheet.runtime.ground import Ground


def memories_of(ground: Ground, results: Iterable[RecordId]) -> list[Record]:
    """The tool memories that the reader may see and that rest on any of these results, in order of position."""
    wanted = tuple(dict.fromkeys(results))
    if not wanted:
        return []
    query = LinkQuery(relation=Relation.DERIVED_FROM, targets=wanted, lineage=ground.lineage)
    ids = list(dict.fromkeys(row.source for row in ground.ledger.links(ground.key, query)))
    found = ground.ledger.get(ground.key, ids) if ids else []
    told = (record for record in found if isinstance(record.body, ToolMemory) and _seen(ground, record))
    return sorted(told, key=lambda record: record.position)


def _seen(ground: Ground, record: Record) -> bool:
    return ground.lineage.sees(record.branch, record.position) and ground.shows(record)


def replacing(memories: Sequence[Record], shown: Iterable[RecordId]) -> tuple[RecordId, ...]:
    """Those of the memories that replace one that is shown."""
    stand = frozenset(shown)
    return tuple(
        record.id
        for record in memories
        if isinstance(record.body, ToolMemory) and not stand.isdisjoint(record.body.supersedes)
    )
