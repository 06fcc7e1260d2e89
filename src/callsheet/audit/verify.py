"""Verifying a store: chain, heads, signatures, bodies, blobs, blocks and projections, and what was noted elsewhere."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from callsheet.audit.checking import Checked, check_stream, finding
from callsheet.audit.expect import by_stream, gone, parse_head
from callsheet.audit.report import LISTED, Counts, Finding, FindingKind, Progress, Report, StreamHead
from callsheet.graph.ids import TenantId
from callsheet.graph.ports import Ledger, Signer
from callsheet.graph.record import Head, Stream, StreamKey

_TOLD_EVERY = 500
"""Records between two words on progress."""


def verify(
    ledger: Ledger,
    *,
    tenant: str | None = None,
    signer: Signer | None = None,
    expect: Iterable[str] = (),
    progress: Callable[[Progress], None] = lambda _: None,
) -> Report:
    """Derive again everything that the store says about its records, and report what does not hold.

    Checks the streams of one tenant, or of all. With `signer` every head must be signed by it; without, signatures
    are not checked. `expect` are heads that were noted down before, as `str(Head)` prints them: each stream must be
    at least there and have that chain there. A cut tail or an exchanged history shows in no other way.

    Others may write meanwhile. Memory grows with the longest stream's number of records, not with what they hold.
    Raises `InvalidOption` for an expected head that cannot be read or is of another tenant.
    """
    only = TenantId(tenant) if tenant is not None else None
    expected = by_stream(map(parse_head, expect), only)
    streams = ledger.streams(only)
    known = {stream.key for stream in streams}
    findings = _Listed()
    counts, heads = Counts(), list[StreamHead]()
    checks = _checked(ledger, streams, signer, expected, progress)
    for _, group in groupby(checks, key=lambda checked: checked.stream.tenant):
        of_tenant = list(group)
        erased = {place for checked in of_tenant for place in checked.erased}
        for checked in of_tenant:
            unexplained = [at for at in checked.missing if (checked.stream.id, at) not in erased]
            counts += checked.counts + Counts(erased=len(checked.missing) - len(unexplained))
            heads.append(StreamHead(name=checked.stream.name, kind=checked.stream.kind, head=checked.head))
            findings.add(checked.findings)
            findings.add(_unexplained(checked, unexplained))
    findings.add([gone(head) for key, noted in expected.items() if key not in known for head in noted])
    return Report(counts=counts, heads=tuple(heads), findings=tuple(findings.first), found=findings.total)


class _Listed:
    """All findings counted, the first of them kept."""

    def __init__(self) -> None:
        self.first: list[Finding] = []
        self.total = 0

    def add(self, findings: Sequence[Finding]) -> None:
        self.first += findings[: LISTED - len(self.first)]
        self.total += len(findings)


def _unexplained(checked: Checked, missing: Sequence[int]) -> list[Finding]:
    """Findings for bodies that nobody erased; without any, what the projections were found to be."""
    if not missing:
        return [checked.projection] if checked.projection is not None else []
    text = "the body is gone, and no erasure record names it"
    return [finding(checked.stream, FindingKind.MISSING_BODY, text, at) for at in missing]


def _checked(
    ledger: Ledger,
    streams: Sequence[Stream],
    signer: Signer | None,
    expected: dict[StreamKey, list[Head]],
    progress: Callable[[Progress], None],
) -> Iterator[Checked]:
    """The streams, checked one after another, tenant by tenant."""
    heads = [ledger.head(stream.key) for stream in streams]
    total = sum(head.position for head in heads if head is not None)
    done = 0
    for stream in sorted(streams, key=lambda stream: stream.tenant):

        def step(name: str = stream.name) -> None:
            nonlocal done
            done += 1
            if done % _TOLD_EVERY == 0:
                progress(Progress(stream=name, done=done, total=max(done, total)))

        noted = expected.get(stream.key, ())
        yield check_stream(ledger, stream, signer=signer, expected=noted, step=step)
