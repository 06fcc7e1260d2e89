"""What a store in tables tells a verification beside what every `Ledger` can: its rows as they are, trusting none."""

from typing import Protocol, runtime_checkable

from callsheet.graph.ids import TenantId, UserId
from callsheet.graph.record import Stream, StreamKey
from callsheet.graph.values import Value


class UnreadableStream(Value):
    """A row of a stream that says what no stream can be."""

    key: StreamKey
    name: str
    #: What is wrong, as a sentence.
    text: str


class Catalogue(Value):
    """Every stream that there is a trace of, as of one moment."""

    #: In order of creation.
    streams: tuple[Stream, ...]
    unreadable: tuple[UnreadableStream, ...]
    #: Streams of which there are records or projections but no row.
    lost: tuple[StreamKey, ...]


class BlobName(Value):
    """That a record names a blob, and the sizes that are kept with the blob; None: the blob has no row."""

    user: UserId | None
    address: str
    position: int
    size: int | None
    stored: int | None


class Filing(Value):
    """What makes the records of a stream found and keeps their blobs, beyond what `Projection` says."""

    #: Positions of records and links that stand where a search does not look for them.
    misfiled: tuple[int, ...]
    blobs: tuple[BlobName, ...]


class SchemaFlaw(Value):
    """A difference between the tables, indexes and triggers of a store and those that it was made with."""

    #: What is wrong, as a sentence.
    text: str
    #: Whether reading must fail for it.
    fatal: bool


@runtime_checkable
class Inspectable(Protocol):
    """A store whose rows can be changed behind its back."""

    def schema_flaws(self) -> list[SchemaFlaw]:
        """How the schema differs from the one of this release."""
        ...

    def catalogue(self, tenant: TenantId | None) -> Catalogue:
        """The streams of a tenant, or of all."""
        ...

    def filing(self, key: StreamKey) -> Filing:
        """How the records of a stream are filed."""
        ...

    def blob_size(self, address: str) -> int | None:
        """Number of bytes that lie in the blob store under an address; None: nothing is there."""
        ...
