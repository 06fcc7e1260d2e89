"""JSON text of what a sender's objects hold beside their neutral content. It loses nothing that Python can hold."""

import json
from collections.abc import Mapping

from callsheet.errors import InvalidMessage
from callsheet.wire.cleaning import escape_surrogates
from callsheet.wire.reading import plain, refuse

NESTING_LIMIT = 128
"""Deepest nesting of objects and lists inside a message. Far beyond real use, far within what JSON parsers take."""


def _sdk_object(value: object) -> object:
    found = plain(value)
    if found is value:
        raise TypeError(f"{type(value).__name__} is not JSON")
    return found


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_sdk_object)


def encode(value: object, where: str) -> str:
    """Compact JSON in the order of its keys. NaN stays ``NaN``; only lone surrogates are escaped.

    Refuses what JSON has no form for, and what is nested deeper than `NESTING_LIMIT`.
    """
    try:
        text = _ENCODER.encode(value)
    except (TypeError, ValueError) as error:
        raise InvalidMessage(f"cannot be written as JSON ({error})", where=where) from error
    except RecursionError:
        text = ""
    if not text or (text.count("[") + text.count("{") > NESTING_LIMIT and nested_too_deep(value)):
        refuse(f"must be nested at most {NESTING_LIMIT} deep", value, where)
    return escape_surrogates(text)


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


def nested_too_deep(value: object) -> bool:
    """Whether objects and lists are nested deeper than `NESTING_LIMIT`."""
    level: list[object] = [value]
    for _ in range(NESTING_LIMIT + 1):
        containers = [item for item in map(plain, level) if isinstance(item, dict | list | tuple)]
        if not containers:
            return False
        level = [child for item in containers for child in (item.values() if isinstance(item, dict) else item)]
    return True
