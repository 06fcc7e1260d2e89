"""Where histories stand that clients send again, as a table would keep it."""

from collections.abc import Callable, Sequence

from callsheet.graph.ids import TenantId
from callsheet.graph.prefix import Prefix
from callsheet.graph.record import StreamKey
from callsheet.ledger.memory.tables import MemoryStream, Tables


def put(tables: Tables, tenant: TenantId, scope: str, noted: Sequence[Prefix]) -> None:
    """See `Ledger.put_prefixes`."""
    for one in noted:
        known = tables.streams.get(StreamKey(tenant=tenant, stream=one.stream))
        if known is not None and _stands(known, one):
            tables.prefixes.setdefault((tenant, scope, one.mark), {})[one.stream, one.branch] = one


def prefixes(tables: Tables, tenant: TenantId, scope: str, marks: Sequence[bytes]) -> list[Prefix]:
    """See `Ledger.prefixes`."""
    found = [one for mark in dict.fromkeys(marks) for one in tables.prefixes.get((tenant, scope, mark), {}).values()]
    return sorted(found, key=lambda one: (one.mark, one.stream, one.position))


def drop_from(tables: Tables, key: StreamKey, position: int) -> None:
    """Forget what ends at a position of a stream or behind it."""
    _keep(tables, key, lambda one: one.position < position)


def drop_stray(tables: Tables, known: MemoryStream) -> None:
    """Forget what ends at a record that is not there or has no body."""
    _keep(tables, known.stream.key, lambda one: _stands(known, one))


def _keep(tables: Tables, key: StreamKey, kept: Callable[[Prefix], bool]) -> None:
    for place, noted in list(tables.prefixes.items()):
        if place[0] != key.tenant:
            continue
        left = {at: one for at, one in noted.items() if one.stream != key.stream or kept(one)}
        if left:
            tables.prefixes[place] = left
        else:
            del tables.prefixes[place]


def _stands(known: MemoryStream, one: Prefix) -> bool:
    found = known.graph.records(after=one.position - 1, upto=one.position)
    return any(record.id == one.record and record.branch == one.branch and record.body is not None for record in found)
