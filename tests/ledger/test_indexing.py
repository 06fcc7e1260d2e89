"""How SQLite keeps indexes: merged where batches are full, told when they are wrong, and not in the way of anything."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from callsheet.audit.rebuild import rebuild
from callsheet.audit.report import FindingKind
from callsheet.audit.verify import verify
from callsheet.graph.cut import alone
from callsheet.graph.ids import ROOT_BRANCH
from callsheet.graph.index import Index, PostingQuery
from callsheet.graph.ports import IndexOf
from callsheet.graph.record import Record, Stream
from callsheet.ledger.contract.making import Making, put
from callsheet.ledger.crypto.sealers import AesGcmSealer
from callsheet.ledger.indexing import BATCH
from callsheet.ledger.migrations import migrations
from callsheet.ledger.sqlite import Durability, SqliteLedger
from callsheet.ledger.sqlite.opening import APPLICATION_ID

RECORDS = 2 * BATCH + 10


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def ledger(path: Path) -> Iterator[SqliteLedger]:
    opened = SqliteLedger.open(path, durability=Durability.NORMAL)
    yield opened
    opened.close()


def filled(ledger: SqliteLedger, making: Making) -> Stream:
    stream = making.stream()
    put(ledger, stream, *(making.found_by("parcel", f"parcel {number}") for number in range(1, RECORDS + 1)))
    return stream


def found(ledger: SqliteLedger, stream: Stream, entity: str) -> list[int]:
    query = PostingQuery(entities=(entity,), lineage=alone(ROOT_BRANCH, 10_000), limit=10_000)
    return [posting.position for posting in ledger.postings(stream.key, query)]


def index_of(record: Record) -> Index | None:
    return Index(entities=("parcel", f"parcel {record.position}"))


def wrong(ledger: SqliteLedger, index: IndexOf | None = None) -> list[int | None]:
    """Where rows differ from what the records say."""
    findings = verify(ledger, index=index).findings
    return [finding.position for finding in findings if finding.kind is FindingKind.PROJECTION]


def rows(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT * FROM posting ORDER BY stream, key, first").fetchall()


def change(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(sql).rowcount > 0


def test_merged_rows_depend_on_the_records_alone(ledger: SqliteLedger, path: Path) -> None:
    stream = filled(ledger, Making())
    at_once = rows(path)
    ledger.rebuild(stream.key)
    assert rows(path) == at_once
    ledger.rebuild(stream.key, index_of)
    assert rows(path) == at_once
    assert len(at_once) == 2 + 2 * BATCH


def test_merged_rows_are_the_same_however_records_were_appended(ledger: SqliteLedger, path: Path) -> None:
    making = Making()
    stream = making.stream()
    for start in range(0, RECORDS, 7):
        drafts = [making.found_by("parcel", f"parcel {number}") for number in range(start, min(start + 7, RECORDS))]
        put(ledger, stream, *drafts)
    one_by_one = rows(path)
    ledger.rebuild(stream.key)
    assert rows(path) == one_by_one
    assert wrong(ledger) == []


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM posting WHERE key IN (SELECT key FROM posting ORDER BY first DESC LIMIT 1)",
        "UPDATE posting SET key = key + 1 WHERE first = 1",
        "UPDATE posting SET rest = x'0102' WHERE first = 3",
        "INSERT INTO posting VALUES (1, 5, 9000, x'')",
        "INSERT INTO posting VALUES (1, 5, 0, x'')",
        "UPDATE record SET found = NULL WHERE position = 5",
        "UPDATE record SET found = x'00' WHERE position = 5",
        "UPDATE record SET found = substr(found, 1, 20) WHERE position = 5",
        "UPDATE record SET found = CAST(found || x'00' AS BLOB) WHERE position = 200",
    ],
)
def test_rows_that_were_changed_are_found_and_built_anew(ledger: SqliteLedger, path: Path, sql: str) -> None:
    stream = filled(ledger, Making())
    before = rows(path)
    change(path, sql)
    assert len(wrong(ledger)) == 1
    rebuild(ledger)
    assert wrong(ledger) == []
    rebuild(ledger, index=index_of)
    assert rows(path) == before
    assert found(ledger, stream, "parcel 5") == [5]


def test_an_index_that_the_records_do_not_come_to_is_found(ledger: SqliteLedger) -> None:
    making = Making()
    stream = making.stream()
    put(ledger, stream, making.found_by("parcel", "parcel 1"), making.found_by("parcel", "parcel 1"))
    assert wrong(ledger) == []
    assert wrong(ledger, index_of) == [2]
    rebuild(ledger, index=index_of)
    assert wrong(ledger, index_of) == []
    ledger.erase_bodies(stream.key, [1])
    assert wrong(ledger, index_of) == []


def test_a_damaged_index_keeps_nobody_from_appending(ledger: SqliteLedger, path: Path) -> None:
    making = Making()
    stream = making.stream()
    put(ledger, stream, *(making.found_by("parcel") for _ in range(BATCH - 1)))
    change(path, "UPDATE record SET found = x'01020304' WHERE position = 5")
    put(ledger, stream, making.found_by("parcel"))
    assert found(ledger, stream, "parcel") == [at for at in range(BATCH, 0, -1) if at != 5]
    assert len(wrong(ledger)) == 1


def test_names_lie_nowhere_in_a_sealed_store(tmp_path: Path, path: Path) -> None:
    sealer = AesGcmSealer("test", bytes(range(32)))
    ledger, making = SqliteLedger.open(path, sealer=sealer), Making()
    stream = making.stream()
    put(ledger, stream, *(making.found_by("kingfisher", terms=("kestrel",)) for _ in range(RECORDS)))
    assert found(ledger, stream, "kingfisher") == list(range(RECORDS, 0, -1))
    ledger.close()
    content = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"kingfisher" not in content
    assert b"kestrel" not in content


def test_a_store_from_before_indexes_is_searched_once_it_is_rebuilt(path: Path) -> None:
    first = migrations("sqlite")[0]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA journal_mode = WAL; {first.sql}")
        connection.execute(
            "CREATE TABLE migration (name TEXT PRIMARY KEY, checksum TEXT NOT NULL) STRICT, WITHOUT ROWID"
        )
        connection.execute("INSERT INTO migration VALUES (?, ?)", (first.name, first.checksum))
    ledger, making = SqliteLedger.open(path), Making()
    stream = making.stream()
    put(ledger, stream, *(making.said() for _ in range(RECORDS)))
    assert found(ledger, stream, "parcel") == []
    assert wrong(ledger) == []
    ledger.rebuild(stream.key, index_of)
    assert found(ledger, stream, "parcel 3") == [3]
    assert wrong(ledger, index_of) == []
    ledger.close()


def test_a_backup_is_searched_as_the_store_was(ledger: SqliteLedger, tmp_path: Path) -> None:
    stream = filled(ledger, Making())
    copy = SqliteLedger.open(ledger.backup(tmp_path / "backup"))
    assert found(copy, stream, "parcel") == found(ledger, stream, "parcel")
    assert copy.projection(stream.key) == ledger.projection(stream.key)
    copy.close()


def test_a_rebuild_whose_index_fails_changes_nothing(ledger: SqliteLedger, path: Path) -> None:
    stream = filled(ledger, Making())
    before, projection = rows(path), ledger.projection(stream.key)

    def failing(record: Record) -> Index | None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ledger.rebuild(stream.key, failing)
    assert (rows(path), ledger.projection(stream.key)) == (before, projection)
