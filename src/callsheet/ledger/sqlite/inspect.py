"""Rows as they are, for a verification: nothing that stands in them is taken for granted."""

import sqlite3
from contextlib import closing
from typing import NamedTuple

from callsheet.errors import Damaged
from callsheet.graph.ids import TenantId
from callsheet.graph.record import Stream, StreamKey
from callsheet.ledger.indexing import Indexing
from callsheet.ledger.inspection import BlobName, Catalogue, Filing, SchemaFlaw, UnreadableStream
from callsheet.ledger.sqlite import postings
from callsheet.ledger.sqlite.opening import make_schema
from callsheet.ledger.sqlite.queries import query
from callsheet.ledger.sqlite.rows import read_stream, series_of


class _Made(NamedTuple):
    """Something in a schema; an index or trigger with the table that it is of, a table with its own name."""

    type: str
    table: str
    sql: str


def schema_flaws(connection: sqlite3.Connection) -> list[SchemaFlaw]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as model:
        make_schema(model)
        expected = _schema(model)
    found = _schema(connection)
    missing = [
        SchemaFlaw(text=f"the {made.type} {name!r} is missing", fatal=made.type == "table")
        for name, made in expected.items()
        if name not in found and (name == made.table or made.table in found)
    ]
    foreign = [
        SchemaFlaw(text=f"the {made.type} {name!r} does not belong there", fatal=False)
        for name, made in found.items()
        if name not in expected
    ]
    changed = [
        SchemaFlaw(text=f"the {made.type} {name!r} is not as it was made", fatal=made.type == "table")
        for name, made in expected.items()
        if found.get(name, made) != made
    ]
    return missing + foreign + changed


def _schema(connection: sqlite3.Connection) -> dict[str, _Made]:
    """What was created, by name, with its text in one spelling."""
    rows = connection.execute(query("schema")).fetchall()
    return {name: _Made(type, table, " ".join(sql.split())) for name, type, table, sql in rows}


def catalogue(connection: sqlite3.Connection, tenant: TenantId | None) -> Catalogue:
    streams: list[Stream] = []
    unreadable: list[UnreadableStream] = []
    for row in connection.execute(query("streams"), {"tenant": tenant, "kind": None}):
        try:
            streams.append(read_stream(row)[0])
        except Damaged:
            key = StreamKey(tenant=row[0], stream=row[1])
            unreadable.append(UnreadableStream(key=key, name=row[3], text=f"there is no kind of stream {row[2]!r}"))
    lost = [
        StreamKey(tenant=of, stream=id)
        for of, id in connection.execute(query("lost_streams"), {"tenant": tenant}).fetchall()
    ]
    return Catalogue(streams=tuple(streams), unreadable=tuple(unreadable), lost=tuple(lost))


def filing(connection: sqlite3.Connection, key: StreamKey, indexing: Indexing | None) -> Filing:
    """See `Inspectable.filing`; `indexing` is None for a stream that there is not."""
    at = (key.tenant, key.stream)
    series = connection.execute(query("series_in_use"), at).fetchall()
    misfiled = [position for kind, name, position in series if name != series_of(kind)]
    misfiled += [position for (position,) in connection.execute(query("misfiled_links"), at)]
    misfiled += postings.misfiled(connection, key, indexing) if indexing is not None else []
    blobs = [
        BlobName(user=user or None, address=address, position=position, size=size, stored=stored)
        for user, address, position, size, stored in connection.execute(query("blob_names"), at)
    ]
    return Filing(misfiled=tuple(misfiled), blobs=tuple(blobs))
