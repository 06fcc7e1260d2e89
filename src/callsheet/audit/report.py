"""What a verification says: counts, heads, and findings that programs can tell apart."""

from enum import StrEnum

from callsheet.graph.enums import StreamKind
from callsheet.graph.ids import StreamId, TenantId
from callsheet.graph.record import Head, Stream
from callsheet.graph.values import Value

LISTED = 1000
"""Findings that a report lists; beyond these they are only counted."""


class FindingKind(StrEnum):
    """What is wrong."""

    #: Records are missing between others, or out of order.
    POSITION = "position"
    #: A header cannot be read, is not in canonical form, or belongs elsewhere.
    HEADER = "header"
    #: A record does not continue the chain of those before it.
    CHAIN = "chain"
    #: A body is not the one that its header is bound to.
    BODY = "body"
    #: A body cannot be opened or decoded.
    UNREADABLE = "unreadable"
    #: A body is gone and no erasure record names it.
    MISSING_BODY = "missing_body"
    #: Large content that a record names is missing or altered.
    BLOB = "blob"
    #: A rendered block that a sheet names is missing or altered.
    BLOCK = "block"
    #: The head does not stand at the last record.
    HEAD = "head"
    #: The signature of a head is missing, of another key, or wrong.
    SIGNATURE = "signature"
    #: What can be queried differs from what the records say.
    PROJECTION = "projection"
    #: A stream goes by another name, owner or kind than its records or its conversation say, or has lost its row.
    STREAM = "stream"
    #: Tables, indexes or triggers of the store are not those that it was made with.
    SCHEMA = "schema"
    #: An expected stream does not exist.
    GONE = "gone"
    #: A stream ends before the position that it was known to have reached.
    CUT = "cut"
    #: A stream has another history than it was known to have.
    REPLACED = "replaced"


class Finding(Value):
    """One thing that is wrong, and where."""

    kind: FindingKind
    #: Empty, like the stream, for what concerns the store as a whole.
    tenant: TenantId
    stream: StreamId
    #: What people call the stream; empty when it does not exist.
    name: str = ""
    position: int | None = None
    #: What was found, as a sentence.
    text: str

    def __str__(self) -> str:
        if not self.tenant:
            return f"{self.kind}: {self.text}"
        called = f" ({self.name})" if self.name else ""
        place = f" at {self.position}" if self.position is not None else ""
        return f"{self.kind}: {self.tenant}/{self.stream}{called}{place}: {self.text}"


def finding(stream: Stream, kind: FindingKind, text: str, position: int | None = None) -> Finding:
    """A finding in a stream."""
    return Finding(kind=kind, tenant=stream.tenant, stream=stream.id, name=stream.name, position=position, text=text)


class Counts(Value):
    """What was checked."""

    streams: int = 0
    records: int = 0
    #: Bodies that are present.
    bodies: int = 0
    #: Bodies that were erased on purpose.
    erased: int = 0
    blobs: int = 0
    blocks: int = 0
    #: Rendered blocks that were erased on purpose.
    erased_blocks: int = 0
    #: Heads with a signature that was found right.
    signed: int = 0
    #: Heads without a signature: their streams are chained but not signed.
    unsigned: int = 0
    #: Heads with a signature that was not checked, because no key was given.
    unchecked: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        fields = self.__struct_fields__
        return Counts(**{name: getattr(self, name) + getattr(other, name) for name in fields})


class StreamHead(Value):
    """Where a stream stands, with what it is."""

    name: str
    kind: StreamKind
    head: Head


class Report(Value):
    """The outcome of a verification."""

    counts: Counts
    #: Every stream, tenant by tenant in order of creation.
    heads: tuple[StreamHead, ...]
    #: The first `LISTED` findings.
    findings: tuple[Finding, ...]
    #: All findings.
    found: int

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.found == 0


class Progress(Value):
    """How far long work over streams has come, in records."""

    stream: str
    done: int
    total: int
