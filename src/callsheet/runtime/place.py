"""Where the sheets of a conversation are read from and written to."""

from dataclasses import dataclass

from callsheet.graph.ports import Ids, Ledger, Owner
from callsheet.graph.record import Stream
from callsheet.graph.values import Payload
from callsheet.runtime.redacting import Redacting


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where sheets are read from and written to."""

    ledger: Ledger
    ids: Ids
    owner: Owner
    conversation: Stream
    sheets: Stream
    #: Reads content as it may be shown.
    redacting: Redacting

    def read(self, payload: Payload) -> bytes:
        """The bytes of a payload, wherever they lie."""
        return payload.inline if payload.inline is not None else self.ledger.fetch(self.owner, payload)
