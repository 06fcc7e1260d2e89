"""Writes the reference of the command line from its own help: docs/reference/cli.md.

    python tools/cli_reference.py

A test compares the page with what this would write, so it cannot fall behind.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

from callsheet.cli.app import command_line
from callsheet.cli.exits import MEANINGS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "cli.md"

_INTRODUCTION = """\
<!-- Written by tools/cli_reference.py. Change the help texts, then run it. -->

# Command line

`callsheet` and `python -m callsheet` are the same program. Every command but `replay` works on a store, which is given
by `--store`; `import`, `demo`, `restore` and `serve` make it where there is none, the others refuse to.

Rows come out as tables for people, and with `--json` for programs: one JSON document, or JSON Lines (a document on each
line) where there are many rows, as `show` has them. `export` writes JSON Lines in any case. Long work tells of its
progress on standard error when that is a terminal, or with `--progress`.

Errors go to standard error, one line each: `callsheet: code: message`, with `--json`
`{"error": {"code": …, "message": …}}`. The codes are those of [Errors](errors.md)."""


def commands() -> Mapping[str, argparse.ArgumentParser]:
    """Every command by its name."""
    (found,) = (action for action in command_line()._actions if isinstance(action, argparse._SubParsersAction))
    parsers: Mapping[str, argparse.ArgumentParser] = found.choices
    return parsers


def page() -> str:
    """The page."""
    rows = [f"| {code.value} | {meaning} |" for code, meaning in MEANINGS.items()]
    exits = "\n".join(["## Exit codes", "", "| code | meaning |", "| --: | --- |", *rows])
    overview = f"## Commands\n\n{_quoted(command_line())}"
    helps = [f"### callsheet {name}\n\n{_quoted(parser)}" for name, parser in commands().items()]
    return "\n\n".join([_INTRODUCTION, exits, overview, *helps]) + "\n"


def _quoted(parser: argparse.ArgumentParser) -> str:
    return f"```text\n{parser.format_help().strip()}\n```"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
