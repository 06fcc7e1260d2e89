"""The canonical form of our own fields, and the hashes over it. This module is a contract: stored hashes depend on it.

Canonical form: JSON with sorted keys, no white space, UTF-8, fields at their default left out, no NaN or infinity.
Only our own fields are ever canonicalised. What came from outside is bytes and is hashed as those bytes, because
JSON libraries turn NaN into null, fold duplicate keys and refuse lone surrogates.

Hashes are SHA-256 with a domain tag and length-prefixed parts, so that no two uses and no two splits of the same
bytes give the same hash, and are written with the algorithm's name, so that a later one can stand beside them.
"""

import hashlib
import math
import struct

import msgspec

from callsheet.graph.values import Digest

_DOMAIN = b"callsheet/1/"
_length = struct.Struct(">Q").pack


def canonical(value: msgspec.Struct) -> bytes:
    """The canonical bytes of one of our own values. Raises `ValueError` for a number that JSON cannot hold."""
    encoded = msgspec.json.encode(value, order="sorted")
    if b"null" in encoded:
        _refuse_lost_numbers(value)
    return encoded


def _refuse_lost_numbers(value: object) -> None:
    # msgspec writes NaN and infinity as null; two different values would then share a hash.
    for found in msgspec.structs.asdict(value).values() if isinstance(value, msgspec.Struct) else (value,):
        if isinstance(found, float) and not math.isfinite(found):
            raise ValueError(f"{found!r} has no canonical form")
        if isinstance(found, msgspec.Struct):
            _refuse_lost_numbers(found)


def tagged_digest(tag: str, *parts: bytes) -> Digest:
    """SHA-256 over a domain tag and the parts, each with its length before it."""
    pieces = [_DOMAIN, tag.encode(), b"\0"]
    for part in parts:
        pieces += (_length(len(part)), part)
    return "sha256:" + hashlib.sha256(b"".join(pieces)).hexdigest()


def content_digest(content: bytes) -> Digest:
    """Plain SHA-256 of bytes from outside: what ``sha256sum`` prints, so that anybody can check it."""
    return "sha256:" + hashlib.sha256(content).hexdigest()
