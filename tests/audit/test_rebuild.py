"""Projections that were lost or changed are built anew from the records."""

from pathlib import Path

import pytest

from callsheet.audit.rebuild import rebuild
from callsheet.audit.report import Progress
from callsheet.errors import NotFound
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
