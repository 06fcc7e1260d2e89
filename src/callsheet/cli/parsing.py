"""The shape of the command line: how commands are added to it, the options that they share, how it complains."""

import argparse
from collections.abc import Callable
from typing import NoReturn, TypeAlias

from callsheet.cli.exits import Exit
from callsheet.cli.output import Output

DEFAULT_STORE = "callsheet.db"
DEFAULT_TENANT = "local"

WIDTH = 96
"""Columns of help texts, whatever the terminal, so that they read as in the reference."""

Run: TypeAlias = Callable[[argparse.Namespace, Output], Exit]
Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


class UsageError(Exception):
    """The command line is wrong."""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=WIDTH)


class Parser(argparse.ArgumentParser):
    """A parser that raises `UsageError`, and prints help in one width everywhere."""

    def error(self, message: str) -> NoReturn:
        """See `UsageError`."""
        raise UsageError(f"{message} (see: {self.prog} --help)")


def add_command(commands: Commands, name: str, run: Run, *, summary: str, description: str = "") -> Parser:
    """Add a command; `summary` is its line in the list of all, `description` what its own help says beside it."""
    said = f"{summary[0].upper()}{summary[1:]}."
    text = f"{said}\n\n{description.strip()}" if description else said
    parser = commands.add_parser(name, help=summary, description=text, formatter_class=_Formatter)
    parser.set_defaults(run=run)
    return parser


def make_parser(version: str) -> tuple[Parser, Commands]:
    """The program without its commands, and where they go."""
    parser = Parser(
        prog="callsheet",
        description="Durable, explainable context assembly for tool-using AI agents.",
        epilog="Each command has its own help: callsheet COMMAND --help",
        formatter_class=_Formatter,
    )
    parser.add_argument("--version", action="version", version=f"callsheet {version}")
    return parser, parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)


def add_store(parser: Parser, default: str = DEFAULT_STORE) -> None:
    """``--store``."""
    parser.add_argument("--store", metavar="PATH", default=default, help="the store (default: %(default)s)")


def add_key(parser: Parser, purpose: str) -> None:
    """``--signing-key``."""
    parser.add_argument("--signing-key", metavar="FILE", help=f"{purpose} with the key in this file (HMAC-SHA256)")


def add_tenant(parser: Parser, *, everybody: bool = False) -> None:
    """``--tenant``: whose part of the store; for work on the store as a whole everybody's, unless one is named."""
    default, said = (None, "everybody's") if everybody else (DEFAULT_TENANT, DEFAULT_TENANT)
    parser.add_argument("--tenant", metavar="NAME", default=default, help=f"whose part of the store (default: {said})")


FORMATS = ("lines", "claude-code", "codex", "openai-agents", "langgraph", "opentelemetry")
"""The names of the formats of `callsheet.audit.logs.formats`, which is not imported for a list of options."""


def add_format(parser: Parser) -> None:
    """``--format``: what a file is."""
    parser.add_argument(
        "--format",
        choices=FORMATS,
        metavar="NAME",
        help=f"what the files are, instead of looking: {', '.join(FORMATS)}",
    )


def add_json(parser: Parser, form: str = "one JSON document") -> None:
    """``--json``: what `Output` looks for."""
    parser.add_argument("--json", action="store_true", help=f"print {form}, and errors as JSON")


def add_progress(parser: Parser) -> None:
    """``--progress``: what `Output` looks for."""
    parser.add_argument("--progress", action="store_true", help="tell of progress even where nobody watches")
