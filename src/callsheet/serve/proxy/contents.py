"""What a message or a result says, as a digest that is equal in whatever form it comes."""

import json
import math
import re
from collections.abc import Sequence
from hashlib import sha256

import msgspec

from callsheet.assemble.blocks import Answer, Call, Content, Media, Opaque, Part, Said, Text
from callsheet.graph.enums import Role

_KINDS = {role: role.value.encode() for role in Role} | {Role.DEVELOPER: Role.SYSTEM.value.encode()}
"""Clients write one as the other."""

_MOVING = "cache_control"
"""What clients put on the newest parts of a history alone: it moves, and says nothing."""

_FRACTION = re.compile(r"\d[.eE]")
"""Where there may be a number that can be written with and without a point."""


def says(said: Said) -> bool:
    """Whether a message holds anything that counts."""
    for part in said.parts:
        if isinstance(part, Text):
            if part.text and not part.text.isspace():
                return True
        elif isinstance(part, Call | Media) or (isinstance(part, Opaque) and said.role is not Role.ASSISTANT):
            return True
    return False


def turn_digest(said: Sequence[Said]) -> bytes:
    """A digest of messages in a row of one role, at least one.

    Of those of a model, what only its provider can read does not count: clients leave it out.
    """
    role = said[0].role
    parts: Sequence[Part] = said[0].parts if len(said) == 1 else [part for one in said for part in one.parts]
    return _digest(_KINDS[role], parts, opaque=role is not Role.ASSISTANT)


def result_digest(answer: Answer) -> bytes:
    """A digest of a result, whichever call it answers."""
    return _digest(b"result", answer.content, opaque=True)


def result_size(answer: Answer) -> int:
    """How long a result is: characters of text, and bytes of all else."""
    size = 0
    for part in answer.content:
        if isinstance(part, Text):
            size += len(part.text)
        else:
            size += len(part.raw if isinstance(part, Opaque) else _media(part))
    return size


def _digest(kind: bytes, parts: Sequence[Part | Content], *, opaque: bool) -> bytes:
    if len(parts) == 1 and isinstance(part := parts[0], Text):
        text = _bytes(part.text.strip())
        return sha256(b"%d,%d:%b%b" % (len(kind), len(text), kind, text)).digest()
    texts: list[str] = []
    others: list[bytes] = []
    for part in parts:
        if isinstance(part, Text):
            texts.append(part.text)
        elif isinstance(part, Call):
            others += (b"call", _bytes(part.tool), _arguments(part.arguments))
        elif isinstance(part, Media):
            others += (b"media", _media(part))
        elif isinstance(part, Opaque) and opaque:
            others += (b"opaque", _opaque(part.raw))
    return digest_of((kind, _bytes("".join(texts).strip()), *others))


def digest_of(pieces: Sequence[bytes]) -> bytes:
    """A digest of pieces, with the length of each before them, so that no two splits of the same bytes are alike."""
    lengths = ",".join([str(len(piece)) for piece in pieces])
    return sha256(b"".join((lengths.encode(), b":", *pieces))).digest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _media(part: Media) -> bytes:
    if part.data is not None:
        return part.data
    # Neither bytes nor an address: its provider's block names what it keeps.
    return _bytes(part.url) if part.url is not None else _opaque(part.extras)


def _opaque(raw: bytes) -> bytes:
    try:
        value = json.loads(raw.decode("utf-8", "surrogatepass"))
        if isinstance(value, dict):
            value.pop(_MOVING, None)
        return _canonical(value)
    except (ValueError, RecursionError):
        return raw


def _arguments(given: str) -> bytes:
    """Arguments in one spelling: however they were encoded, and as they came where they are no JSON."""
    text = given.strip()
    if not text:
        return b"{}"
    if _FRACTION.search(text) is None:
        try:
            return msgspec.json.encode(msgspec.json.decode(text), order="sorted")
        except (ValueError, RecursionError):  # what is no JSON, or holds half of a character
            pass
    try:
        return _canonical(json.loads(text))
    except (ValueError, RecursionError):
        return _bytes(text)


def _canonical(value: object) -> bytes:
    plain = _plain(value)
    try:
        return msgspec.json.encode(plain, order="sorted")
    except (ValueError, OverflowError):  # half of a character
        return json.dumps(plain, sort_keys=True).encode("ascii")


def _plain(value: object) -> object:
    """Whole numbers without a point: programs write them with and without. Raises `ValueError` for infinite ones."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("no JSON")
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value
