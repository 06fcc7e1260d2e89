"""``approvals``: the calls that wait for a person's word, and saying it."""

import argparse
from typing import TYPE_CHECKING

from callsheet.cli.exits import Exit
from callsheet.cli.listing import viewed
from callsheet.cli.opening import opened, signer_from
from callsheet.cli.output import Output, printable
from callsheet.cli.parsing import Commands, UsageError, add_command, add_json, add_key, add_store, add_tenant

if TYPE_CHECKING:
    from callsheet.runtime.conversation import Conversation
    from callsheet.runtime.executing.approving import ApprovalRequest

_APPROVALS = """\
Without an option it lists the calls that wait, oldest first, with exactly the arguments that they
would run with. A word is for those arguments alone, and said once: a call that was decided on,
answered or begun before ends the command with exit code 9, and nothing is changed. An approved call
runs when the program that serves the conversation executes its calls next; a refused one never
does, and the model is told so, with the reason.

CALL is the id of a call, or the provider's id of it."""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "approvals",
        _approvals,
        summary="list or decide calls that wait for approval",
        description=_APPROVALS,
    )
    parser.add_argument("conversation", metavar="CONVERSATION")
    word = parser.add_mutually_exclusive_group()
    word.add_argument("--approve", metavar="CALL", help="let this call run")
    word.add_argument("--refuse", metavar="CALL", help="do not let this call run")
    parser.add_argument("--by", metavar="WHO", help="who says so; needed to decide")
    parser.add_argument("--reason", metavar="TEXT", default="", help="why it is refused")
    parser.add_argument("--branch", metavar="NAME", default="main", help="the branch (default: %(default)s)")
    parser.add_argument("--as", dest="reader", metavar="NAME", help="of this participant's or sub-agent's calls")
    add_store(parser)
    add_key(parser, "sign the head of the conversation")
    add_tenant(parser)
    add_json(parser, "JSON Lines (of a decision one JSON document)")


def _approvals(args: argparse.Namespace, out: Output) -> Exit:
    call = args.approve if args.approve is not None else args.refuse
    if call is not None and args.by is None:
        raise UsageError("who says so? --by is needed to approve or refuse")
    if call is None and args.by is not None:
        raise UsageError("--by goes with --approve or --refuse")
    if args.reason and args.refuse is None:
        raise UsageError("--reason goes with --refuse")
    with opened(args.store, args.tenant, signer=signer_from(args.signing_key)) as runtime:
        view = viewed(runtime.existing(args.conversation), args.branch, args.reader)
        if call is None:
            _list(view, out)
        else:
            _decide(view, args, out)
    return Exit.OK


def _list(view: "Conversation", out: Output) -> None:
    waiting = view.approvals()
    for one in waiting:
        if out.as_json:
            out.json_line(
                {
                    "call": one.call,
                    "provider_id": one.provider_id,
                    "tool": one.tool,
                    "arguments": one.arguments,
                    "digest": one.digest,
                    "asked": one.asked.isoformat(),
                    "message": one.message,
                }
            )
        else:
            out.text(_shown(one))
    if not waiting and not out.as_json:
        out.text("No call waits for approval.")


def _shown(one: "ApprovalRequest") -> str:
    arguments = "\n".join(f"    {line}" for line in printable(one.arguments).splitlines())
    return f"{one.call}  {printable(one.tool)}, asked {one.asked:%Y-%m-%d %H:%M:%S} UTC\n{arguments}"


def _decide(view: "Conversation", args: argparse.Namespace, out: Output) -> None:
    approved = args.approve is not None
    if approved:
        call, id = args.approve, view.approve(args.approve, by=args.by)
    else:
        call, id = args.refuse, view.refuse(args.refuse, by=args.by, reason=args.reason)
    if out.as_json:
        out.json({"call": call, "approved": approved, "by": args.by, "record": id})
    else:
        out.text(f"{call} is {'approved' if approved else 'refused'} by {args.by} ({id}).")
