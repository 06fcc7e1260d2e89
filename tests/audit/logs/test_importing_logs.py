"""Importing logs: known again, added to when they grow, refused when they changed; usage kept; nothing half."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callsheet.audit.exchange.exporting import export_conversation
from callsheet.audit.exchange.importing import Imported
from callsheet.audit.logs import importing
from callsheet.audit.logs.importing import import_file
from callsheet.errors import InvalidLine
from callsheet.graph.nodes import ModelRun
from callsheet.runtime.runtime import Runtime
from callsheet.testing import memory_runtime
from tests.audit.logs.reading import RECORDED, written
from tests.audit.logs.rollouts import THREAD, Rollout
from tests.audit.logs.sessions import SESSION, Session, usage
from tests.audit.logs.test_hostile import keys, records


def _imported(runtime: Runtime, path: Path, format: str | None = None) -> tuple[Imported, list[InvalidLine]]:
    total, refused = Imported(), list[InvalidLine]()
    for outcome in import_file(runtime, str(path), format):
        if isinstance(outcome, InvalidLine):
            refused.append(outcome)
        else:
            total += outcome
    return total, refused


def _worked() -> Session:
    session = Session()
    session.user("Fix the bug")
    call = session.says("msg_1", ("Read", "toolu_1"), took=usage(written=900, output=44))
    session.result("toolu_1", "one", parentUuid=call)
    session.says("msg_2", "Fixed.", took=usage(cached=904, written=60))
    return session


def _texts(runtime: Runtime, name: str, branch: str = "main") -> list[str]:
    """What is said on a branch; results have no text of their own."""
    return [str(getattr(item, "text", "")) for item in runtime.existing(name).transcript(branch)]


def test_a_session_is_stored_with_times_usage_and_what_is_not_neutral(tmp_path: Path) -> None:
    path = written(tmp_path / "log.jsonl", _worked().lines)
    with memory_runtime() as runtime:
        total, refused = _imported(runtime, path)
        talk = runtime.existing(SESSION)
        (line,) = export_conversation(runtime, SESSION)
        records = talk.history()[0]
        key = talk._session.conversation.key
        runs = [one.body for one in runtime.ledger.records(key) if isinstance(one.body, ModelRun)]

    assert (total.conversations, total.messages, total.calls, total.results) == (1, 3, 1, 1)
    assert refused == []
    messages = line["messages"]
    assert isinstance(messages, list)
    assert messages[0] == {
        "role": "user",
        "content": "Fix the bug",
        "x_cwd": "/src/app",
        "x_git_branch": "main",
        "x_version": "2.0.50",
        "x_at": "2026-03-02T09:00:01.000Z",
    }
    assert records[0].header.at < records[-1].header.at
    assert [(run.answered_model, run.response, run.usage.input, run.usage.output) for run in runs if run.usage] == [
        ("claude-sonnet-4-5-20250929", "msg_1", 904, 44),
        ("claude-sonnet-4-5-20250929", "msg_2", 968, 10),
    ]


@pytest.mark.parametrize("name", sorted(file.name for file in RECORDED.iterdir()))
def test_what_was_imported_before_is_known_again(name: str) -> None:
    with memory_runtime() as runtime:
        first, refused = _imported(runtime, RECORDED / name)
        assert refused == []
        assert first.conversations > 0
        again, refused = _imported(runtime, RECORDED / name)
        assert refused == []
        assert (again.conversations, again.known, again.messages) == (0, first.conversations, 0)


def test_a_log_that_has_grown_is_read_on(tmp_path: Path) -> None:
    session = _worked()
    with memory_runtime() as runtime:
        _imported(runtime, written(tmp_path / "log.jsonl", session.lines))
        here = session.newest
        session.user("Thanks")
        session.user("Not so fast", parentUuid=here)
        total, refused = _imported(runtime, written(tmp_path / "log.jsonl", session.lines))

        assert refused == []
        assert (total.conversations, total.messages, total.known) == (2, 2, 0)
        assert _texts(runtime, SESSION)[-1] == "Thanks"
        (branch,) = set(runtime.existing(SESSION).branches()) - {"main"}
        assert _texts(runtime, SESSION, branch)[-2:] == ["Fixed.", "Not so fast"]


def _blocks(runtime: Runtime, name: str) -> list[list[object]]:
    """By branch all that was said and called, however it is cut into messages."""
    found: list[list[object]] = []
    for line in export_conversation(runtime, name):
        messages = line["messages"]
        assert isinstance(messages, list)
        found.append([])
        for one in messages:
            content = one.get("content")
            parts = content if isinstance(content, list) else [content] if content else []
            found[-1] += [(one["role"], json.dumps(part, sort_keys=True)) for part in parts]
            found[-1] += [json.dumps(call) for call in one.get("tool_calls", ())]
    return found


@pytest.mark.parametrize("step", [1, 2, 3])
def test_growing_line_by_line_comes_to_the_same(tmp_path: Path, step: int) -> None:
    rollout = Rollout().worked()
    rollout.user("Delete them")
    rollout.event("thread_rolled_back", num_turns=1)
    rollout.user("Keep them")
    session = _worked()
    first = session.says("msg_3", "More.", ("Read", "toolu_2"))
    second = session.says("msg_3", ("Grep", "toolu_3"))
    session.result("toolu_2", "two", parentUuid=first)
    session.result("toolu_3", "three", parentUuid=second)
    for name, lines in ((THREAD, rollout.lines), (SESSION, session.lines)):
        with memory_runtime() as whole, memory_runtime() as grown:
            _imported(whole, written(tmp_path / "whole.jsonl", lines))
            for end in range(1, len(lines) + step, step):
                _, refused = _imported(grown, written(tmp_path / "grown.jsonl", lines[:end]))
                assert refused == []
            assert _blocks(grown, name) == _blocks(whole, name)


def test_a_message_that_changed_is_named(tmp_path: Path) -> None:
    session = _worked()
    with memory_runtime() as runtime:
        _imported(runtime, written(tmp_path / "log.jsonl", session.lines))
        session.lines[0]["message"]["content"] = "Something else"
        session.user("More")
        total, (refused,) = _imported(runtime, written(tmp_path / "log.jsonl", session.lines))

    assert total.messages == 0
    assert "its first 4 messages are not those that were imported before" in refused.problem


def test_a_log_that_became_shorter_is_named(tmp_path: Path) -> None:
    session = _worked()
    with memory_runtime() as runtime:
        _imported(runtime, written(tmp_path / "log.jsonl", session.lines))
        _, (refused,) = _imported(runtime, written(tmp_path / "log.jsonl", session.lines[:2]))

    assert "its first 4 messages are not those that were imported before" in refused.problem


def test_a_conversation_that_went_on_here_is_not_mixed_with_what_is_new_in_the_log(tmp_path: Path) -> None:
    session = _worked()
    with memory_runtime() as runtime:
        _imported(runtime, written(tmp_path / "log.jsonl", session.lines))
        runtime.existing(SESSION).record({"role": "user", "content": "Here"})
        total, refused = _imported(runtime, written(tmp_path / "log.jsonl", session.lines))
        assert (total.known, refused) == (1, [])
        session.user("There")
        _, (problem,) = _imported(runtime, written(tmp_path / "log.jsonl", session.lines))
        assert "went on here after it was imported" in problem.problem
        assert _texts(runtime, SESSION)[-1] == "Here"


def test_a_conversation_of_that_name_that_came_otherwise_is_left_alone(tmp_path: Path) -> None:
    with memory_runtime() as runtime:
        runtime.conversation(SESSION).record({"role": "user", "content": "Mine"})
        total, (refused,) = _imported(runtime, written(tmp_path / "log.jsonl", _worked().lines))

        assert total.messages == 0
        assert "did not come from this log" in refused.problem
        assert _texts(runtime, SESSION) == ["Mine"]


def test_an_import_that_broke_off_is_taken_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "AT_ONCE", 2)
    session = Session()
    for number in range(7):
        session.user(f"message {number}")
    path = written(tmp_path / "log.jsonl", session.lines)
    with memory_runtime() as runtime, memory_runtime() as whole:
        next(import_file(runtime, str(path)))
        assert len(_texts(runtime, SESSION)) == 2
        total, _ = _imported(runtime, path)
        assert total.messages == 5
        _imported(whole, path)
        assert list(export_conversation(runtime, SESSION)) == list(export_conversation(whole, SESSION))


def test_a_message_that_no_provider_knows_is_stored_as_text_and_named(tmp_path: Path) -> None:
    session = _worked()
    session.lines[2]["message"]["content"] = [{"type": 7}]
    path = written(tmp_path / "log.jsonl", session.lines)
    with memory_runtime() as runtime:
        total, (refused,) = _imported(runtime, path)

        assert total.conversations == 1
        assert (refused.file, refused.line) == (str(path), 3)
        assert "recorded as text" in refused.problem
        assert len(_texts(runtime, SESSION)) == 4


def test_what_holds_no_messages_is_told(tmp_path: Path) -> None:
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 7}
    span = {
        "context": {"trace_id": "a", "span_id": "b"},
        "start_time": "2026-03-02T09:00:00Z",
        "attributes": attributes,
    }
    with memory_runtime() as runtime:
        total, _ = _imported(runtime, written(tmp_path / "log.jsonl", [span]))

        assert runtime.conversations() == []
    assert total.passed == {
        "conversation without messages": 1,
        "request whose content was not recorded (its usage counts)": 1,
        "usage of requests that left no message": 1,
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.dictionaries(keys, records, max_size=6), max_size=4),
    st.sampled_from(["claude-code", "codex", "opentelemetry"]),
)
def test_whatever_a_log_holds_is_imported_and_known_again(
    tmp_path: Path, lines: list[dict[str, object]], format: str
) -> None:
    session = _worked()
    path = written(tmp_path / "log.jsonl", [*session.lines, *lines] if format == "claude-code" else lines)
    with memory_runtime() as runtime:
        first, _ = _imported(runtime, path, format)
        again, _ = _imported(runtime, path, format)
        assert again.messages == 0
        assert again.known == first.conversations
        for name in runtime.conversations():
            json.dumps(list(export_conversation(runtime, name)))
