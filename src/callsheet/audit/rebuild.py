"""Building projections anew from records."""

from collections.abc import Callable

from callsheet.audit.report import Progress
from callsheet.errors import NotFound
from callsheet.graph.ids import TenantId
from callsheet.graph.ports import IndexOf, Ledger
from callsheet.graph.values import Value


class Rebuilt(Value):
    """What was built anew."""

    streams: int
    records: int


def rebuild(
    ledger: Ledger,
    *,
    tenant: str | None = None,
    name: str | None = None,
    index: IndexOf | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Rebuilt:
    """Drop the projections of all streams, or of those with a name, and build them anew, each in one transaction.

    With `index` what each record is found by is derived anew too; without it, what is stored of that is kept. A
    conversation and its sheets have the same name. Raises `NotFound` when no stream has it, and `Damaged` for a record
    that cannot be read; then that stream stays as it was.
    """
    streams = ledger.streams(TenantId(tenant) if tenant is not None else None)
    chosen = [stream for stream in streams if name in (None, stream.name)]
    if name is not None and not chosen:
        raise NotFound(f"no conversation {name!r} in this store")
    heads = [ledger.head(stream.key) for stream in chosen]
    sizes = [head.position if head is not None else 0 for head in heads]
    done, total = 0, sum(sizes)
    for stream, size in zip(chosen, sizes, strict=True):
        ledger.rebuild(stream.key, index)
        done += size
        progress(Progress(stream=stream.name, done=done, total=total))
    return Rebuilt(streams=len(chosen), records=total)
