"""What background work stands on: one tenant's part of an open store, and what the runtime was opened with."""

from dataclasses import dataclass, field

from callsheet.errors import Damaged, NotFound
from callsheet.graph.enums import StreamKind
from callsheet.graph.ids import StreamId, TenantId
from callsheet.graph.ports import Clock, Embedder, Ids, Ledger, Owner, Summariser
from callsheet.graph.record import Stream, StreamKey
from callsheet.policy.sets import BALANCED, PolicySetDocument
from callsheet.runtime.documenting.library import Library
from callsheet.runtime.session import Session


@dataclass(frozen=True, kw_only=True)
class Workshop:
    """One tenant's part of an open store, and what its works were given to work with."""

    ledger: Ledger
    tenant: TenantId
    ids: Ids
    clock: Clock
    #: Seconds without a turn after which a conversation is put away; None: none ever is.
    idle: float | None = None
    #: Makes vectors; None: there are none.
    embedder: Embedder | None = None
    #: By which the embedder is given texts, where it runs elsewhere.
    policy: PolicySetDocument = BALANCED
    #: Summarises; None: extracts are all there is.
    summariser: Summariser | None = None
    _known: dict[StreamId, Stream] = field(default_factory=dict, repr=False)

    def conversations(self) -> list[Stream]:
        """The conversations, in the order in which they began."""
        return self.ledger.streams(self.tenant, StreamKind.CONVERSATION)

    def session(self, key: StreamKey) -> Session:
        """Open the conversation that a unit of work belongs to. Raises `NotFound`."""
        conversation = self._stream(key)
        sheets = self.ledger.stream(self.tenant, StreamKind.SHEETS, conversation.name)
        if sheets is None:
            raise Damaged(f"conversation {conversation.name!r} has no stream for its sheets. Run callsheet verify.")
        return Session(
            ledger=self.ledger,
            ids=self.ids,
            clock=self.clock,
            owner=Owner(tenant=self.tenant, user=conversation.user),
            conversation=conversation,
            sheets=sheets,
            library=Library.of(self.ledger, self.tenant),
        )

    def _stream(self, key: StreamKey) -> Stream:
        if key.stream not in self._known:
            self._known.update((stream.id, stream) for stream in self.conversations())
        found = self._known.get(key.stream)
        if found is None or found.key != key:
            raise NotFound(f"no conversation {key.stream!r} of this tenant")
        return found
