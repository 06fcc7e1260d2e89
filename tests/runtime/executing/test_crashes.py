"""Processes that are killed while they run tools: what took effect is not done twice, and nothing is lost silently."""

from pathlib import Path

import pytest

import callsheet
from callsheet import ArtifactStatus, Conversation
from callsheet.errors import CallTaken
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.runtime.executing import children
from tests.runtime.executing.acts import shown, texts
from tests.runtime.executing.children import KILLED, count, tools

OK, UNKNOWN = ArtifactStatus.OK, ArtifactStatus.UNKNOWN
EFFECTS = ("post_notice", "open_valve")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def opened(path: Path) -> Conversation:
    return callsheet.open(path).conversation("valves")


def killed(work: object, path: Path) -> None:
    assert callable(work)
    process = children.start(work, path)
    process.communicate(timeout=60)
    assert process.returncode == KILLED


def counts(path: Path) -> list[int]:
    return [count(path.parent, name) for name in (*EFFECTS, "read_gauge")]


def test_dev_29_and_31_killed_between_two_calls_the_rest_runs_and_the_first_does_not(path: Path) -> None:
    killed(children.die_between, path)
    assert counts(path) == [1, 0, 0]
    talk = opened(path)
    assert [(call.provider_id, call.tool, call.arguments) for call in talk.pending()] == [
        ("e2", "open_valve", "{}"),
        ("e3", "read_gauge", "{}"),
    ]
    done = talk.execute(tools(path.parent))
    assert [(o.provider_id, o.status) for o in done.outcomes] == [("e2", OK), ("e3", OK)]
    assert counts(path) == [1, 1, 1]
    assert list(shown(talk)) == ["e1", "e2", "e3"]
    assert list(shown(talk).values()) == ["post_notice done", "open_valve done", "read_gauge done"]
    for provider, model in (("openai", "gpt-5.2"), ("anthropic", "claude-sonnet-4-5")):
        assert not problems(talk.assemble(provider=provider, model=model).request(), Wire(provider))


def test_killed_within_a_call_it_is_unknown_and_only_the_read_is_run(path: Path) -> None:
    killed(children.die_within, path)
    assert counts(path) == [1, 1, 0]
    talk = opened(path)
    for _ in range(2):
        done = talk.execute(tools(path.parent))
        assert done.outcomes[0].status is UNKNOWN
    assert counts(path) == [1, 1, 1]
    assert "it may or may not have taken effect" in shown(talk)["e2"]
    talk.settle("e2", "the valve is open", by="kim")
    assert talk.execute(tools(path.parent)).outcomes == ()
    assert shown(talk)["e2"] == "the valve is open"


def test_dev_31_resumed_twice_at_once_each_call_runs_once_and_one_is_told(path: Path) -> None:
    first = children.start(children.hang_within, path)
    assert first.stdout is not None
    assert first.stdin is not None
    assert first.stdout.readline() == "hanging\n"
    second = children.start(children.resume, path)
    assert second.communicate(timeout=60)[0] == "taken 2\n"
    talk = opened(path)
    with pytest.raises(CallTaken, match=f"process {first.pid} on "):
        talk.execute(tools(path.parent))
    assert counts(path) == [1, 1, 0]
    assert first.communicate("go on\n", timeout=60)[0] == "finished\n"
    assert talk.execute(tools(path.parent)).outcomes == ()
    assert counts(path) == [1, 1, 1]
    assert len(texts(talk)) == 3


def test_dev_31_two_processes_resume_what_a_third_left(path: Path) -> None:
    killed(children.die_between, path)
    both = [children.start(children.resume, path) for _ in range(2)]
    told = sorted(process.communicate(timeout=60)[0].strip() for process in both)
    assert counts(path) == [1, 1, 1]
    assert told in (["", "ok ok"], ["ok ok", "taken 2"])


def test_a_killed_holder_is_seen_to_be_gone_at_once(path: Path) -> None:
    process = children.start(children.hang_within, path)
    assert process.stdout is not None
    process.stdout.readline()
    process.kill()
    process.communicate(timeout=60)
    talk = opened(path)
    assert [(o.provider_id, o.status) for o in talk.execute(tools(path.parent)).outcomes] == [
        ("e2", UNKNOWN),
        ("e3", OK),
    ]
    assert counts(path) == [1, 1, 1]
    talk.repeat("e2", by="kim")
    talk.execute(tools(path.parent))
    assert counts(path) == [1, 2, 1]


def test_killed_before_or_after_any_append_no_effect_happens_twice_and_none_is_forgotten(path: Path) -> None:
    process = children.start(children.die_at_every_append, path)
    process.communicate(timeout=120)
    folders = [folder for folder in path.parent.iterdir() if folder.is_dir()]
    assert len(folders) > 10
    states: set[tuple[str, int]] = set()
    for folder in folders:
        talk = opened(folder / "store.db")
        for _ in range(2):
            talk.execute(tools(folder))
        results = {record.provider_id: record for record in talk.executions()}
        assert results.keys() == {"e2", "e3"}, folder
        assert results["e3"].state == "answered", folder
        assert count(folder, "read_gauge") >= 1, folder
        # What is answered happened once; what happened is answered or known to be unknown.
        state, times = results["e2"].state, count(folder, "open_valve")
        assert (state, times) in (("answered", 1), ("unknown", 0), ("unknown", 1)), folder
        states.add((state, times))
    assert len(states) == 3
