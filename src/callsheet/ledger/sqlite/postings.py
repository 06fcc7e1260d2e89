"""Where entities and terms occur: merged rows for full batches, the indexes of the records behind them one by one."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice

from callsheet.errors import Damaged
from callsheet.graph.index import Index, Posting, PostingQuery
from callsheet.graph.record import StreamKey
from callsheet.ledger.indexing import BATCH, Indexed, Indexing, MergedRow, branches_of, merged_upto, positions
from callsheet.ledger.sqlite.errors import written
from callsheet.ledger.sqlite.queries import portions, query
from callsheet.ledger.sqlite.read import EVERYTHING
from callsheet.ledger.sqlite.tails import Tail, Tails


def postings(
    connection: sqlite3.Connection, key: StreamKey, wanted: PostingQuery, indexing: Indexing, tails: Tails
) -> list[Posting]:
    """See `Ledger.postings`. Runs in a snapshot."""
    number, position = _place(connection, key)
    tail = tails.read(connection, key, indexing, after=merged_upto(position))
    search = _Search(connection, number, wanted, indexing, tail)
    entities = search.positions(wanted.entities, entity=True)
    terms = search.positions(wanted.terms, entity=False)
    ids = tails.ids(connection, key, {at for found in (*entities.values(), *terms.values()) for at in found})
    return [
        *(Posting(entity=name, position=at, record=ids[at]) for name, found in entities.items() for at in found),
        *(Posting(term=name, position=at, record=ids[at]) for name, found in terms.items() for at in found),
    ]


class _Search:
    """Looks for names along a lineage."""

    def __init__(
        self, connection: sqlite3.Connection, number: int, wanted: PostingQuery, indexing: Indexing, tail: Tail
    ) -> None:
        self._connection = connection
        self._number = number
        self._limit = min(wanted.limit, EVERYTHING)
        self._indexing = indexing
        self._tail = tail
        self._branches = branches_of(wanted.lineage, wanted.before)

    def positions(self, names: Sequence[str], *, entity: bool) -> dict[str, list[int]]:
        """Of each name the newest ones, descending."""
        tail, branches = self._tail.entities if entity else self._tail.terms, self._branches
        found = {
            name: [position for position, branch in tail.get(name, ()) if position <= branches.get(branch, 0)]
            for name in names
        }
        short = [name for name, places in found.items() if len(places) < self._limit]
        for branch, upto in branches.items() if short else ():
            for name, key in zip(short, self._indexing.keys(short, branch, entity=entity), strict=True):
                found[name] += self._merged(key, upto)
        return {name: sorted(places, reverse=True)[: self._limit] for name, places in found.items()}

    def _merged(self, key: int, upto: int) -> Iterator[int]:
        """The newest ones of a row's name that count, descending; no more than are asked."""
        # Each row that begins where positions count has one that does, so no more rows than positions are needed.
        rows = self._connection.execute(query("postings_of_name"), (self._number, key, upto, self._limit))
        each = (position for first, rest in rows for position in reversed(positions((key, first, rest))))
        return islice((position for position in each if position <= upto), self._limit)


def indexed(
    connection: sqlite3.Connection, key: StreamKey, positions: Sequence[int], indexing: Indexing
) -> dict[int, Index]:
    """See `Ledger.indexed`."""
    found: dict[int, Index] = {}
    for portion in portions(tuple(dict.fromkeys(positions))):
        rows = connection.execute(query("indexes_at", len(portion)), (key.tenant, key.stream, *portion))
        found.update((position, indexing.opened(sealed)) for position, sealed in rows)
    return {position: found[position] for position in positions if position in found}


def merge(connection: sqlite3.Connection, key: StreamKey, indexing: Indexing, *, after: int, upto: int) -> None:
    """Merge the batches that became full while the stream went from one position to another.

    An index that is damaged is left out: that a verification finds, and it must not keep anybody from appending.
    """
    for start in range(merged_upto(after), merged_upto(upto), BATCH):
        rows = indexing.merged(_readable(connection, key, indexing, after=start, upto=start + BATCH))
        if rows:
            number, _ = _place(connection, key)
            done = connection.executemany(query("append_posting"), [(number, *row) for row in rows])
            written(done, len(rows))


def drop_unreadable(connection: sqlite3.Connection, key: StreamKey, indexing: Indexing) -> None:
    """Forget the indexes that are damaged: they can be derived again."""
    rows = connection.execute(query("indexes_between"), (key.tenant, key.stream, 0, EVERYTHING))
    damaged = [position for position, _, sealed in rows if _opened(indexing, sealed) is None]
    connection.executemany(query("set_index"), [(None, key.tenant, key.stream, position) for position in damaged])


def rebuild(connection: sqlite3.Connection, key: StreamKey, indexing: Indexing) -> None:
    """Merge all full batches anew from the indexes of the records."""
    number, position = _place(connection, key)
    connection.execute(query("drop_postings"), (number,))
    merge(connection, key, indexing, after=0, upto=position)


def misfiled(connection: sqlite3.Connection, key: StreamKey, indexing: Indexing) -> list[int]:
    """The first position of every batch whose merged rows are not those that its records come to."""
    number, position = _place(connection, key)
    found: defaultdict[int, list[MergedRow]] = defaultdict(list)
    for row in connection.execute(query("all_postings"), (number,)):
        found[(row[1] - 1) // BATCH * BATCH].append(row)
    starts = range(0, merged_upto(position), BATCH)
    wrong = [start for start in found if start not in starts]
    for start in starts:
        if indexing.merged(_indexes(connection, key, indexing, after=start, upto=start + BATCH)) != found.get(
            start, []
        ):
            wrong.append(start)
    return [max(1, start + 1) for start in sorted(wrong)]


def _indexes(
    connection: sqlite3.Connection, key: StreamKey, indexing: Indexing, *, after: int, upto: int
) -> Iterator[Indexed]:
    rows = connection.execute(query("indexes_between"), (key.tenant, key.stream, after, upto))
    for position, branch, sealed in rows:
        yield Indexed(position, branch, indexing.names(sealed))


def _readable(
    connection: sqlite3.Connection, key: StreamKey, indexing: Indexing, *, after: int, upto: int
) -> Iterator[Indexed]:
    rows = connection.execute(query("indexes_between"), (key.tenant, key.stream, after, upto))
    for position, branch, sealed in rows:
        try:
            found_by = indexing.names(sealed)
        except Damaged:
            continue
        yield Indexed(position, branch, found_by)


def _opened(indexing: Indexing, sealed: bytes) -> Index | None:
    """None: it is damaged."""
    try:
        return indexing.opened(sealed)
    except Damaged:
        return None


def _place(connection: sqlite3.Connection, key: StreamKey) -> tuple[int, int]:
    number, position = connection.execute(query("stream_place"), (key.tenant, key.stream)).fetchone()
    return number, position
