"""What a ledger asks of a store of blobs."""

from collections.abc import Iterator
from typing import Protocol


class BlobStore(Protocol):
    """Sealed bytes by address. May be called from any thread and any process."""

    def put(self, address: str, sealed: bytes) -> None:
        """Keep bytes under an address, durably when this returns. What is there already stays as it is.

        Raises `StoreFull`.
        """
        ...

    def get(self, address: str, start: int = 0, stop: int | None = None) -> bytes:
        """The bytes, or a range of them. Raises `KeyError` when there are none."""
        ...

    def size(self, address: str) -> int | None:
        """Number of bytes; None: nothing is there."""
        ...

    def delete(self, address: str) -> None:
        """Remove bytes; removing what is not there is fine."""
        ...

    def addresses(self) -> Iterator[str]:
        """Every address, in no order."""
        ...

    def sweep(self, before: int) -> None:
        """Remove what a crash left half-written before this moment, in microseconds since the epoch."""
        ...
