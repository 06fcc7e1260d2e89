"""``replay``: what requests would have cost and held, measured on recorded conversations."""

import argparse
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from callsheet.cli.exits import Exit
from callsheet.cli.naming import policy_named
from callsheet.cli.output import Output
from callsheet.cli.parsing import Commands, UsageError, add_command, add_format, add_json, add_progress
from callsheet.errors import InputError

if TYPE_CHECKING:
    from callsheet.audit.logs.formats import Log
    from callsheet.errors import InvalidLine
    from callsheet.evaluate.candidates import CandidateFactory
    from callsheet.evaluate.costs import Model
    from callsheet.evaluate.logs import LoggedTrajectories
    from callsheet.evaluate.paying import Paying
    from callsheet.evaluate.paying_report import PayingReport
    from callsheet.evaluate.trajectory import Trajectory
    from callsheet.policy.sets import PolicySetDocument

    Logs: TypeAlias = dict[str, tuple[Log, LoggedTrajectories]]

NO_BUDGET = "none"

_REPLAY = """\
At each recorded assistant message every way to build the request is measured: tokens, what they
cost once the provider's prompt cache is billed, how much of what the message then used stood in
the request, and whether the providers would have accepted it. No store is needed and no model
is asked.

Of the log of an agent (see: callsheet import --help) it says as well what was paid, and what would
have been: tokens and dollars of each conversation as its requests were sent and as they would have
been built, with the prices and how they were counted.

Policy sets, budgets and numbers of turns are measured in every combination, each as a row of its
own. A budget includes tool schemas, as everywhere; a request that cannot be made within it is made
as small as it can be, and counted."""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, "replay", _replay, summary="measure requests on recorded conversations", description=_REPLAY
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="JSON lines or logs of agents, as import takes them")
    add_format(parser)
    parser.add_argument(
        "--model",
        metavar="PROVIDER/NAME",
        help="the model that counts where the log of an agent does not tell it, such as openai/gpt-5.2",
    )
    parser.add_argument(
        "--policy",
        action="append",
        metavar="NAME|FILE",
        help="a policy set to measure (default: the library's); may be repeated",
    )
    parser.add_argument(
        "--budget",
        action="append",
        metavar="N",
        help="tokens that a request may take (default: none, what the model's window leaves); may be repeated",
    )
    parser.add_argument(
        "--turns",
        action="append",
        type=int,
        metavar="K",
        help="turns that stay in view, instead of the policy set's; may be repeated",
    )
    parser.add_argument(
        "--no-baselines", action="store_true", help="leave out windowing, clearing and the bound: faster"
    )
    parser.add_argument(
        "--reachable",
        action="store_true",
        help="count also what is missing and comes back by one call of the recall tool: slower",
    )
    add_json(parser)
    add_progress(parser)


def _replay(args: argparse.Namespace, out: Output) -> Exit:
    from callsheet.evaluate.billing import O200k
    from callsheet.evaluate.paying import Paying
    from callsheet.evaluate.replay import Progress, replay

    def tell(progress: Progress) -> None:
        out.progress(f"{progress.file}: {progress.done:,} of {progress.total:,} recordings")

    candidates = dict(_ours(args))
    ours = len(candidates)
    if not args.no_baselines:
        candidates |= _baselines()
    paying = Paying(O200k(), _model(args.model))
    with ExitStack() as held:
        files, logs, refused = _load(args.files, args.format, held)
        report = replay(
            {**files, **{shown: recordings for shown, (_, recordings) in logs.items()}},
            candidates,
            tokeniser=O200k(),
            progress=tell,
            reachable=args.reachable,
            billed=lambda billed: paying.billed(billed) if billed.file in logs else None,
        )
        paid = _paid(paying, logs, tuple(candidates)[:ours], tuple(candidates)[ours:])
        refused += [line for log, _ in logs.values() for line in log.notes.refused]
    for line in refused:
        out.problem(line.code, str(line), file=line.file, line=line.line)
    passed = sum((Counter(log.notes.passed) for log, _ in logs.values()), Counter[str]())
    if out.as_json:
        found = {"paid": paid.as_dict(), "passed_over": dict(sorted(passed.items()))} if paid is not None else {}
        out.json(report.as_dict() | found)
    else:
        out.text("\n\n".join(filter(None, [report.as_text(), *_paid_words(paid, passed)])))
    return Exit.FINDINGS if refused else Exit.OK


def _model(said: str | None) -> "Model":
    from callsheet.evaluate.costs import Model

    if said is None:
        return Model()
    provider, _, name = said.partition("/")
    if not provider or not name:
        raise UsageError(f"--model is {said!r}; it must be PROVIDER/NAME, such as openai/gpt-5.2")
    return Model(provider=provider, name=name)


def _paid(paying: "Paying", logs: "Logs", ours: tuple[str, ...], others: tuple[str, ...]) -> "PayingReport | None":
    from callsheet.evaluate.paying_report import PayingReport
    from callsheet.evaluate.replay import PLAIN_REPLAY

    if not logs:
        return None
    names = (*ours, PLAIN_REPLAY, *others)
    rows = [row for shown, (_, recordings) in logs.items() for row in paying.paid(shown, recordings, names)]
    return PayingReport(rows=tuple(rows), candidates=names, repeated=paying.repeated)


def _paid_words(paid: "PayingReport | None", passed: Counter[str]) -> Iterator[str]:
    if paid is not None:
        yield paid.as_text()
    if passed:
        lines = (f"{count:>9,}  {what}" for what, count in sorted(passed.items(), key=lambda item: (-item[1], item[0])))
        yield "\n".join(["passed over:", *lines])


def _ours(args: argparse.Namespace) -> Iterator[tuple[str, "CandidateFactory"]]:
    from callsheet.evaluate.assembled import assembled
    from callsheet.policy.sets import DEFAULT

    policies = [policy_named(name) for name in args.policy or (DEFAULT,)]
    budgets = [_budget(said) for said in args.budget or (NO_BUDGET,)]
    named: set[str] = set()
    for policy, turns, budget in product(policies, args.turns or (None,), budgets):
        name = _name(policy, turns, budget)
        if name in named:
            raise UsageError(f"{name!r} would be measured twice; name each policy set, budget and number of turns once")
        named.add(name)
        yield name, assembled(policy=_keeping(policy, turns), budget=budget)


def _budget(said: str) -> int | None:
    if said == NO_BUDGET:
        return None
    if not said.isascii() or not said.isdigit() or not int(said):
        raise UsageError(f"--budget is {said!r}; it must be a number of tokens, at least 1, or {NO_BUDGET}")
    return int(said)


def _name(policy: "PolicySetDocument", turns: int | None, budget: int | None) -> str:
    from callsheet.policy.sets import BUILT_IN

    parts = ["callsheet", policy.name if BUILT_IN.get(policy.name) == policy else str(policy)]
    parts += [f"turns {turns}"] if turns is not None else []
    parts += [f"budget {budget:,}"] if budget is not None else []
    return ", ".join(parts)


def _keeping(policy: "PolicySetDocument", turns: int | None) -> "PolicySetDocument":
    """The policy set with so many turns in view: another version, since a version never changes."""
    from msgspec.structs import replace

    return replace(policy, version=f"{policy.version}, turns {turns}", turns=turns) if turns is not None else policy


def _baselines() -> Mapping[str, "CandidateFactory"]:
    from callsheet.evaluate.baselines import Clearing, LookAhead, Window

    return {"window of 16k": Window, "old results cleared": Clearing, "look-ahead bound": LookAhead}


def _load(
    names: Sequence[str], format: str | None, held: ExitStack
) -> tuple[dict[str, Collection["Trajectory"]], "Logs", list["InvalidLine"]]:
    from callsheet.audit.logs.formats import recognised
    from callsheet.evaluate.files import load, short_name
    from callsheet.evaluate.logs import LoggedTrajectories

    files: dict[str, Collection[Trajectory]] = {}
    logs: Logs = {}
    refused: list[InvalidLine] = []
    for name in names:
        short = short_name(Path(name))
        shown = short if short not in files and short not in logs else name
        log = held.enter_context(recognised(name, format))
        if log is not None:
            logs[shown] = log, LoggedTrajectories(log)
            continue
        try:
            recordings = load(Path(name), said=format is not None)
        except OSError as problem:
            raise InputError(f"{name} cannot be read: {problem.strerror}") from problem
        files[shown] = recordings.trajectories
        refused += recordings.refused
    return files, logs, refused
