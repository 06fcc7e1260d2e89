"""What may be opened as a store, what is left untouched, and how a store comes to its schema."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from callsheet.errors import Damaged, NotAStore, StoreError, StoreTooNew
from callsheet.ledger.contract.making import Making, put
from callsheet.ledger.migrations import Migration, Phase, migrations
from callsheet.ledger.sqlite import Durability, SqliteLedger
from callsheet.ledger.sqlite.opening import APPLICATION_ID, migrate

KNOWN = migrations("sqlite")
EXTRA = Migration(name="9999_post_extra", number=9999, phase=Phase.POST, sql="CREATE TABLE extra (x TEXT) STRICT;")


def foreign_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE record (x)")


def marked_by_another_program(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 252006674")
        connection.execute("CREATE TABLE migration (name, checksum)")


FOREIGN = {
    "text": lambda path: path.write_text("dear diary\n" * 100),
    "short": lambda path: path.write_bytes(b"SQLite"),
    "cut off": lambda path: path.write_bytes(b"SQLite format 3\0"),
    "another database": foreign_database,
    "another program's database": marked_by_another_program,
}


@pytest.mark.parametrize("make", FOREIGN.values(), ids=FOREIGN)
def test_a_file_that_is_no_store_is_refused_and_left_untouched(tmp_path: Path, make: object) -> None:
    path = tmp_path / "file"
    assert callable(make)
    make(path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(NotAStore, match=str(path)):
        SqliteLedger.open(path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(NotAStore):
        SqliteLedger.open(tmp_path)


def test_a_store_in_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        SqliteLedger.open(tmp_path / "missing" / "store.db")


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch()
    SqliteLedger.open(path).close()
    SqliteLedger.open(path).close()


def test_a_store_says_what_it_is_in_its_header(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    SqliteLedger.open(path).close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert connection.execute("PRAGMA user_version").fetchone() == (KNOWN[-1].number,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("SELECT name, checksum FROM migration").fetchall() == [
            (migration.name, migration.checksum) for migration in KNOWN
        ]


@pytest.mark.parametrize(("durability", "synchronous"), [(Durability.FULL, 2), (Durability.NORMAL, 1)])
def test_durability_is_that_of_every_connection(tmp_path: Path, durability: Durability, synchronous: int) -> None:
    ledger = SqliteLedger.open(tmp_path / "store.db", durability=durability)
    for context in (ledger._connections.writing, ledger._connections.reading):
        with context() as connection:
            assert connection.execute("PRAGMA synchronous").fetchone() == (synchronous,)
            assert connection.execute("PRAGMA secure_delete").fetchone() == (1,)
            assert connection.execute("PRAGMA foreign_keys").fetchone() == (1,)


def test_a_migration_from_a_newer_release_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    SqliteLedger.open(path).close()
    apply(path, [*KNOWN, EXTRA])
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match=EXTRA.name):
        SqliteLedger.open(path)
    assert path.read_bytes() == before


def test_a_migration_that_was_edited_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    SqliteLedger.open(path).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE migration SET checksum = 'sha256:0'")
    with pytest.raises(Damaged, match=KNOWN[0].name):
        SqliteLedger.open(path)


def test_the_schema_from_scratch_is_that_of_all_migrations(tmp_path: Path) -> None:
    SqliteLedger.open(tmp_path / "scratch.db").close()
    with closing(sqlite3.connect(tmp_path / "migrated.db")) as connection:
        for migration in KNOWN:
            connection.executescript(migration.sql)
    assert schema_of(tmp_path / "migrated.db") == schema_of(tmp_path / "scratch.db", without="migration")


def test_missing_migrations_are_applied_once_and_change_no_record(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    ledger, making = SqliteLedger.open(path), Making()
    stream = making.stream()
    put(ledger, stream, making.said())
    records = ledger.records(stream.key)
    ledger.close()
    before = schema_of(path)
    for _ in range(2):
        apply(path, [*KNOWN, EXTRA])
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM migration").fetchone() == (len(KNOWN) + 1,)
    assert schema_of(path).keys() - before.keys() == {"extra"}
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM migration WHERE name = ?", (EXTRA.name,))
    assert SqliteLedger.open(path).records(stream.key) == records


def test_a_migration_that_fails_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    SqliteLedger.open(path).close()
    before = schema_of(path)
    sql = "CREATE TABLE half (x TEXT) STRICT; DROP TABLE link; INSERT INTO nowhere VALUES (1);"
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        apply(path, [*KNOWN, Migration(name="9999_pre_bad", number=9999, phase=Phase.PRE, sql=sql)])
    assert schema_of(path) == before
    SqliteLedger.open(path).close()


def test_migrations_are_numbered_in_a_row() -> None:
    assert [migration.number for migration in KNOWN] == list(range(1, len(KNOWN) + 1))
    assert all(migration.name.startswith(f"{migration.number:04}_{migration.phase}_") for migration in KNOWN)


def apply(path: Path, wanted: Sequence[Migration]) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate(connection, wanted)


def schema_of(path: Path, without: str = "") -> dict[str, str]:
    """What was created, by name, in one spelling."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE name <> ?", (without,)).fetchall()
    return {name: " ".join(line for line in (sql or "").split() if line) for name, sql in rows}


def test_a_transaction_that_need_not_be_durable_leaves_the_next_one_durable(tmp_path: Path) -> None:
    ledger = SqliteLedger.open(tmp_path / "store.db")
    with ledger._connections.writing(durable=False) as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (1,)
    with pytest.raises(ZeroDivisionError), ledger._connections.writing(durable=False):
        raise ZeroDivisionError
    with ledger._connections.writing() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
