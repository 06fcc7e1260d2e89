"""``demo``: the main job on a recorded day, without a key and without a network."""

import argparse
import shlex
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from callsheet.cli.audit import report_as_json, report_as_text
from callsheet.cli.exits import Exit
from callsheet.cli.opening import opened
from callsheet.cli.output import Output, shortened, table
from callsheet.cli.parsing import Commands, add_command, add_json, add_progress, add_store

if TYPE_CHECKING:
    from callsheet.cli.demonstration import Request
    from callsheet.explain.absence import WhyNot
    from callsheet.explain.sheet import Explained
    from callsheet.runtime.runtime import Runtime

_DEMO = """\
Lives a recorded day of a support desk again: every message is recorded, a request is assembled
before each of the assistant's messages, and the recorded message is taken for its answer. It
shows the requests beside plain replay, explains one, and says why a record is not in it. The
store that it leaves can be opened by the other commands. Run again, it replaces its own store,
and no other."""

_EVERY = 20
"""Requests from one row of the table to the next, beside those that were written anew or follow a failure."""

_WIDTH = 80
"""Columns of a terminal that all of it fits into."""

_WORDS = 20
"""Columns for what happened."""

_ASKED = 24
"""Records of which it is asked why they went."""


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
    from callsheet.cli.values import told
    from callsheet.explain.sheet import text

    store = Path(args.store)
    make_room(store)
    if not out.as_json:
        out.text(_BEGINNING)
    requests = live(store, lambda request: out.progress(f"{request.turn} turns"))
    with opened(args.store) as runtime:
        shown = _chosen(runtime, requests)
        report = verify(runtime.ledger)
    if out.as_json:
        verified = report_as_json(report)
        why = told(shown.why) if shown.why is not None else None
        out.json({"store": args.store, "requests": [_as_json(r) for r in requests], "why": why, "verified": verified})
    else:
        out.text(_table(requests))
        out.text(_totals(requests))
        out.text(f"\nThe last request that was written anew, explained:\n\n{_indented(text(shown.explained))}")
        if shown.why is not None:
            out.text(f"\nWhy it does not hold {shown.why.record}:\n\n{_indented(shown.why.sentence)}")
        out.text(f"\nThe store, verified:\n\n{_indented(report_as_text(report))}")
        out.text(_next(args.store, shown))
    return Exit.OK if report.ok else Exit.FINDINGS


_BEGINNING = """\
A day at the support desk of an outdoor shop: one agent, several customers and
17 tools. The words are scripted; every tool result was given by a real tool on
a real shop database. Each row is a request, assembled from the store under the
policy set balanced, beside plain replay of the whole history: its tokens, and
what these cost in fresh input tokens once the provider has seen a beginning.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Shown:
    """The request that is explained, and one record that it does not hold."""

    conversation: str
    explained: "Explained"
    why: "WhyNot | None"


def _chosen(runtime: "Runtime", requests: "Sequence[Request]") -> _Shown:
    """The last request that was written anew, and the largest result that it let go."""
    from callsheet.explain.absence import Outcome

    anew = [at for at, request in enumerate(requests) if request.branch == "main" and request.sheet.record.rewritten]
    request, before = requests[anew[-1]], requests[max(0, anew[-1] - 1)]
    talk = runtime.existing(request.conversation)
    went = talk.difference(before.sheet, request.sheet).went
    answers = [talk.why_not(request.sheet, change.record) for change in went[-_ASKED:]]
    let_go = [why for why in answers if why.outcome is Outcome.NOT_WORTH and why.worth is not None]
    why = max(let_go, key=lambda why: why.worth.size if why.worth is not None else 0, default=None)
    return _Shown(conversation=talk.name, explained=talk.explain(request.sheet), why=why)


def _as_json(request: "Request") -> dict[str, object]:
    sheet = request.sheet
    return {
        "branch": request.branch,
        "turn": request.turn,
        "at": request.reply.get("x_at"),
        "sheet": sheet.id,
        "messages": sheet.record.messages_assembled,
        "tokens": sheet.tokens,
        "billed_tokens": sheet.billed_tokens,
        "replay_tokens": sheet.replay_tokens,
        "replay_billed_tokens": request.replay_billed,
        "rewritten": sheet.record.rewritten,
        "happened": _happened(request),
    }


def _table(requests: Sequence["Request"]) -> str:
    main = [request for request in requests if request.branch == "main"]
    other = [request for request in requests if request.branch != "main"]
    telling = (at for at, request in enumerate(main) if _failed(request) or request.sheet.record.rewritten)
    chosen = sorted({*range(0, len(main), _EVERY), *telling, len(main) - 1})
    header = ["time", "turn", "replay", "billed", "tokens", "billed", "anew", "what happened"]
    rows = [_row(request) for request in [*(main[at] for at in chosen), *other[:1], *other[-1:]]]
    branches = ", ".join(dict.fromkeys(request.branch for request in other))
    return (
        f"{table(header, rows, left=(0, 6, 7))}\n* on the branch {branches}, begun by editing an earlier message\n"
        "anew: why it was written anew instead of being appended to"
    )


def _row(request: "Request") -> list[str]:
    sheet = request.sheet
    time = str(request.reply.get("x_at", ""))[11:16]
    marked = time if request.branch == "main" else f"{time} *"
    figures = (request.turn, sheet.replay_tokens, request.replay_billed, sheet.tokens, sheet.billed_tokens)
    anew = sheet.record.rewritten.replace("_", " ")
    return [marked, *(f"{figure:,}" for figure in figures), anew, shortened(_happened(request), _WORDS)]


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
    replayed = sum(request.sheet.replay_tokens for request in requests)
    replay_billed = sum(request.replay_billed for request in requests)
    anew = sum(bool(request.sheet.record.rewritten) for request in requests)
    paragraphs = (
        f"{len(requests):,} requests, {anew:,} of them written anew: {sent:,} tokens sent, where plain replay sends "
        f"{replayed:,} ({sent / replayed:.0%}); {billed:,} billed, where plain replay is billed {replay_billed:,} "
        f"({billed / replay_billed:.0%}).",
        "What a request begins with as the one before it did costs a tenth while the provider's cache lives, in both "
        "columns. For plain replay it is taken to be the whole request before.",
    )
    return "".join("\n" + textwrap.fill(paragraph, _WIDTH) for paragraph in paragraphs)


def _indented(text: str) -> str:
    return "\n".join(
        textwrap.fill(line, _WIDTH, initial_indent="  ", subsequent_indent="  ") for line in text.splitlines()
    )


def _next(store: str, shown: _Shown) -> str:
    from callsheet.cli.demonstration import recording

    at, talk, sheet = f"--store {shlex.quote(store)}", shown.conversation, shown.explained.sheet
    commands = [
        f"callsheet show {at}",
        f"callsheet show {talk} {at} | less",
        f"callsheet show {talk} {sheet} {at} | less",
        f"callsheet explain {sheet} {at} | less",
        *((f"callsheet explain {sheet} \\\n    --why-not {shown.why.record} {at}",) if shown.why is not None else ()),
        f"callsheet assemble {talk} {at} --policy balanced \\\n"
        "    --provider anthropic --model claude-sonnet-5-5 --explain",
        f"callsheet export {talk} {at} | head -c 500",
        f"callsheet verify --heads {at}",
        f"callsheet replay {shlex.quote(_nearby(recording()))}",
    ]
    return "\n".join(["\nTry next:\n", *(f"  {command}" for command in commands)])


def _nearby(path: Path) -> str:
    """The path as one would type it here."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
