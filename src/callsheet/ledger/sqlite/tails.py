"""The names of the records that are not merged yet, and the ids of those that were found, kept between look-ups.

A look-up reads what other connections have committed since, so what is kept never tells of records that were erased or
indexed anew; and it belongs to one connection, which one thread uses at a time.
"""

import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from callsheet.graph.ids import RecordId
from callsheet.graph.record import StreamKey
from callsheet.ledger.indexing import Indexing
from callsheet.ledger.sqlite.queries import portions, query
from callsheet.ledger.sqlite.read import EVERYTHING

_IDS = 16_384
"""Ids that are kept."""

_KEPT = 4
"""Tails that are kept, those that were looked into last."""

Row: TypeAlias = tuple[int, str, bytes]
"""Position, branch and sealed index of a record."""


class Tail:
    """Where each name occurs behind one position of a stream."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.entities: dict[str, list[tuple[int, str]]] = {}
        self.terms: dict[str, list[tuple[int, str]]] = {}
        self._rows: list[Row] = []

    def goes_on_in(self, rows: Sequence[Row]) -> bool:
        """Whether all that is known is the beginning of these rows."""
        return self._rows == rows[: len(self._rows)]

    def add(self, rows: Sequence[Row], indexing: Indexing) -> None:
        """Read the rows behind those that are known. Raises `Damaged`."""
        for row in rows[len(self._rows) :]:
            position, branch, sealed = row
            found_by = indexing.names(sealed)
            _note(self.entities, found_by.entities, (position, branch))
            _note(self.terms, found_by.terms, (position, branch))
            self._rows.append(row)


class Tails:
    """The tails of the streams that were looked into last. Thread-safe."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, StreamKey], tuple[sqlite3.Connection, int, Tail]] = {}
        self._ids: dict[StreamKey, dict[int, RecordId]] = {}
        self._held = 0
        self._lock = threading.Lock()

    def read(self, connection: sqlite3.Connection, key: StreamKey, indexing: Indexing, *, after: int) -> Tail:
        """The tail behind a position. Runs in a snapshot that has begun. Raises `Damaged`."""
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        place = (id(connection), key)
        with self._lock:
            owner, seen, tail = self._kept.pop(place, (connection, None, Tail(after)))
        if owner is not connection or tail.after != after:
            seen, tail = None, Tail(after)
        if seen != version:
            rows: list[Row] = connection.execute(
                query("indexes_between"), (key.tenant, key.stream, after, EVERYTHING)
            ).fetchall()
            if not tail.goes_on_in(rows):
                tail = Tail(after)
            tail.add(rows, indexing)
        with self._lock:
            self._kept[place] = (connection, version, tail)
            for old in list(self._kept)[:-_KEPT]:
                del self._kept[old]
        return tail

    def ids(self, connection: sqlite3.Connection, key: StreamKey, positions: Iterable[int]) -> Mapping[int, RecordId]:
        """The ids of the records at these positions, among others. What stands at a position never changes."""
        known = self._ids.get(key, {})
        missing = sorted({position for position in positions if position not in known})
        if not missing:
            return known
        read: dict[int, RecordId] = {}
        for portion in portions(missing):
            read.update(connection.execute(query("ids_at", len(portion)), (key.tenant, key.stream, *portion)))
        with self._lock:
            if self._held + len(read) > _IDS:
                self._ids, self._held = {}, 0
            now = self._ids.setdefault(key, {})
            now.update(read)
            self._held += len(read)
        return now if now is known else known | read

    def clear(self) -> None:
        """Keep nothing: what was indexed is erased."""
        with self._lock:
            self._kept.clear()
            self._ids, self._held = {}, 0


def _note(places: dict[str, list[tuple[int, str]]], names: Iterable[str], at: tuple[int, str]) -> None:
    for name in dict.fromkeys(names):
        places.setdefault(name, []).append(at)
