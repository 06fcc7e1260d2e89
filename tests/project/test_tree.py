"""The tree speaks of the project alone: no place on somebody's machine, no address of a package index."""

import ast
import re
from pathlib import Path

import pytest

from tests.project.source import ROOT, project_files

PURE = ("graph", "derive", "policy", "recall", "assemble", "explain", "wire")
"""The rooms without input, output, clock and chance."""

_IMPURE_FUNCTIONS = {"open", "print", "input"}
_IMPURE_METHODS = {"open", "now", "utcnow", "today", "read_text", "write_text", "write_bytes"}

# Put together from parts, so that this file does not find itself.
_INDEXES = [".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("crates", "io"))]
_PLACES = ["/" + "root/", "/" + "work/", "/" + "opt/wheels", "/" + "Users/", "C:" + "\\\\Users"]
_FORBIDDEN = re.compile("|".join(map(re.escape, [*_INDEXES, *_PLACES])) + "|/" + r"home/[a-z]")


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def test_no_machine_path_and_no_index_address_stands_in_the_tree() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for file in project_files()
        for number, line in enumerate(_text(file).splitlines(), start=1)
        if _FORBIDDEN.search(line)
    ]

    assert found == []


def test_locks_hold_hashes_and_no_addresses() -> None:
    for lock in (ROOT / "locks").glob("*.txt"):
        text = lock.read_text()
        assert "://" not in text, lock.name
        pinned = re.findall(r"^[a-z][^\s=]*==\S+(?: ; [^\\]+)? \\\n    --hash=sha256:", text, re.MULTILINE)
        assert len(pinned) == len(re.findall(r"^[a-z]", text, re.MULTILINE)), f"{lock.name}: a line without a hash"


def test_the_lock_for_tests_extends_the_lock_for_running() -> None:
    """Both are installed into one environment, so a package in both has one version."""
    versions: list[dict[str, str]] = [
        dict(re.findall(r"^([a-z][^\s=]*)==(\S+)", (ROOT / "locks" / name).read_text(), re.MULTILINE))
        for name in ("core.txt", "test.txt")
    ]

    core, test = versions
    assert core.items() <= test.items()


@pytest.mark.parametrize("room", [room for room in PURE if (ROOT / "src/callsheet" / room).is_dir()])
def test_pure_rooms_call_nothing_impure(room: str) -> None:
    """The import contract keeps modules out; this keeps out what needs no import, such as `open` and `datetime.now`."""
    found: list[str] = []
    for file in sorted((ROOT / "src/callsheet" / room).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                # A function of the project's own may be called `read_text`; a method of that name is a path's.
                plain = isinstance(node.func, ast.Name)
                name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
                if name in (_IMPURE_FUNCTIONS if plain else _IMPURE_METHODS):
                    found.append(f"{file.relative_to(ROOT)}:{node.lineno}: {name}()")

    assert found == []
