"""A process that is killed at any step leaves all of an append or nothing, and at most blobs that nothing names."""

import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from callsheet.ledger.contract.chain import verified
from callsheet.ledger.contract.graph import folded
from callsheet.ledger.contract.making import Making, put
from callsheet.ledger.prepare import owner_of
from callsheet.ledger.sqlite import SqliteLedger
from callsheet.ledger.sqlite.backup import blob_folder
from tests.ledger import children
from tests.ledger.children import AFTER_COMMIT, BEFORE_COMMIT, FIRST, LARGE, SECOND
from tests.ledger.stores import SIGNER, HandClock

A_CENTURY = 100 * 365 * 86_400.0
"""Seconds: longer than any lease, whichever clock the killed process went by."""


def killed(work: subprocess.Popen[str]) -> None:
    work.communicate(timeout=60)
    assert work.returncode == -signal.SIGKILL


def blob_files(path: Path) -> list[Path]:
    return [file for file in blob_folder(path).rglob("*") if file.is_file()]


@pytest.mark.parametrize("step", BEFORE_COMMIT)
def test_killed_before_the_commit_nothing_was_appended(tmp_path: Path, step: str) -> None:
    path = tmp_path / "store.db"
    killed(children.start(children.append_and_die, path, step))
    clock = HandClock()
    ledger = SqliteLedger.open(path, signer=SIGNER, clock=clock)
    assert ledger.streams() == []
    assert ledger.head(FIRST.key) is None
    assert len(blob_files(path)) <= 1
    clock.advance(A_CENTURY)
    ledger.collect()
    assert blob_files(path) == []
    payload = ledger.stash(owner_of(FIRST), LARGE)
    put(ledger, FIRST, Making().said_payload(payload))
    assert ledger.fetch(owner_of(FIRST), payload) == LARGE
    assert verified(ledger, FIRST) == []


@pytest.mark.parametrize("step", AFTER_COMMIT)
def test_killed_after_the_commit_everything_was_appended(tmp_path: Path, step: str) -> None:
    path = tmp_path / "store.db"
    killed(children.start(children.append_and_die, path, step))
    clock = HandClock()
    ledger = SqliteLedger.open(path, signer=SIGNER, clock=clock)
    assert [record.id for record in ledger.records(FIRST.key)] == ["large", "small"]
    assert [record.id for record in ledger.records(SECOND.key)] == ["last"]
    for stream in (FIRST, SECOND):
        assert verified(ledger, stream) == []
        assert ledger.projection(stream.key) == folded(ledger.records(stream.key)).projection()
    clock.advance(A_CENTURY)
    ledger.collect()
    payload = ledger.stash(owner_of(FIRST), LARGE)
    assert ledger.fetch(owner_of(FIRST), payload) == LARGE


@pytest.mark.parametrize("step", ["before a blob is deleted", "after a blob was deleted"])
def test_killed_while_collecting_the_next_collection_goes_on(tmp_path: Path, step: str) -> None:
    path = tmp_path / "store.db"
    clock = HandClock()
    ledger = SqliteLedger.open(path, clock=clock)
    owner = owner_of(FIRST)
    kept = ledger.stash(owner, LARGE)
    put(ledger, FIRST, Making().said_payload(kept))
    garbage = [ledger.stash(owner, LARGE + bytes([number])) for number in range(2)]
    ledger.close()
    killed(children.start(children.collect_and_die, path, step))
    clock.advance(86_400)
    ledger = SqliteLedger.open(path, clock=clock)
    ledger.collect()
    assert len(blob_files(path)) == 1
    assert ledger.fetch(owner, kept) == LARGE
    assert [ledger.stash(owner, LARGE + bytes([number])) for number in range(2)] == garbage


def test_killed_again_and_again_what_was_acknowledged_is_there(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    for appends in (1, 7, 20):
        writer = children.start(children.append_for_ever, path)
        assert writer.stdout is not None
        acknowledged = [int(writer.stdout.readline()) for _ in range(appends)][-1]
        writer.kill()
        rest, _ = writer.communicate()
        acknowledged = max(
            [acknowledged, *(int(line) for line in rest.splitlines(keepends=True) if line.endswith("\n"))]
        )
        ledger = SqliteLedger.open(path, signer=SIGNER)
        position = len(ledger.records(FIRST.key))
        assert position in (acknowledged, acknowledged + 2)
        assert verified(ledger, FIRST) == []
        assert ledger.projection(FIRST.key) == folded(ledger.records(FIRST.key)).projection()
        ledger.close()


def test_killed_while_migrating_the_store_is_as_before(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    ledger = SqliteLedger.open(path)
    put(ledger, FIRST, Making().said())
    records = ledger.records(FIRST.key)
    ledger.close()
    with closing(sqlite3.connect(path)) as connection:
        before = connection.execute("SELECT * FROM sqlite_schema").fetchall()
    killed(children.start(children.migrate_and_die, path))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT * FROM sqlite_schema").fetchall() == before
    assert SqliteLedger.open(path).records(FIRST.key) == records
