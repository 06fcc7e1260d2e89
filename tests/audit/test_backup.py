"""A backup holds everything, is verified, and comes back; nothing that exists is ever overwritten."""

import os
import time
from pathlib import Path

import pytest

import callsheet
from callsheet.audit.backup import backup, restore
from callsheet.errors import Damaged, InvalidOption, NotAStore, NotFound
from tests.audit.stores import LARGE, TALK, head, make_store, tampering, told, verified


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "agent.db"
    make_store(path)
    return path


def test_a_restored_store_stands_where_the_backup_was_made(store: Path, tmp_path: Path) -> None:
    noted = head(store)

    made = backup(store, tmp_path / "saved")
    with callsheet.open(store) as runtime:
        runtime.conversation(TALK).record({"role": "user", "content": "after the backup"})
    back = restore(tmp_path / "saved", tmp_path / "again.db")

    assert made.report.ok
    assert back.report.ok
    assert head(tmp_path / "again.db") == noted != head(store)


def test_large_content_comes_back(store: Path, tmp_path: Path) -> None:
    backup(store, tmp_path / "saved")
    restore(tmp_path / "saved", tmp_path / "elsewhere.db")

    with callsheet.open(tmp_path / "elsewhere.db") as runtime:
        assert runtime.existing(TALK).raw("artifact_18").decode() == LARGE


def test_a_damaged_store_is_copied_and_the_report_says_so(store: Path, tmp_path: Path) -> None:
    with tampering(store) as tables:
        tables.replace("chain", 6, "sha256:00")

    made = backup(store, tmp_path / "saved")

    assert told(made.report.findings) == [("chain", TALK, 6)]
    assert told(verified(Path(made.path)).findings) == [("chain", TALK, 6)]


def test_a_store_without_one_of_its_blobs_is_not_backed_up(store: Path, tmp_path: Path) -> None:
    for blob in Path(f"{store}.blobs").rglob("hmac*"):
        blob.unlink()

    with pytest.raises(Damaged):
        backup(store, tmp_path / "saved")

    assert not (tmp_path / "saved").exists()


def test_neither_overwrites_what_is_there(store: Path, tmp_path: Path) -> None:
    backup(store, tmp_path / "saved")

    with pytest.raises(InvalidOption, match="exists already"):
        backup(store, tmp_path / "saved")
    with pytest.raises(InvalidOption, match="exists already"):
        restore(tmp_path / "saved", store)


def test_what_is_no_store_and_no_backup_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("my notes")
    (tmp_path / "folder").mkdir()

    with pytest.raises(NotAStore):
        backup(tmp_path / "notes.db", tmp_path / "saved")
    with pytest.raises(NotFound, match="there is no store"):
        backup(tmp_path / "agent.db", tmp_path / "saved")
    with pytest.raises(InvalidOption, match="is no backup"):
        restore(tmp_path / "folder", tmp_path / "again.db")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "notes.db"]


def left_by_a_crash(target: Path, *, age: float) -> tuple[Path, Path]:
    """What a killed backup and a killed restore to a target leave, last written so many seconds ago."""
    folder, file = (target.with_name(f"{target.name}.unfinished-{end}") for end in ("0a", "0b"))
    (folder / "blobs").mkdir(parents=True)
    blob = folder / "blobs" / "x"
    for path in (file, blob):
        path.write_text("half")
    moment = time.time() - age
    for path in (file, blob, folder / "blobs", folder):
        os.utime(path, (moment, moment))
    return folder, file


def test_what_killed_copies_left_at_a_target_goes_with_the_next_copy_there(store: Path, tmp_path: Path) -> None:
    target, again, other = tmp_path / "saved[1]", tmp_path / "again.db", tmp_path / "saved1"
    gone = [*left_by_a_crash(target, age=3600), *left_by_a_crash(again, age=3600)]
    kept = left_by_a_crash(other, age=3600)

    backup(store, target)
    restore(target, again)

    assert [path for path in gone if path.exists()] == []
    assert [path for path in kept if not path.exists()] == []


def test_what_another_copy_may_still_write_to_stays(store: Path, tmp_path: Path) -> None:
    running = left_by_a_crash(tmp_path / "saved", age=60)

    backup(store, tmp_path / "saved")

    assert [path for path in running if not path.exists()] == []
