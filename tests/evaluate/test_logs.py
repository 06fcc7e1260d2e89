"""The logs of agents as recordings: each answer with what the log tells of its request."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from callsheet.audit.logs.formats import recognised
from callsheet.evaluate.logs import LoggedTrajectories, Told
from callsheet.evaluate.trajectory import Trajectory
from tests.audit.logs.reading import RECORDED, written
from tests.audit.logs.rollouts import THREAD, Rollout
from tests.audit.logs.sessions import SESSION, Session, usage


@contextmanager
def _opened(path: Path) -> Iterator[LoggedTrajectories]:
    with recognised(str(path)) as log:
        assert log is not None
        yield LoggedTrajectories(log)


def _told(path: Path) -> dict[str, tuple[Trajectory, Told]]:
    with _opened(path) as recordings:
        return {trajectory.id: (trajectory, told) for trajectory, told in recordings.told()}


def session() -> Session:
    """Two calls at once, a rewind, a compaction."""
    found = Session()
    found.user("Fix the bug")
    first = found.says("msg_1", ("Read", "c1"), took=usage(written=900))
    second = found.says("msg_1", ("Read", "c2"), took=usage(written=900))
    found.result("c1", "one", parentUuid=first)
    found.result("c2", "two", parentUuid=second)
    here = found.says("msg_2", "Fixed.", took=usage(cached=904, written=50))
    found.user("Again", parentUuid=here)
    found.says("msg_3", "Done.", took=usage(cached=954, written=20))
    found.user("Other", parentUuid=here)
    found.says("msg_4", "Also.", took=usage(cached=954, written=30))
    found.other("system", subtype="compact_boundary", parentUuid=None, logicalParentUuid=found.newest)
    found.user("In short", isCompactSummary=True)
    found.says("msg_5", "Going on.", took=usage(written=400))
    return found


def test_each_answer_has_the_usage_of_its_request(tmp_path: Path) -> None:
    found = _told(written(tmp_path / "log.jsonl", session().lines))

    main, told = found.pop(SESSION)
    assert [(at, one.answered.response) for at, one in told.asked.items()] == [(1, "msg_1"), (4, "msg_2"), (6, "msg_3")]
    assert main.steps == tuple(told.asked)
    assert [message.text for message in main.messages] == ["Fix the bug", "", "one", "two", "Fixed.", "Again", "Done."]
    ((branch, told),) = found.values()
    assert branch.inherited == 5
    assert [(at, one.answered.response) for at, one in told.asked.items()] == [(6, "msg_4"), (8, "msg_5")]
    assert [one.dropped for one in told.asked.values()] == [0, 7]


def test_recordings_can_be_read_again_and_counted(tmp_path: Path) -> None:
    with _opened(written(tmp_path / "log.jsonl", session().lines)) as recordings:
        first, second = list(recordings), list(recordings)
        assert first == second
        assert len(recordings) == 2
        assert first[0] in recordings


def test_an_answer_that_opens_a_conversation_counts_beside_the_steps(tmp_path: Path) -> None:
    found = Session()
    found.says("msg_1", "Hello", took=usage(written=70))
    found.user("Hi")
    found.says("msg_2", "What is it?")
    ((_, told),) = _told(written(tmp_path / "log.jsonl", found.lines)).values()

    assert [one.response for one in told.others] == ["msg_1"]
    assert [one.answered.response for one in told.asked.values()] == ["msg_2"]


def test_conversations_without_a_step_are_told_apart(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.took(700, 0, 3)
    with _opened(written(tmp_path / "log.jsonl", rollout.lines)) as recordings:
        assert len(recordings) == 0
    rollout = Rollout().worked()
    with _opened(written(tmp_path / "log.jsonl", rollout.lines)) as recordings:
        assert [one.id for one in recordings] == [THREAD]
        assert list(recordings.without_steps()) == []


def test_what_cannot_be_read_is_noted_once(tmp_path: Path) -> None:
    found = session()
    found.lines[0]["message"]["content"] = [{"type": 7}]
    with recognised(str(written(tmp_path / "log.jsonl", found.lines))) as log:
        assert log is not None
        recordings = LoggedTrajectories(log)
        assert len(list(recordings)) == len(list(recordings.told())) == 2
        assert [line.line for line in log.notes.refused] == [1]


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("langgraph.sqlite.gz", {"harbour": 1, "harbour/berths": 1, "support-1": 3, "branch": 1}),
        ("openai_agents.sqlite.gz", {"support-1": 3}),
        ("openai_agents_advanced.sqlite.gz", {"support-2": 3, "support-2/again": 1}),
        ("opentelemetry_attributes.jsonl", {"only": 3}),
        ("opentelemetry_events.jsonl", {"only": 2}),
    ],
)
def test_logs_that_libraries_wrote(name: str, steps: dict[str, int]) -> None:
    found = _told(RECORDED / name)

    assert [len(trajectory.steps) for trajectory, _ in found.values()] == list(steps.values())
    assert all(trajectory.steps == tuple(told.asked) for trajectory, told in found.values())
