"""Measures tokens against hard evidence, and writes docs/explanation/evidence.md and the picture beside it.

usage: python tools/evidence_figures.py RECORDINGS TABLES [--rows FILE] [--processes N]

RECORDINGS is a folder of recorded trajectories (``NAME.jsonl.gz``); those of `FILES` are measured, and the others say
where the parts of sessions come from. TABLES is the folder of tables of how likely results are needed that
``tools/fit_needed.py --out`` writes: each recording is measured with the one that has not seen its source.

Each file takes some minutes for each setting. With ``--rows`` what was measured is kept in a file, a line each, and not
measured again: remove the file after a change to the library.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import evidence_page
import msgspec
from fit_needed import source_of

from callsheet.assemble.needed import Needed
from callsheet.evaluate import files
from callsheet.evaluate.assembled import assembled
from callsheet.evaluate.baselines import Clearing, LookAhead, Window
from callsheet.evaluate.billing import O200k
from callsheet.evaluate.candidates import Candidate, CandidateFactory, Opening
from callsheet.evaluate.replay import replay
from callsheet.evaluate.trajectory import Trajectory

FILES = ("long_sessions", "interleaved_sessions", "tau_airline")
POLICIES = ("balanced", "lean", "faithful")
BUDGETS = (None, 16_000, 8_000, 4_000)
BASELINES: Mapping[str, CandidateFactory] = {
    evidence_page.WINDOW: Window,
    evidence_page.CLEARING: Clearing,
    evidence_page.BOUND: LookAhead,
}


@dataclass(frozen=True, slots=True)
class Task:
    """One file under one setting; no policy set: the candidates to compare with."""

    recordings: Path
    tables: Path
    file: str
    policy: str | None
    budget: int | None = None

    @property
    def names(self) -> Sequence[str]:
        """The candidates that it measures."""
        return list(BASELINES) if self.policy is None else [evidence_page.setting(self.policy, self.budget)]


def tasks(recordings: Path, tables: Path) -> Iterator[Task]:
    """The longest first, so that no process has to wait for the last."""
    for file in FILES:
        for policy in POLICIES:
            for budget in BUDGETS:
                yield Task(recordings, tables, file, policy, budget)
        # What stands verbatim has no shorter form that a budget could ask for.
        yield Task(recordings, tables, file, "replay")
        yield Task(recordings, tables, file, None)


def measure(task: Task) -> list[dict[str, object]]:
    """The rows of one task, plain replay first."""
    trajectories = files.load(_path(task.recordings, task.file)).trajectories
    candidates = dict(BASELINES)
    if task.policy is not None:
        needed = _needed(task, trajectories)
        candidates = {task.names[0]: _by_recording(task.policy, task.budget, needed)}
    report = replay({task.file: trajectories}, candidates, tokeniser=O200k(), reachable=True)
    return [row.as_dict() for row in report.rows]


def _by_recording(policy: str, budget: int | None, needed: Mapping[str, Needed]) -> CandidateFactory:
    def build(opening: Opening) -> Candidate:
        return assembled(policy=policy, budget=budget, needed=needed[opening.id])(opening)

    return build


def _needed(task: Task, trajectories: Sequence[Trajectory]) -> Mapping[str, Needed]:
    """By recording the table that was fitted without its source."""
    origins = {each.id: each.source.split("@")[0] for each in _all(task.recordings) if "@" in each.source}
    tables = {}
    for trajectory in trajectories:
        name = f"{source_of(trajectory, origins).replace('/', '_')}.json"
        tables[trajectory.id] = msgspec.json.decode((task.tables / name).read_bytes(), type=Needed)
    return tables


def _all(recordings: Path) -> Iterator[Trajectory]:
    for path in sorted(recordings.glob("*.jsonl.gz")):
        yield from files.load(path).trajectories


def _path(recordings: Path, file: str) -> Path:
    return recordings / f"{file}.jsonl.gz"


def rows(given: argparse.Namespace) -> list[dict[str, object]]:
    """All rows, measured or kept from an earlier run."""
    kept: list[dict[str, object]] = []
    if given.rows is not None and given.rows.exists():
        kept = [json.loads(line) for line in given.rows.read_text(encoding="utf-8").splitlines()]
    known = {(row["file"], row["candidate"]) for row in kept}
    wanted = [task for task in tasks(given.recordings, given.tables) if (task.file, task.names[-1]) not in known]
    with ProcessPoolExecutor(given.processes) as pool:
        running = {pool.submit(measure, task): task for task in wanted}
        for done in as_completed(running):
            task = running[done]
            print(f"{task.file}: {', '.join(task.names)}", file=sys.stderr)
            fresh = [row for row in done.result() if (row["file"], row["candidate"]) not in known]
            known |= {(row["file"], row["candidate"]) for row in fresh}
            kept += fresh
            if given.rows is not None:
                with given.rows.open("a", encoding="utf-8") as out:
                    out.writelines(json.dumps(row) + "\n" for row in fresh)
    return kept


def main(arguments: Sequence[str]) -> None:
    """See the top of the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", type=Path, metavar="RECORDINGS")
    parser.add_argument("tables", type=Path, metavar="TABLES")
    parser.add_argument("--rows", type=Path, metavar="FILE", default=None)
    parser.add_argument("--processes", type=int, metavar="N", default=1)
    evidence_page.write(rows(parser.parse_args(arguments)))


if __name__ == "__main__":
    main(sys.argv[1:])
