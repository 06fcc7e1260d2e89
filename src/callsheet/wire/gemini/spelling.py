"""Gemini's objects in both spellings of their keys: ``functionCall``, as the API has it, and ``function_call``, as its
SDK does. Both are taken; requests have the first.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from datetime import datetime
from functools import cache

from callsheet.wire.jsonvalue import NESTING_LIMIT
from callsheet.wire.reading import Fields, entries, items, plain

_CAPITAL = re.compile("[A-Z]")
_JOINT = re.compile("_([a-z0-9])")


@cache
def snake(key: str) -> str:
    """A key in the SDK's spelling."""
    return _CAPITAL.sub(lambda found: "_" + found.group().lower(), key)


def camel(key: str) -> str:
    """A key in the API's spelling."""
    return _JOINT.sub(lambda found: found.group(1).upper(), key)


def spelled(found: Mapping[str, object], key: str) -> str:
    """The spelling of a key that an object has: the one that says something, else the API's."""
    other = snake(key)
    return other if found.get(key) is None and found.get(other) is not None else key


def said(found: Mapping[str, object], key: str) -> object:
    """What an object says under a key, in either spelling; None: nothing."""
    return found.get(spelled(found, key))


def as_sent(found: Mapping[str, object]) -> Fields:
    """The object with the keys that the API knows, without those that say nothing."""
    return {camel(key): value for key, value in found.items() if value is not None}


def as_json(value: object, where: str, left: int = NESTING_LIMIT) -> object:
    """The value as JSON has it: the SDK's objects hold bytes where that has base64, and moments where it has text.

    What is nested deeper than `NESTING_LIMIT` stays as it is, for whoever writes it to refuse.
    """
    if not left:
        return value
    if isinstance(value, bytes | bytearray):
        return b64encode(value).decode("ascii")
    if isinstance(value, datetime):
        return value.isoformat()
    found = plain(value, where)
    if isinstance(found, Mapping):
        return {key: as_json(item, where, left - 1) for key, item in entries(found, where)}
    if isinstance(found, list | tuple):
        return [as_json(item, where, left - 1) for item in items(found, where)]
    return str.__str__(found) if isinstance(found, str) else found
