"""A backup is a whole store of one moment, taken while others write."""

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from callsheet.errors import Damaged, InvalidOption
from callsheet.graph.values import Payload
from callsheet.ledger.blobs import FolderBlobs
from callsheet.ledger.contract.chain import verified
from callsheet.ledger.contract.graph import folded
from callsheet.ledger.contract.making import Making, put
from callsheet.ledger.prepare import owner_of
from callsheet.ledger.sqlite import SqliteLedger, restore
from callsheet.ledger.sqlite.backup import blob_folder
from callsheet.ledger.vault import LEASE
from tests.ledger.stores import HandClock

LARGE = b"large " * 5000
STREAM = Making().stream()
OWNER = owner_of(STREAM)


def append_large(ledger: SqliteLedger, number: int) -> Payload:
    payload = ledger.stash(OWNER, LARGE + str(number).encode())
    put(ledger, STREAM, Making().said_payload(payload, id=f"record {number}"))
    return payload


def test_a_backup_taken_while_others_write_is_a_whole_store(tmp_path: Path) -> None:
    ledger = SqliteLedger.open(tmp_path / "store.db")
    enough, stop = threading.Event(), threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            append_large(ledger, number)
            number += 1
            if number == 10:
                enough.set()

    writer = threading.Thread(target=write)
    writer.start()
    enough.wait()
    copies = [SqliteLedger.open(ledger.backup(tmp_path / f"backup {number}")) for number in range(3)]
    stop.set()
    writer.join()
    everything = ledger.records(STREAM.key)
    for copy in copies:
        records = copy.records(STREAM.key)
        assert 10 <= len(records) <= len(everything)
        assert records == everything[: len(records)]
        assert verified(copy, STREAM) == []
        assert copy.projection(STREAM.key) == folded(records).projection()
        for number in range(len(records)):
            assert copy.fetch(OWNER, copy.stash(OWNER, LARGE + str(number).encode())).endswith(str(number).encode())


def test_a_restored_store_goes_on_where_the_backup_stood(tmp_path: Path) -> None:
    ledger = SqliteLedger.open(tmp_path / "store.db")
    payload = append_large(ledger, 1)
    ledger.backup(tmp_path / "backup")
    append_large(ledger, 2)
    restore(tmp_path / "backup", tmp_path / "restored.db")
    restored = SqliteLedger.open(tmp_path / "restored.db")
    assert restored.records(STREAM.key) == ledger.records(STREAM.key, upto=1)
    assert restored.fetch(OWNER, payload).startswith(LARGE)
    append_large(restored, 3)
    assert verified(restored, STREAM) == []
    assert sorted(path.name for path in tmp_path.iterdir() if "unfinished" in path.name) == []


def test_a_backup_holds_no_blob_that_nothing_names(tmp_path: Path) -> None:
    ledger = SqliteLedger.open(tmp_path / "store.db")
    append_large(ledger, 1)
    ledger.stash(OWNER, LARGE + b"never named")
    copy = ledger.backup(tmp_path / "backup")
    assert len(list(FolderBlobs(blob_folder(copy)).addresses())) == 1


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    ledger = SqliteLedger.open(tmp_path / "store.db")
    append_large(ledger, 1)
    ledger.backup(tmp_path / "backup")
    with pytest.raises(InvalidOption):
        ledger.backup(tmp_path / "backup")
    with pytest.raises(InvalidOption):
        restore(tmp_path / "backup", tmp_path / "store.db")
    with pytest.raises(InvalidOption, match="no backup"):
        restore(tmp_path, tmp_path / "new.db")
    assert len(ledger.records(STREAM.key)) == 1


def test_a_backup_that_misses_a_blob_is_none(tmp_path: Path) -> None:
    ledger = SqliteLedger.open(tmp_path / "store.db")
    payload = append_large(ledger, 1)
    ledger.backup(tmp_path / "sound")
    assert payload.blob is not None
    FolderBlobs(blob_folder(tmp_path / "store.db")).delete(payload.blob.address)
    with pytest.raises(Damaged, match=payload.blob.address):
        ledger.backup(tmp_path / "backup")
    assert not (tmp_path / "backup").exists()
    FolderBlobs(blob_folder(tmp_path / "sound" / "callsheet.db")).delete(payload.blob.address)
    with pytest.raises(Damaged, match=payload.blob.address):
        restore(tmp_path / "sound", tmp_path / "restored.db")
    assert not (tmp_path / "restored.db").exists()


class Watched(FolderBlobs):
    """A folder of blobs in which something happens before the first blob is read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.meanwhile: Callable[[], None] = lambda: None

    def get(self, address: str, start: int = 0, stop: int | None = None) -> bytes:
        meanwhile, self.meanwhile = self.meanwhile, lambda: None
        meanwhile()
        return super().get(address, start, stop)


def test_no_blob_goes_while_a_backup_is_made(tmp_path: Path) -> None:
    clock, blobs = HandClock(), Watched(tmp_path / "blobs")
    ledger = SqliteLedger.open(tmp_path / "store.db", blobs=blobs, clock=clock)
    payloads = [append_large(ledger, number) for number in range(3)]

    def erase_and_collect() -> None:
        ledger.erase_bodies(STREAM.key, [1, 2, 3])
        assert ledger.collect() == 0

    blobs.meanwhile = erase_and_collect
    copy = SqliteLedger.open(ledger.backup(tmp_path / "backup"))
    assert [copy.fetch(OWNER, payload).startswith(LARGE) for payload in payloads] == [True] * 3
    assert len(list(blobs.addresses())) == 3
    assert ledger.collect() == 3


def test_a_backup_that_crashed_holds_blobs_for_a_while_only(tmp_path: Path) -> None:
    clock, path = HandClock(), tmp_path / "store.db"
    ledger = SqliteLedger.open(path, clock=clock)
    ledger.stash(OWNER, LARGE)
    clock.advance(LEASE / 1_000_000 + 1)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO blob_hold VALUES ('crashed', ?)", (clock.now() + 60_000_000,))
    assert ledger.collect() == 0
    clock.advance(61)
    assert ledger.collect() == 1
