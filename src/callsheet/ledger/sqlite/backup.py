"""Backup while others write, and restore.

The database is copied first, as of one moment; then the blobs that the copy names, none of which may go meanwhile.
A backup is a store like any other: it can be opened where it lies, and restoring is copying it to its place. What is
erased later stays in backups that were made before.
"""

import secrets
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from glob import escape
from pathlib import Path

from callsheet.errors import Damaged, InvalidOption
from callsheet.graph.ports import Clock
from callsheet.graph.times import Instant
from callsheet.ledger.blobs.folder import FolderBlobs
from callsheet.ledger.blobs.store import BlobStore
from callsheet.ledger.clock import SystemClock
from callsheet.ledger.sqlite.connections import Connections
from callsheet.ledger.sqlite.errors import translating
from callsheet.ledger.sqlite.queries import query
from callsheet.ledger.sqlite.read import EVERYTHING

DATABASE = "callsheet.db"
"""Name of the database within a backup."""

_HOLD = 600 * 1_000_000
"""Microseconds that a hold on all blobs lasts unless it is renewed: what a backup that crashed leaves behind."""

_UNFINISHED = ".unfinished-"

_RENEW_EVERY = 256
"""Blobs copied between two renewals."""


def blob_folder(database: Path) -> Path:
    """Where the blobs of a database lie: beside it."""
    return database.with_name(database.name + ".blobs")


def belongs_to(path: Path, database: Path) -> bool:
    """Whether a path is that of a database or of what lies beside it as a part of it, whichever way it is written."""
    found, own = path.resolve(), database.resolve()
    parts = {own.with_name(own.name + ending) for ending in ("", "-wal", "-shm", "-journal")}
    beside = {own.with_name(own.name + ending) for ending in (".blobs", ".proxy")}
    same = (one for one in parts if one.exists() and found.exists() and one.samefile(found))
    return found in parts or not beside.isdisjoint((found, *found.parents)) or any(same)


def back_up(connections: Connections, blobs: BlobStore, clock: Clock, folder: Path) -> Path:
    """Copy a store into a new folder, which appears when it is whole; the path of the copied database.

    Raises `InvalidOption` when the folder exists, `Damaged` when a blob is missing.
    """
    _refuse_existing(folder)
    _remove_leftovers(folder, clock.now())
    unfinished = _unfinished(folder)
    try:
        unfinished.mkdir(parents=True)
        with _held(connections, clock) as renew, connections.reading() as connection:
            _copy_database(connection, unfinished / DATABASE)
            _copy_blobs(unfinished / DATABASE, blobs, blob_folder(unfinished / DATABASE), renew)
        unfinished.rename(folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return folder / DATABASE


def restore(backup: Path, path: Path) -> None:
    """Copy a backup to where a store is to be; the store appears when it is whole.

    Raises `InvalidOption` when there is something already or the backup is none, `Damaged` when a blob is missing.
    """
    source = backup / DATABASE
    if not source.is_file():
        raise InvalidOption(f"{backup} is no backup: it holds no {DATABASE}")
    _refuse_existing(path)
    _remove_leftovers(path, SystemClock().now())
    unfinished = _unfinished(path)
    try:
        with translating(), closing(sqlite3.connect(source)) as connection:
            _copy_database(connection, unfinished)
        _copy_blobs(unfinished, FolderBlobs(blob_folder(source)), blob_folder(path), unfinished.touch)
        unfinished.rename(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _refuse_existing(path: Path) -> None:
    if path.exists():
        raise InvalidOption(f"{path} exists already; choose a path where nothing is")


def _unfinished(path: Path) -> Path:
    return path.with_name(f"{path.name}{_UNFINISHED}{secrets.token_hex(4)}")


def _remove_leftovers(target: Path, now: Instant) -> None:
    """Remove what copies to this target left when they were killed: what nobody has written to for longer than a hold.

    A copy that still runs writes all the time; what cannot be removed stays.
    """
    for leftover in target.parent.glob(f"{escape(target.name)}{_UNFINISHED}*"):
        with suppress(OSError):  # finished or removed just now
            if _last_written(leftover) < now - _HOLD:
                if leftover.is_dir():
                    shutil.rmtree(leftover, ignore_errors=True)
                else:
                    leftover.unlink()


def _last_written(path: Path) -> int:
    """In microseconds since the epoch."""
    return max(each.stat().st_mtime_ns for each in (path, *path.rglob("*"))) // 1000


@contextmanager
def _held(connections: Connections, clock: Clock) -> Iterator[Callable[[], None]]:
    """Keep every blob where it is; gives what renews the hold."""
    name = secrets.token_hex(8)

    def renew() -> None:
        with connections.writing() as connection:
            connection.execute(query("hold_blobs"), (name, clock.now() + _HOLD))

    renew()
    try:
        yield renew
    finally:
        with connections.writing() as connection:
            connection.execute(query("release_blobs"), (name,))


def _copy_database(source: sqlite3.Connection, path: Path) -> None:
    """One moment of a database, without holds, and without blobs that no record names yet."""
    with translating(), closing(sqlite3.connect(path, isolation_level=None)) as copy:
        source.backup(copy)
        copy.execute("DELETE FROM blob_hold")
        copy.execute(query("drop_expired_blobs"), (EVERYTHING,))


def _copy_blobs(database: Path, blobs: BlobStore, folder: Path, renew: Callable[[], None]) -> None:
    with translating(), closing(sqlite3.connect(database)) as copy:
        addresses = [address for (address,) in copy.execute(query("all_blobs"))]
    kept = FolderBlobs(folder)
    for count, address in enumerate(addresses):
        if count % _RENEW_EVERY == 0:
            renew()
        try:
            kept.put(address, blobs.get(address))
        except KeyError:
            raise Damaged(
                f"the blob {address} is missing, so there is no whole backup. Run `callsheet verify`."
            ) from None
