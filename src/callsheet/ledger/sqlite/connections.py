"""Connections to one file: one that writes, guarded by a lock, and as many readers as are busy at once."""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from callsheet.errors import StoreBusy, StoreClosed
from callsheet.ledger.sqlite.errors import DRIVER_ERRORS, translated


class Durability(StrEnum):
    """What a returned append survives."""

    #: A power cut. One may take back a request that was assembled and that nothing was recorded after.
    FULL = "full"
    #: A crash of the process; a power cut may take the last appends back, never a part of one.
    NORMAL = "normal"


_STATEMENTS = 256
_CHECKPOINT_PAGES = 1_000
"""Pages of the write-ahead log before it is moved to the file: 4 MB. Four times as many are no faster, and would be
most of what a small store takes on the disk.
"""


def connected(path: Path, *, durability: Durability, busy_timeout: float) -> sqlite3.Connection:
    """A new connection to a store that exists."""
    connection = sqlite3.connect(
        path, timeout=busy_timeout, isolation_level=None, check_same_thread=False, cached_statements=_STATEMENTS
    )
    for pragma in (
        f"synchronous = {durability.value}",
        "foreign_keys = ON",
        "secure_delete = ON",
        f"wal_autocheckpoint = {_CHECKPOINT_PAGES}",
    ):
        connection.execute(f"PRAGMA {pragma}")
    return connection


class Connections:
    """Hands out connections. A process that was forked off opens its own."""

    def __init__(self, path: Path, *, durability: Durability, busy_timeout: float) -> None:
        self._path = path
        self._durability = durability
        self._busy_timeout = busy_timeout
        self._closed = False
        #: Of parent processes: they must not be used here, and not be closed either.
        self._foreign: list[sqlite3.Connection] = []
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._writing = threading.Lock()
        self._writer: sqlite3.Connection | None = None
        self._idle: list[sqlite3.Connection] = []

    def ensure_open(self) -> None:
        """Raises `StoreClosed`."""
        if self._closed:
            raise StoreClosed

    def _ready(self) -> None:
        self.ensure_open()
        if self._process != os.getpid():
            self._foreign += [*self._idle, *([self._writer] if self._writer is not None else [])]
            self._start()

    def _connected(self) -> sqlite3.Connection:
        return connected(self._path, durability=self._durability, busy_timeout=self._busy_timeout)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees what is committed. Raises `StoreClosed`, `StoreBusy`, `Damaged`."""
        self._ready()
        idle = self._idle
        try:
            try:
                connection = idle.pop()
            except IndexError:  # all are busy
                connection = self._connected()
            try:
                yield connection
            finally:
                idle.append(connection)
                if self._closed:
                    self._close_idle()
        except DRIVER_ERRORS as problem:
            raise translated(problem) from problem

    @contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """A transaction, alone in it among all processes: committed at the end, rolled back at an error.

        Not `durable`: a power cut may take it back, as long as no durable one came after it.
        """
        self._ready()
        lock = self._writing
        if not lock.acquire(timeout=self._busy_timeout):
            raise StoreBusy
        try:
            self.ensure_open()
            connection = self._writer = self._writer or self._connected()
            if not durable:
                connection.execute(f"PRAGMA synchronous = {Durability.NORMAL.value}")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            finally:
                if not durable:
                    connection.execute(f"PRAGMA synchronous = {self._durability.value}")
        except DRIVER_ERRORS as problem:
            raise translated(problem) from problem
        finally:
            lock.release()

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one moment, however many queries are asked."""
        with self.reading() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("COMMIT")

    def empty_log(self) -> None:
        """Move everything from the write-ahead log to the file, and overwrite the log's beginning.

        Raises `StoreBusy` when readers kept the log in use; nothing is lost then, and it can be tried again.
        """
        with self.reading() as connection:
            (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StoreBusy("erased, but readers kept old pages in use: erase again to remove them from the log too")

    def close(self) -> None:
        """Close what is idle now, and what is busy when it is done."""
        self._closed = True
        if self._process != os.getpid():
            return
        with self._writing:
            if self._writer is not None:
                self._writer.close()
                self._writer = None
        self._close_idle()

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()
