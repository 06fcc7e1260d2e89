"""``verify`` and ``rebuild``: whether a store is sound, and how its projections are made anew."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from callsheet.cli.exits import Exit
from callsheet.cli.opening import opened, signer_from
from callsheet.cli.output import Output
from callsheet.cli.parsing import Commands, add_command, add_json, add_key, add_progress, add_store, add_tenant
from callsheet.errors import InvalidOption

if TYPE_CHECKING:
    from callsheet.audit.report import Progress, Report

_VERIFY = """\
Derives everything again from what lies in the store: chains, heads, bodies, large content,
rendered blocks, projections. What was cut off at the end of a stream shows only against a head
that was noted down before: print heads with --heads, keep them elsewhere, give them back with
--expect. Signatures of heads are checked with --signing-key; the key is never in the store."""

_REBUILD = """\
Projections are what can be queried, and what searches go by; they follow from the records alone.
Needed only when verify says that they differ, or to find by search what an older version recorded.
Each stream is rebuilt in one transaction; its content is read again, so that takes as long as
recording it did."""


def add(commands: Commands) -> None:
    """Add the commands."""
    parser = add_command(commands, "verify", _verify, summary="check that a store is sound", description=_VERIFY)
    parser.add_argument(
        "--expect",
        action="append",
        default=[],
        metavar="HEAD",
        help="a head that was noted down, tenant/stream@position:chain, or @FILE with one a line; may be given again",
    )
    parser.add_argument("--heads", action="store_true", help="print the heads, to note them down")
    add_store(parser)
    add_key(parser, "check signatures")
    add_tenant(parser, everybody=True)
    add_json(parser)
    add_progress(parser)

    parser = add_command(
        commands, "rebuild", _rebuild, summary="build projections anew from the records", description=_REBUILD
    )
    parser.add_argument("conversation", nargs="?", metavar="CONVERSATION", help="this one alone (default: all)")
    add_store(parser)
    add_tenant(parser, everybody=True)
    add_json(parser)
    add_progress(parser)


def tell_records(out: Output, progress: "Progress") -> None:
    """Tell how many records long work has done."""
    out.progress(f"{progress.done:,} of {progress.total:,} records ({progress.stream})")


def report_as_json(report: "Report") -> dict[str, object]:
    """A report as JSON values."""
    from msgspec.structs import asdict

    return {
        "ok": report.ok,
        **asdict(report.counts),
        "found": report.found,
        "findings": [{**asdict(finding), "kind": finding.kind.value} for finding in report.findings],
        "heads": [
            {"head": str(entry.head), "kind": entry.kind.value, "name": entry.name, "signer": entry.head.signer}
            for entry in report.heads
        ],
    }


def report_as_text(report: "Report") -> str:
    """A report for people."""
    counts = report.counts
    erased = f", {counts.erased:,} erased" if counts.erased else ""
    gone = f", {counts.erased_blocks:,} erased" if counts.erased_blocks else ""
    lines = [
        f"{counts.records:,} records in {counts.streams:,} streams: {counts.bodies:,} bodies{erased}, "
        f"{counts.blobs:,} large contents, {counts.blocks:,} rendered blocks{gone}."
    ]
    if counts.unsigned:
        lines.append(f"{counts.unsigned:,} streams are chained but not signed.")
    if counts.unchecked:
        lines.append(f"{counts.unchecked:,} heads are signed; their signatures were not checked, for want of the key.")
    lines += map(str, report.findings)
    if report.found > len(report.findings):
        lines.append(f"… and {report.found - len(report.findings):,} findings more.")
    lines.append("Sound: nothing was found." if report.ok else f"Not sound: {report.found:,} findings.")
    return "\n".join(lines)


def _verify(args: argparse.Namespace, out: Output) -> Exit:
    from callsheet.audit.verify import verify

    with opened(args.store) as runtime:
        report = verify(
            runtime.ledger,
            tenant=args.tenant,
            signer=signer_from(args.signing_key),
            expect=_heads(args.expect),
            progress=lambda progress: tell_records(out, progress),
        )
    if out.as_json:
        out.json(report_as_json(report))
    else:
        out.text(report_as_text(report))
        if args.heads:
            out.text("\n".join(f"{entry.head}  {entry.kind.value} {entry.name}" for entry in report.heads))
    return Exit.OK if report.ok else Exit.FINDINGS


def _heads(given: list[str]) -> list[str]:
    """The heads of a command line; a file of heads may be what ``--heads`` printed."""
    heads: list[str] = []
    for each in given:
        if not each.startswith("@"):
            heads.append(each)
            continue
        try:
            lines = Path(each[1:]).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as problem:
            raise InvalidOption(f"the heads in {each[1:]} cannot be read: {problem}") from None
        heads += [line.split()[0] for line in lines if "@" in line]
    return heads


def _rebuild(args: argparse.Namespace, out: Output) -> Exit:
    from callsheet.audit.indexing import index_of
    from callsheet.audit.rebuild import rebuild

    with opened(args.store) as runtime:
        done = rebuild(
            runtime.ledger,
            tenant=args.tenant,
            name=args.conversation,
            index=index_of(runtime.ledger),
            progress=lambda progress: tell_records(out, progress),
        )
    if out.as_json:
        out.json({"streams": done.streams, "records": done.records})
    else:
        out.text(f"Rebuilt the projections of {done.records:,} records in {done.streams:,} streams.")
    return Exit.OK
