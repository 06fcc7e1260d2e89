"""The driver's errors in, our errors out."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from callsheet.errors import Damaged, InputError, NotAStore, StoreBusy, StoreClosed, StoreError, StoreFull
from callsheet.graph.enums import StreamKind
from callsheet.ledger.contract.making import Making, put
from callsheet.ledger.sqlite import SqliteLedger
from callsheet.ledger.sqlite.errors import translated

CODES = {
    sqlite3.SQLITE_BUSY: StoreBusy,
    sqlite3.SQLITE_BUSY_SNAPSHOT: StoreBusy,
    sqlite3.SQLITE_BUSY_RECOVERY: StoreBusy,
    sqlite3.SQLITE_LOCKED: StoreBusy,
    sqlite3.SQLITE_LOCKED_SHAREDCACHE: StoreBusy,
    sqlite3.SQLITE_FULL: StoreFull,
    sqlite3.SQLITE_CORRUPT: Damaged,
    sqlite3.SQLITE_CORRUPT_INDEX: Damaged,
    sqlite3.SQLITE_NOTADB: NotAStore,
    sqlite3.SQLITE_READONLY: StoreError,
    sqlite3.SQLITE_CANTOPEN: StoreError,
    sqlite3.SQLITE_IOERR: StoreError,
    sqlite3.SQLITE_IOERR_FSYNC: StoreError,
    sqlite3.SQLITE_INTERRUPT: StoreError,
    sqlite3.SQLITE_NOMEM: StoreError,
}


@pytest.mark.parametrize(("code", "error"), CODES.items())
def test_every_code_has_its_error(code: int, error: type[StoreError]) -> None:
    problem = sqlite3.OperationalError("what the driver said")
    problem.sqlite_errorcode = code
    found = translated(problem)
    assert type(found) is error
    assert "what the driver said" in str(found)


def test_an_error_without_code_is_a_closed_connection_or_unknown() -> None:
    connection = sqlite3.connect(":memory:")
    connection.close()
    with pytest.raises(sqlite3.ProgrammingError) as problem:
        connection.execute("SELECT 1")
    assert type(translated(problem.value)) is StoreClosed
    assert type(translated(sqlite3.InterfaceError("bad"))) is StoreError


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


def test_a_writer_that_never_lets_go_makes_others_busy_and_readers_not(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    ledger, making = SqliteLedger.open(path, busy_timeout=0.05), Making()
    stream = making.stream()
    put(ledger, stream, making.said())
    with locked(path):
        with pytest.raises(StoreBusy):
            put(ledger, stream, making.said())
        assert len(ledger.records(stream.key)) == 1
    put(ledger, stream, making.said())
    assert [record.position for record in ledger.records(stream.key)] == [1, 2]


def test_opening_a_locked_store_needs_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    SqliteLedger.open(path).close()
    with locked(path):
        ledger = SqliteLedger.open(path, busy_timeout=0.05)
        assert ledger.streams() == []


def test_a_full_disk_is_said_so_and_nothing_was_written(tmp_path: Path) -> None:
    ledger, making = SqliteLedger.open(tmp_path / "store.db"), Making()
    stream = making.stream()
    put(ledger, stream, making.said())
    with ledger._connections.writing() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StoreFull):
        put(ledger, stream, *(making.said("x" * 8000) for _ in range(5)))
    assert len(ledger.records(stream.key)) == 1
    with ledger._connections.writing() as connection:
        connection.execute("PRAGMA max_page_count = 1000000")
    put(ledger, stream, making.said(), expect=1)


def test_a_damaged_file_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    ledger, making = SqliteLedger.open(path), Making()
    stream = making.stream()
    put(ledger, stream, *(making.said("x" * 500) for _ in range(200)))
    ledger.close()
    content = bytearray(path.read_bytes())
    for page in range(4096, len(content), 4096):  # all but the first, which holds the schema
        content[page : page + 200] = b"\xff" * 200
    path.write_bytes(content)
    with pytest.raises(Damaged):
        SqliteLedger.open(path).records(stream.key)


def test_a_header_that_cannot_be_read_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    ledger, making = SqliteLedger.open(path), Making()
    stream = making.stream()
    put(ledger, stream, making.said())
    for header in (b"", b"{}", b"no JSON", b'{"unknown":1}'):
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE record SET header = ?", (header,))
        with pytest.raises(Damaged):
            ledger.records(stream.key)


def test_names_that_are_no_text_are_refused(tmp_path: Path) -> None:
    ledger, making = SqliteLedger.open(tmp_path / "store.db"), Making()
    surrogate = "lone \ud800 surrogate"
    asked: list[Callable[[], object]] = [
        lambda: ledger.stream(making.tenant, StreamKind.CONVERSATION, surrogate),
        lambda: ledger.find(making.tenant, type(making.id())(surrogate)),
    ]
    for ask in asked:
        with pytest.raises(InputError):
            ask()


def test_a_body_that_was_exchanged_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    ledger, making = SqliteLedger.open(path), Making()
    stream = making.stream()
    put(ledger, stream, making.said("one"), making.said("two"))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "UPDATE record SET sealed = (SELECT sealed FROM record WHERE position = 2) WHERE position = 1"
        )
    assert len(ledger.records(stream.key, after=1)) == 1
    with pytest.raises(Damaged, match="not the one that was recorded"):
        ledger.records(stream.key)
