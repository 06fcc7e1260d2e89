"""``explain``: why a request holds what it holds, why it does not hold a record, what changed between two."""

import argparse
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from callsheet.cli.exits import Exit
from callsheet.cli.opening import opened
from callsheet.cli.output import Output
from callsheet.cli.parsing import Commands, add_command, add_json, add_store, add_tenant
from callsheet.errors import NotFound

if TYPE_CHECKING:
    from callsheet.runtime.conversation import Conversation
    from callsheet.runtime.runtime import Runtime

_EXPLAIN = """\
SHEET is the id of a sheet, or of a message that answers one: what did the model see when it said
this? Or the id of a request to the proxy, as it stands in its log and in x-callsheet-request.
Without an option it prints the figures of the request and a sentence for each record in it.
--trace prints every candidate, in or out, with what each of the nine policies said, what planning
weighed and how long each phase took; it is made by doing the request again.
What it tells are ids, classes, counts and names of tools, never content; nothing is stored.

--why-not decides again about one record, under the policy set of the request and as of the
records that it saw; exit code 5 says that the conversation has no such record. --rebuild makes the
whole request again in the same way and compares it with what was sent; exit code 1 says that
another selection came of it."""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, "explain", _explain, summary="explain why a request holds what it holds", description=_EXPLAIN
    )
    parser.add_argument("sheet", metavar="SHEET")
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--why-not", metavar="RECORD", help="why it does not hold this record, or not in full")
    asked.add_argument("--diff", metavar="OTHER", help="what changed from SHEET to this sheet")
    asked.add_argument("--trace", action="store_true", help="every candidate with all verdicts, and what was weighed")
    asked.add_argument("--rebuild", action="store_true", help="make it again and compare it with what was sent")
    add_store(parser)
    add_tenant(parser)
    add_json(parser)


def _explain(args: argparse.Namespace, out: Output) -> Exit:
    from callsheet.cli.values import told
    from callsheet.explain import difference, sheet, trace
    from callsheet.explain.absence import Outcome

    with opened(args.store, args.tenant) as runtime:
        args.sheet = _asked(runtime, args.store, args.sheet)
        if args.diff is not None:
            args.diff = _asked(runtime, args.store, args.diff)
        talk = _holder(runtime, args.sheet)
        if args.why_not is not None:
            why = talk.why_not(args.sheet, args.why_not)
            out.json(told(why)) if out.as_json else out.prose(_named(talk, why.sentence))
            if why.outcome is Outcome.UNKNOWN:
                return Exit.NOT_FOUND
        elif args.diff is not None:
            found = talk.difference(args.sheet, args.diff)
            out.json(told(found)) if out.as_json else out.prose(_named(talk, difference.text(found)))
        elif args.trace:
            traced = talk.trace(args.sheet)
            if out.as_json:
                out.json({**told(traced), "left_out": dict(traced.left_out)})
            else:
                out.prose(_named(talk, trace.text(traced)))
        elif args.rebuild:
            return _rebuild(talk, args.sheet, out)
        else:
            explained = talk.explain(args.sheet)
            out.json(told(explained)) if out.as_json else out.prose(_named(talk, sheet.text(explained)))
    return Exit.OK


def _rebuild(talk: "Conversation", id: str, out: Output) -> Exit:
    from callsheet.cli.values import told

    rebuilt = talk.rebuild(id)
    if out.as_json:
        out.json({**told(rebuilt), "same": rebuilt.same, "formatting": rebuilt.formatting})
    else:
        out.text("\n".join(_compared(rebuilt.same_selections, rebuilt.pins, rebuilt.differ)))
        same = f"{rebuilt.same_blocks:,} of {rebuilt.blocks:,} blocks are the same from the beginning on"
        out.text(f"{same}{'; the rest is formatting' if rebuilt.formatting else ''}.")
    return Exit.OK if rebuilt.same else Exit.FINDINGS


def _compared(same: bool, pins: Sequence[str], differ: Sequence[str]) -> Iterator[str]:
    if same:
        yield "The same records came of it, in the same places and at the same levels."
    else:
        yield f"Another selection came of it: {len(differ):,} records stand otherwise."
        yield from (f"~ {id}" for id in differ)
    if pins:
        yield f"Not as it was pinned: {', '.join(pins)}."


def _named(talk: "Conversation", text: str) -> str:
    """The text, and below it the names of those of the participants, branches and skills whose ids stand in it."""
    used = talk.skills().active
    named = [*talk.participants().items(), *talk.branches().items(), *((skill.name, skill.id) for skill in used)]
    found = [f"{id} is {name}" for name, id in named if id != name and re.search(rf"\b{re.escape(id)}\b", text)]
    return f"{text}\n\nNames: {'; '.join(found)}." if found else text


def _asked(runtime: "Runtime", store: str, id: str) -> str:
    """The sheet of a request to the proxy; any other id as it is. Raises `NotFound` for one without a sheet."""
    from callsheet.serve.proxy.requests import sheet_of

    found = sheet_of(store, id, tenant=runtime.tenant)
    if found == "":
        raise NotFound(f"nothing was assembled for request {id!r}")
    return found if found is not None else id


def _holder(runtime: "Runtime", id: str) -> "Conversation":
    """The conversation that holds a record, in its own stream or in that of its sheets. Raises `NotFound`."""
    from callsheet.graph.ids import RecordId, TenantId

    found = runtime.ledger.find(TenantId(runtime.tenant), RecordId(id))
    if found is None:
        raise NotFound(f"no record {id!r} in this store")
    return runtime.existing(found[0].name)
