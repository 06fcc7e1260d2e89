"""What the records of a store are found by, derived from the store alone: as recording did it, for a rebuild."""

from collections.abc import Callable
from functools import partial

from callsheet.assemble.sizes import RECORDED_IN
from callsheet.errors import BodyErased, Damaged
from callsheet.graph.index import Index
from callsheet.graph.nodes import KnowledgeChunk, ToolArtifact, ToolCall
from callsheet.graph.ports import IndexOf, Ledger, Owner
from callsheet.graph.record import Record, StreamKey
from callsheet.ledger.prepare import owner_of
from callsheet.runtime.documenting.indexing import index_stored
from callsheet.runtime.documenting.texts import Texts
from callsheet.runtime.indexing import Indexing
from callsheet.runtime.redacting import redaction_of


def index_of(ledger: Ledger) -> IndexOf:
    """Derives what each record of a store is found by from its content. For `rebuild` and `verify`.

    Of a record whose content cannot be read what is stored of that stays as it is: `verify` tells of the content.
    """
    owners = {stream.key: owner_of(stream) for stream in ledger.streams()}
    count = _counting()
    texts: dict[Owner, Texts] = {}

    def index(record: Record) -> Index | None:
        key = StreamKey(tenant=record.header.tenant, stream=record.header.stream)
        if record.body is None:
            return None
        try:
            if isinstance(record.body, KnowledgeChunk):
                reading = texts.setdefault(owners[key], Texts(ledger=ledger, owner=owners[key]))
                return index_stored(key, record.body, reading)
            return _derived(ledger, key, owners[key], record, count)
        except (Damaged, BodyErased):
            return ledger.indexed(key, [record.position]).get(record.position)

    return index


def _derived(ledger: Ledger, key: StreamKey, owner: Owner, record: Record, count: Callable[[str], int]) -> Index | None:
    body = record.body
    assert body is not None
    call = body.call if isinstance(body, ToolArtifact) else None
    found = ledger.get(key, (call,)) if call is not None else []
    asked = found[0].body if found else None
    made = Indexing(read=partial(ledger.fetch, owner), count=count, redaction=redaction_of(key))
    return made.of(body, asked if isinstance(asked, ToolCall) else None)


def _counting() -> Callable[[str], int]:
    """Counts as recording does."""
    from callsheet.wire.cleaning import clean
    from callsheet.wire.tokens import count

    return lambda text: count(clean(text), RECORDED_IN)
