"""What releases and share lists open to one reader, beside what its lineage and the scopes of records show it."""

from callsheet.graph.cut import Lineage
from callsheet.graph.enums import Relation, StateField, Visibility
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary
from callsheet.graph.ports import Ledger
from callsheet.graph.query import LinkQuery, StateQuery
from callsheet.graph.record import Record, StreamKey


def readers(boundary: Boundary, lineage: Lineage) -> frozenset[RecordId]:
    """As whom a reader may be given something: its participant, its sub-agent's run, and the branches it stands on."""
    own = (boundary.participant, boundary.run, *(segment.branch for segment in lineage.segments))
    return frozenset(reader for reader in own if reader is not None)


def opened(ledger: Ledger, key: StreamKey, lineage: Lineage, boundary: Boundary) -> frozenset[RecordId]:
    """The records that a release in force, or a share list, opens to a reader. Audit-only records never are."""
    given = readers(boundary, lineage)
    found: set[RecordId] = set()
    for row in ledger.states(key, StateQuery(field=StateField.RELEASE, lineage=lineage)):
        record, _, reader = row.target.partition(" ")
        if row.value is not None and reader in given:
            found.add(RecordId(record))
    if boundary.participant is not None:
        query = LinkQuery(relation=Relation.SHARED_WITH, targets=(boundary.participant,), lineage=lineage)
        found.update(link.source for link in ledger.links(key, query))
    return (
        frozenset(record.id for record in ledger.get(key, sorted(found)) if may_open(record)) if found else frozenset()
    )


def may_open(record: Record) -> bool:
    """Whether a release can open a record at all."""
    return record.header.scope.visibility is not Visibility.AUDIT
