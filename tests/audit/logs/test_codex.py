"""Rollouts of Codex: items put together to messages, usage once, turns rolled back, compactions, older formats."""

from pathlib import Path

import pytest

from callsheet.audit.logs.values import LogFormat
from tests.audit.logs.reading import Read, read, written
from tests.audit.logs.rollouts import THREAD, Rollout


def _read(tmp_path: Path, rollout: Rollout) -> Read:
    return read(written(tmp_path / "rollout.jsonl", rollout.lines))


def test_items_of_one_response_are_one_message(tmp_path: Path) -> None:
    found = _read(tmp_path, Rollout(base_instructions={"text": "You are a coding agent."}).worked())

    assert found.format is LogFormat.CODEX
    assert found.said(THREAD) == [
        "system: You are a coding agent.",
        "user: <environment_context>\n  <cwd>/src/app</cwd>\n</environment_context>",
        "user: List the files",
        "assistant: I look. | shell(call_1) | apply_patch(call_2)",
        "tool: a.py\nb.py | [call_1]",
        "tool: Done | [call_2]",
        "assistant: Two files.",
    ]
    asking = found.messages[THREAD][3].message
    assert asking["x_items"] == [
        {"type": "reasoning", "summary": [], "content": None, "encrypted_content": "gAAAAA=="}
    ], "reasoning stays byte for byte"
    assert found.usage(THREAD) == [(5000, 0, 0, 40), (5200, 4864, 0, 12)]
    assert {(one.answered.provider, one.answered.model) for one in found.messages[THREAD] if one.answered} == {
        ("openai", "gpt-5.2")
    }
    assert found.notes.passed == {"event user_message": 2, "event agent_message": 2}


def test_usage_that_is_told_again_counts_once(tmp_path: Path) -> None:
    rollout = Rollout().worked()
    rollout.lines.append(rollout.lines[-1])
    found = _read(tmp_path, rollout)

    assert found.usage(THREAD) == [(5000, 0, 0, 40), (5200, 4864, 0, 12)]


def test_usage_without_a_message_is_kept_apart(tmp_path: Path) -> None:
    from callsheet.audit.logs.formats import recognised

    rollout = Rollout().worked()
    rollout.took(9000, 0, 500)  # a request that compacted
    path = written(tmp_path / "rollout.jsonl", rollout.lines)
    with recognised(str(path)) as log:
        assert log is not None
        (conversation,) = log.conversations()

    assert [one.usage.input for one in conversation.others if one.usage is not None] == [9000]


def test_a_turn_that_was_rolled_back_is_a_branch(tmp_path: Path) -> None:
    rollout = Rollout().worked()
    rollout.user("Delete them")
    rollout.says("Deleted.")
    rollout.event("thread_rolled_back", num_turns=1)
    rollout.user("Keep them")
    rollout.says("Kept.")
    found = _read(tmp_path, rollout)

    (branch,) = found.forks
    assert found.said(THREAD)[-2:] == ["user: Delete them", "assistant: Deleted."]
    assert found.said(branch) == ["user: Keep them", "assistant: Kept."]
    assert found.forks[branch] == ("main", 6)


def test_what_codex_says_itself_begins_no_turn(tmp_path: Path) -> None:
    rollout = Rollout().worked()
    rollout.event("thread_rolled_back", num_turns=2)
    rollout.user("Anew")
    found = _read(tmp_path, rollout)

    assert list(found.forks.values()) == [("main", 0)]


def test_a_conversation_goes_on_behind_a_compaction(tmp_path: Path) -> None:
    rollout = Rollout().worked()
    rollout.add("compacted", {"message": "Two files were listed.", "replacement_history": [{"type": "message"}]})
    rollout.says("Going on.")
    found = _read(tmp_path, rollout)

    assert found.said(THREAD)[-2:] == ["user: Two files were listed.", "assistant: Going on."]
    assert [one.afresh for one in found.messages[THREAD]][-2:] == [True, False]
    assert found.notes.passed["history that a compaction leaves, which repeats what stands before"] == 1


def test_a_compaction_without_a_text_marks_what_comes_next(tmp_path: Path) -> None:
    rollout = Rollout().worked()
    rollout.add("compacted", {"message": "", "replacement_history": []})
    rollout.user("And now?")
    assert [one.afresh for one in _read(tmp_path, rollout).messages[THREAD]][-1] is True


def test_a_sub_agent_is_named_after_the_thread_that_spawned_it(tmp_path: Path) -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "parent", "depth": 1}}}
    found = _read(tmp_path, Rollout(source=source).worked())

    assert found.parents == {f"parent/agent-{THREAD}": "parent"}


def test_results_in_every_shape(tmp_path: Path) -> None:
    rollout = Rollout()
    outputs: list[object] = [
        "plain",
        {"content": "failed", "success": False},
        [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "data:image/png;base64,AA=="}],
        {"odd": 1},
        7,
        None,
    ]
    for at, output in enumerate(outputs):
        rollout.calls(f"c{at}")
        rollout.result(f"c{at}", output)
    found = _read(tmp_path, rollout)

    results = [one.message for one in found.messages[THREAD] if one.message["role"] == "tool"]
    assert [one["content"] for one in results] == [
        "plain",
        "failed",
        [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}],
        '{"odd": 1}',
        "7",
        '{"output": null}',
    ]
    assert [one.get("x_status") for one in results] == [None, "failed", None, None, None, None]


def test_other_kinds_of_calls(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.item(type="local_shell_call", call_id="c1", status="completed", action={"type": "exec", "command": ["ls"]})
    rollout.result("c1", "a")
    rollout.item(type="web_search_call", status="completed", action={"type": "search", "query": "x"})
    rollout.calls("c2", name="read")
    rollout.lines[-1]["payload"]["namespace"] = "files"
    rollout.item(type="ghost_snapshot", ghost_commit={})
    rollout.item(type="message", role="tool", content=[])
    found = _read(tmp_path, rollout)

    assert found.said(THREAD) == ["assistant: local_shell(c1)", "tool: a | [c1]", "assistant: files.read(c2)"]
    assert found.messages[THREAD][2].message["x_items"] == [
        {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "x"}}
    ]
    assert found.notes.passed == {"item ghost_snapshot": 1, "item message of tool": 1}


def test_the_oldest_rollouts_have_no_envelope(tmp_path: Path) -> None:
    lines = [
        {"id": THREAD, "timestamp": "2025-05-01T10:00:00Z", "instructions": "Be brief."},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]},
    ]
    found = read(written(tmp_path / "rollout.jsonl", lines))

    assert found.format is LogFormat.CODEX
    assert found.said(THREAD) == ["system: Be brief.", "user: Hello", "assistant: Hi"]
    assert found.notes.passed == {"line state": 1}


@pytest.mark.parametrize("wrong", [None, 7, "x", [], {}, [None], {"type": "message"}])
@pytest.mark.parametrize("at", range(16))
def test_wrong_payloads_are_read_or_counted(tmp_path: Path, at: int, wrong: object) -> None:
    rollout = Rollout().worked()
    rollout.lines[at]["payload"] = wrong
    read(written(tmp_path / "rollout.jsonl", rollout.lines), "codex")
    for key in Rollout().worked().lines[at]["payload"]:
        changed = Rollout().worked()
        changed.lines[at]["payload"][key] = wrong
        read(written(tmp_path / "rollout.jsonl", changed.lines), "codex")
