"""Verifying a store: chain, heads, signatures, bodies, blobs, blocks and projections, and what was noted elsewhere."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from callsheet.audit.checking import Checked, check_stream
from callsheet.audit.expect import by_stream, gone, parse_head
from callsheet.audit.report import LISTED, Counts, Finding, FindingKind, Progress, Report, StreamHead, finding
from callsheet.audit.streams import wrong_pairs
from callsheet.errors import NotFound
from callsheet.graph.ids import StreamId, TenantId
from callsheet.graph.ports import IndexOf, Ledger, Signer
from callsheet.graph.record import Head, Stream, StreamKey
from callsheet.ledger.inspection import Catalogue, Inspectable, SchemaFlaw

_TOLD_EVERY = 500
"""Records between two words on progress."""


def verify(
    ledger: Ledger,
    *,
    tenant: str | None = None,
    signer: Signer | None = None,
    expect: Iterable[str] = (),
    index: IndexOf | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Report:
    """Derive again everything that the store says about its records, and report what does not hold.

    Checks the streams of one tenant, or of all. With `signer` every head must be signed by it; without, signatures
    are not checked. `expect` are heads that were noted down before, as `str(Head)` prints them: each stream must be
    at least there and have that chain there. A cut tail or an exchanged history shows in no other way.
    With `index` what each record is found by is derived again and compared with what is stored.

    Others may write meanwhile. Memory grows with the longest stream's number of records, not with what they hold.
    Raises `InvalidOption` for an expected head that cannot be read or is of another tenant, and `NotFound` for a
    tenant of which there is nothing, and no head either that would say that there was something.
    """
    only = TenantId(tenant) if tenant is not None else None
    expected = by_stream(map(parse_head, expect), only)
    flaws = ledger.schema_flaws() if isinstance(ledger, Inspectable) else []
    found = _Found()
    found.add(_of_schema(flaws))
    if any(flaw.fatal for flaw in flaws):
        return found.report()
    catalogue = _catalogue(ledger, only)
    known = _known(catalogue)
    if only is not None and not known and not expected:
        raise NotFound(f"there is nothing of the tenant {only!r} in this store")
    found.add(_untold(catalogue))
    incomplete = {key.tenant for key in known.difference(stream.key for stream in catalogue.streams)}
    checks = _checked(ledger, catalogue.streams, signer, expected, progress, index=index)
    for owner, group in groupby(checks, key=lambda checked: checked.stream.tenant):
        found.add_tenant(list(group), whole=owner not in incomplete)
    found.add([gone(head) for key, noted in expected.items() if key not in known for head in noted])
    return found.report()


class _Found:
    """What goes into the report: all findings counted, the first of them kept."""

    def __init__(self) -> None:
        self._first: list[Finding] = []
        self._total = 0
        self._counts = Counts()
        self._heads: list[StreamHead] = []

    def add(self, findings: Sequence[Finding]) -> None:
        self._first += findings[: LISTED - len(self._first)]
        self._total += len(findings)

    def add_tenant(self, tenant: Sequence[Checked], *, whole: bool) -> None:
        """The streams of a tenant; `whole`: these are all that there is of it."""
        erased = {place for checked in tenant for place in checked.erased}
        erased_blocks = {address for checked in tenant for address in checked.erased_blocks}
        for checked in tenant:
            unexplained = [at for at in checked.missing if (checked.stream.id, at) not in erased]
            self._counts += checked.counts + Counts(erased=len(checked.missing) - len(unexplained))
            self._heads.append(StreamHead(name=checked.stream.name, kind=checked.stream.kind, head=checked.head))
            lacking = [found for address, found in checked.lacking.items() if address not in erased_blocks]
            self._counts += Counts(erased_blocks=len(checked.lacking) - len(lacking))
            self.add(checked.findings)
            self.add([finding(checked.stream, FindingKind.BLOCK, text, at) for at, text in lacking])
            self.add(_unexplained(checked, unexplained))
        if whole:
            self.add(list(wrong_pairs([checked.identity for checked in tenant])))

    def report(self) -> Report:
        return Report(counts=self._counts, heads=tuple(self._heads), findings=tuple(self._first), found=self._total)


def _of_schema(flaws: Sequence[SchemaFlaw]) -> list[Finding]:
    store, none = TenantId(""), StreamId("")
    return [Finding(kind=FindingKind.SCHEMA, tenant=store, stream=none, text=flaw.text) for flaw in flaws]


def _catalogue(ledger: Ledger, tenant: TenantId | None) -> Catalogue:
    if isinstance(ledger, Inspectable):
        return ledger.catalogue(tenant)
    return Catalogue(streams=tuple(ledger.streams(tenant)), unreadable=(), lost=())


def _known(catalogue: Catalogue) -> set[StreamKey]:
    """Every stream that there is a trace of."""
    return {
        *(stream.key for stream in catalogue.streams),
        *(stream.key for stream in catalogue.unreadable),
        *catalogue.lost,
    }


def _untold(catalogue: Catalogue) -> list[Finding]:
    """Findings for streams that cannot be checked, because it is not told what they are."""
    kind, text = FindingKind.STREAM, "there are rows of the stream, but the stream itself is not there"
    found = [
        Finding(kind=kind, tenant=row.key.tenant, stream=row.key.stream, name=row.name, text=row.text)
        for row in catalogue.unreadable
    ]
    return found + [Finding(kind=kind, tenant=key.tenant, stream=key.stream, text=text) for key in catalogue.lost]


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
    *,
    index: IndexOf | None,
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
        yield check_stream(ledger, stream, signer=signer, expected=noted, index=index, step=step)
