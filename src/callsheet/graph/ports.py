"""What the rooms ask of the outside world, as protocols: a store, a source of ids and time, a token counter.

The pure rooms and the runtime know these alone; `callsheet.ledger` and `callsheet.wire` provide them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, TypeAlias

from callsheet.graph.assisting import (
    Condition,
    Conditions,
    Elsewhere,
    Embedder,
    Flaw,
    NamedTable,
    NearestVectors,
    Pruner,
    Queried,
    QueryLimits,
    QueryRefusal,
    Reranker,
    Summariser,
    TableQueries,
)
from callsheet.graph.enums import StreamKind
from callsheet.graph.ids import RecordId, StreamId, TenantId, UserId
from callsheet.graph.index import Index, Match, MatchQuery, Posting, PostingQuery, VectorQuery, VectorRow
from callsheet.graph.prefix import Prefix
from callsheet.graph.query import AroundQuery, LinkQuery, LinkRow, NodeQuery, Projection, Sides, StateQuery, StateRow
from callsheet.graph.record import Draft, Findable, Head, Record, Stream, StreamKey
from callsheet.graph.times import Instant
from callsheet.graph.values import Digest, Payload, Value, Vector

__all__ = [
    "Append",
    "Clock",
    "Condition",
    "Conditions",
    "Elsewhere",
    "Embedder",
    "Flaw",
    "Ids",
    "IndexOf",
    "Ledger",
    "NamedTable",
    "NearestVectors",
    "Owner",
    "Pruner",
    "Queried",
    "QueryLimits",
    "QueryRefusal",
    "Reranker",
    "Signer",
    "StoredRecord",
    "Summariser",
    "TableQueries",
    "TokenCounter",
]


class Owner(Value):
    """Whose bytes they are: the scope within which equal bytes are kept once and a key is destroyed at erasure."""

    tenant: TenantId
    #: None: the tenant's own.
    user: UserId | None = None


class Append(Value):
    """Records to put at the end of one stream."""

    #: Created when it does not exist yet.
    stream: Stream
    drafts: tuple[Draft, ...]
    #: The position that the stream must be at; None: wherever it is.
    expect: int | None = None
    #: Rendered blocks that the records name, by address; those already there stay as they are.
    blocks: Mapping[str, bytes] = {}
    #: Not durable: a power cut may take it back, as long as no durable append came after it. A crash does not.
    durable: bool = True


class StoredRecord(Value):
    """A record as it lies in the store, for checking: nothing decoded, nothing trusted."""

    position: int
    header: bytes
    chain: Digest
    #: None: erased, or gone.
    nonce: bytes | None
    body: bytes | None


IndexOf: TypeAlias = Callable[[Record], Index | None]
"""What a record is found by. It may read the store that asks, and must not write to it."""


class Ledger(Protocol):
    """A store of streams. All methods may be called from any thread.

    `append` is one transaction: every record with its projections, or nothing. Everything asked by tenant answers
    for another tenant's things exactly as for things that do not exist.
    """

    def append(self, appends: Sequence[Append]) -> list[Record]:
        """Put records at the end of their streams, all or none, and return them in order.

        Raises `PositionConflict`, `StoreBusy`, `StoreFull`, `StoreClosed`, and `InputError` for a record id or a
        stream name that exists already.
        """
        ...

    def stream(self, tenant: TenantId, kind: StreamKind, name: str) -> Stream | None:
        """The stream with this name."""
        ...

    def streams(self, tenant: TenantId | None = None, kind: StreamKind | None = None) -> list[Stream]:
        """All streams, in order of creation; None: of every tenant or kind."""
        ...

    def head(self, key: StreamKey) -> Head | None:
        """The newest position with its chain and signature."""
        ...

    def records(
        self, key: StreamKey, *, after: int = 0, upto: int | None = None, limit: int | None = None
    ) -> list[Record]:
        """Records with ``after < position <= upto``, ascending, at most `limit`."""
        ...

    def get(self, key: StreamKey, ids: Sequence[RecordId]) -> list[Record]:
        """The records of one stream with these ids, in the order asked; unknown ones are left out."""
        ...

    def find(self, tenant: TenantId, id: RecordId) -> tuple[Stream, Record] | None:
        """The record with this id, in whichever stream of the tenant; None for an id that repeats over streams."""
        ...

    def nodes(self, key: StreamKey, query: NodeQuery) -> list[Record]:
        """See `NodeQuery`."""
        ...

    def around(self, key: StreamKey, query: AroundQuery) -> dict[int, Sides]:
        """See `AroundQuery`. What is nearest to each of the positions, without reading it."""
        ...

    def states(self, key: StreamKey, query: StateQuery) -> list[StateRow]:
        """See `StateQuery`. Unset values are left out; ordered by target."""
        ...

    def links(self, key: StreamKey, query: LinkQuery) -> list[LinkRow]:
        """See `LinkQuery`. Ordered by position, source, target."""
        ...

    def postings(self, key: StreamKey, query: PostingQuery) -> list[Posting]:
        """See `PostingQuery`."""
        ...

    def matches(self, key: StreamKey, query: MatchQuery) -> list[Match]:
        """See `MatchQuery`. Takes time in proportion to how often the words occur, a small part of a µs each."""
        ...

    def indexed(self, key: StreamKey, positions: Sequence[int]) -> dict[int, Index]:
        """The indexes of the records at these positions; those without one, or erased, are left out."""
        ...

    def findable(self, key: StreamKey, positions: Sequence[int]) -> list[Findable]:
        """The records at these positions with what they are found by, ascending, each once.

        Positions at which there is no record are left out.
        """
        ...

    def put_vectors(self, key: StreamKey, index: str, vectors: Mapping[int, Vector]) -> int:
        """Keep a vector for each of these positions, all or none; how many were kept.

        Of several writers the first wins: a position that has a vector keeps it, for what was found by it must be found
        again, and two machines need not make the same bytes. Those of positions at which there is no record, or none
        with a body, are left out too. They are not part of `projection`: nothing in a store can make them anew, whoever
        has the embedder can.
        """
        ...

    def vectors(self, key: StreamKey, query: VectorQuery) -> list[VectorRow]:
        """See `VectorQuery`. Ascending by position. Raises `Damaged`."""
        ...

    def without_vectors(self, key: StreamKey, index: str, query: NodeQuery) -> list[Record]:
        """The first of these records that have a body and no vector in an index, ascending.

        Of the query kinds, `after`, `before` and `limit` count; records of every branch are told.
        """
        ...

    def drop_vectors(self, key: StreamKey, index: str) -> None:
        """Forget all vectors of one index of a stream."""
        ...

    def put_prefixes(self, tenant: TenantId, scope: str, prefixes: Sequence[Prefix]) -> None:
        """Note where histories stand, in place of what was noted for the same mark on the same branch; all or none.

        Those whose record is not there, or has no body, are left out. Not durable: a power cut may take them back.
        They are not part of `projection`: nothing in a store can make them anew.
        """
        ...

    def prefixes(self, tenant: TenantId, scope: str, marks: Sequence[bytes]) -> list[Prefix]:
        """Where the histories with these marks stand, ascending by mark, stream and position."""
        ...

    def take_prefixes(self, tenant: TenantId, scope: str, mark: bytes) -> list[Prefix]:
        """The same for one mark, forgotten as they are told: of several that ask, one alone is told."""
        ...

    def stash(self, owner: Owner, content: bytes, *, digest: bool = False) -> Payload:
        """Make content ready to be named by a record: small stays inline, large is in the blob store when this returns.

        A blob that no record names within its lease is removed by garbage collection. With `digest` the plain
        hash is set for inline content too.
        """
        ...

    def fetch(self, owner: Owner, payload: Payload, start: int = 0, stop: int | None = None) -> bytes:
        """The bytes of a payload, or a range of them.

        Raises `Damaged` when they are not what was stored, `BodyErased` when they were erased.
        """
        ...

    def address(self, owner: Owner, content: bytes) -> str:
        """The address of content within its owner's scope: a keyed hash, so nobody can tell equal content of two."""
        ...

    def blocks(self, owner: Owner, addresses: Sequence[str]) -> list[bytes]:
        """Rendered blocks by address, in the order asked. Raises `Damaged` for one that is missing or altered."""
        ...

    def stored(self, key: StreamKey, *, after: int = 0) -> Iterator[StoredRecord]:
        """The stream as it lies in the store, ascending, for checking."""
        ...

    def projection(self, key: StreamKey) -> Projection:
        """All projection rows of a stream, in the order of `Graph.projection`."""
        ...

    def rebuild(self, key: StreamKey, index: IndexOf | None = None) -> None:
        """Drop the projections of a stream and build them anew from its records, in one transaction.

        With `index` each record that has a body is indexed anew; without it the indexes that are stored stay, and
        what is searched is built from them.
        """
        ...

    def erased(self, key: StreamKey, ids: Sequence[RecordId]) -> frozenset[RecordId]:
        """Those of these records whose bodies are gone, without reading the others; unknown ones are left out."""
        ...

    def erase_blocks(self, owner: Owner, addresses: Sequence[str]) -> None:
        """Remove rendered blocks for good; those that are not there are passed over. See `erase_bodies`."""
        ...

    def erase_bodies(self, key: StreamKey, positions: Sequence[int]) -> None:
        """Remove bodies, nonces, indexes and vectors for good, and the prefixes that end at one of them or behind it.

        The caller records an `Erased` first; see `callsheet.audit`.
        """
        ...

    def close(self) -> None:
        """Release files and connections. Using the store afterwards raises `StoreClosed`; closing twice is fine."""
        ...


class Ids(Protocol):
    """Where ids and nonces come from: random in real use, a sequence in tests."""

    def record(self, kind: str) -> RecordId:
        """A new record id for a record of this kind."""
        ...

    def stream(self) -> StreamId: ...

    def nonce(self) -> bytes: ...


class Clock(Protocol):
    """Where the time comes from: the system in real use, fixed in tests."""

    def now(self) -> Instant: ...


class Signer(Protocol):
    """Signs heads with a key that is not in the store."""

    @property
    def name(self) -> str:
        """Names the key and its algorithm, such as ``hmac-sha256:prod-1``."""
        ...

    def sign(self, message: bytes) -> bytes: ...

    def verify(self, message: bytes, signature: bytes) -> bool: ...


class TokenCounter(Protocol):
    """Counts tokens as one model would, exactly or as a marked estimate."""

    @property
    def name(self) -> str:
        """Stable, part of the pins."""
        ...

    @property
    def encoding(self) -> str:
        """The encoding that it counts in, such as ``o200k_base``."""
        ...

    @property
    def exact(self) -> bool: ...

    def count(self, text: str) -> int:
        """Tokens of a text, without margin."""
        ...

    def converted(self, tokens: int) -> int:
        """The count of a text that has so many tokens in `encoding`: lets stored counts serve without the text."""
        ...

    def count_picture(self, *, width: int | None = None, height: int | None = None, low_detail: bool = False) -> int:
        """Estimated tokens of a picture by its size in pixels."""
        ...

    def bounded(self, tokens: int) -> int:
        """The count with the margin of its estimate on top; the count itself where it is exact."""
        ...
