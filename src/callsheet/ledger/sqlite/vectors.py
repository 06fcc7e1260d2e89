"""Vectors of records: put, read, and dropped with the bodies that they were made of."""

import sqlite3
from collections.abc import Iterator, Mapping

from callsheet.errors import Damaged
from callsheet.graph.cut import Lineage
from callsheet.graph.ids import RecordId
from callsheet.graph.index import VectorQuery, VectorRow
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import StreamKey
from callsheet.ledger.decode import StoredRow
from callsheet.ledger.indexing import Indexing
from callsheet.ledger.sqlite.queries import portions, query
from callsheet.ledger.sqlite.read import EVERYTHING


def put(connection: sqlite3.Connection, key: StreamKey, index: str, sealed: Mapping[int, bytes]) -> int:
    """See `Ledger.put_vectors`."""
    rows = [(key.tenant, key.stream, index, position, content) for position, content in sealed.items()]
    return connection.executemany(query("put_vector"), rows).rowcount


def vectors(connection: sqlite3.Connection, key: StreamKey, wanted: VectorQuery, indexing: Indexing) -> list[VectorRow]:
    """See `Ledger.vectors`."""
    found = [
        VectorRow(position=position, record=record, branch=branch or None, vector=indexing.opened_vector(sealed))
        for position, record, branch, sealed in _rows(connection, key, wanted)
        if _counts(wanted, branch or None, position)
    ]
    return sorted(found, key=lambda row: row.position)


def _rows(
    connection: sqlite3.Connection, key: StreamKey, wanted: VectorQuery
) -> Iterator[tuple[int, RecordId, RecordId, bytes]]:
    at = (key.tenant, key.stream, wanted.index)
    if wanted.positions is None:
        upto = EVERYTHING if wanted.upto is None else wanted.upto
        yield from connection.execute(query("vectors_between"), (*at, wanted.after, upto))
        return
    for portion in portions(tuple(dict.fromkeys(wanted.positions))):
        yield from connection.execute(query("vectors_at", len(portion)), (*at, *portion))


def _counts(wanted: VectorQuery, branch: RecordId | None, position: int) -> bool:
    lineage: Lineage | None = wanted.lineage
    within = wanted.after < position and (wanted.upto is None or position <= wanted.upto)
    return within and (lineage is None or lineage.sees(branch, position))


def without(connection: sqlite3.Connection, key: StreamKey, index: str, wanted: NodeQuery) -> list[StoredRow]:
    """See `Ledger.without_vectors`."""
    (kinds,) = portions(wanted.kinds)
    upto = EVERYTHING if wanted.before is None else wanted.before - 1
    limit = EVERYTHING if wanted.limit is None else wanted.limit
    values = (key.tenant, key.stream, wanted.after, upto, *kinds, index, limit)
    found = connection.execute(query("records_without_vector", len(kinds)), values)
    return [StoredRow(*columns) for columns in found]


def drop(connection: sqlite3.Connection, key: StreamKey, index: str) -> None:
    """See `Ledger.drop_vectors`."""
    connection.execute(query("drop_vectors"), (key.tenant, key.stream, index))


def drop_stray(connection: sqlite3.Connection, key: StreamKey) -> None:
    """Forget the vectors of records that have no body."""
    connection.execute(query("drop_stray_vectors"), (key.tenant, key.stream))


def keep_sound(connection: sqlite3.Connection, key: StreamKey, indexing: Indexing) -> None:
    """Forget the vectors of records that have no body, and those that cannot be read."""
    drop_stray(connection, key)
    rows = connection.execute(query("all_vectors"), (key.tenant, key.stream))
    damaged = [row for row, sealed in rows if not _readable(indexing, sealed)]
    connection.executemany(query("drop_vector"), [(row,) for row in damaged])


def _readable(indexing: Indexing, sealed: bytes) -> bool:
    try:
        indexing.opened_vector(sealed)
    except Damaged:
        return False
    return True
