"""Blobs in memory."""

from collections.abc import Iterator


class MemoryBlobs:
    """A `BlobStore` that lasts as long as its process."""

    def __init__(self) -> None:
        self._sealed: dict[str, bytes] = {}

    def put(self, address: str, sealed: bytes) -> None:
        self._sealed.setdefault(address, sealed)

    def get(self, address: str, start: int = 0, stop: int | None = None) -> bytes:
        return self._sealed[address][start:stop]

    def size(self, address: str) -> int | None:
        sealed = self._sealed.get(address)
        return None if sealed is None else len(sealed)

    def delete(self, address: str) -> None:
        self._sealed.pop(address, None)

    def addresses(self) -> Iterator[str]:
        return iter(tuple(self._sealed))

    def sweep(self, before: int) -> None:
        """Nothing is ever half-written here."""
