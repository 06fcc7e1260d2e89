"""The demonstration's store, made once: what most commands are tried on."""

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
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store that ``callsheet demo`` leaves. Not to be changed: see `store`."""
    path = tmp_path_factory.mktemp("lived") / "agent.db"
    assert main(["demo", "--store", str(path), "--json"]) == 0
    return path


@pytest.fixture
def store(lived: Path, tmp_path: Path) -> Path:
    """A copy of the demonstration's store."""
    shutil.copytree(lived.parent, tmp_path / "store")
    return tmp_path / "store" / lived.name
