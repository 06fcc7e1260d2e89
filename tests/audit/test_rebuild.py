"""Projections that were lost or changed are built anew from the records."""

from pathlib import Path

import pytest

import callsheet
from callsheet.audit.indexing import index_of
from callsheet.audit.rebuild import rebuild
from callsheet.audit.report import Progress
from callsheet.audit.verify import verify
from callsheet.cli.app import main
from callsheet.errors import NotFound
from callsheet.graph.query import Projection
from tests.audit.stores import TALK, make_store, opened, tampering, verified


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A store without its links, with a changed state and a record under another branch."""
    path = tmp_path / "agent.db"
    make_store(path)
    with tampering(path) as tables:
        tables.run("DELETE FROM link")
        tables.run("UPDATE state SET value = 'archived' WHERE value = 'active'")
        tables.replace("branch", 10, "branch_26")
    return path


def test_rebuilding_all_streams_mends_all_projections(damaged: Path) -> None:
    assert {finding.name for finding in verified(damaged).findings} == {TALK, "support-18"}
    told: list[Progress] = []

    with opened(damaged) as ledger:
        done = rebuild(ledger, progress=told.append)

    assert verified(damaged).ok
    assert (done.streams, done.records) == (6, 22)
    assert [word.done for word in told] == [12, 14, 18, 18, 22, 22]
    assert {word.total for word in told} == {22}


def test_rebuilding_by_name_leaves_other_streams_alone(damaged: Path) -> None:
    with opened(damaged) as ledger:
        done = rebuild(ledger, tenant="local", name=TALK)

    assert done.streams == 2
    assert {finding.name for finding in verified(damaged).findings if finding.tenant == "local"} == {"support-18"}


def test_an_unknown_name_is_refused(damaged: Path) -> None:
    with opened(damaged) as ledger, pytest.raises(NotFound, match="no conversation 'support-99'"):
        rebuild(ledger, name="support-99")


def found_by(path: Path) -> list[Projection]:
    """What every stream's records are found by, among all its rows."""
    with opened(path) as ledger:
        return [ledger.projection(stream.key) for stream in ledger.streams()]


def forget_indexes(path: Path) -> None:
    """Leave the store as a version without derivation would have recorded it."""
    with tampering(path) as tables:
        tables.run("UPDATE record SET found = NULL")


def searched(path: Path, query: str) -> list[str]:
    with callsheet.open(path) as runtime:
        return [found.snippet for found in runtime.existing(TALK).search(query)]


def test_what_was_recorded_before_derivation_is_found_once_it_was_rebuilt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "agent.db"
    make_store(path)
    forget_indexes(path)
    assert not searched(path, "large result")

    assert main(["rebuild", "--store", str(path)]) == 0

    assert any("row of a large result" in snippet for snippet in searched(path, "large result"))


def test_rebuilt_indexes_are_those_that_recording_made(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    make_store(path)
    before = found_by(path)
    forget_indexes(path)
    assert found_by(path) != before

    with opened(path) as ledger:
        rebuild(ledger, index=index_of(ledger))

    assert found_by(path) == before
    with opened(path) as ledger:
        assert verify(ledger, index=index_of(ledger)).ok


def test_content_that_is_lost_does_not_keep_a_store_from_being_mended(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    make_store(path)
    before = found_by(path)
    with tampering(path) as tables:
        tables.run("DELETE FROM link")
    for blob in [entry for entry in Path(f"{path}.blobs").rglob("*") if entry.is_file()]:
        blob.unlink()

    with opened(path) as ledger:
        rebuild(ledger, index=index_of(ledger))

    assert found_by(path) == before
