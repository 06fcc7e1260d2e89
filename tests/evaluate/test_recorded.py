"""On the recorded conversations the known figures come out, for plain replay and for the candidates to compare with."""

from functools import partial
from pathlib import Path

import pytest

from callsheet.evaluate.baselines import Clearing, LookAhead, Window
from callsheet.evaluate.billing import O200k
from callsheet.evaluate.candidates import CandidateFactory
from callsheet.evaluate.files import load
from callsheet.evaluate.replay import PLAIN_REPLAY, replay
from callsheet.evaluate.report import Row
from tests.recordings import needs_recordings, recording, trajectory_files

CANDIDATES: dict[str, CandidateFactory] = {
    "window 16k": Window,
    "window 8k": partial(Window, limit=8_000),
    "clearing": Clearing,
    "bound": LookAhead,
}

#: Tokens and billed-equivalent a request under plain replay; values needed: all, old, hard. Then per candidate tokens
#: and billed-equivalent in percent of it, and hard values kept in percent.
KNOWN = {
    "tau_airline": (
        (2_594, 516, 2_015, 704, 358),
        {
            PLAIN_REPLAY: (100, 100, 100.0),
            "window 16k": (100, 100, 100.0),
            "window 8k": (99, 100, 97.8),
            "clearing": (99, 100, 96.4),
            "bound": (60, 91, 100.0),
        },
    ),
    "interleaved_sessions": (
        (17_647, 2_044, 3_150, 986, 304),
        {
            PLAIN_REPLAY: (100, 100, 100.0),
            "window 16k": (54, 66, 83.2),
            "window 8k": (30, 45, 53.3),
            "clearing": (53, 84, 20.1),
            "bound": (7, 24, 100.0),
        },
    ),
}


def rounded(row: Row) -> tuple[int, int, float]:
    assert row.hard.percent is not None
    return round(row.tokens_percent), round(row.billed_percent), round(row.hard.percent, 1)


@needs_recordings
@pytest.mark.parametrize("name", KNOWN)
def test_known_figures(name: str) -> None:
    plain, shares = KNOWN[name]
    loaded = load(recording(f"{name}.jsonl.gz"))
    rows = {
        row.candidate: row for row in replay({loaded.name: loaded.trajectories}, CANDIDATES, tokeniser=O200k()).rows
    }
    base = rows[PLAIN_REPLAY]
    assert (round(base.tokens), round(base.billed), base.all.needed, base.old.needed, base.hard.needed) == plain
    assert {candidate: rounded(row) for candidate, row in rows.items()} == shares
    assert all(refused.requests == 0 for row in rows.values() for refused in row.refused.values())


@needs_recordings
@pytest.mark.parametrize("path", trajectory_files(), ids=lambda path: path.name)
def test_plain_replay_keeps_everything(path: Path) -> None:
    loaded = load(path)
    assert not loaded.refused
    (row,) = replay({loaded.name: loaded.trajectories[::5]}, {}, tokeniser=O200k()).rows
    assert row.all.needed > 0
    assert all(kept.kept == kept.needed for kept in (row.all, row.old, row.hard, row.in_place))
    assert row.misses == {}
