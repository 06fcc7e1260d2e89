"""What a database would keep in tables: streams with their rows, names, places, keys, blocks, blobs."""

from dataclasses import dataclass, field

from callsheet.graph.enums import StreamKind
from callsheet.graph.graph import Graph
from callsheet.graph.ids import RecordId, StreamId, TenantId
from callsheet.graph.ports import Owner
from callsheet.graph.prefix import Prefix
from callsheet.graph.record import Head, Stream, StreamKey
from callsheet.graph.times import Instant
from callsheet.ledger.decode import StoredRow
from callsheet.ledger.keyring import KeyRow


@dataclass(slots=True)
class MemoryStream:
    """A stream: the graph that answers, beside the sealed rows that can be checked."""

    stream: Stream
    head: Head
    rows: list[StoredRow] = field(default_factory=list)
    graph: Graph = field(default_factory=Graph)
    #: Sealed, by index and position.
    vectors: dict[str, dict[int, bytes]] = field(default_factory=dict)


@dataclass(slots=True)
class BlobRow:
    """One blob: the lease it came with, and the records that name it."""

    size: int
    stored: int
    lease_until: Instant
    named_by: set[tuple[StreamKey, int]] = field(default_factory=set)


@dataclass(slots=True)
class Tables:
    """Everything that is kept. The tenant is part of every key."""

    #: In order of creation.
    streams: dict[StreamKey, MemoryStream] = field(default_factory=dict)
    names: dict[tuple[TenantId, StreamKind, str], StreamKey] = field(default_factory=dict)
    #: Where the records are whose ids are unique in their tenant.
    places: dict[tuple[TenantId, RecordId], StreamKey] = field(default_factory=dict)
    keys: dict[Owner, KeyRow] = field(default_factory=dict)
    blocks: dict[tuple[Owner, str], bytes] = field(default_factory=dict)
    blobs: dict[tuple[Owner, str], BlobRow] = field(default_factory=dict)
    #: Where histories stand, by scope and mark, then by stream and branch.
    prefixes: dict[tuple[TenantId, str, bytes], dict[tuple[StreamId, RecordId], Prefix]] = field(default_factory=dict)

    def graph(self, key: StreamKey) -> Graph:
        """The graph of a stream; an empty one for a stream that does not exist."""
        known = self.streams.get(key)
        return known.graph if known is not None else Graph()

    def unname(self, key: StreamKey, position: int) -> None:
        """Take away the names that a record gives; a blob that nobody else names goes at once, lease or not."""
        for at, row in list(self.blobs.items()):
            if (key, position) in row.named_by:
                row.named_by.discard((key, position))
                if not row.named_by:
                    del self.blobs[at]

    def expire(self, now: Instant) -> None:
        """Drop blobs that no record names and no lease holds."""
        for at, row in list(self.blobs.items()):
            if not row.named_by and row.lease_until < now:
                del self.blobs[at]
