"""The project's own files and modules, for tests about the project."""

import importlib
import pkgutil
import subprocess
from functools import cache
from pathlib import Path
from types import ModuleType

import callsheet

ROOT = Path(__file__).resolve().parents[2]


@cache
def modules() -> tuple[ModuleType, ...]:
    """Every module of the package, imported."""
    found = pkgutil.walk_packages(callsheet.__path__, "callsheet.")
    return (callsheet, *(importlib.import_module(info.name) for info in found if not info.name.endswith("__main__")))


@cache
def project_files() -> tuple[Path, ...]:
    """Every file that is part of the project: committed, or about to be."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    files = (ROOT / name for name in listed.stdout.split("\0") if name)
    return tuple(sorted(file for file in files if file.is_file()))
