"""Where the recorded trajectories lie, if they lie anywhere.

They are not part of the project. `CALLSHEET_RECORDINGS` names their folder; without it the folder
`../shared/data` beside the checkout is taken. Tests that need them skip and say so when there is none.
"""

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


def _folder() -> Path | None:
    named = os.environ.get("CALLSHEET_RECORDINGS")
    folder = Path(named) if named else _BESIDE
    return folder if folder.is_dir() else None


DATA: Path | None = _folder()

needs_recordings = pytest.mark.skipif(DATA is None, reason="needs the recorded trajectories (set CALLSHEET_RECORDINGS)")


def recording(name: str) -> Path:
    """The path of one recording file, such as ``"tau_airline.jsonl.gz"`` or ``"malformed/adk_no_call_ids.jsonl"``."""
    assert DATA is not None, "guard the test with needs_recordings"
    return DATA / name


def trajectory_files() -> list[Path]:
    """Every trajectory file outside ``malformed/`` and the other folders, by name; empty without recordings."""
    if DATA is None:
        return []
    return sorted(p for p in DATA.glob("*.jsonl.gz") if p.name != "tool_outputs.jsonl.gz")


def malformed_files() -> list[Path]:
    """The recordings whose calls and results do not pair; empty without recordings."""
    return sorted((DATA / "malformed").glob("*.jsonl*")) if DATA is not None else []
