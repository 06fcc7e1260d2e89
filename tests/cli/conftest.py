"""The demonstration's store, made once: what most commands are tried on."""

import contextlib
import io
import shutil
from pathlib import Path

import pytest

from callsheet.cli import main
from tests.cli.running import Ran, Run


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line in this process."""

    def running(*arguments: str | Path) -> Ran:
        code = main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return Ran(code=code, out=printed.out, err=printed.err)

    return running


@pytest.fixture(scope="session")
def demonstrated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran]:
    """The store that ``callsheet demo --json`` leaves, and what it printed. Not to be changed: see `store`."""
    path, printed = tmp_path_factory.mktemp("lived") / "agent.db", io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = main(["demo", "--store", str(path), "--json"])
    assert code == 0
    return path, Ran(code=code, out=printed.getvalue(), err="")


@pytest.fixture(scope="session")
def lived(demonstrated: tuple[Path, Ran]) -> Path:
    """The demonstration's store. Not to be changed: see `store`."""
    return demonstrated[0]


@pytest.fixture
def store(lived: Path, tmp_path: Path) -> Path:
    """A copy of the demonstration's store."""
    shutil.copytree(lived.parent, tmp_path / "store")
    return tmp_path / "store" / lived.name
