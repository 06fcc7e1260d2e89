"""Who holds a lease, and whether that process is gone. A wrong answer costs a wait or a question, not a second run."""

import os
import platform
from pathlib import Path

_PROC = Path("/proc")
_NOBODY_KNOWS = ""


def holder() -> str:
    """The name of this process: ``host/namespace:pid:birth``. Its birth tells it from a later one with this number."""
    pid = os.getpid()
    return f"{_node()}:{pid}:{_birth(pid) or _NOBODY_KNOWS}"


def gone(name: str) -> bool:
    """Whether the process with this name has certainly ended: it was of this machine, and is not here any more."""
    node, _, rest = name.partition(":")
    pid, _, birth = rest.partition(":")
    if node != _node() or not pid.isdecimal() or os.name != "posix":
        return False
    if birth:
        return _birth(int(pid)) != birth
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _node() -> str:
    """The machine, and on Linux the space in which its process ids count, which containers have of their own."""
    name = platform.node().replace(":", "-")
    try:
        space = str((_PROC / "self/ns/pid").readlink())
    except OSError:
        return name
    return f"{name}/{space.strip('pid:[]')}"


def _birth(pid: int) -> str | None:
    """When a process began, in the system's ticks; None where the system does not say, or it has ended."""
    try:
        state, *fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except (OSError, ValueError):
        return None
    return None if state in "ZX" or len(fields) < 19 else fields[18]
