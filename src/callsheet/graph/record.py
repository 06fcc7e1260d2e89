"""A record: a header that stays, a body that can be erased, and the hash chain that holds the headers together.

    commitment = H("commitment", nonce, body)         nonce and body go together when erased
    chain(0)   = H("genesis", tenant, stream)
    chain(n)   = H("chain", chain(n-1), header(n))    header(n) holds the commitment

A chain can be checked without any body, so erasing a body breaks nothing; a body that is present must match its
commitment, so none can be exchanged. The nonce keeps an erased short body from being guessed from its commitment.
"""

from typing import TypeAlias

from callsheet.graph.canonical import canonical, tagged_digest
from callsheet.graph.changes import Change
from callsheet.graph.enums import Privacy, StreamKind
from callsheet.graph.ids import RecordId, StreamId, TenantId, UserId
from callsheet.graph.index import Index
from callsheet.graph.nodes import Node
from callsheet.graph.times import Instant
from callsheet.graph.values import DEFAULT_PRIVACY, Count, Digest, Scope, Value

Body: TypeAlias = Node | Change

NONCE_BYTES = 16


class StreamKey(Value):
    """One ordered history of one tenant."""

    tenant: TenantId
    stream: StreamId


class Stream(Value):
    """What a stream is and whose."""

    tenant: TenantId
    id: StreamId
    kind: StreamKind
    #: Unique per tenant and kind; what a person calls it.
    name: str
    #: The erasure scope that its content belongs to; None: the tenant's own.
    user: UserId | None = None

    @property
    def key(self) -> StreamKey:
        return StreamKey(tenant=self.tenant, stream=self.id)


class Header(Value):
    """What of a record stays for ever. Holds random ids and classes, nothing that was said."""

    tenant: TenantId
    stream: StreamId
    #: From 1, without gaps.
    position: Count
    id: RecordId
    kind: str
    #: Of the body's form; bodies are brought up to date when read, never rewritten.
    version: Count
    at: Instant
    scope: Scope
    privacy: Privacy = DEFAULT_PRIVACY
    commitment: Digest


class Draft(Value):
    """A record before it has a position. Ids, times and nonces were given in from the edge."""

    id: RecordId
    at: Instant
    body: Body
    nonce: bytes
    scope: Scope = Scope()
    privacy: Privacy = DEFAULT_PRIVACY
    #: What the record is found by; None: by nothing.
    index: Index | None = None


class Record(Value):
    """A record as read back."""

    header: Header
    #: None: erased.
    body: Body | None

    @property
    def id(self) -> RecordId:
        return self.header.id

    @property
    def position(self) -> int:
        return self.header.position

    @property
    def branch(self) -> RecordId | None:
        return self.header.scope.branch


class Findable(Value):
    """A record with what it is found by."""

    record: Record
    #: Its packed index, for `callsheet.graph.index.weighed`; None: it is found by nothing.
    index: bytes | None = None


class Head(Value):
    """The newest position of a stream and the chain up to there; with a signature it proves what was there."""

    tenant: TenantId
    stream: StreamId
    position: Count
    chain: Digest
    #: None: the store has no signing key.
    signature: bytes | None = None
    #: Names the key, never is it.
    signer: str | None = None

    def __str__(self) -> str:
        """``tenant/stream@position:chain``, as ``verify --expect`` takes it."""
        return f"{self.tenant}/{self.stream}@{self.position}:{self.chain}"


def commitment(nonce: bytes, body: bytes) -> Digest:
    """Binds a header to its body without telling anything about the body."""
    return tagged_digest("commitment", nonce, body)


def genesis(key: StreamKey) -> Digest:
    """The chain of an empty stream."""
    return tagged_digest("genesis", key.tenant.encode(), key.stream.encode())


def chained(before: Digest, header: bytes) -> Digest:
    """The chain after one more record."""
    return tagged_digest("chain", before.encode(), header)


def header_bytes(header: Header) -> bytes:
    """The stored and hashed form of a header."""
    return canonical(header)


def signing_input(key: StreamKey, position: int, chain: Digest) -> bytes:
    """What a signature of a head covers."""
    return tagged_digest(
        "head", key.tenant.encode(), key.stream.encode(), str(position).encode(), chain.encode()
    ).encode()
