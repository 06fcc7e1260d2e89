"""JSON text of what a sender's objects hold beside their neutral content. It loses nothing that Python can hold."""

import json
from collections.abc import Mapping

from callsheet.errors import InvalidMessage
from callsheet.wire.cleaning import escape_surrogates
from callsheet.wire.jsonvalue import json_value

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def encode(value: object, where: str) -> str:
    """Compact JSON in the order of its keys. NaN stays ``NaN``; only lone surrogates are escaped.

    Refuses what `json_value` refuses.
    """
    plain = json_value(value, where)
    try:
        return escape_surrogates(_ENCODER.encode(plain))
    except ValueError as error:  # a number with more digits than Python writes
        raise InvalidMessage(f"cannot be written as JSON ({error})", where=where) from error


def encode_bytes(value: object, where: str) -> bytes:
    """The same as UTF-8."""
    return encode(value, where).encode()


def extras(left: Mapping[str, object], where: str) -> bytes:
    """What is left of an object after its neutral content was taken; empty when nothing is."""
    return encode_bytes(left, where) if left else b""


def decode_object(raw: bytes) -> dict[str, object]:
    """The object that `encode` wrote; empty for nothing."""
    found = json.loads(raw) if raw else {}
    assert isinstance(found, dict), "written by encode from an object"
    return found


def own_extras(extras: bytes, came: str, wire: str) -> dict[str, object]:
    """The extras of something that came in the format `came`, where `wire` is written: nothing for another format."""
    return decode_object(extras) if extras and came == wire else {}
