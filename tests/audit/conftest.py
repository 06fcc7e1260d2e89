"""A store with a bit of everything, made once for a module and copied for each test that damages it."""

import shutil
from pathlib import Path

import pytest

from tests.audit.stores import make_store


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store as it was made."""
    path = tmp_path_factory.mktemp("whole") / "agent.db"
    make_store(path)
    return path


@pytest.fixture
def store(whole: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    shutil.copytree(whole.parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / whole.name
