"""Measures tokens against hard evidence, and writes docs/explanation/evidence.md and the picture beside it.

usage: python tools/evidence_figures.py RECORDINGS TABLES [--rows FILE] [--every N] [--processes N]

RECORDINGS is a folder of recorded trajectories (``NAME.jsonl.gz``); those of `FILES` are measured, and the others say
where the parts of sessions come from. TABLES is the folder of tables of how likely results are needed that
``tools/fit_needed.py --out`` writes: each recording is measured with the one that has not seen its source.

All of it takes about half an hour of one core. With ``--rows`` what was measured is kept in a file, a line each, and
not measured again: remove the file after a change to the library, or for another ``--every``. ``--every 3`` measures
each third recording of each file.
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
REPLAY = "replay"
BUDGETS = (None, 16_000, 8_000, 4_000)
BASELINES: Mapping[str, CandidateFactory] = {
    evidence_page.WINDOW: Window,
    evidence_page.CLEARING: Clearing,
    evidence_page.BOUND: LookAhead,
}


@dataclass(frozen=True, slots=True)
class Task:
    """One file under some candidates, which share what is found out about its recordings."""

    file: str
    trajectories: Sequence[Trajectory]
    #: By recording the table that was fitted without its source.
    needed: Mapping[str, Needed]
    policy: str
    budgets: Sequence[int | None]
    baselines: bool = False

    def candidates(self) -> Mapping[str, CandidateFactory]:
        """What is measured beside plain replay, by name."""
        found = {evidence_page.setting(self.policy, budget): self._ours(budget) for budget in self.budgets}
        return {**found, **BASELINES} if self.baselines else found

    def _ours(self, budget: int | None) -> CandidateFactory:
        def build(opening: Opening) -> Candidate:
            return assembled(policy=self.policy, budget=budget, needed=self.needed[opening.id])(opening)

        return build


def tasks(recordings: Path, tables: Path, every: int) -> Iterator[Task]:
    """The longest first, so that no process has to wait for the last."""
    origins = dict(_origins(recordings))
    for file in FILES:
        trajectories = files.load(recordings / f"{file}.jsonl.gz").trajectories[::every]
        needed = {each.id: _table(tables, source_of(each, origins)) for each in trajectories}
        for policy in POLICIES:
            yield Task(file, trajectories, needed, policy, BUDGETS)
        # What stands verbatim has no shorter form that a budget could ask for.
        yield Task(file, trajectories, needed, REPLAY, (None,), baselines=True)


def measure(task: Task) -> list[dict[str, object]]:
    """The rows of one task, plain replay first."""
    report = replay({task.file: task.trajectories}, task.candidates(), tokeniser=O200k(), reachable=True)
    return [row.as_dict() for row in report.rows]


def _table(tables: Path, source: str) -> Needed:
    return msgspec.json.decode((tables / f"{source.replace('/', '_')}.json").read_bytes(), type=Needed)


def _origins(recordings: Path) -> Iterator[tuple[str, str]]:
    """Recordings, and the repositories that they come from."""
    for path in sorted(recordings.glob("*.jsonl.gz")):
        for each in files.load(path).trajectories:
            if "@" in each.source:
                yield each.id, each.source.split("@")[0]


def rows(given: argparse.Namespace) -> list[dict[str, object]]:
    """All rows, measured or kept from an earlier run."""
    kept: list[dict[str, object]] = []
    if given.rows is not None and given.rows.exists():
        kept = [json.loads(line) for line in given.rows.read_text(encoding="utf-8").splitlines()]
    known = {(row["file"], row["candidate"]) for row in kept}
    wanted = (
        task
        for task in tasks(given.recordings, given.tables, given.every)
        if any((task.file, name) not in known for name in task.candidates())
    )
    with ProcessPoolExecutor(given.processes) as pool:
        running = {pool.submit(measure, task): task for task in wanted}
        for done in as_completed(running):
            task = running[done]
            print(f"{task.file}: {', '.join(task.candidates())}", file=sys.stderr, flush=True)
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
    parser.add_argument("--every", type=int, metavar="N", default=1)
    given = parser.parse_args(arguments)
    evidence_page.write(rows(given), every=given.every)


if __name__ == "__main__":
    main(sys.argv[1:])
