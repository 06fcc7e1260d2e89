"""Bodies that are packed for the way: undone in bounded memory, whatever they claim to be."""

import sys
import zlib
from collections.abc import Callable, Iterator, Mapping

from callsheet.serve.proxy.turned import Turned
from callsheet.wire.failure import Failure

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PIECE = 65_536
"""Bytes that are unpacked at a time."""

_MOST_LAYERS = 3
"""Ways of packing, one in another, that are undone."""


def too_large(limit: int) -> Turned:
    """What answers a body that is larger than this."""
    return Turned(413, Failure.TOO_LARGE, f"the body of the request is larger than {limit:,} bytes")


def unpacked(raw: bytes, encoding: str, limit: int) -> bytes:
    """A body without its packing (``gzip``, ``deflate``, ``zstd``, or several). Raises `Turned`.

    Never unpacks more than a body may have, however small it came.
    """
    layers = [name.strip().lower() for name in encoding.split(",") if name.strip()]
    layers = [name for name in layers if name != "identity"]
    if len(layers) > _MOST_LAYERS:
        raise Turned(400, Failure.INVALID, f"content-encoding names more than {_MOST_LAYERS} ways of packing")
    for name in reversed(layers):
        raw = _unpacked(raw, name, limit)
    return raw


def _unpacked(raw: bytes, name: str, limit: int) -> bytes:
    made = _UNPACKERS.get(name)
    if made is None:
        known = ", ".join(_UNPACKERS)
        raise Turned(415, Failure.INVALID, f"content-encoding is {name[:40]!r}; understood are: {known}")
    found = bytearray()
    try:
        for piece in made(raw):
            found += piece
            if len(found) > limit:
                raise too_large(limit)
    except (zlib.error, EOFError, zstd.ZstdError):
        raise Turned(400, Failure.INVALID, f"the body of the request is not {name}, as content-encoding says") from None
    return bytes(found)


def _inflated(bits: int) -> Callable[[bytes], Iterator[bytes]]:
    def pieces(raw: bytes) -> Iterator[bytes]:
        unpacker = zlib.decompressobj(bits)
        for piece in _cut(raw):
            rest = piece
            while rest:
                if unpacker.eof:  # several members may stand behind each other
                    unpacker = zlib.decompressobj(bits)
                yield unpacker.decompress(rest, PIECE)
                rest = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
        while not unpacker.eof:
            # What it still holds back; nothing more comes, so it ends or it was cut.
            left = unpacker.decompress(b"", PIECE)
            if not left:
                raise EOFError
            yield left

    return pieces


def _deflated(raw: bytes) -> Iterator[bytes]:
    # What the name means was never agreed on: with a header, as the standard says, or without.
    headed = len(raw) >= 2 and raw[0] & 0x0F == 8 and int.from_bytes(raw[:2], "big") % 31 == 0
    return _inflated(zlib.MAX_WBITS if headed else -zlib.MAX_WBITS)(raw)


def _zstd(raw: bytes) -> Iterator[bytes]:
    unpacker = zstd.ZstdDecompressor()
    for piece in _cut(raw):
        rest = piece
        while rest or not (unpacker.eof or unpacker.needs_input):
            if unpacker.eof:
                unpacker = zstd.ZstdDecompressor()
            yield unpacker.decompress(rest, PIECE)
            rest = unpacker.unused_data if unpacker.eof else b""
    if not unpacker.eof:
        raise EOFError


def _cut(raw: bytes) -> Iterator[bytes]:
    """In pieces, so that what is not unpacked yet is never copied often."""
    for begin in range(0, len(raw), PIECE):
        yield raw[begin : begin + PIECE]


_UNPACKERS: Mapping[str, Callable[[bytes], Iterator[bytes]]] = {
    "gzip": _inflated(zlib.MAX_WBITS | 16),
    "x-gzip": _inflated(zlib.MAX_WBITS | 16),
    "deflate": _deflated,
    "zstd": _zstd,
}
