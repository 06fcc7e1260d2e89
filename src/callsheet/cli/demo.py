"""``demo``: the main job on a recorded day, without a key and without a network."""

import argparse
import shlex
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from callsheet.cli.audit import report_as_json, report_as_text
from callsheet.cli.exits import Exit
from callsheet.cli.opening import opened
from callsheet.cli.output import Output, shortened, table
from callsheet.cli.parsing import Commands, add_command, add_json, add_progress, add_store

if TYPE_CHECKING:
    from callsheet.cli.demonstration import Request

_DEMO = """\
Lives a recorded day of a support desk again: every message is recorded, a request is assembled
before each of the assistant's messages, and the recorded message is taken for its answer. The
store that it leaves can be opened by the other commands. Run again, it replaces its own store,
and no other."""

_EVERY = 10
"""Requests from one row of the table to the next."""

_WIDTH = 80
"""Columns of a terminal that all of it fits into."""

_WORDS = 38
"""Columns for what happened."""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, "demo", _demo, summary="live a recorded day at a support desk again", description=_DEMO
    )
    add_store(parser, "demo/agent.db")
    add_json(parser)
    add_progress(parser)


def _demo(args: argparse.Namespace, out: Output) -> Exit:
    from callsheet.audit.verify import verify
    from callsheet.cli.demonstration import live, make_room

    store = Path(args.store)
    make_room(store)
    if not out.as_json:
        out.text(_BEGINNING)
    requests = live(store, lambda request: out.progress(f"{request.turn} turns"))
    with opened(args.store) as runtime:
        report = verify(runtime.ledger)
    if out.as_json:
        verified = report_as_json(report)
        out.json({"store": args.store, "requests": [_as_json(r) for r in requests], "verified": verified})
    else:
        out.text(_table(requests))
        out.text(_totals(requests))
        last = [request for request in requests if request.branch == "main"][-1]
        out.text(f"\nThe last request of the day, explained:\n\n{_indented(last.sheet.explain())}")
        out.text(f"\nThe store, verified:\n\n{_indented(report_as_text(report))}")
        out.text(_next(args.store, last))
    return Exit.OK if report.ok else Exit.FINDINGS


_BEGINNING = """\
A day at the support desk of an outdoor shop: one agent, several customers and
17 tools. The words are scripted; every tool result was given by a real tool on
a real shop database. Each row is a request, assembled from the store under the
policy set replay: everything, verbatim.
"""


def _as_json(request: "Request") -> dict[str, object]:
    return {
        "branch": request.branch,
        "turn": request.turn,
        "at": request.reply.get("x_at"),
        "sheet": request.sheet.id,
        "messages": request.sheet.record.messages_assembled,
        "tokens": request.sheet.tokens,
        "billed_tokens": request.sheet.billed_tokens,
        "happened": _happened(request),
    }


def _table(requests: Sequence["Request"]) -> str:
    main = [request for request in requests if request.branch == "main"]
    other = [request for request in requests if request.branch != "main"]
    failures = (at for at, request in enumerate(main) if _failed(request))
    chosen = sorted({*range(0, len(main), _EVERY), *failures, len(main) - 1})
    header = ["time", "turn", "messages", "tokens", "billed", "what happened"]
    rows = [_row(request) for request in [*(main[at] for at in chosen), *other[:1], *other[-1:]]]
    branches = ", ".join(dict.fromkeys(request.branch for request in other))
    return f"{table(header, rows, left=(0, 5))}\n* on the branch {branches}, begun by editing an earlier message"


def _row(request: "Request") -> list[str]:
    sheet = request.sheet
    time = str(request.reply.get("x_at", ""))[11:16]
    marked = time if request.branch == "main" else f"{time} *"
    figures = (request.turn, sheet.record.messages_assembled, sheet.tokens, sheet.billed_tokens)
    return [marked, *(f"{figure:,}" for figure in figures), shortened(_happened(request), _WORDS)]


def _happened(request: "Request") -> str:
    """What came in, and what the assistant did."""
    came = "a tool failed; " if _failed(request) else ""
    calls = request.reply.get("tool_calls")
    if isinstance(calls, list):
        names = ", ".join(dict.fromkeys(str(call["function"]["name"]) for call in calls))
        return f"{came}calls {names}"
    return f"{came}answers: {request.reply['content']}"


def _failed(request: "Request") -> bool:
    return any("x_status" in message for message in request.news)


def _totals(requests: Sequence["Request"]) -> str:
    sent = sum(request.sheet.tokens for request in requests)
    billed = sum(request.sheet.billed_tokens for request in requests)
    text = (
        f"{len(requests):,} requests, {sent:,} tokens sent, {billed:,} billed ({billed / sent:.0%}): what a request "
        "begins with as the one before it did, costs a tenth in the provider's cache."
    )
    return "\n" + textwrap.fill(text, _WIDTH)


def _indented(text: str) -> str:
    return "\n".join(
        textwrap.fill(line, _WIDTH, initial_indent="  ", subsequent_indent="  ") for line in text.splitlines()
    )


def _next(store: str, last: "Request") -> str:
    from callsheet.cli.demonstration import recording

    at, talk = f"--store {shlex.quote(store)}", last.conversation
    commands = [
        f"callsheet show {at}",
        f"callsheet show {talk} {at} | less",
        f"callsheet show {talk} {last.sheet.id} {at} | less",
        f"callsheet assemble {talk} {at} \\\n    --provider anthropic --model claude-sonnet-4-5 --explain",
        f"callsheet export {talk} {at} | head -c 500",
        f"callsheet verify --heads {at}",
        f"callsheet replay {shlex.quote(_nearby(recording()))}",
    ]
    return "\n".join(["\nTry next:\n", *(f"  {command}" for command in commands)])


def _nearby(path: Path) -> str:
    """The path as one would type it here."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
