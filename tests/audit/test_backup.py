"""A backup holds everything, is verified, and comes back; nothing that exists is ever overwritten."""

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
