"""Files that are damaged, too large, or made to do harm: nothing is run, and every error names the file."""

import contextlib
import gzip
import json
import os
import pickle
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.audit.logs import files, formats
from callsheet.audit.logs.langchain import Object, unpacked
from callsheet.audit.logs.values import MOST_NAMES, MOST_REFUSED, LogFormat, Notes
from callsheet.errors import InputError
from tests.audit.logs.reading import RECORDED, read, written
from tests.audit.logs.sessions import SESSION, Session

TEXTS = ("claude-code", "codex", "opentelemetry")


def _session(tmp_path: Path, *extra: object) -> Path:
    session = Session()
    session.user("Hello")
    session.says("msg_1", "Hi")
    return written(tmp_path / "log.jsonl", [session.lines[0], *extra, session.lines[1]])


@pytest.mark.parametrize("format", TEXTS)
@pytest.mark.parametrize(
    "content",
    [b"", b"\n\n", b"\0" * 5000, bytes(range(256)) * 50, b"{" * 100_000, b"[" * 100_000, b'{"a":', b"\xff\xfe{"],
)
def test_garbage_is_refused_line_by_line(tmp_path: Path, format: str, content: bytes) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(content)
    found = read(path, format)

    assert found.messages == {}
    assert bool(found.notes.refused) == bool(content.strip())
    assert all(line.file == str(path) for line in found.notes.refused)


@given(st.binary(max_size=300), st.sampled_from(TEXTS))
def test_no_bytes_at_all_break_the_readers(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, format: str
) -> None:
    path = tmp_path_factory.mktemp("log") / "log.jsonl"
    path.write_bytes(content)
    if not content.startswith((b"SQLite format 3\0", b"\x1f\x8b")):
        read(path, format)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
keys = st.sampled_from(
    ["type", "uuid", "parentUuid", "message", "role", "content", "payload", "id", "call_id", "output", "info",
     "context", "attributes", "events", "name", "resourceSpans", "scopeSpans", "spans", "gen_ai.input.messages",
     "parts"]
)  # fmt: skip
words = st.sampled_from(
    ["user", "assistant", "system", "message", "response_item", "event_msg", "token_count", "session_meta", "compacted",
     "function_call", "function_call_output", "tool_use", "tool_result", "gen_ai.user.message", "chat", "a"]
)  # fmt: skip
records = st.recursive(
    json_values | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(keys, records, max_size=6), max_size=4), st.sampled_from(TEXTS))
def test_no_json_at_all_breaks_the_readers(
    tmp_path_factory: pytest.TempPathFactory, lines: list[dict[str, object]], format: str
) -> None:
    read(written(tmp_path_factory.mktemp("log") / "log.jsonl", lines), format)


def test_a_line_that_is_too_long_is_refused_and_the_rest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LONGEST_LINE", 5000)
    path = _session(tmp_path, {"type": "x", "filler": "y" * 20_000})
    found = read(path)

    assert found.said(SESSION) == ["user: Hello", "assistant: Hi"]
    assert [(line.line, "longer than" in line.problem) for line in found.notes.refused] == [(2, True)]


def test_a_result_of_fifty_megabytes_is_read(tmp_path: Path) -> None:
    session = Session()
    session.user("Read it")
    session.says("msg_1", ("Read", "c1"))
    session.result("c1", "x" * 50_000_000)
    found = read(written(tmp_path / "log.jsonl", session.lines))

    assert len(found.said(SESSION)[2]) > 50_000_000


def test_names_that_no_store_takes_are_made_printable(tmp_path: Path) -> None:
    session = Session()
    session.user("Hello", sessionId="s\ud800\0\x1b[2J" + "x" * 1000)
    found = read(written(tmp_path / "log.jsonl", session.lines))

    assert list(found.messages) == ["s???[2J" + "x" * 193]


def test_numbers_and_nesting_that_json_cannot_hold_are_refused(tmp_path: Path) -> None:
    path = _session(tmp_path, '{"type": ' + "9" * 10_000 + "}", '{"a": ' + "[" * 5000 + "]" * 5000 + "}")
    found = read(path)

    assert [line.line for line in found.notes.refused] == [2, 3]
    assert len(found.said(SESSION)) == 2


def test_a_small_file_that_unpacks_to_a_big_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_UNPACKED", 1_000_000)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b"\0" * 5_000_000))
    with pytest.raises(InputError, match=r"bomb.gz unpacks to more than 1,000,000 bytes"):
        read(path, "codex")


@pytest.mark.parametrize("cut", [1, 12, 60])
def test_compressed_data_that_breaks_off_keeps_what_was_whole(tmp_path: Path, cut: int) -> None:
    whole = gzip.compress(_session(tmp_path).read_bytes())
    path = tmp_path / "log.gz"
    path.write_bytes(whole + whole[:-cut])
    found = read(path, "claude-code")

    assert found.said(SESSION)[0] == "user: Hello"
    assert "the compressed data is damaged from here on" in found.notes.refused[-1].problem


def test_folders_devices_and_what_is_not_there_are_refused(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (tmp_path, tmp_path / "nothing", fifo, Path("/dev/zero"), tmp_path / "a\0b"):
        with pytest.raises(InputError, match="cannot be read"):
            read(path, "codex")


def test_a_link_is_what_it_points_to_and_one_round_in_circles_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(_session(tmp_path))
    assert len(read(link).said(SESSION)) == 2
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(InputError, match="cannot be read"):
        read(loop)


def test_a_file_that_becomes_shorter_while_it_is_read_is_noticed(tmp_path: Path) -> None:
    path = _session(tmp_path)
    with formats.recognised(str(path)) as log:
        assert log is not None
        (conversation,) = log.conversations()
        path.write_bytes(b"")
        with pytest.raises(InputError, match="became shorter while it was read"):
            list(conversation.read())


def test_what_a_file_makes_up_is_told_in_bounds(tmp_path: Path) -> None:
    lines = [{"type": f"kind {number}\x1b[2J" + "z" * 500} for number in range(300)]
    found = read(written(tmp_path / "log.jsonl", [*["torn"] * 300, *lines]), "claude-code")

    assert len(found.notes.refused) == MOST_REFUSED
    assert len(found.notes.passed) <= MOST_NAMES + 1
    assert found.notes.passed.total() == 300 + 200
    assert all(len(name) <= 100 and name.isprintable() for name in found.notes.passed)


# Checkpoints of LangGraph.

STEPS = (
    "CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, parent_checkpoint_id TEXT,"
    " type TEXT, checkpoint BLOB, metadata BLOB)"
)


class Harmful:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


def _extension(module: str, name: str, fields: object, method: str | None = None) -> msgspec.msgpack.Ext:
    return msgspec.msgpack.Ext(5, msgspec.msgpack.encode([module, name, fields, method]))


def _checkpoints(path: Path, rows: Sequence[tuple[str, str | None, str, bytes]]) -> Path:
    connection = sqlite3.connect(path)
    connection.execute(STEPS)
    connection.executemany("INSERT INTO checkpoints VALUES ('t', '', ?, ?, ?, ?, NULL)", rows)
    connection.commit()
    connection.close()
    return path


def _state(*messages: object) -> bytes:
    return msgspec.msgpack.encode({"ts": "2026-03-02T09:00:00+00:00", "channel_values": {"messages": list(messages)}})


def test_nothing_in_a_checkpoint_is_run(tmp_path: Path) -> None:
    harm = tmp_path / "harm"
    human = {"content": "Hello", "type": "human", "id": "m1"}
    calls = [
        _extension("os", "mkdir", str(harm)),
        _extension("os", "mkdir", {"path": str(harm)}, "__call__"),
        _extension("builtins", "eval", [f"__import__('os').mkdir({str(harm)!r})"]),
        _extension("langchain_core.messages.human", "HumanMessage", human, "model_validate_json"),
    ]
    path = _checkpoints(
        tmp_path / "log.db",
        [
            ("1", None, "pickle", pickle.dumps(Harmful(harm))),
            ("2", "1", "msgpack", pickle.dumps(Harmful(harm))),
            ("3", "2", "msgpack", _state(*calls)),
            ("4", "3", "json", b'{"lc": 2, "type": "constructor", "id": ["os", "mkdir"], "args": ["x"]}'),
        ],
    )
    found = read(path)

    assert not harm.exists()
    assert found.said("t") == ["user: Hello"]
    assert [line.line for line in found.notes.refused] == [1, 2]
    assert "it could run code" in found.notes.refused[0].problem


def test_conversations_of_one_name_are_told_apart(tmp_path: Path) -> None:
    human = {"content": "Hello", "type": "human", "id": "m1"}
    data = _state(_extension("langchain_core.messages.human", "HumanMessage", human))
    path = _checkpoints(tmp_path / "log.db", [])
    connection = sqlite3.connect(path)
    for thread, space in (("a/b", ""), ("a", "b"), ("a\n", ""), ("a\t", "")):
        connection.execute(
            "INSERT INTO checkpoints VALUES (?, ?, '1', NULL, 'msgpack', ?, NULL)", (thread, space, data)
        )
    connection.commit()
    connection.close()

    assert sorted(read(path).messages) == ["a/b", "a/b#2", "a?", "a?#2"]


def test_the_json_form_is_read(tmp_path: Path) -> None:
    message = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"]}
    state = {"channel_values": {"messages": [{**message, "kwargs": {"content": "Hi", "id": "m1"}}]}}
    path = _checkpoints(tmp_path / "log.db", [("1", None, "json", json.dumps(state).encode())])

    assert read(path).said("t") == ["assistant: Hi"]


def test_extensions_within_extensions_have_an_end() -> None:
    data = msgspec.msgpack.encode(None)
    for _ in range(3000):
        data = msgspec.msgpack.encode(msgspec.msgpack.Ext(5, data))
    with pytest.raises(ValueError, match=r"too deep|MessagePack"):
        unpacked(data)


@given(st.binary(max_size=200))
def test_no_bytes_break_the_unpacking(data: bytes) -> None:
    try:
        found = unpacked(data)
    except ValueError:
        return
    assert not callable(found) or isinstance(found, Object)


def test_checkpoints_that_come_from_each_other_or_from_nowhere(tmp_path: Path) -> None:
    def said(*ids: str) -> bytes:
        found = ({"content": id, "type": "human", "id": id} for id in ids)
        return _state(*(_extension("langchain_core.messages", "HumanMessage", one) for one in found))

    rows = [("1", "2", "msgpack", said("a")), ("2", "1", "msgpack", said("a", "b")), ("3", "x", "msgpack", said("c"))]
    found = read(_checkpoints(tmp_path / "log.db", rows))

    assert found.said("t") == ["user: a", "user: b"]
    assert found.said("t/from-c") == ["user: c"]


def test_writes_of_a_run_that_was_broken_off_are_counted(tmp_path: Path) -> None:
    path = _checkpoints(tmp_path / "log.db", [("1", None, "msgpack", _state()), ("2", "1", "msgpack", _state())])
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE writes (thread_id, checkpoint_ns, checkpoint_id, channel, value)")
    rows = [("1", "messages"), ("2", "messages"), ("2", "__interrupt__"), ("2", "total")]
    connection.executemany("INSERT INTO writes VALUES ('t', '', ?, ?, NULL)", rows)
    connection.commit()
    connection.close()

    assert read(path).notes.passed == {"write of a step that came to no checkpoint": 2}


def test_messages_that_a_step_removed_stay_in_the_conversation(tmp_path: Path) -> None:
    def said(*texts: str) -> bytes:
        found = ({"content": text, "type": "human"} for text in texts)
        return _state(*(_extension("langchain_core.messages", "HumanMessage", one) for one in found))

    rows = [
        ("1", None, "msgpack", said("a", "b", "b", "c")),
        ("2", "1", "msgpack", said("c", "summary")),
        ("3", "2", "msgpack", said("c", "summary", "d")),
        ("4", "3", "msgpack", said("d", "summary", "c", "e")),
    ]
    found = read(_checkpoints(tmp_path / "log.db", rows))

    assert [one.partition(": ")[2] for one in found.said("t")] == ["a", "b", "b", "c", "summary", "d", "e"]
    assert [one.afresh for one in found.messages["t"]] == [False] * 4 + [True, False, False]


@pytest.mark.parametrize("name", ["langgraph", "openai_agents", "openai_agents_advanced"])
def test_a_damaged_database_is_refused_or_read_never_more(tmp_path: Path, name: str) -> None:
    whole = gzip.decompress((RECORDED / f"{name}.sqlite.gz").read_bytes())
    path = tmp_path / "log.db"
    for at in range(100, len(whole), 997):
        path.write_bytes(whole[:at] + b"\xff" * 64 + whole[at + 64 :])
        with contextlib.suppress(InputError):
            read(path)
    for length in (16, 100, 1024, len(whole) // 2):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"log\.db"):
            read(path)


def test_a_database_is_read_without_writing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    path.write_bytes(gzip.decompress((RECORDED / "langgraph.sqlite.gz").read_bytes()))
    before = path.read_bytes()
    read(path)

    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["log.db"]


@pytest.mark.parametrize("data", [b"", b"\xff", b"7", b"[]", b"{}", b'{"role": 7}', b'{"__enc__": 1}', None])
def test_items_of_sessions_that_are_none(tmp_path: Path, data: bytes | None) -> None:
    path = tmp_path / "log.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE agent_messages (id INTEGER PRIMARY KEY, session_id, message_data, created_at)")
    connection.execute("INSERT INTO agent_messages VALUES (1, 's', ?, 7)", (data,))
    connection.execute("""INSERT INTO agent_messages VALUES (2, 's', '{"role": "user", "content": "Hello"}', 'x')""")
    connection.commit()
    connection.close()
    found = read(path)

    assert found.format is LogFormat.OPENAI_AGENTS
    assert found.said("s") == ["user: Hello"]
    assert len(found.notes.refused) + found.notes.passed.total() == 1


def test_notes_of_nothing() -> None:
    assert (Notes("a").refused, Notes("a").passed) == ([], {})
