"""All requests of a stream in full, one after another, for what looks through the whole past."""

from collections.abc import Iterator, Mapping

from callsheet.assemble.delta import Whole, whole
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ContextAssembly
from callsheet.graph.ports import Ledger
from callsheet.graph.record import StreamKey

_AT_A_TIME = 256
"""Records read at once, and requests that are kept at hand because the next ones may extend them."""


def every_sheet(ledger: Ledger, key: StreamKey) -> Iterator[Whole]:
    """The requests of a stream, oldest first. Where one that a request extends is gone, as much as is stored of it."""
    known: dict[RecordId, Whole] = {}
    after = 0
    while records := ledger.records(key, after=after, limit=_AT_A_TIME):
        for record in records:
            body = record.body
            if not isinstance(body, ContextAssembly):
                continue
            made = known[record.id] = _whole(ledger, key, record.id, body, known)
            while len(known) > _AT_A_TIME:
                del known[next(iter(known))]
            yield made
        after = records[-1].position


def _whole(
    ledger: Ledger, key: StreamKey, id: RecordId, body: ContextAssembly, known: Mapping[RecordId, Whole]
) -> Whole:
    chain = [(id, body)]
    while (base := chain[-1][1].base) is not None and base not in known:
        found = ledger.get(key, (base,))
        if not found or not isinstance(found[0].body, ContextAssembly):
            break
        chain.append((base, found[0].body))
    made = known.get(base) if base is not None else None
    for each, sheet in reversed(chain):
        made = whole(each, sheet, made)
    assert made is not None
    return made
