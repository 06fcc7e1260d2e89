"""``replay``: what requests would have cost and held, measured on recorded conversations."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from callsheet.cli.exits import Exit
from callsheet.cli.output import Output
from callsheet.cli.parsing import Commands, add_command, add_json, add_progress
from callsheet.errors import InputError

if TYPE_CHECKING:
    from callsheet.errors import InvalidLine
    from callsheet.evaluate.candidates import CandidateFactory
    from callsheet.evaluate.trajectory import Trajectory

_REPLAY = """\
At each recorded assistant message every way to build the request is measured: tokens, what they
cost once the provider's prompt cache is billed, how much of what the message then used stood in
the request, and whether the providers would have accepted it. No store is needed and no model
is asked."""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, "replay", _replay, summary="measure requests on recorded conversations", description=_REPLAY
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="JSON lines as import takes them, plain or gzip")
    add_json(parser)
    add_progress(parser)


def _replay(args: argparse.Namespace, out: Output) -> Exit:
    from callsheet.evaluate.billing import O200k
    from callsheet.evaluate.replay import Progress, replay

    def tell(progress: Progress) -> None:
        out.progress(f"{progress.file}: {progress.done:,} of {progress.total:,} recordings")

    files, refused = _load(args.files)
    for line in refused:
        out.problem(line.code, str(line), file=line.file, line=line.line)
    report = replay(files, _candidates(), tokeniser=O200k(), progress=tell)
    if out.as_json:
        out.json(report.as_dict())
    else:
        out.text(report.as_text())
    return Exit.FINDINGS if refused else Exit.OK


def _candidates() -> Mapping[str, "CandidateFactory"]:
    from callsheet.evaluate.assembled import assembled
    from callsheet.evaluate.baselines import Clearing, LookAhead, Window
    from callsheet.policy.sets import DEFAULT

    return {
        f"callsheet, {DEFAULT}": assembled(),
        "window of 16k": Window,
        "old results cleared": Clearing,
        "look-ahead bound": LookAhead,
    }


def _load(names: Sequence[str]) -> tuple[dict[str, Sequence["Trajectory"]], list["InvalidLine"]]:
    from callsheet.evaluate.files import load

    files: dict[str, Sequence[Trajectory]] = {}
    refused: list[InvalidLine] = []
    for name in names:
        try:
            recordings = load(Path(name))
        except OSError as problem:
            raise InputError(f"{name} cannot be read: {problem.strerror}") from problem
        shown = recordings.name if recordings.name not in files else name
        files[shown] = recordings.trajectories
        refused += recordings.refused
    return files, refused
