"""Importing: whole lines or nothing, resumed exactly, known again, named without clashes."""

import gzip
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import callsheet
from callsheet.audit.exchange.importing import AT_ONCE
from callsheet.audit.exchange.sources import Line as SourceLine
from callsheet.audit.exchange.sources import read_lines
from callsheet.audit.verify import verify
from callsheet.errors import InputError, InvalidLine
from callsheet.graph.enums import Defect
from callsheet.runtime.runtime import Runtime
from callsheet.testing import memory_runtime
from tests.audit.lines import Line, Message, assistant, exported, imported, result, user, written

LONG = [user(f"message {number}") for number in range(3 * AT_ONCE + 50)]


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with memory_runtime() as runtime:
        yield runtime


# --------------------------------------------------------------------------- what is recorded


def test_everything_is_counted(runtime: Runtime, tmp_path: Path) -> None:
    messages = [
        user("go"),
        assistant(None, "a", "b"),
        result("a", "1"),
        result("b", ""),
        result("c", "3"),
        assistant(""),
    ]
    path = written(tmp_path / "log.jsonl", [{"id": "x", "messages": messages}])

    total, refused = imported(runtime, path)

    assert refused == []
    assert (total.conversations, total.messages, total.calls, total.results) == (1, 3, 2, 3)
    assert total.defects == {Defect.EMPTY_CONTENT: 2, Defect.ORPHAN_RESULT: 1}


def test_recorded_times_and_statuses_are_kept(runtime: Runtime, tmp_path: Path) -> None:
    messages = [
        user("go", x_at="2026-03-02T09:00:20+01:00"),
        assistant(None, "a", x_at="2026-03-02T09:00:25+01:00"),
        result("a", "no answer", x_status="timed_out", x_at="2026-03-02T09:01:25+01:00"),
    ]
    imported(runtime, written(tmp_path / "log.jsonl", [{"id": "x", "messages": messages}]))

    said, card = runtime.existing("x").transcript()
    assert said.at.isoformat() == "2026-03-02T08:00:20+00:00"
    assert isinstance(card, callsheet.ToolCard)
    assert card.status is callsheet.ArtifactStatus.TIMED_OUT


def test_a_line_without_id_is_called_after_its_file_and_line(runtime: Runtime, tmp_path: Path) -> None:
    rows: list[Line | list[Message] | str] = ["", [user("one")], {"messages": [user("two")]}]
    imported(runtime, written(tmp_path / "log.jsonl", rows))

    assert runtime.conversations() == ["log.jsonl:2", "log.jsonl:3"]


def test_an_id_that_occurs_again_is_another_conversation(runtime: Runtime, tmp_path: Path) -> None:
    lines: list[Line] = [{"id": "x", "messages": [user(text)]} for text in ("one", "two", "three")]
    path = written(tmp_path / "log.jsonl", lines)

    imported(runtime, path)
    again, refused = imported(runtime, path)

    assert runtime.conversations() == ["x", "x#2", "x#3"]
    assert (again.known, again.messages, refused) == (3, 0, [])


def test_the_same_line_twice_is_one_conversation(runtime: Runtime, tmp_path: Path) -> None:
    total, _ = imported(runtime, written(tmp_path / "log.jsonl", [{"id": "x", "messages": [user("one")]}] * 2))

    assert runtime.conversations() == ["x"]
    assert (total.conversations, total.known, total.messages) == (1, 1, 1)


def test_an_owner_is_kept_and_another_one_refused(runtime: Runtime, tmp_path: Path) -> None:
    lines: list[Line] = [
        {"id": "x", "user": "mia", "messages": [user("one")]},
        {"id": "y", "messages": [user("one")]},
    ]
    imported(runtime, written(tmp_path / "log.jsonl", lines))
    _, refused = imported(runtime, written(tmp_path / "more.jsonl", [{"id": "x", "user": "leo", "messages": []}]))

    assert [runtime.existing(name).user for name in ("x", "y")] == ["mia", "local"]
    assert "belongs to another user" in refused[0].problem


# --------------------------------------------------------------------------- branches


def test_a_branch_goes_on_after_the_first_messages_of_its_parent(runtime: Runtime, tmp_path: Path) -> None:
    messages = [user("go"), assistant(None, "a", "b"), result("a", "1"), result("b", "2"), assistant("done")]
    lines: list[Line] = [
        {"id": "x", "messages": messages},
        {"id": "x", "branch": {"name": "other", "at": 3}, "messages": [result("b", "3")]},
        {"id": "x", "branch": {"name": "deeper", "parent": "other", "at": 4}, "messages": [assistant("so")]},
        {"id": "x", "branch": {"name": "anew", "at": 0}, "messages": [user("hello")]},
    ]
    total, refused = imported(runtime, written(tmp_path / "log.jsonl", lines))

    assert refused == []
    assert total.conversations == 4
    deeper = runtime.existing("x").assemble(provider="openai", model="gpt-5.2")
    assert len(deeper.messages()) == 5
    view = runtime.existing("x").on("deeper")
    assert view.assemble(provider="openai", model="gpt-5.2").messages() == [
        *messages[:3],
        result("b", "3"),
        assistant("so"),
    ]
    assert runtime.existing("x").on("anew").counters().messages == 1


def test_a_branch_that_cannot_be_begun_is_refused(runtime: Runtime, tmp_path: Path) -> None:
    lines: list[Line] = [
        {"id": "x", "messages": [user("go")]},
        {"id": "x", "branch": {"name": "b", "at": 2}, "messages": [user("a")]},
        {"id": "x", "branch": {"name": "b", "parent": "none", "at": 1}, "messages": [user("a")]},
        {"id": "y", "branch": {"name": "b", "at": 1}, "messages": [user("a")]},
        {"id": "x", "branch": {"name": "b", "at": 1}, "messages": [user("a")]},
        {"id": "x", "branch": {"name": "b", "at": 0}, "messages": [user("a")]},
        {"id": "x", "branch": {"name": "b", "at": 1}, "messages": [user("b")]},
    ]
    _, refused = imported(runtime, written(tmp_path / "log.jsonl", lines))

    assert [line.line for line in refused] == [2, 3, 4, 6, 7]
    assert [line.problem for line in refused] == [
        "branch.at is 2, but 'main' of 'x' has 1 messages",
        "no branch 'none' in conversation 'x'; there are: main",
        "no conversation 'y' in this store",
        "conversation 'x' has another branch 'b' already",
        "conversation 'x' is there already and did not come from this line; give the new one another id",
    ]


def test_a_branch_of_a_repeated_id_belongs_to_the_newest(runtime: Runtime, tmp_path: Path) -> None:
    lines: list[Line] = [
        {"id": "x", "messages": [user("one")]},
        {"id": "x", "messages": [user("two")]},
        {"id": "x", "branch": {"name": "b", "at": 1}, "messages": [user("three")]},
    ]
    imported(runtime, written(tmp_path / "log.jsonl", lines))

    assert [list(runtime.existing(name).branches()) for name in ("x", "x#2")] == [["main"], ["main", "b"]]


# --------------------------------------------------------------------------- whole lines or nothing


def test_a_refused_line_leaves_nothing_and_the_rest_goes_on(runtime: Runtime, tmp_path: Path) -> None:
    broken = [*LONG, {"role": "alien", "content": "x"}]
    lines: list[Line | str] = ["{", {"id": "a", "messages": broken}, {"id": "b", "messages": [user("hello")]}]
    path = written(tmp_path / "log.jsonl", lines)

    total, refused = imported(runtime, path)

    assert runtime.conversations() == ["b"]
    assert total.conversations == 1
    assert [(line.file, line.line) for line in refused] == [(str(path), 1), (str(path), 2)]


def test_other_content_under_a_known_id_is_refused(runtime: Runtime, tmp_path: Path) -> None:
    imported(runtime, written(tmp_path / "one.jsonl", [{"id": "x", "messages": [user("one")]}]))
    _, refused = imported(runtime, written(tmp_path / "two.jsonl", [{"id": "x", "messages": [user("two")]}]))

    assert "did not come from this line" in refused[0].problem
    assert exported(runtime, "x")[0]["messages"] == [user("one")]


def test_an_imported_conversation_can_be_continued_and_is_still_known(runtime: Runtime, tmp_path: Path) -> None:
    path = written(tmp_path / "one.jsonl", [{"id": "x", "messages": [user("one")]}])
    imported(runtime, path)
    runtime.existing("x").record(assistant("two"))

    total, refused = imported(runtime, path)

    assert (total.known, total.messages, refused) == (1, 0, [])


# --------------------------------------------------------------------------- breaking off and going on

_DIES = """
import os, signal, sys
import callsheet
from callsheet.audit.exchange import importing

store, path, moment, portion = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
record, done = importing.record_dated, []

def recording(*args, **kwargs):
    if moment == "before" and len(done) == portion:
        os.kill(os.getpid(), signal.SIGKILL)
    done.append(record(*args, **kwargs))
    if moment == "after" and len(done) == portion:
        os.kill(os.getpid(), signal.SIGKILL)
    return done[-1]

importing.record_dated = recording
with callsheet.open(store) as runtime:
    list(importing.import_source(runtime, path))
"""


@pytest.mark.parametrize(
    ("moment", "portion", "recorded"),
    [("before", 0, 0), ("after", 1, AT_ONCE), ("before", 2, 2 * AT_ONCE), ("after", 4, 350), ("before", 5, 351)],
)
def test_an_import_that_was_killed_goes_on_exactly_behind_what_was_recorded(
    tmp_path: Path, moment: str, portion: int, recorded: int
) -> None:
    lines: list[Line] = [
        {"id": "long", "messages": LONG},
        {"id": "short", "messages": [user("hello")]},
        {"id": "long", "branch": {"name": "other", "at": 120}, "messages": LONG[:130]},
    ]
    path, store = written(tmp_path / "log.jsonl", lines), tmp_path / "agent.db"

    killed = subprocess.run([sys.executable, "-c", _DIES, store, path, moment, str(portion)], check=False)
    with callsheet.open(store) as runtime:
        before = sum(runtime.existing(name).counters().messages for name in runtime.conversations())
        imported(runtime, path)
        again, _ = imported(runtime, path)
        root, branch = exported(runtime, "long")
        report = verify(runtime.ledger)

    assert killed.returncode == -signal.SIGKILL
    assert before == recorded
    assert root["messages"] == LONG
    assert branch["messages"] == LONG[:130]
    assert (again.known, again.messages) == (3, 0)
    assert report.ok


def test_what_was_said_since_an_import_broke_off_is_not_mixed_with_the_rest(tmp_path: Path) -> None:
    path, store = written(tmp_path / "log.jsonl", [{"id": "long", "messages": LONG}]), tmp_path / "agent.db"
    subprocess.run([sys.executable, "-c", _DIES, store, path, "after", "1"], check=False)

    with callsheet.open(store) as runtime:
        runtime.existing("long").record(user("something else"))
        _, refused = imported(runtime, path)

        assert "did not come from this line" in refused[0].problem
        assert runtime.existing("long").counters().messages == AT_ONCE + 1


def test_two_imports_at_once_do_not_repeat_each_other(tmp_path: Path) -> None:
    path = written(tmp_path / "log.jsonl", [{"id": "long", "messages": LONG}])
    command = [sys.executable, "-m", "callsheet", "import", str(path), "--store", str(tmp_path / "agent.db")]
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(2)]
    codes = sorted(process.wait() for process in running)
    with callsheet.open(tmp_path / "agent.db") as runtime:
        imported(runtime, path)

        assert codes in ([0, 0], [0, 1])
        assert exported(runtime, "long")[0]["messages"] == LONG


# --------------------------------------------------------------------------- files


def test_gzip_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(gzip.compress(b'\xef\xbb\xbf{"id": 1}\n\n  {"id": 2}\r\n'))

    lines = [line for line in read_lines(str(path)) if isinstance(line, SourceLine)]

    assert [(line.number, line.content) for line in lines] == [(1, b'{"id": 1}'), (3, b'{"id": 2}')]
    assert lines[-1].size == path.stat().st_size == lines[-1].read


def test_damaged_compression_ends_the_file_with_one_refused_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"id": 1}\n' + os.urandom(50_000).hex().encode())[:-20_000])

    first, *rest = read_lines(str(path))

    assert isinstance(first, SourceLine)
    assert [(type(line), line.line) for line in rest if isinstance(line, InvalidLine)] == [(InvalidLine, 2)]


def test_a_pipe_is_read_without_a_size(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["sh", "-c", "printf 'a\\nb\\n' > pipe"], cwd=tmp_path):
        lines = list(read_lines(str(tmp_path / "pipe")))

    assert [line.content for line in lines if isinstance(line, SourceLine)] == [b"a", b"b"]
    assert {line.size for line in lines if isinstance(line, SourceLine)} == {None}


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        list(read_lines(str(tmp_path / "none.jsonl")))
    with pytest.raises(InputError, match="cannot be read"):
        list(read_lines(str(tmp_path)))
