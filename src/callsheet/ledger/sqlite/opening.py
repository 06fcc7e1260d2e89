"""Opening a file as a store: what it is, whether we can read it, and bringing its schema up to date."""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from callsheet.errors import Damaged, NotAStore, StoreError, StoreTooNew
from callsheet.ledger.migrations import Migration
from callsheet.ledger.sqlite.errors import translating

APPLICATION_ID = 0x43414C4C
"""``CALL``, in the header of every store."""

OLDEST_SQLITE = (3, 40, 0)

_APPLIED = "CREATE TABLE migration (name TEXT PRIMARY KEY, checksum TEXT NOT NULL) STRICT, WITHOUT ROWID"

_MAGIC = b"SQLite format 3\0"
_APPLICATION_ID_AT = 68
_HEADER_BYTES = 100


def ensure_store(path: Path, migrations: Sequence[Migration], *, busy_timeout: float) -> None:
    """Make `path` a store of the current schema, or leave it untouched and say why not.

    Raises `NotAStore`, `StoreTooNew`, `StoreBusy`, and `StoreError` when its folder does not exist.
    """
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE[:2]))
        raise StoreError(f"SQLite {sqlite3.sqlite_version} is too old: Callsheet needs {oldest} or newer")
    fresh = _is_fresh(path)
    with translating():
        connection = sqlite3.connect(path, timeout=busy_timeout, isolation_level=None)
        try:
            if fresh:
                _make_ours(connection, busy_timeout)
            if _outdated(connection, migrations):
                migrate(connection, migrations)
        finally:
            connection.close()


def _is_fresh(path: Path) -> bool:
    """Whether there is nothing yet. The file's own bytes are read, because opening a foreign database may change it."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except FileNotFoundError:
        return True
    except IsADirectoryError:
        raise NotAStore(f"{path} is a folder, not a Callsheet store") from None
    except OSError as problem:
        raise StoreError(f"{path} cannot be opened: {problem.strerror}") from problem
    if not header:
        return True
    application = int.from_bytes(header[_APPLICATION_ID_AT : _APPLICATION_ID_AT + 4], "big")
    if not header.startswith(_MAGIC) or application != APPLICATION_ID:
        raise NotAStore(f"{path} is not a Callsheet store. It was left as it is; choose another path.")
    return False


def _make_ours(connection: sqlite3.Connection, busy_timeout: float) -> None:
    # The mark goes into the file before WAL does, so that it is always in the file's own header.
    deadline = time.monotonic() + busy_timeout
    while True:
        try:
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as problem:  # another process makes it ours at this moment
            if problem.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _applied(connection: sqlite3.Connection) -> dict[str, str]:
    exists = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'migration'").fetchone()
    return dict(connection.execute("SELECT name, checksum FROM migration")) if exists else {}


def _outdated(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> bool:
    """Whether migrations are missing. Raises `StoreTooNew` for one that we do not know."""
    applied = _applied(connection)
    known = {migration.name: migration.checksum for migration in migrations}
    for name, checksum in applied.items():
        if name not in known:
            raise StoreTooNew(f"the store has the migration {name!r}, which this release does not know. Upgrade it.")
        if checksum != known[name]:
            raise Damaged(f"the store was made by a changed release: its migration {name!r} is not ours")
    return len(applied) < len(known)


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> None:
    """Apply what is missing, all or none, alone among all processes. A new store gets the whole schema at once."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        applied = _applied(connection)
        if not applied:
            make_schema(connection)
        for migration in migrations:
            if migration.name not in applied:
                if applied:
                    _run(connection, migration.sql)
                connection.execute("INSERT INTO migration VALUES (?, ?)", (migration.name, migration.checksum))
        connection.execute(f"PRAGMA user_version = {migrations[-1].number}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def make_schema(connection: sqlite3.Connection) -> None:
    """Make the tables of a store, as they are now, in an empty database."""
    _run(connection, _APPLIED + ";" + schema())


def schema() -> str:
    """The schema as it is now, without the table of migrations."""
    return files("callsheet.ledger.sqlite").joinpath("schema.sql").read_text(encoding="utf-8")


def _run(connection: sqlite3.Connection, script: str) -> None:
    for statement in _statements(script):
        connection.execute(statement)


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; `executescript` would commit in between."""
    statement = ""
    for piece in script.split(";")[:-1]:
        statement += piece + ";"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
