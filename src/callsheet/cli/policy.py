"""``policy``: is a policy set right, what does it say, and what would another one change?"""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from callsheet.cli.exits import Exit
from callsheet.cli.naming import policy_named
from callsheet.cli.opening import opened
from callsheet.cli.output import Output
from callsheet.cli.parsing import Commands, Parser, add_command, add_json, add_tenant
from callsheet.errors import PolicyError

if TYPE_CHECKING:
    from callsheet.runtime.comparing import Compared

_POLICY = """\
A policy set is the name of a built-in one, or a YAML file."""

_CHECK = """\
Exit code 0: it is right. Exit code 3: it is not; each error names file, line and column.
Exit code 7: it has rules, and the part that reads them is not installed."""

_EXPLAIN = """\
What the set lets a model see, in words: forms by privacy class, times until stale, tools, the rules
that were written beside them, how each class of context is treated, and what a condition may ask."""

_DIFF = """\
Prints what differs, a line each: + new, - gone, ~ other than before; with --json every field.
With --store and --conversation it also makes the newest requests that were recorded there again,
under A and under B, and prints which records come in, go out or stand in another detail, and why.
Nothing is stored. Exit code 1 says that some do."""

NEWEST = 20


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, "policy", _none, summary="check, explain and compare policy sets", description=_POLICY
    )
    inner = parser.add_subparsers(metavar="ACTION", required=True, parser_class=Parser)
    check = add_command(inner, "check", _check, summary="say whether a file is a policy set", description=_CHECK)
    check.add_argument("file", metavar="FILE")
    add_json(check)
    explain = add_command(inner, "explain", _explain, summary="what a policy set says, in words", description=_EXPLAIN)
    explain.add_argument("policy", metavar="FILE|NAME", nargs="?", help="the policy set (default: the library's)")
    add_json(explain)
    diff = add_command(inner, "diff", _diff, summary="what another policy set would change", description=_DIFF)
    diff.add_argument("before", metavar="A")
    diff.add_argument("after", metavar="B")
    diff.add_argument("--store", metavar="PATH", help="a store with recorded requests (default: none)")
    diff.add_argument("--conversation", metavar="NAME", help="whose requests are made again")
    diff.add_argument("--newest", type=int, metavar="N", default=NEWEST, help="how many of them (default: %(default)s)")
    add_tenant(diff)
    add_json(diff)


def _none(args: argparse.Namespace, out: Output) -> Exit:
    return Exit.USAGE


def _check(args: argparse.Namespace, out: Output) -> Exit:
    from callsheet.runtime.loading import load_policy

    try:
        document = load_policy(args.file)
    except PolicyError as wrong:
        for problem in wrong.problems:
            out.problem(wrong.code, problem)
        return Exit.INPUT
    if out.as_json:
        out.json({"policy": str(document), "hash": document.hash, "rules": [rule.name for rule in document.rules]})
    else:
        out.text(f"{args.file}: policy set {document} is right; {len(document.rules)} rules, {document.hash}")
    return Exit.OK


def _explain(args: argparse.Namespace, out: Output) -> Exit:
    from callsheet.cli.values import told
    from callsheet.policy import described
    from callsheet.policy.context import TREATMENTS
    from callsheet.policy.sets import DEFAULT, RULE_VERSIONS

    document = policy_named(DEFAULT if args.policy is None else args.policy)
    if out.as_json:
        out.json(
            {
                "policy": str(document),
                "hash": document.hash,
                "versions": dict(RULE_VERSIONS),
                "set": told(document),
                "classes": {of.value: told(treatment) for of, treatment in TREATMENTS.items()},
            }
        )
    else:
        out.prose("\n\n".join((described.text(document), described.classes(), described.facts())))
    return Exit.OK


def _diff(args: argparse.Namespace, out: Output) -> Exit:
    from callsheet.cli.parsing import UsageError
    from callsheet.cli.values import told
    from callsheet.policy.changed import changed
    from callsheet.policy.differing import differences

    if (args.store is None) != (args.conversation is None):
        raise UsageError("--store and --conversation go together")
    before, after = policy_named(args.before), policy_named(args.after)
    compared = None
    if args.store is not None:
        with opened(args.store, args.tenant) as runtime:
            compared = runtime.existing(args.conversation).compare(before, after, newest=args.newest)
    if out.as_json:
        found: dict[str, object] = {
            "before": {"policy": str(before), "hash": before.hash},
            "after": {"policy": str(after), "hash": after.hash},
            "settings": [told(setting) for setting in changed(before, after)],
        }
        if compared is not None:
            found["recorded"] = {**told(compared), "by_reason": dict(compared.by_reason)}
        out.json(found)
    else:
        told_of = tuple(differences(before, after))
        out.prose("\n".join((*_differing(str(before), str(after), told_of), *_recorded(compared))))
    return Exit.OK if compared is None or compared.unchanged else Exit.FINDINGS


def _differing(before: str, after: str, differences: tuple[str, ...]) -> Iterator[str]:
    count = len(differences)
    yield f"{before} -> {after}: {count:,} {'difference' if count == 1 else 'differences'}{':' if count else '.'}"
    yield from (f"  {one}" for one in differences)


def _recorded(compared: "Compared | None") -> Iterator[str]:
    if compared is None:
        return
    total = len(compared.moved)
    yield f"{compared.sheets:,} recorded requests made again: {compared.same:,} the same, {total:,} records moved."
    for reason, count in compared.by_reason.items():
        yield f"  {reason}: {count:,}"
    for moved in compared.moved:
        sign = "+" if moved.came else "-" if moved.went else "~"
        rule = f", {moved.rule}" if moved.rule else ""
        levels = f"{moved.before.value} -> {moved.after.value}"
        yield f"{sign} {moved.record} in {moved.sheet}: {levels} ({moved.reason.value}{rule})"
    for failed in compared.failed:
        yield f"! {failed.sheet}: {failed.problem}"
