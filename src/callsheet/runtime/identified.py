"""Conversations by their ids, as requests, rows of lists and lines of logs name them."""

from callsheet.graph.ids import StreamId, TenantId
from callsheet.graph.nodes import Conversation
from callsheet.graph.ports import Ledger
from callsheet.graph.record import StreamKey


def name_of(ledger: Ledger, tenant: TenantId, id: StreamId) -> str | None:
    """The name of the conversation with this id; None: there is none."""
    records = ledger.records(StreamKey(tenant=tenant, stream=id), limit=1)
    names = [record.body.name for record in records if isinstance(record.body, Conversation)]
    return names[0] if names else None
