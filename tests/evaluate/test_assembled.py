"""Replaying recordings through a real runtime is plain replay, and every request is one that providers accept."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from callsheet.evaluate.assembled import assembled
from callsheet.evaluate.billing import O200k
from callsheet.evaluate.files import Recording, load, read
from callsheet.evaluate.replay import replay as measure
from callsheet.evaluate.trajectory import Trajectory
from callsheet.testing import memory_runtime
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.recordings import malformed_files, needs_recordings, trajectory_files

#: Messages of one file that are replayed here; everything is replayed by `callsheet replay`.
ENOUGH = 350

FILES = [*trajectory_files(), *malformed_files()]


def sample(path: Path) -> list[Trajectory]:
    """The first recordings of a file, at least one, until there are enough messages; long ones are cut short."""
    taken: list[Trajectory] = []
    for trajectory in load(path).trajectories:
        taken.append(_cut(trajectory))
        if sum(len(each.messages) for each in taken) >= ENOUGH:
            break
    return taken


def _cut(trajectory: Trajectory) -> Trajectory:
    return replace(trajectory, messages=trajectory.messages[:ENOUGH])


@needs_recordings
@pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}/{path.name}" for path in FILES])
def test_pass_through_is_plain_replay(path: Path) -> None:
    report = measure({"sample": sample(path)}, {"callsheet": assembled(policy="replay")}, tokeniser=O200k())
    plain, ours = report.rows
    # A rule of the providers may force a stand-in; NULs, which none accepts, are shown in fewer tokens.
    most = 100.5 if path.parent.name != "malformed" else 110
    assert ours.tokens_percent <= most
    assert ours.billed_percent <= most
    if not _has_nul(path):
        assert ours.tokens >= plain.tokens
    assert (plain.all, plain.old, plain.hard, plain.in_place) == (ours.all, ours.old, ours.hard, ours.in_place)
    assert {0} == {refused.requests for refused in ours.refused.values()}


def _has_nul(path: Path) -> bool:
    return any("\0" in message.text for each in sample(path) for message in each.messages)


@needs_recordings
@pytest.mark.parametrize("policy", ["balanced", "replay"])
@pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}/{path.name}" for path in FILES])
def test_every_request_from_raw_lines_is_valid_for_both_providers(path: Path, policy: str) -> None:
    requests = 0
    for messages in _lines(path):
        with memory_runtime() as runtime:
            talk = runtime.conversation("raw")
            for message in messages:
                if isinstance(message, dict) and message.get("role") == "assistant" and talk.counters().messages:
                    requests += 1
                    for provider, model in (("openai", "gpt-5.2"), ("anthropic", "claude-sonnet-4-5")):
                        sheet = talk.assemble(provider=provider, model=model, budget=10**9, policy=policy)
                        assert not problems(sheet.request(), Wire(provider))
                talk.record(message)
    assert requests


def _lines(path: Path) -> Iterator[list[object]]:
    """The raw messages of the first recordings, as they stand in the file."""
    taken = 0
    for entry in read(path):
        assert isinstance(entry, Recording)
        recorded = entry.raw["messages"]
        assert isinstance(recorded, list)
        messages = recorded[: ENOUGH // 3]
        yield messages
        taken += len(messages)
        if taken >= ENOUGH:
            return
