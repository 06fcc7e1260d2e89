"""Work on what is there already: rebuilding projections, erasing bodies. Each runs in a transaction."""

import sqlite3
from collections.abc import Callable, Sequence
from typing import TypeAlias

from callsheet.errors import StoreError
from callsheet.graph.codec import payloads
from callsheet.graph.effects import Link, effects
from callsheet.graph.ports import IndexOf, Owner
from callsheet.graph.record import Record, StreamKey
from callsheet.ledger.indexing import Indexing
from callsheet.ledger.sqlite import postings, prefixes, vectors
from callsheet.ledger.sqlite.queries import query
from callsheet.ledger.sqlite.read import Decode, records
from callsheet.ledger.sqlite.rows import series_of
from callsheet.ledger.sqlite.write import write_effects

_PORTION = 1000

BlobSize: TypeAlias = Callable[[str], int | None]
"""The bytes that lie in the blob store under an address; None: nothing is there."""


def rebuild(
    connection: sqlite3.Connection,
    key: StreamKey,
    decode: Decode,
    *,
    owner: Owner,
    blob_size: BlobSize,
    indexing: Indexing,
    index: IndexOf | None = None,
) -> None:
    """Make the projections of a stream, the searchable columns of its records, and what names their blobs anew.

    All of it from headers and bodies; `owner` is whose content the records are. The indexes of the records are kept
    unless there is an `index` to make them with.
    """
    at = (key.tenant, key.stream)
    connection.execute(query("drop_states"), at)
    connection.execute(query("drop_links"), at)
    connection.execute(query("drop_blob_names"), at)
    after = 0
    while rows := records(connection, key, after=after, upto=None, limit=_PORTION):
        found = [(row.position, decode(row)) for row in rows]
        connection.executemany(query("correct_record"), [_columns(key, position, record) for position, record in found])
        done = [(record, effects(record.id, record.body)) for _, record in found if record.body is not None]
        write_effects(connection, key, done)
        for record, _ in done:
            _name_blobs(connection, key, record, owner, blob_size)
        if index is not None:
            _index(connection, key, found, indexing, index)
        after = rows[-1].position
    if index is None:
        postings.drop_unreadable(connection, key, indexing)
    postings.rebuild(connection, key, indexing)
    vectors.keep_sound(connection, key, indexing)
    prefixes.drop_stray(connection, key)


def _columns(key: StreamKey, position: int, record: Record) -> tuple[str | int, ...]:
    kind = record.header.kind
    return (record.id, kind, series_of(kind), record.branch or "", key.tenant, key.stream, position)


def _index(
    connection: sqlite3.Connection,
    key: StreamKey,
    found: Sequence[tuple[int, Record]],
    indexing: Indexing,
    index: IndexOf,
) -> None:
    columns = []
    for position, record in found:
        made = index(record) if record.body is not None else None
        columns.append((indexing.sealed(made) if made is not None else None, key.tenant, key.stream, position))
    connection.executemany(query("set_index"), columns)


def _name_blobs(
    connection: sqlite3.Connection, key: StreamKey, record: Record, owner: Owner, blob_size: BlobSize
) -> None:
    for payload in {payload.blob.address: payload for payload in payloads(record.body) if payload.blob}.values():
        if payload.blob is not None:
            at = (owner.tenant, owner.user or "", payload.blob.address)
            lying = blob_size(payload.blob.address)
            stored = payload.blob.stored if lying is None else lying
            connection.execute(query("restore_blob"), (*at, payload.size, stored))
            connection.execute(query("name_blob"), (*at, key.stream, record.position))


def erase_bodies(
    connection: sqlite3.Connection,
    key: StreamKey,
    positions: Sequence[int],
    decode: Decode,
    *,
    owner: Owner,
    blob_size: BlobSize,
    indexing: Indexing,
) -> list[str]:
    """Remove bodies with all that they did; the addresses of blobs that nobody names any more."""
    dropped: list[str] = []
    done = _without_states(connection, key, positions, decode)
    if positions:
        prefixes.drop_from(connection, key, min(positions))
    for position in positions:
        at = (key.tenant, key.stream, position)
        named = connection.execute(query("blobs_named_by"), at).fetchall()
        connection.execute(query("erase_body"), at)
        connection.execute(query("unname_blobs"), at)
        for blob in named:
            if connection.execute(query("drop_unnamed_blob"), blob).rowcount:
                dropped.append(blob[2])
    if done is None:
        rebuild(connection, key, decode, owner=owner, blob_size=blob_size, indexing=indexing)
        return dropped
    ends = [(link.relation.value, link.target, link.source, position) for position, links in done for link in links]
    connection.executemany(query("drop_link"), [(key.tenant, key.stream, *end) for end in ends])
    postings.merge_again(connection, key, indexing, [position for position, _ in done])
    vectors.drop_stray(connection, key)
    return dropped


def _without_states(
    connection: sqlite3.Connection, key: StreamKey, positions: Sequence[int], decode: Decode
) -> list[tuple[int, tuple[Link, ...]]] | None:
    """The links that records at these positions made. None: one of them set a state, or cannot be read.

    What a state was before is known from all records alone; a link stands for itself.
    """
    found: list[tuple[int, tuple[Link, ...]]] = []
    for position in positions:
        for row in records(connection, key, after=position - 1, upto=position, limit=1):
            try:
                record = decode(row)
            except StoreError:
                return None
            done = effects(record.id, record.body) if record.body is not None else None
            if done is not None and done.states:
                return None
            found.append((position, done.links if done is not None else ()))
    return found
