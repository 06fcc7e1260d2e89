"""Standard streams that are closed or full, and pipes for files: one line and an exit code, or simply the work."""

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from callsheet.cli.exits import Exit
from tests.cli.running import PROGRAM, Run

LINE = json.dumps({"id": "a", "messages": [{"role": "user", "content": "hello"}]}) + "\n"

full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")


def shell(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a shell command in which ``callsheet`` is the program."""
    line = command.replace("callsheet", shlex.join(PROGRAM))
    return subprocess.run(["bash", "-c", line], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("command", "code", "told"),
    [
        ("callsheet show --store STORE >&-", Exit.OUTPUT, "output: standard output is closed"),
        ("callsheet export --all --store STORE >&-", Exit.OUTPUT, "output: standard output is closed"),
        pytest.param(
            "callsheet show --store STORE > /dev/full", Exit.OUTPUT, "output: standard output cannot be", marks=full
        ),
        pytest.param(
            "callsheet export --all --store STORE > /dev/full", Exit.OUTPUT, "output: standard output", marks=full
        ),
        ("callsheet import - <&-", Exit.INPUT, "input: standard input is closed"),
        ("callsheet export --all --store STORE --output .", Exit.INPUT, "input.option: . cannot be written"),
        ("callsheet export --all --store STORE --output /", Exit.INPUT, "input.option: / cannot be written"),
        (
            "callsheet export --all --store STORE --output /dev/null",
            Exit.INPUT,
            "input.option: /dev/null cannot be written",
        ),
    ],
)
def test_a_stream_that_cannot_be_used_is_one_line_and_an_exit_code(
    store: Path, command: str, code: Exit, told: str
) -> None:
    ran = shell(command.replace("STORE", shlex.quote(str(store))), store.parent)

    assert ran.returncode == code
    assert ran.stderr.startswith(f"callsheet: {told}")
    assert ran.stderr.count("\n") == 1
    assert ran.stdout == ""


@pytest.mark.parametrize("stderr", ["2>&-", pytest.param("2>/dev/full", marks=full)])
def test_an_error_that_nobody_can_be_told_is_still_an_exit_code(tmp_path: Path, stderr: str) -> None:
    assert shell(f"callsheet show {stderr}", tmp_path).returncode == Exit.NOT_FOUND


def test_a_pipe_is_imported_like_a_file(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(LINE)

    ran = shell("callsheet import <(cat log.jsonl) --json", tmp_path)

    assert (ran.returncode, ran.stderr) == (Exit.OK, "")
    assert json.loads(ran.stdout)["messages"] == 1


def test_a_named_pipe_is_imported_like_a_file(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(LINE)
    os.mkfifo(tmp_path / "pipe")

    ran = shell("cat log.jsonl > pipe & callsheet import pipe --progress --json", tmp_path)

    assert ran.returncode == Exit.OK
    assert ran.stderr.startswith("pipe: line 1\n")
    assert json.loads(ran.stdout)["messages"] == 1


def test_lines_of_any_shape_are_refused_one_by_one(run: Run, tmp_path: Path) -> None:
    messages = [[{"role": []}], [{"role": {}}], [{"role": "user", "content": [{"type": []}]}], {}, "x", [[]], [None]]
    lines = [json.dumps({"id": f"odd {at}", "messages": odd}) for at, odd in enumerate(messages)]
    (tmp_path / "log.jsonl").write_text("\n".join([*lines, LINE]))

    ran = run("import", tmp_path / "log.jsonl", "--store", tmp_path / "agent.db", "--json")

    assert ran.code == Exit.FINDINGS
    assert ran.document["messages"] == 1
    assert ran.err.count("\n") == len(messages)
