"""``eval``: scenarios as data, played and judged."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from callsheet.cli.exits import Exit
from callsheet.cli.output import Output, table
from callsheet.cli.parsing import Commands, Parser, UsageError, add_command, add_json, add_progress
from callsheet.errors import InputError

if TYPE_CHECKING:
    from callsheet.evaluate.scenarios.judging import Judged

DEFAULT = "tests/scenarios"

_EVAL = """\
What is measured without any model: see the actions."""

_SCENARIOS = """\
A scenario is a YAML document: what happens, the requests that follow, and what each must hold. Each
is played in a store in memory for every model that it names, and judged: sizes, facts, records that
stand or are left out with their reasons, and whether the provider would accept the request.

Exit code 1: a request is not as expected. Exit code 3: a document is wrong; the error names file,
line and column."""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "eval", _none, summary="play scenarios and judge their requests", description=_EVAL)
    inner = parser.add_subparsers(metavar="ACTION", required=True, parser_class=Parser)
    scenarios = add_command(
        inner, "scenarios", _scenarios, summary="play scenarios and judge their requests", description=_SCENARIOS
    )
    scenarios.add_argument(
        "paths", nargs="*", metavar="PATH", default=[DEFAULT], help="files, or folders of them (default: %(default)s)"
    )
    add_json(scenarios)
    add_progress(scenarios)


def _none(args: argparse.Namespace, out: Output) -> Exit:
    return Exit.USAGE


def _scenarios(args: argparse.Namespace, out: Output) -> Exit:
    from callsheet.evaluate.scenarios import report
    from callsheet.evaluate.scenarios.judging import judge
    from callsheet.evaluate.scenarios.reading import load

    judged: list[Judged] = []
    for path in _files(args.paths):
        out.progress(str(path))
        try:
            judged += judge(load(path))
        except OSError as problem:
            raise InputError(f"{path} cannot be read: {problem.strerror}") from problem
    if out.as_json:
        out.json(report.told(judged))
    else:
        out.text(table(report.HEADER, list(report.rows(judged)), left=(0, 1)))
        out.text("\n".join(report.notes(judged)))
    return Exit.OK if all(one.ok for one in judged) else Exit.FINDINGS


def _files(paths: list[str]) -> list[Path]:
    found: list[Path] = []
    for path in map(Path, paths):
        if str(path) == DEFAULT and not path.exists():
            raise UsageError(
                f"there is no {DEFAULT} here: pass PATH, files of scenarios or a folder of them "
                "(the page about scenarios in the documentation says how one is written)"
            )
        inside = sorted(path.glob("*.yaml")) if path.is_dir() else [path]
        if not inside:
            raise InputError(f"no scenario (*.yaml) in {path}")
        found += inside
    return found
