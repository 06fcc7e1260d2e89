"""Where the recordings are due, a test that skips for want of them fails; elsewhere it says so and skips."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.source import ROOT
from tests.recordings import needs_recordings

_TEST = f"""
import pytest

@pytest.mark.skip(reason={needs_recordings.kwargs["reason"]!r})
def test_that_needs_them():
    pass

@pytest.mark.skip(reason="some other reason")
def test_that_needs_something_else():
    pass
"""


def _pytest(folder: Path, recordings: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(_TEST)
    bare = ("-p", "tests.conftest", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(folder))
    return subprocess.run(
        [sys.executable, "-m", "pytest", *bare, *options, str(folder)],
        cwd=ROOT,
        env={**os.environ, "CALLSHEET_RECORDINGS": str(recordings), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [((), 0, "2 skipped"), (("--require-recordings",), 1, "skipped although the recordings are required")],
)
def test_a_skip_for_want_of_recordings_fails_only_where_they_are_required(
    tmp_path: Path, options: tuple[str, ...], code: int, told: str
) -> None:
    done = _pytest(tmp_path, tmp_path, *options)

    assert done.returncode == code, done.stdout + done.stderr
    assert told in done.stdout
    assert "1 skipped" in done.stdout or code == 0


def test_requiring_recordings_that_are_not_there_is_refused(tmp_path: Path) -> None:
    done = _pytest(tmp_path, tmp_path / "nowhere", "--require-recordings")

    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "the recorded trajectories were not found" in done.stderr
