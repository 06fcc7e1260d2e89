"""The stored sheets, newest first: all, or those of one reader, among which those of others take no place."""

from collections.abc import Iterator

from callsheet.graph.cut import Lineage, alone
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ContextAssembly
from callsheet.graph.ports import Ledger
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record, StreamKey

_AT_A_TIME = 8
"""Sheets read at once on the way back."""


def own_sheets(
    ledger: Ledger, key: StreamKey, branch: RecordId, participant: RecordId | None, upto: int
) -> Iterator[tuple[Record, ContextAssembly]]:
    """The sheets that were assembled on this very branch for this participant, up to a position of their stream."""
    for record, body in newest_sheets(ledger, key, alone(branch, upto)):
        if record.header.scope.owner == participant:
            yield record, body


def newest_sheets(
    ledger: Ledger, key: StreamKey, lineage: Lineage | None = None
) -> Iterator[tuple[Record, ContextAssembly]]:
    """The sheets of a conversation, of all readers and branches or along a lineage, read a few at a time."""
    before: int | None = None
    while True:
        query = NodeQuery(kinds=("assembly",), lineage=lineage, newest=True, limit=_AT_A_TIME, before=before)
        found = ledger.nodes(key, query)
        for record in reversed(found):
            if isinstance(record.body, ContextAssembly):
                yield record, record.body
        if len(found) < _AT_A_TIME:
            return
        before = found[0].position
