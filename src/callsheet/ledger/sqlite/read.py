"""Reading streams and records. Every answer is bounded by what was asked, not by how long the stream is."""

import sqlite3
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain

from callsheet.graph.cut import Lineage
from callsheet.graph.enums import StreamKind
from callsheet.graph.ids import ROOT_BRANCH, RecordId, TenantId
from callsheet.graph.query import AroundQuery, NodeQuery, Sides
from callsheet.graph.record import Head, Record, Stream, StreamKey
from callsheet.ledger.decode import StoredRow
from callsheet.ledger.sqlite.queries import all_of, portions, query
from callsheet.ledger.sqlite.rows import StreamColumns, read_stream, series_of

Decode = Callable[[StoredRow], Record]
"""From a row to the record; knows whose content it opens."""

_CLOSE = 4
"""How many times as many positions are looked through on each side as records are wanted."""

_TOGETHER = 64
"""Ranges of an index that one statement looks into: SQLite takes 500 parts, and most lineages have fewer ranges."""

EVERYTHING = 2**62
"""More than any position or number of rows."""


def branches(lineage: Lineage | None) -> Iterator[tuple[str | None, int]]:
    """Each branch of a lineage, as columns name it, with the last position that counts there; None: every branch."""
    if lineage is None:
        yield None, EVERYTHING
        return
    yield "", lineage.upto
    for segment in lineage.segments:
        yield segment.branch, segment.upto


def stream_by_name(
    connection: sqlite3.Connection, tenant: TenantId, kind: StreamKind, name: str
) -> tuple[Stream, Head] | None:
    at = (tenant, kind.value, name)
    row: StreamColumns | None = connection.execute(query("stream_by_name"), at).fetchone()
    return read_stream(row) if row is not None else None


def stream_by_key(connection: sqlite3.Connection, key: StreamKey) -> tuple[Stream, Head] | None:
    at = (key.tenant, key.stream)
    row: StreamColumns | None = connection.execute(query("stream_by_id"), at).fetchone()
    return read_stream(row) if row is not None else None


def streams(connection: sqlite3.Connection, tenant: TenantId | None, kind: StreamKind | None) -> list[Stream]:
    at = {"tenant": tenant, "kind": kind.value if kind is not None else None}
    return [read_stream(row)[0] for row in connection.execute(query("streams"), at)]


def records(
    connection: sqlite3.Connection, key: StreamKey, *, after: int, upto: int | None, limit: int | None
) -> list[StoredRow]:
    at = {
        "tenant": key.tenant,
        "stream": key.stream,
        "after": after,
        "upto": EVERYTHING if upto is None else upto,
        "limit": EVERYTHING if limit is None else limit,
    }
    return _rows(connection.execute(query("records"), at))


def _rows(found: Iterable[tuple[int, bytes, str, bytes | None]]) -> list[StoredRow]:
    return [StoredRow(*columns) for columns in found]


def records_by_id(connection: sqlite3.Connection, key: StreamKey, ids: Sequence[RecordId]) -> list[StoredRow]:
    """In no order."""
    at = (key.tenant, key.stream)
    found: list[StoredRow] = []
    if ROOT_BRANCH in ids:
        found += _rows(connection.execute(query("root_branch"), at))
    for portion in portions([id for id in ids if id != ROOT_BRANCH]):
        found += _rows(connection.execute(query("records_by_id", len(portion)), (*at, *portion)))
    return found


def records_at(connection: sqlite3.Connection, key: StreamKey, positions: Sequence[int]) -> list[StoredRow]:
    """With what they are found by, ascending, each once."""
    found: list[StoredRow] = []
    for portion in portions(sorted(set(positions))):
        rows = connection.execute(query("records_at", len(portion)), (key.tenant, key.stream, *portion))
        found += [StoredRow(*columns) for columns in rows]
    return found


def erased(connection: sqlite3.Connection, key: StreamKey, ids: Sequence[RecordId]) -> list[RecordId]:
    """The ids of those whose bodies are gone."""
    found: list[RecordId] = []
    if connection.execute(query("any_erased"), (key.tenant, key.stream)).fetchone() is None:
        return found
    for portion in portions(ids):
        rows = connection.execute(query("erased_by_id", len(portion)), (key.tenant, key.stream, *portion))
        found += [RecordId(row[0]) for row in rows]
    return found


def record_anywhere(connection: sqlite3.Connection, tenant: TenantId, id: RecordId) -> tuple[Stream, StoredRow] | None:
    row = connection.execute(query("record_anywhere"), (tenant, id)).fetchone()
    if row is None:
        return None
    known = stream_by_key(connection, StreamKey(tenant=tenant, stream=row[0]))
    return (known[0], StoredRow(*row[1:])) if known is not None else None


def nodes(connection: sqlite3.Connection, key: StreamKey, wanted: NodeQuery) -> list[StoredRow]:
    """The places are found in an index alone, a limited number for each branch; then the records are read."""
    rows: list[StoredRow] = []
    for portion in portions([row for _, row in _places(connection, key, wanted)]):
        rows += _rows(connection.execute(query("records_by_row", len(portion)), portion))
    return sorted(rows, key=lambda row: row.position)


def _places(connection: sqlite3.Connection, key: StreamKey, wanted: NodeQuery) -> list[tuple[int, int]]:
    """The positions and row numbers of the records that are wanted; the newest first where these are."""
    places: set[tuple[int, int]] = set()
    searches = list(_searches(key, wanted))
    for start in range(0, len(searches), _TOGETHER):
        texts, values = zip(*searches[start : start + _TOGETHER], strict=True)
        places.update(connection.execute(all_of(texts), [*chain.from_iterable(values)]))
    return sorted(places, reverse=wanted.newest)[: wanted.limit]


def around(connection: sqlite3.Connection, key: StreamKey, wanted: AroundQuery) -> dict[int, Sides]:
    """See `Ledger.around`. Most are found close by, all at once; only where that is too few is more looked through."""
    asked, width = tuple(dict.fromkeys(wanted.positions)), _CLOSE * wanted.limit
    close = sorted(_close(connection, key, wanted, asked, width))
    last = max(upto for _, upto in branches(wanted.lineage))
    found: dict[int, Sides] = {}
    for position in asked:
        first = bisect_left(close, position)
        before = close[max(bisect_left(close, position - width), first - wanted.limit) : first][::-1]
        first = bisect_right(close, position)
        after = close[first : min(bisect_right(close, position + width), first + wanted.limit)]
        if len(before) < wanted.limit and position - width > 1:
            before = _beyond(connection, key, wanted, position, back=True)
        if len(after) < wanted.limit and position + width < last:
            after = _beyond(connection, key, wanted, position, back=False)
        found[position] = Sides(tuple(before), tuple(after))
    return found


def _close(
    connection: sqlite3.Connection, key: StreamKey, wanted: AroundQuery, asked: Sequence[int], width: int
) -> set[int]:
    found: set[int] = set()
    series = series_of(wanted.kind)
    for portion in portions(asked):
        text = query("places_around", len(portion))
        for branch, upto in branches(wanted.lineage):
            values = (*portion, key.tenant, key.stream, series, branch, width, width, upto, wanted.kind)
            found.update(position for (position,) in connection.execute(text, values))
    return found


def _beyond(
    connection: sqlite3.Connection, key: StreamKey, wanted: AroundQuery, position: int, *, back: bool
) -> list[int]:
    places = NodeQuery(
        kinds=(wanted.kind,),
        lineage=wanted.lineage,
        before=position if back else None,
        after=0 if back else position,
        newest=back,
        limit=wanted.limit,
    )
    return [at for at, _ in _places(connection, key, places)]


def _searches(key: StreamKey, wanted: NodeQuery) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """The query and its values for every range of an index in which wanted records can stand."""
    limit = EVERYTHING if wanted.limit is None else wanted.limit
    before = EVERYTHING if wanted.before is None else wanted.before
    for branch, upto in branches(wanted.lineage):
        place = (branch,) if branch is not None else ()
        within = (wanted.after, min(upto, before - 1))
        for text, series, kinds in _series(wanted.kinds, wanted.newest, branch is None):
            yield text, (key.tenant, key.stream, series, *place, *within, *kinds, limit)


@lru_cache(maxsize=256)
def _series(kinds: tuple[str, ...], newest: bool, anywhere: bool) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """For every series in which records of these kinds are found the query, and the kinds that it asks for there."""
    name = f"series_{'newest' if newest else 'oldest'}{'_anywhere' if anywhere else ''}"
    in_series: dict[str, list[str]] = defaultdict(list)
    for kind in kinds:
        in_series[series_of(kind)].append(kind)
    found: list[tuple[str, str, tuple[str, ...]]] = []
    for series, held in in_series.items():
        (portion,) = portions(held)
        found.append((query(name, len(portion)), series, tuple(portion)))
    return tuple(found)
