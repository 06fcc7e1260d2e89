"""What is public is exactly what `callsheet.__all__` says, is little, and says what it promises."""

import inspect
import subprocess
import sys

import pytest

import callsheet
from tests.project.source import modules

MOST_NAMES = 30


def test_all_is_exact_and_short() -> None:
    resolved = {name for name in callsheet.__all__ if getattr(callsheet, name, None) is not None}

    assert resolved == set(callsheet.__all__)
    assert len(callsheet.__all__) == len(set(callsheet.__all__)) <= MOST_NAMES
    assert sorted(callsheet.__all__) == list(callsheet.__all__)


def test_dir_shows_what_is_public_and_nothing_else() -> None:
    assert dir(callsheet) == sorted(callsheet.__all__)


def test_every_public_name_comes_from_where_it_is_typed_to_come_from() -> None:
    """The lazy table and the imports that type checkers see must not drift apart."""
    source = inspect.getsource(callsheet)
    typed = source[source.index("if TYPE_CHECKING:") : source.index("__all__")]
    for name in callsheet.__all__:
        if name == "__version__":
            continue
        home = callsheet._HOMES[name]
        line = next(line for line in typed.splitlines() if line.strip().startswith(f"from {home} import "))
        assert name in line.partition(" import ")[2].split(", ")


def test_an_unknown_name_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="'nonsense'"):
        callsheet.__getattr__("nonsense")


def test_star_import_gives_the_public_names_alone() -> None:
    code = "from callsheet import *; print(sorted(name for name in dir() if not name.startswith('__')))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert shown.strip() == str(sorted(name for name in callsheet.__all__ if not name.startswith("__")))


def test_every_module_says_what_it_owns() -> None:
    silent = [module.__name__ for module in modules() if not (module.__doc__ or "").strip()]

    assert silent == []


@pytest.mark.parametrize("name", [name for name in callsheet.__all__ if name != "__version__"])
def test_every_public_name_and_its_members_are_documented(name: str) -> None:
    public = getattr(callsheet, name)
    assert inspect.getdoc(public), name
    if not inspect.isclass(public):
        return
    silent = [
        f"{name}.{member}"
        for member in dir(public)
        if not member.startswith("_")
        and (value := inspect.getattr_static(public, member)) is not None
        and (inspect.isfunction(value) or isinstance(value, property | classmethod | staticmethod))
        and not inspect.getdoc(value)
    ]
    assert silent == []


def test_every_documented_place_beside_all_exists() -> None:
    """The other public modules: for tests of programs, and for authors of stores."""
    names = {module.__name__ for module in modules()}

    assert {"callsheet.testing", "callsheet.ledger.contract"} <= names
