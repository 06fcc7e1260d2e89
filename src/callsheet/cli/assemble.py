"""``assemble``: the next request of a conversation."""

import argparse
from pathlib import Path

from callsheet.cli.exits import Exit
from callsheet.cli.naming import policy_named
from callsheet.cli.opening import opened, signer_from
from callsheet.cli.output import Output
from callsheet.cli.parsing import Commands, add_command, add_json, add_key, add_store, add_tenant
from callsheet.errors import InputError

_ASSEMBLE = """\
Prints the body of the request as JSON, ready to be sent. The sheet that says how it came about
is stored; nothing else in the store changes."""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, "assemble", _assemble, summary="assemble the next request of a conversation", description=_ASSEMBLE
    )
    parser.add_argument("conversation", metavar="CONVERSATION")
    parser.add_argument("--provider", required=True, metavar="NAME", help="such as openai or anthropic")
    parser.add_argument("--model", required=True, metavar="NAME", help="the model that will answer")
    parser.add_argument(
        "--budget",
        type=int,
        metavar="TOKENS",
        help="what the request may take (default: the model's window less room for the reply)",
    )
    parser.add_argument("--tools", metavar="FILE", help="tool schemas, a JSON list in any provider's shape")
    parser.add_argument(
        "--policy", metavar="FILE|NAME", help="the policy set, built in or a YAML file (default: the library's)"
    )
    parser.add_argument(
        "--scope",
        action="append",
        metavar="NAME",
        default=[],
        help="what whoever asks is entitled to, for rules of the policy set; may be given several times",
    )
    parser.add_argument("--branch", metavar="NAME", default="main", help="the branch (default: %(default)s)")
    parser.add_argument("--explain", action="store_true", help="print what it holds and why, instead of the request")
    add_store(parser)
    add_key(parser, "sign the head of the sheets")
    add_tenant(parser)
    add_json(parser)


def _assemble(args: argparse.Namespace, out: Output) -> Exit:
    from callsheet.cli.values import told

    tools = _tools(args.tools) if args.tools is not None else []
    policy = policy_named(args.policy) if args.policy is not None else None
    with opened(args.store, args.tenant, signer=signer_from(args.signing_key)) as runtime:
        sheet = (
            runtime.existing(args.conversation)
            .on(args.branch)
            .assemble(
                provider=args.provider,
                model=args.model,
                budget=args.budget,
                tools=tools,
                policy=policy,
                scopes=args.scope,
            )
        )
    if not args.explain:
        out.json(sheet.request())
    elif out.as_json:
        out.json({"sheet": sheet.id, **told(sheet.record)})
    else:
        out.prose(sheet.explain())
    return Exit.OK


def _tools(path: str) -> list[dict[str, object]]:
    """Schemas from a file. What is no schema, assembling refuses."""
    import msgspec

    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=list[dict[str, object]])
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror}") from problem
    except (msgspec.DecodeError, msgspec.ValidationError) as problem:
        raise InputError(f"{path} is not a JSON list of tool schemas: {problem}") from problem
