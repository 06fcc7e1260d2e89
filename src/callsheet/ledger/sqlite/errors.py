"""Where errors of the driver become ours. The only place that knows SQLite's codes."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from callsheet.errors import (
    CallsheetError,
    Damaged,
    InputError,
    NotAStore,
    StoreBusy,
    StoreClosed,
    StoreError,
    StoreFull,
)

_BY_CODE: dict[int, tuple[type[StoreError], str]] = {
    sqlite3.SQLITE_BUSY: (StoreBusy, "other writers kept the store locked too long; nothing was written. Try again"),
    sqlite3.SQLITE_LOCKED: (StoreBusy, "the store is locked; nothing was written. Try again"),
    sqlite3.SQLITE_FULL: (StoreFull, "the disk or a quota is exhausted; nothing was written"),
    sqlite3.SQLITE_CORRUPT: (Damaged, "the file is damaged. Restore it from a backup"),
    sqlite3.SQLITE_NOTADB: (NotAStore, "the file is not a Callsheet store"),
    sqlite3.SQLITE_READONLY: (StoreError, "the store cannot be written: its file or folder is read-only"),
    sqlite3.SQLITE_CANTOPEN: (StoreError, "the store cannot be opened: check its path and permissions"),
    sqlite3.SQLITE_IOERR: (StoreError, "the disk reported an error; nothing was written"),
}
_PRIMARY = 0xFF


DRIVER_ERRORS = (sqlite3.Error, UnicodeEncodeError)
"""All that the driver raises: its own, and what Python raises for text that is no Unicode."""


def translated(problem: sqlite3.Error | UnicodeEncodeError) -> CallsheetError:
    """Our error for one of the driver's."""
    if isinstance(problem, UnicodeEncodeError):
        return InputError(f"names and ids are valid Unicode text: {problem}")
    code = getattr(problem, "sqlite_errorcode", None)
    if code is None and isinstance(problem, sqlite3.ProgrammingError):  # the driver knows only this way to say so
        return StoreClosed()
    error, words = _BY_CODE.get((code or 0) & _PRIMARY, (StoreError, "the store could not do what was asked"))
    return error(f"{words} ({problem}).")


@contextmanager
def translating() -> Iterator[None]:
    """Let only our errors out."""
    try:
        yield
    except DRIVER_ERRORS as problem:
        raise translated(problem) from problem


def written(cursor: sqlite3.Cursor, rows: int) -> None:
    """Raises `Damaged` when the database has not done all that it was told to, as a foreign trigger makes it do."""
    if cursor.rowcount != rows:
        raise Damaged("the file did not take what was written to it; nothing was written. Run `callsheet verify`.")
