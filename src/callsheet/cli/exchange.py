"""``import`` and ``export``: conversations as lines of JSON."""

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from callsheet.cli.exits import Exit
from callsheet.cli.opening import opened, signer_from
from callsheet.cli.output import Output
from callsheet.cli.parsing import (
    Commands,
    UsageError,
    add_command,
    add_format,
    add_json,
    add_key,
    add_progress,
    add_store,
    add_tenant,
)
from callsheet.errors import InvalidLine, InvalidOption

if TYPE_CHECKING:
    from callsheet.audit.exchange.importing import Imported
    from callsheet.audit.exchange.sources import Line
    from callsheet.audit.logs.values import LoggedConversation
    from callsheet.runtime.runtime import Runtime

_LINE = """\
A line is one conversation, or one branch of a conversation:

  {"id": "support-17", "user": "mia", "messages": [...]}
  {"id": "support-17", "branch": {"name": "retry", "parent": "main", "at": 12}, "messages": [...]}

Messages are in OpenAI's or Anthropic's shape (with its "system" beside them). They may carry
"x_at", when they were said (ISO 8601 with offset), and a tool result "x_status", how the
execution ended. A branch holds what was said after the first "at" messages of its parent."""

_IMPORT = f"""\
{_LINE}

A line may also be a list of messages alone; without an "id" the conversation is called after
file and line. Other keys of a line, such as "tools" and "source", are not stored. An "id" that
occurs again in the same file is another conversation, "id#2"; one that the store has with other
content is refused. A line that is refused leaves nothing in the store, and the rest goes on.
Importing goes on where it was broken off, and a line that was imported before is passed over.

A file may also be the log of an agent, which is recognised by what it holds: session files of
Claude Code, rollouts of Codex, and spans of OpenTelemetry (JSON Lines, plain or gzip), sessions
of the OpenAI Agents SDK and checkpoints of LangGraph (SQLite). Usage is kept where the log has
it; rewound and repeated work becomes branches, sub-agents are conversations of their own. What is
no part of a conversation, or is not understood, is counted by kind. Importing a log that has
grown adds what is new. Standard input is lines unless --format says otherwise."""

_EXPORT = f"""\
{_LINE}

Messages come out as they were recorded, each conversation before its branches; with --format
all in one format, in which a message of the other loses what is not neutral. Participants,
runs, usage and sheets are not part of a line. The output is JSON Lines with and without --json."""


def add(commands: Commands) -> None:
    """Add the commands."""
    parser = add_command(
        commands,
        "import",
        _import,
        summary="record conversations from JSON lines and logs of agents",
        description=_IMPORT,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="plain or gzip; - for standard input")
    add_format(parser)
    add_store(parser)
    add_key(parser, "sign heads")
    add_tenant(parser)
    add_json(parser)
    add_progress(parser)

    parser = add_command(commands, "export", _export, summary="write conversations as JSON lines", description=_EXPORT)
    parser.add_argument("conversations", nargs="*", metavar="CONVERSATION")
    parser.add_argument("--all", action="store_true", help="every conversation")
    formats = ("openai", "openai-responses", "anthropic")
    parser.add_argument("--format", choices=formats, help="all messages in this format")
    parser.add_argument("--output", metavar="FILE", help="write there instead of to standard output")
    add_store(parser)
    add_tenant(parser)
    add_json(parser, "JSON Lines as always")


def _import(args: argparse.Namespace, out: Output) -> Exit:
    from callsheet.audit.exchange.importing import Imported
    from callsheet.audit.exchange.sources import check_readable

    for name in args.files:
        check_readable(name)  # before a store is made
    total = Imported()
    refused: list[InvalidLine] = []
    with opened(args.store, args.tenant, create=True, signer=signer_from(args.signing_key)) as runtime:
        for name in args.files:
            for outcome in _outcomes(runtime, name, args.format, out):
                if isinstance(outcome, InvalidLine):
                    refused.append(outcome)
                    out.problem(outcome.code, str(outcome), file=outcome.file, line=outcome.line)
                else:
                    total += outcome
                    out.progress(f"{name}: {total.messages:,} messages, {total.results:,} tool results")
    if out.as_json:
        out.json(_summary(total, refused))
    else:
        out.text("\n".join(_words(total, refused)))
    return Exit.FINDINGS if refused else Exit.OK


def _outcomes(runtime: "Runtime", name: str, format: str | None, out: Output) -> Iterator["Imported | InvalidLine"]:
    from callsheet.audit.logs.importing import import_file

    def line_told(line: "Line") -> None:
        share = f" ({line.read / line.size:.0%})" if line.size else ""
        out.progress(f"{line.file}: line {line.number}{share}")

    def told(conversation: "LoggedConversation") -> None:
        out.progress(f"{name}: {conversation.name}, {conversation.count:,} messages")

    return import_file(runtime, name, format, line_told=line_told, told=told)


def _summary(total: "Imported", refused: list[InvalidLine]) -> dict[str, object]:
    return {
        "conversations": total.conversations,
        "imported_before": total.known,
        "messages": total.messages,
        "tool_calls": total.calls,
        "tool_results": total.results,
        "defects": {defect.value: count for defect, count in sorted(total.defects.items())},
        "passed_over": dict(sorted(total.passed.items())),
        "refused": [{"file": line.file, "line": line.line, "problem": line.problem} for line in refused],
    }


def _words(total: "Imported", refused: list[InvalidLine]) -> Iterable[str]:
    if total.known and not total.conversations and not refused:
        yield f"All {total.known:,} conversations and branches were imported before; nothing was done."
        return
    yield f"conversations and branches  {total.conversations:>9,}"
    if total.known:
        yield f"  imported before           {total.known:>9,}"
    yield f"messages                    {total.messages:>9,}"
    yield f"tool calls                  {total.calls:>9,}"
    yield f"tool results                {total.results:>9,}"
    for defect, count in sorted(total.defects.items()):
        yield f"  with {defect.value.replace('_', ' '):<21}{count:>9,}"
    yield f"refused lines               {len(refused):>9,}"
    if total.passed:
        yield "passed over:"
        for what, count in sorted(total.passed.items(), key=lambda item: (-item[1], item[0])):
            yield f"{count:>9,}  {what}"


def _export(args: argparse.Namespace, out: Output) -> Exit:
    if bool(args.conversations) == args.all:
        raise UsageError("name conversations, or give --all (see: callsheet export --help)")
    with opened(args.store, args.tenant) as runtime:
        lines = _lines(runtime, args.conversations or runtime.conversations(), args.format)
        if args.output is None:
            for line in lines:
                out.raw(line)
        else:
            path = Path(args.output)
            _spare(path, args.store)
            _write(path, lines)
    return Exit.OK


def _lines(runtime: "Runtime", names: Iterable[str], format: str | None) -> Iterator[bytes]:
    from callsheet.audit.exchange.exporting import dumped, export_conversation
    from callsheet.wire.names import Wire

    for name in names:
        for line in export_conversation(runtime, name, Wire(format) if format is not None else None):
            yield dumped(line)


def _spare(path: Path, store: str) -> None:
    """Raises `InvalidOption` for a file that belongs to the store."""
    from callsheet.ledger.sqlite.backup import belongs_to

    if belongs_to(path, Path(store.removeprefix("sqlite:///"))):
        raise InvalidOption(f"{path} cannot be written: it belongs to the store that is exported")


def _write(path: Path, lines: Iterable[bytes]) -> None:
    """Write a file that appears when it is whole."""
    if path.exists() and not path.is_file():  # a folder, or a device, which the file would replace
        raise InvalidOption(f"{path} cannot be written: it is there and no file")
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        with unfinished.open("wb") as file:
            file.writelines(lines)
        unfinished.replace(path)
    except OSError as problem:
        raise InvalidOption(f"{path} cannot be written: {problem.strerror}") from problem
    finally:
        unfinished.unlink(missing_ok=True)
