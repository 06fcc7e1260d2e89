"""A file is recognised by what it holds, not by its name; what cannot be of a format is refused."""

import json
import sqlite3
from pathlib import Path

import pytest

from callsheet.audit.logs.formats import NAMES, recognised
from callsheet.audit.logs.values import LogFormat
from callsheet.cli.parsing import FORMATS
from callsheet.errors import InputError
from tests.audit.logs.reading import RECORDED, written
from tests.audit.logs.rollouts import Rollout
from tests.audit.logs.sessions import Session


def _shown(path: Path, format: str | None = None) -> LogFormat | None:
    with recognised(str(path), format) as log:
        return log.format if log is not None else None


def test_the_command_line_names_the_same_formats() -> None:
    assert FORMATS == NAMES


@pytest.mark.parametrize(
    ("line", "format"),
    [
        ({"messages": [{"role": "user", "content": "a"}]}, None),
        ([{"role": "user", "content": "a"}], None),
        ({"id": "a", "branch": {}, "messages": []}, None),
        ({"role": "user", "content": "a"}, None),
        ({}, None),
        (7, None),
        ("", None),
        ([], None),
        ({"type": "summary", "summary": "a", "leafUuid": "b"}, LogFormat.CLAUDE_CODE),
        ({"type": "user", "uuid": "a", "message": {"role": "user", "content": "a"}}, LogFormat.CLAUDE_CODE),
        ({"type": "user"}, None),
        ({"type": "session_meta", "payload": {"id": "a"}}, LogFormat.CODEX),
        ({"type": "message", "role": "user", "content": []}, LogFormat.CODEX),
        ({"id": "a", "timestamp": "b", "instructions": None}, LogFormat.CODEX),
        ({"resourceSpans": []}, LogFormat.OPENTELEMETRY),
        ([{"resourceSpans": []}], LogFormat.OPENTELEMETRY),
        ({"context": {}, "start_time": "a", "name": "b"}, LogFormat.OPENTELEMETRY),
    ],
)
def test_a_line_shows_the_format(tmp_path: Path, line: object, format: LogFormat | None) -> None:
    assert _shown(written(tmp_path / "log", [line])) is format


def test_lines_that_do_not_tell_are_passed_over(tmp_path: Path) -> None:
    session = Session()
    session.user("Hello")
    assert _shown(written(tmp_path / "log", ["{torn", "7", '{"type": "new"}', *session.lines])) is LogFormat.CLAUDE_CODE


@pytest.mark.parametrize("format", NAMES[1:])
def test_text_can_be_said_to_be_of_any_format_of_text(tmp_path: Path, format: str) -> None:
    path = written(tmp_path / "log", Rollout().lines)
    if format in ("langgraph", "openai-agents"):
        with pytest.raises(InputError, match=r"is no .* log: it is no SQLite database"):
            _shown(path, format)
    else:
        assert _shown(path, format) == format


def test_lines_can_be_said_to_be_lines(tmp_path: Path) -> None:
    assert _shown(written(tmp_path / "log", Rollout().lines), "lines") is None


def test_a_database_of_another_format_is_refused() -> None:
    path = RECORDED / "langgraph.sqlite.gz"
    assert _shown(path, "langgraph") is LogFormat.LANGGRAPH
    with pytest.raises(InputError, match="is no openai-agents log but langgraph"):
        _shown(path, "openai-agents")
    with pytest.raises(InputError, match="is no codex log: it is a SQLite database"):
        _shown(path, "codex")


@pytest.mark.parametrize(
    "schema",
    [
        "CREATE TABLE other (a)",
        "CREATE TABLE checkpoints (thread_id, checkpoint_id)",
        "CREATE TABLE base (id, session_id, message_data, created_at);CREATE VIEW agent_messages AS SELECT * FROM base",
    ],
)
def test_a_database_that_is_no_log_is_refused_with_its_tables(tmp_path: Path, schema: str) -> None:
    path = tmp_path / "log.db"
    connection = sqlite3.connect(path)
    connection.executescript(schema)
    connection.close()
    with pytest.raises(InputError, match=r"no log that is known \(its tables: (other|checkpoints|base)\)"):
        _shown(path)


def test_the_store_itself_is_no_log(tmp_path: Path) -> None:
    import callsheet

    with callsheet.open(str(tmp_path / "agent.db")) as runtime:
        runtime.conversation("a").record({"role": "user", "content": "Hello"})
    with pytest.raises(InputError, match="no log that is known"):
        _shown(tmp_path / "agent.db")


def test_standard_input_is_lines_unless_something_is_said() -> None:
    with recognised("-") as log:
        assert log is None


def test_a_recognised_file_may_be_compressed(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in Rollout().lines).encode()))
    assert _shown(path) is LogFormat.CODEX


def test_a_pipe_is_lines_and_nothing_is_taken_out_of_it(tmp_path: Path) -> None:
    import os

    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    with recognised(str(fifo)) as log:
        assert log is None
