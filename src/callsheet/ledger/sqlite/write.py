"""Writing records: the one transaction of `append`, and the rows that it comes to."""

import sqlite3
from collections.abc import Iterable, Sequence

from callsheet.errors import CallsheetError, Damaged, PositionConflict
from callsheet.graph.effects import Effects
from callsheet.graph.ports import Signer
from callsheet.graph.record import Record, Stream, StreamKey, genesis
from callsheet.graph.values import Digest
from callsheet.ledger.prepare import Placed, PreparedAppend, head_at, placed
from callsheet.ledger.refusals import other_stream, repeated_id, repeated_name, unknown_blob
from callsheet.ledger.sqlite import postings
from callsheet.ledger.sqlite.errors import written
from callsheet.ledger.sqlite.queries import query
from callsheet.ledger.sqlite.rows import StreamColumns, read_stream, series_of


def append(connection: sqlite3.Connection, appends: Sequence[PreparedAppend], signer: Signer | None) -> list[Record]:
    """Put prepared records at the end of their streams. Runs inside a transaction; raises what `Ledger.append` does."""
    return [row.record for one in appends for row in _append(connection, one, signer)]


def _append(connection: sqlite3.Connection, append: PreparedAppend, signer: Signer | None) -> list[Placed]:
    key = append.stream.key
    position, chain = _opened_stream(connection, append.stream)
    if append.expect is not None and append.expect != position:
        raise PositionConflict(stream=key.stream, expected=append.expect, actual=position)
    rows: list[Placed] = []
    for prepared in append.drafts:
        rows.append(placed(prepared, key, position + 1, chain))
        position, chain = position + 1, rows[-1].chain
    _insert_records(connection, key, rows)
    postings.merge(connection, key, append.indexing, after=position - len(rows), upto=position)
    write_effects(connection, key, [(row.record, row.prepared.effects) for row in rows])
    _name_blobs(connection, append.stream, rows)
    _insert_blocks(connection, append)
    head = head_at(key, position, chain, signer)
    moved = (position, chain, head.signature, head.signer, key.tenant, key.stream)
    written(connection.execute(query("move_head"), moved), 1)
    return rows


def _opened_stream(connection: sqlite3.Connection, stream: Stream) -> tuple[int, Digest]:
    """Position and chain of the stream, which is created when it does not exist."""
    at = (stream.tenant, stream.id)
    row: StreamColumns | None = connection.execute(query("stream_by_id"), at).fetchone()
    if row is not None:
        if row[2:5] != (stream.kind, stream.name, stream.user or ""):
            raise other_stream(read_stream(row)[0], stream)
        return row[5], row[6]
    named = (stream.tenant, stream.kind.value, stream.name)
    taken: StreamColumns | None = connection.execute(query("stream_by_name"), named).fetchone()
    if taken is not None:
        raise repeated_name(stream, taken[1])
    chain = genesis(stream.key)
    columns = (*at, stream.kind.value, stream.name, stream.user or "", chain)
    written(connection.execute(query("append_stream"), columns), 1)
    return 0, chain


def _insert_records(connection: sqlite3.Connection, key: StreamKey, rows: Sequence[Placed]) -> None:
    columns = [
        (
            key.tenant,
            key.stream,
            row.stored.position,
            row.record.header.id,
            row.record.header.kind,
            series_of(row.record.header.kind),
            row.record.header.scope.branch or "",
            row.stored.header,
            row.stored.chain,
            row.stored.sealed,
            row.stored.found,
        )
        for row in rows
    ]
    try:
        done = connection.executemany(query("append_record"), columns) if columns else None
    except sqlite3.IntegrityError as problem:
        raise _refusal(connection, key, rows) from problem
    if done is not None:
        written(done, len(columns))


def _refusal(connection: sqlite3.Connection, key: StreamKey, rows: Sequence[Placed]) -> CallsheetError:
    """Why a record could not be inserted: it is the one behind the last that could."""
    (newest,) = connection.execute(query("last_position"), (key.tenant, key.stream)).fetchone()
    refused = [row.record.id for row in rows if row.stored.position == (newest or 0) + 1]
    if refused:
        return repeated_id(refused[0])
    return Damaged(f"stream {key.stream} has records behind its head. Run `callsheet verify`.")


def write_effects(connection: sqlite3.Connection, key: StreamKey, done: Iterable[tuple[Record, Effects]]) -> None:
    """Write what records do to states and links, in order of their positions."""
    ended: list[tuple[str | int, ...]] = []
    states: dict[tuple[str, str, str], list[list[str | int | None]]] = {}
    links: list[tuple[str | int, ...]] = []
    for record, effects in done:
        branch, position = record.header.scope.branch or "", record.header.position
        for state in effects.states:
            at = (state.field.value, state.target, branch)
            rows = states.setdefault(at, [])
            if rows:
                rows[-1][-2] = position
            else:
                ended.append((key.tenant, key.stream, *at, position))
            rows.append([key.tenant, key.stream, *at, position, None, state.value])
        for link in effects.links:
            ends = (link.relation.value, link.source, link.target)
            links.append((key.tenant, key.stream, *ends, branch, position, int(link.source == record.id)))
    if states:
        connection.executemany(query("close_state"), ended)
        fresh = [row for rows in states.values() for row in rows]
        written(connection.executemany(query("append_state"), fresh), len(fresh))
    if links:
        written(connection.executemany(query("append_link"), links), len(links))


def _name_blobs(connection: sqlite3.Connection, stream: Stream, rows: Sequence[Placed]) -> None:
    for row in rows:
        for address in row.prepared.addresses:
            at = (stream.tenant, stream.user or "", address)
            if connection.execute(query("blob"), at).fetchone() is None:
                raise unknown_blob(row.record.id, address)
            written(connection.execute(query("name_blob"), (*at, stream.id, row.stored.position)), 1)


def _insert_blocks(connection: sqlite3.Connection, append: PreparedAppend) -> None:
    if append.blocks:
        owner = (append.stream.tenant, append.stream.user or "")
        rows = [(*owner, address, sealed) for address, sealed in append.blocks.items()]
        connection.executemany(query("append_block"), rows)
