"""Environments of their own for what must not share one with Callsheet, made from locks beside the one of the tests."""

import hashlib
import subprocess
import sys
from pathlib import Path

LOCKS = Path(__file__).parents[3] / "locks"
_SET_UP = "make test-frameworks sets up what this needs"
_STAMP = ".made-from"


class NotThere(Exception):
    """The environment is not there; says why."""


def python_of(name: str, *, make: bool) -> Path:
    """The Python of the environment that ``locks/NAME.txt`` describes. `make`: where it is not there yet.

    Raises `NotThere`.
    """
    lock = LOCKS / f"{name}.txt"
    folder = Path(sys.prefix) / name
    found = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    stamp = folder / _STAMP
    if stamp.exists() and stamp.read_text() == digest:
        return found
    if not make:
        raise NotThere(_SET_UP)
    # The lock names all that is needed; without their dependencies wheels alone are taken, so nothing is compiled.
    install = ["-m", "pip", "--disable-pip-version-check", "install", "-qq", "--no-deps", "--only-binary", ":all:"]
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [str(found), *install, "--require-hashes", "-r", str(lock)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["?"])[-1]
            raise NotThere(f"{name} could not be installed: {last}")
    stamp.write_text(digest)
    return found
