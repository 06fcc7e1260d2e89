"""SQLite files of others, read as data: nothing is written, and nothing that stands in the schema is run."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from callsheet.audit.logs.files import LogFile
from callsheet.errors import InputError

MAGIC = b"SQLite format 3\0"

_LONGEST_VALUE = 256 * 2**20
"""Bytes of one value: a longer one is refused by SQLite before it is read."""


@contextmanager
def database(log: LogFile) -> Iterator[sqlite3.Connection]:
    """A connection that can only read. Raises `InputError` for a file that is damaged, locked or no database."""
    try:
        with closing(_connected(log.path)) as connection:
            yield connection
    except (sqlite3.Error, UnicodeError) as problem:  # of a damaged one even the message may be no text
        raise InputError(f"{log.shown} cannot be read as a database: {problem}") from problem


def tables(connection: sqlite3.Connection) -> dict[str, frozenset[str]]:
    """The columns of each real table; views, whose text would be run, are none."""
    names = [
        name
        for name, sql in connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
        if isinstance(name, str) and isinstance(sql, str) and not sql.upper().startswith("CREATE VIRTUAL")
    ]
    return {
        name: frozenset(column for (column,) in connection.execute("SELECT name FROM pragma_table_info(?)", (name,)))
        for name in names
    }


def _connected(path: Path) -> sqlite3.Connection:
    uri = path.absolute().as_uri()
    try:
        connection = sqlite3.connect(f"{uri}?mode=ro", uri=True)
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    except sqlite3.OperationalError:
        # In a folder that cannot be written, the side files that reading needs cannot be made; nobody else writes then.
        connection = sqlite3.connect(f"{uri}?immutable=1", uri=True)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    for pragma in ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON"):
        connection.execute(f"PRAGMA {pragma}")
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return connection
