"""Work on what is there already: rebuilding projections, erasing bodies. Each runs in a transaction."""

import sqlite3
from collections.abc import Sequence

from callsheet.graph.effects import effects
from callsheet.graph.record import Record, StreamKey
from callsheet.ledger.sqlite.queries import query
from callsheet.ledger.sqlite.read import Decode, records
from callsheet.ledger.sqlite.rows import series_of
from callsheet.ledger.sqlite.write import write_effects

_PORTION = 1000


def rebuild(connection: sqlite3.Connection, key: StreamKey, decode: Decode) -> None:
    """Make the projections of a stream, and the searchable columns of its records, anew from headers and bodies."""
    at = (key.tenant, key.stream)
    connection.execute(query("drop_states"), at)
    connection.execute(query("drop_links"), at)
    after = 0
    while rows := records(connection, key, after=after, upto=None, limit=_PORTION):
        found = [(row.position, decode(row)) for row in rows]
        connection.executemany(query("correct_record"), [_columns(key, position, record) for position, record in found])
        done = [(record, effects(record.id, record.body)) for _, record in found if record.body is not None]
        write_effects(connection, key, done)
        after = rows[-1].position


def _columns(key: StreamKey, position: int, record: Record) -> tuple[str | int, ...]:
    kind = record.header.kind
    return (record.id, kind, series_of(kind), record.branch or "", key.tenant, key.stream, position)


def erase_bodies(connection: sqlite3.Connection, key: StreamKey, positions: Sequence[int], decode: Decode) -> list[str]:
    """Remove bodies with all that they did; the addresses of blobs that nobody names any more."""
    dropped: list[str] = []
    for position in positions:
        at = (key.tenant, key.stream, position)
        named = connection.execute(query("blobs_named_by"), at).fetchall()
        connection.execute(query("erase_body"), at)
        connection.execute(query("unname_blobs"), at)
        for blob in named:
            if connection.execute(query("drop_unnamed_blob"), blob).rowcount:
                dropped.append(blob[2])
    rebuild(connection, key, decode)
    return dropped
