"""``show``: the conversations of a store, a transcript or another part of one, one record."""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from callsheet.cli.exits import Exit
from callsheet.cli.listing import tell, viewed
from callsheet.cli.opening import opened
from callsheet.cli.output import Output, printable, shortened, table
from callsheet.cli.parsing import Commands, UsageError, add_command, add_json, add_store, add_tenant
from callsheet.cli.parts import PARTS
from callsheet.errors import NotFound

if TYPE_CHECKING:
    from callsheet.graph.record import Record, Stream
    from callsheet.graph.values import Payload
    from callsheet.runtime.conversation import Conversation
    from callsheet.runtime.runtime import Runtime
    from callsheet.runtime.transcript import Item

_SHOW = """\
Without arguments it lists the conversations; those of the proxy, which have no telling names, with
the model that answers in them and what their client said first. With one it prints what was said and done in it,
with the ids of messages, calls and results; or the part of it that an option names, on the branch
and for the reader that are given: what is hidden from that reader is not there. With the id of a
record it prints that record as it is stored, header and body: of an answer also the sheet that the
model saw, of a result its text, of a sheet the request that was made of it."""

_PROXIED = "proxy/"
"""What names of conversations begin with that a proxy recognised."""

_TITLE = 80
"""Characters of what tells such a conversation from others."""

_CUT = 2000
"""Characters of a text that people are shown of one record; programs get all."""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, "show", _show, summary="list conversations, print a transcript or a record", description=_SHOW
    )
    parser.add_argument("conversation", nargs="?", metavar="CONVERSATION")
    parser.add_argument("record", nargs="?", metavar="RECORD")
    parser.add_argument("--status", metavar="STATUS", help="list the conversations that are opened, active, … alone")
    parser.add_argument("--branch", metavar="NAME", default="main", help="the branch (default: %(default)s)")
    parser.add_argument("--as", dest="reader", metavar="NAME", help="as this participant or sub-agent sees it")
    listed = parser.add_mutually_exclusive_group()
    for part in PARTS:
        listed.add_argument(f"--{part.name}", dest="part", action="store_const", const=part, help=part.what)
    add_store(parser)
    add_tenant(parser)
    add_json(parser, "JSON Lines (of a record one JSON document)")


def _show(args: argparse.Namespace, out: Output) -> Exit:
    if args.part is not None and (args.conversation is None or args.record is not None):
        raise UsageError(f"--{args.part.name} lists a part of one conversation; name it, and no record")
    if args.status is not None and args.conversation is not None:
        raise UsageError("--status lists conversations; name none")
    with opened(args.store, args.tenant) as runtime:
        if args.conversation is None:
            _list(runtime, args.status, out)
        elif args.part is not None:
            talk = viewed(runtime.existing(args.conversation), args.branch, args.reader)
            tell(args.part, runtime, talk, out)
        elif args.record is None:
            talk = runtime.existing(args.conversation)
            if args.reader in talk.participants():
                raise UsageError("--as a participant goes with a listed part; a transcript is the same for all of them")
            view = viewed(talk, args.branch, args.reader)
            _transcript(runtime, view, args.branch if args.reader is None else view.branch_id, out)
        else:
            _record(runtime, runtime.existing(args.conversation), args.record, out)
    return Exit.OK


# --------------------------------------------------------------------------- the list


def _list(runtime: "Runtime", status: str | None, out: Output) -> None:
    from callsheet.runtime.titling import title_of

    rows: list[list[str]] = []
    for name in runtime.conversations(status=status):
        talk = runtime.existing(name)
        counters = talk.counters()
        last = counters.last_turn_at
        title = title_of(runtime, talk) if name.startswith(_PROXIED) else None
        if out.as_json:
            out.json_line(
                {
                    "conversation": name,
                    "user": talk.user,
                    "status": counters.status.value,
                    "branches": list(talk.branches()),
                    "created_at": counters.created_at.isoformat(),
                    "last_turn_at": last.isoformat() if last is not None else None,
                    "turns": counters.turns,
                    "messages": counters.messages,
                    "calls": counters.calls,
                    "results": counters.artifacts,
                    "tokens_out": counters.tokens_out,
                    "tokens_in": counters.tokens_in,
                    "cached_in": counters.cached_in,
                    **({"model": title.model, "begins": title.begins} if title is not None else {}),
                }
            )
            continue
        figures = (counters.turns, counters.messages, counters.calls, counters.artifacts, len(talk.branches()))
        when = f"{last:%Y-%m-%d %H:%M}" if last is not None else ""
        # Whole: it is what the command is given to show the conversation.
        row = [shortened(name, len(name)), counters.status.value, *(f"{figure:,}" for figure in figures), when]
        about = (title.model, title.begins) if title is not None else ()
        rows.append([*row, shortened(": ".join(filter(None, about)), _TITLE)])
    if out.as_json:
        return
    header = ["conversation", "status", "turns", "messages", "calls", "results", "branches", "last turn (UTC)"]
    if any(row[-1] for row in rows):
        header.append("about")
    out.text(table(header, [row[: len(header)] for row in rows], left=(0, 1, 7, 8)) if rows else "No conversations.")


# --------------------------------------------------------------------------- a transcript


def _transcript(runtime: "Runtime", talk: "Conversation", branch: str, out: Output) -> None:
    items = talk.transcript(branch)
    speakers: dict[str, str] = {id: name for name, id in talk.participants().items()}
    if out.as_json:
        for item in items:
            out.json_line({**_item(item), "participant": speakers.get(item.participant or "")})
        return
    out.text(f"{talk.name}, user {talk.user}, branch {branch} (of: {', '.join(talk.branches())}), times in UTC\n")
    for item in items:
        out.text("\n".join(_lines(item, speakers.get(item.participant or ""))))
    newest = _newest_sheet(runtime, talk)
    if newest is not None:
        out.text(f"newest sheet: {newest}")


def _newest_sheet(runtime: "Runtime", talk: "Conversation") -> str | None:
    """The sheet that was assembled last on this very branch; None: none was."""
    from callsheet.graph.cut import alone
    from callsheet.graph.enums import StreamKind
    from callsheet.graph.ids import TenantId
    from callsheet.graph.query import NodeQuery

    sheets = runtime.ledger.stream(TenantId(runtime.tenant), StreamKind.SHEETS, talk.name)
    head = runtime.ledger.head(sheets.key) if sheets is not None else None
    if sheets is None or head is None:
        return None
    own = alone(talk.branch_id, head.position)
    found = runtime.ledger.nodes(sheets.key, NodeQuery(kinds=("assembly",), lineage=own, newest=True, limit=1))
    return found[0].id if found else None


def _item(item: "Item") -> dict[str, object]:
    from callsheet.runtime.transcript import Spoken

    if isinstance(item, Spoken):
        return {
            "type": "message",
            "id": item.id,
            "role": item.role.value,
            "name": item.name,
            "text": item.text,
            "attachments": list(item.attachments),
            "tokens": item.tokens,
            "at": item.at.isoformat(),
        }
    return {
        "type": "tool",
        "id": item.id,
        "tool": item.tool,
        "arguments": item.arguments,
        "status": item.status.value if item.status is not None else None,
        "result": item.artifact,
        "size": item.size,
        "tokens": item.tokens,
        "at": item.at.isoformat(),
    }


def _lines(item: "Item", participant: str | None) -> Iterator[str]:
    from callsheet.runtime.transcript import Spoken

    when = f"{item.at:%Y-%m-%d %H:%M:%S}"
    if participant is not None:
        when = f"{when}  {printable(participant)}:"
    if isinstance(item, Spoken):
        yield f"{when}  {item.role.value}{f' ({item.name})' if item.name else ''}  {item.id}"
        yield from (f"    {line}" for line in printable(item.text).splitlines())
        yield from (f"    [attached: {shortened(attachment, 80)}]" for attachment in item.attachments)
    else:
        yield f"{when}  tool {shortened(item.tool, 60)}  {item.id}"
        yield f"    {shortened(item.arguments, 100)}"
        result = f"{item.artifact}, {item.size:,} bytes" if item.artifact is not None else "no result"
        yield f"    → {item.status.value if item.status is not None else 'open'}: {result}"
    yield ""


# --------------------------------------------------------------------------- one record


def _record(runtime: "Runtime", talk: "Conversation", id: str, out: Output) -> None:
    from callsheet.cli.output import dumps
    from callsheet.cli.values import told
    from callsheet.derive.redaction import Redaction
    from callsheet.graph.nodes import ContextAssembly, Message, ToolArtifact
    from callsheet.graph.ports import Owner
    from callsheet.runtime.redacting import Redacting
    from callsheet.runtime.transcript import result_text

    stream, record = _found(runtime, talk, id)
    owner = Owner(tenant=stream.tenant, user=stream.user)

    def fetch(payload: "Payload") -> bytes:
        return runtime.ledger.fetch(owner, payload)

    # What is printed goes into terminals and their logs.
    read = Redacting(read=fetch, redaction=Redaction(talk.id.encode()))
    shown: dict[str, object] = {
        "header": told(record.header),
        "body": told(record.body, read) if record.body is not None else None,
    }
    if isinstance(record.body, ContextAssembly):
        shown["request"] = talk.sheet(id).request()
    elif isinstance(record.body, Message) and (answered := _answered(talk, id)) is not None:
        shown["sheet"] = answered
    if out.as_json:
        out.json(shown)
        return
    out.text(printable(dumps(_cut(shown), indent=2)))
    if isinstance(record.body, ToolArtifact):
        out.text(f"\nthe result, {record.body.size:,} bytes:\n\n{printable(result_text(record.body, read))}")


def _answered(talk: "Conversation", message: str) -> str | None:
    """The sheet that a message answers: what the model saw when it said this."""
    try:
        return talk.sheet(message).id
    except NotFound:
        return None


def _found(runtime: "Runtime", talk: "Conversation", id: str) -> tuple["Stream", "Record"]:
    from callsheet.graph.ids import RecordId, TenantId

    found = runtime.ledger.find(TenantId(runtime.tenant), RecordId(id))
    # A conversation and its sheets are two streams of one name.
    if found is None or found[0].name != talk.name:
        raise NotFound(f"no record {id!r} in conversation {talk.name!r}")
    return found


def _cut(value: object) -> object:
    """The value with its long texts cut, and how much was."""
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut(item) for item in value]
    if isinstance(value, str) and len(value) > _CUT:
        return f"{value[:_CUT]}… ({len(value) - _CUT:,} characters more; --json prints all)"
    return value
