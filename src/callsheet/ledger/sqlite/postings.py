"""Where entities and terms occur: merged rows for full batches, the indexes of the records behind them one by one."""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import chain

from callsheet.errors import Damaged
from callsheet.graph.index import Index, Match, MatchQuery, Posting, PostingQuery
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
    branches = branches_of(wanted.lineage, wanted.before)
    search = _Search(connection, number, indexing, tail, branches, limit=wanted.limit)
    entities = search.positions(wanted.entities, entity=True)
    terms = search.positions(wanted.terms, entity=False)
    ids = tails.ids(connection, key, chain.from_iterable((*entities.values(), *terms.values())))
    return [
        *[Posting(entity=name, position=at, record=ids[at]) for name, found in entities.items() for at in found],
        *[Posting(term=name, position=at, record=ids[at]) for name, found in terms.items() for at in found],
    ]


def matches(
    connection: sqlite3.Connection, key: StreamKey, wanted: MatchQuery, indexing: Indexing, tails: Tails
) -> list[Match]:
    """See `Ledger.matches`. Runs in a snapshot."""
    number, position = _place(connection, key)
    tail = tails.read(connection, key, indexing, after=merged_upto(position))
    search = _Search(connection, number, indexing, tail, branches_of(wanted.lineage, None))
    holding = map(search.everywhere, dict.fromkeys(wanted.words))
    places = sorted((set().union(*found) if len(found) > 1 else found[0] for found in holding), key=len)
    counts: Counter[int] = Counter(chain.from_iterable(places[:-1]))
    # What holds two words holds one beside the most frequent: most of what holds that one need not be counted.
    counts.update(counts.keys() & set(places[-1] if places else ()))
    # A position and how many words it has as one number: whole lists of them are compared fast.
    size = position + 1
    most = wanted.behind[0] * size + wanted.behind[1] if wanted.behind is not None else EVERYTHING
    together = [words * size + at for at, words in counts.items() if words > 1]
    if wanted.behind is not None:
        together = [one for one in together if one < most]
    best = [divmod(one, size) for one in nlargest(min(wanted.limit, len(together)), together)]
    ids = tails.ids(connection, key, [at for _, at in best])
    return [Match(words, at, ids[at]) for words, at in best]


class _Search:
    """Looks for names along a lineage."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        number: int,
        indexing: Indexing,
        tail: Tail,
        branches: Mapping[str, int],
        *,
        limit: int = EVERYTHING,
    ) -> None:
        self._connection = connection
        self._number = number
        self._limit = min(limit, EVERYTHING)
        self._indexing = indexing
        self._tail = tail
        self._branches = branches
        self._query = query("postings_of_name")

    def everywhere(self, terms: Sequence[str]) -> list[list[int]]:
        """Of each term on each branch all positions that count, in no order, each once."""
        found: list[list[int]] = [
            [at for at, branch in self._tail.terms.get(term, ()) if at <= self._branches.get(branch, 0)]
            for term in dict.fromkeys(terms)
        ]
        for branch, upto in self._branches.items():
            for key in self._indexing.keys(list(dict.fromkeys(terms)), branch, entity=False):
                rows = self._connection.execute(self._query, (self._number, key, upto, EVERYTHING)).fetchall()
                places = [first for first, _ in rows]
                places += [first + offset for first, rest in rows for offset in rest]
                if places and max(places) > upto:
                    places = [at for at in places if at <= upto]
                found.append(places)
        return [one for one in found if one] or [[]]

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

    def _merged(self, key: int, upto: int) -> list[int]:
        """The newest ones of a row's name that count, as many as are asked or a row more."""
        # Each row that begins where positions count has one that does, so no more rows than positions are needed.
        found: list[int] = []
        for first, rest in self._connection.execute(self._query, (self._number, key, upto, self._limit)):
            found += [position for position in positions((key, first, rest)) if position <= upto]
            if len(found) >= self._limit:
                break
        return found


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


def merge_again(connection: sqlite3.Connection, key: StreamKey, indexing: Indexing, positions: Sequence[int]) -> None:
    """Merge the full batches anew in which these positions are."""
    number, position = _place(connection, key)
    batches = sorted({(at - 1) // BATCH for at in positions if 0 < at <= merged_upto(position)})
    for portion in portions(batches):
        connection.execute(query("drop_batches", len(portion)), (number, BATCH, *portion))
    for batch in batches:
        merge(connection, key, indexing, after=batch * BATCH, upto=(batch + 1) * BATCH)


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
