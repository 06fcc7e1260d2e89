"""The program: reads the command line, runs the command, and turns errors into lines and exit codes."""

import sys
from collections.abc import Sequence

from callsheet._version import __version__
from callsheet.cli import (
    approvals,
    assemble,
    audit,
    demo,
    evaluate,
    exchange,
    explain,
    memory,
    policy,
    recall,
    replay,
    saving,
    serve,
    show,
    worker,
)
from callsheet.cli.exits import Exit, exit_of
from callsheet.cli.output import Output, Unprintable
from callsheet.cli.parsing import Parser, UsageError, make_parser
from callsheet.errors import CallsheetError

_FAMILIES = (
    demo,
    exchange,
    show,
    assemble,
    explain,
    recall,
    memory,
    approvals,
    policy,
    replay,
    evaluate,
    audit,
    saving,
    worker,
    serve,
)


def command_line() -> Parser:
    """The whole command line."""
    parser, commands = make_parser(__version__)
    for family in _FAMILIES:
        family.add(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    out = Output(as_json="--json" in arguments, progress="--progress" in arguments)
    try:
        code = _run(arguments, out)
        out.close()
    except BrokenPipeError:
        out.drop()
        return Exit.BROKEN_PIPE
    except Unprintable as problem:
        out.problem("output", str(problem))
        out.drop()
        return Exit.OUTPUT
    return code


def _run(arguments: list[str], out: Output) -> Exit:
    try:
        chosen = command_line().parse_args(arguments)
        return Exit(chosen.run(chosen, out))
    except SystemExit:  # help or version was asked for and printed
        return Exit.OK
    except UsageError as problem:
        out.problem("usage", str(problem))
        return Exit.USAGE
    except CallsheetError as problem:
        out.problem(problem.code, str(problem))
        return exit_of(problem)
    except KeyboardInterrupt:
        out.problem("interrupted", "stopped; what was recorded until now stays")
        return Exit.INTERRUPTED
