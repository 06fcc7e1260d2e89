"""Session files of Claude Code: messages of several records, branches, sub-agents, compactions, usage once."""

import json
from pathlib import Path

import pytest

from callsheet.audit.logs.values import LogFormat
from tests.audit.logs.reading import Read, read, written
from tests.audit.logs.sessions import SESSION, Session, usage
from tests.recordings import needs_recordings, recording


def _read(tmp_path: Path, session: Session) -> Read:
    return read(written(tmp_path / "session.jsonl", session.lines))


def _worked() -> Session:
    """A question, a response in three records with two parallel calls, their results, an answer."""
    session = Session()
    session.user("Fix the bug")
    session.says(
        "msg_1", {"type": "thinking", "thinking": "hm", "signature": "c2ln"}, took=usage(written=900, output=1)
    )
    first = session.says("msg_1", ("Read", "toolu_1"), took=usage(written=900, output=1))
    second = session.says("msg_1", ("Grep", "toolu_2"), took=usage(written=900, output=44))
    session.result("toolu_1", "one", parentUuid=first)
    session.result("toolu_2", "two", parentUuid=second)
    session.says("msg_2", "Fixed.", took=usage(cached=904, written=60))
    return session


def test_a_response_in_several_records_is_one_message_with_its_usage_once(tmp_path: Path) -> None:
    found = _read(tmp_path, _worked())

    assert found.format is LogFormat.CLAUDE_CODE
    assert found.said(SESSION) == [
        "user: Fix the bug",
        "assistant: <thinking> | Read(toolu_1) | Grep(toolu_2)",
        "user: toolu_1=one | toolu_2=two",
        "assistant: Fixed.",
    ]
    assert found.usage(SESSION) == [(904, 0, 900, 44), (968, 904, 60, 10)]
    assert found.forks == {}
    assert found.notes.passed == {}
    thinking = found.messages[SESSION][1].message["content"]
    assert isinstance(thinking, list)
    assert thinking[0] == {"type": "thinking", "thinking": "hm", "signature": "c2ln"}


def test_a_place_is_kept_where_it_changes(tmp_path: Path) -> None:
    session = _worked()
    session.user("On a branch", gitBranch="feature", isMeta=True)
    found = _read(tmp_path, session)

    kept = [{k: v for k, v in one.message.items() if k.startswith("x_")} for one in found.messages[SESSION]]
    assert kept[0] == {
        "x_cwd": "/src/app",
        "x_git_branch": "main",
        "x_version": "2.0.50",
        "x_at": "2026-03-02T09:00:01.000Z",
    }
    assert set(kept[1]) == {"x_at"}
    assert kept[-1] == {"x_git_branch": "feature", "x_meta": True, "x_at": "2026-03-02T09:00:08.000Z"}


def test_what_was_said_anew_after_rewinding_is_a_branch(tmp_path: Path) -> None:
    session = Session()
    session.user("Hello")
    here = session.says("msg_1", "Hi")
    session.user("Do this")
    session.says("msg_2", "Done")
    again = session.user("Do that", parentUuid=here)
    session.says("msg_3", "Done too")
    once_more = session.user("Or that", parentUuid=again)
    found = _read(tmp_path, session)

    assert found.said(SESSION) == ["user: Hello", "assistant: Hi", "user: Do this", "assistant: Done"]
    branch = f"{SESSION}/from-{again[:8]}"
    assert found.said(branch) == ["user: Do that", "assistant: Done too"]
    assert found.said(f"{SESSION}/from-{once_more[:8]}") == ["user: Or that"]
    assert found.forks == {branch: ("main", 2), f"{SESSION}/from-{once_more[:8]}": (f"from-{again[:8]}", 3)}


def test_what_is_appended_changes_no_branch_that_was_there(tmp_path: Path) -> None:
    session = Session()
    session.user("Hello")
    here = session.says("msg_1", "Hi")
    session.user("Do this")
    session.user("Do that", parentUuid=here)
    before = _read(tmp_path, session)
    session.user("Do nothing", parentUuid=here)
    session.says("msg_2", "Nothing was done")
    after = _read(tmp_path, session)

    assert {name: after.messages[name] for name in before.messages} == before.messages
    assert len(after.messages) == len(before.messages) + 1


def test_records_that_are_no_messages_stand_between_without_a_break(tmp_path: Path) -> None:
    session = Session()
    session.user("Hello")
    session.other("system", subtype="local_command", content="x")
    session.other("progress", data={})
    session.says("msg_1", "API Error", model="<synthetic>")
    session.says("msg_2", "Hi")
    session.lines.append({"type": "summary", "summary": "Greeting", "leafUuid": session.newest})
    session.lines.append({"type": "from-the-future"})
    found = _read(tmp_path, session)

    assert found.said(SESSION) == ["user: Hello", "assistant: Hi"]
    assert found.notes.passed == {
        "record system/local_command": 1,
        "record progress": 1,
        "message of the program in the assistant's place": 1,
        "record summary": 1,
        "record from-the-future": 1,
    }


def test_sub_agents_are_conversations_of_their_own(tmp_path: Path) -> None:
    session = Session()
    session.user("Explore")
    asked = session.says("msg_1", ("Task", "toolu_1"))
    session.user("Look around", parentUuid=None, isSidechain=True, agentId="a1b2")
    session.says("msg_s", "Seen", isSidechain=True, agentId="a1b2")
    old = session.user("Warm up", parentUuid=asked, isSidechain=True)
    session.says("msg_t", "Warm", isSidechain=True)
    session.result("toolu_1", "Seen", parentUuid=asked)
    found = _read(tmp_path, session)

    assert found.said(SESSION) == ["user: Explore", "assistant: Task(toolu_1)", "user: toolu_1=Seen"]
    assert found.said(f"{SESSION}/agent-a1b2") == ["user: Look around", "assistant: Seen"]
    assert found.said(f"{SESSION}/agent-{old}") == ["user: Warm up", "assistant: Warm"]
    assert set(found.parents.values()) == {None, SESSION}
    assert found.forks == {}


@pytest.mark.parametrize("named", [True, False])
def test_a_conversation_goes_on_behind_a_compaction(tmp_path: Path, named: bool) -> None:
    session = Session()
    session.user("Hello")
    newest = session.says("msg_1", "Hi")
    boundary = {"subtype": "compact_boundary", "parentUuid": None, "compactMetadata": {"preTokens": 155_000}}
    session.other("system", **boundary, **({"logicalParentUuid": newest} if named else {}))
    session.user("They said hello.", isCompactSummary=True)
    session.says("msg_2", "Going on")
    found = _read(tmp_path, session)

    assert len(found.said(SESSION)) == 4
    assert [one.afresh for one in found.messages[SESSION]] == [False, False, True, False]
    assert found.messages[SESSION][2].message["x_compact_summary"] is True
    assert found.forks == {}


def test_links_that_lead_nowhere_or_round_in_circles_are_counted(tmp_path: Path) -> None:
    session = Session()
    first = session.user("One", parentUuid="00000003-0000-4000-8000-000000000000")
    session.says("msg_1", "Two", parentUuid="gone")
    session.user("Three", parentUuid=first)
    session.other("system", uuid="a", parentUuid="b")
    session.other("system", uuid="b", parentUuid="a")
    session.user("Four", parentUuid="b")
    session.user("Five", uuid="self", parentUuid="self")
    found = _read(tmp_path, session)

    assert sum(len(messages) for messages in found.messages.values()) == 5
    assert found.notes.passed["link to a record that is not there (taken to follow the one before it)"] == 3


def test_a_record_that_repeats_a_uuid_is_counted_and_left_out(tmp_path: Path) -> None:
    session = _worked()
    session.lines.append({**session.lines[0], "message": {"role": "user", "content": "Something else"}})
    found = _read(tmp_path, session)

    assert len(found.said(SESSION)) == 4
    assert found.notes.passed == {"record with a uuid that was there before": 1}


def test_a_torn_last_line_is_refused_with_its_place(tmp_path: Path) -> None:
    path = written(tmp_path / "session.jsonl", _worked().lines)
    path.write_text(path.read_text() + '{"type": "user", "mess')
    found = read(path)

    assert len(found.said(SESSION)) == 4
    assert [(line.file, line.line) for line in found.notes.refused] == [(str(path), 8)]


@pytest.mark.parametrize("wrong", [None, 7, "x", [], {}, [None], {"role": []}, [[[]]]])
@pytest.mark.parametrize("key", ["message", "uuid", "parentUuid", "timestamp", "sessionId", "agentId", "isSidechain"])
def test_wrong_types_are_read_as_if_nothing_stood_there(tmp_path: Path, key: str, wrong: object) -> None:
    session = _worked()
    for at in (0, 3, 5):
        session.lines[at][key] = wrong
    found = read(written(tmp_path / "session.jsonl", session.lines), "claude-code")

    assert 3 <= sum(len(messages) for messages in found.messages.values()) <= 7


@pytest.mark.parametrize("key", ["id", "content", "usage", "model", "role"])
def test_wrong_types_within_a_message_are_too(tmp_path: Path, key: str) -> None:
    session = _worked()
    for at, wrong in ((1, {"a": [1]}), (3, [[]]), (6, 1.5)):
        session.lines[at]["message"][key] = wrong
    read(written(tmp_path / "session.jsonl", session.lines), "claude-code")


@needs_recordings
def test_every_recorded_kind_of_record_is_read(tmp_path: Path) -> None:
    lines = recording("formats/claude_code_records.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line)["record"] for line in lines]
    found = read(written(tmp_path / "records.jsonl", records))

    messages = [one for own in found.messages.values() for one in own]
    links = found.notes.passed.pop("link to a record that is not there (taken to follow the one before it)")
    assert links > 0, "they come from many sessions"
    # One response stands in two of them.
    assert len(messages) + 1 + found.notes.passed.total() == len(records)
    assert found.notes.refused == []
    told = {(one.answered.response, one.answered.usage) for one in messages if one.answered is not None}
    assert len(told) == sum(one.answered is not None for one in messages), "a response counts once"
