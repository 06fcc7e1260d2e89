"""Compression of blobs and blocks: Zstandard, level 3, where it makes them smaller."""

import sys

from callsheet.errors import Damaged
from callsheet.ledger.crypto.envelope import Compression

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_LEVEL = 3


def compressed(content: bytes) -> tuple[Compression, bytes]:
    """The smaller of the compressed and the plain form."""
    smaller = zstd.compress(content, _LEVEL)
    return (Compression.ZSTD, smaller) if len(smaller) < len(content) else (Compression.NONE, content)


def decompressed(compression: Compression, content: bytes) -> bytes:
    """The content as it was. Raises `Damaged` for bytes that are not of that compression."""
    if compression is Compression.NONE:
        return content
    try:
        return zstd.decompress(content)
    except zstd.ZstdError:
        raise Damaged("stored content does not decompress. Run `callsheet verify`.") from None
