"""Narrows values from outside to what a format allows, and refuses the rest with its place and value.

Fields are taken out of a copy of the sender's object, so that what is left at the end has no neutral meaning and is
kept as extras. A value that is there but says nothing (null, an empty text) is left in, so that it comes back too.
"""

import reprlib
from collections.abc import Mapping
from enum import Enum
from typing import Final, NoReturn, Protocol, TypeAlias, runtime_checkable

from callsheet.errors import InvalidMessage

Fields: TypeAlias = dict[str, object]
"""The object of a sender, copied; what has been read is taken out."""


class _Missing(Enum):
    MISSING = "missing"


MISSING: Final = _Missing.MISSING
"""Stands for a key that is not there, where null means something else."""


_TEXT: Final = frozenset({str})

UNREADABLE: Final = (TypeError, ValueError, AttributeError, LookupError, RuntimeError)
"""What the methods of a foreign object raise when they fail; recursion without end is among them."""


@runtime_checkable
class SdkObject(Protocol):
    """An object of a provider's SDK; they are pydantic models."""

    def model_dump(self, *, exclude_unset: bool, warnings: bool) -> dict[str, object]: ...


def refuse(problem: str, value: object, where: str) -> NoReturn:
    """Refuse a value, shown shortened."""
    raise InvalidMessage(f"{problem}, not {shortened(value)}", where=where)


def shortened(value: object) -> str:
    """A value as an error shows it: at most a line."""
    if isinstance(value, bytes | bytearray):
        return f"{len(value):,} bytes"
    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = 60
    try:
        return short.repr(value)
    except UNREADABLE:  # such as a number with more digits than Python writes
        return f"one {type(value).__name__}"


def shown(error: Exception) -> str:
    """An error of a foreign object on one line."""
    return f"{type(error).__name__}: {shortened(str(error))}"


def plain(value: object, where: str) -> object:
    """The dict of an SDK object, with the keys that the provider sent; anything else as it is, also a class."""
    if isinstance(value, dict | list | str | type):
        return value
    try:
        return value.model_dump(exclude_unset=True, warnings=False) if isinstance(value, SdkObject) else value
    except UNREADABLE as error:
        raise InvalidMessage(f"cannot be read: its model_dump fails ({shown(error)})", where=where) from error


def fields(value: object, where: str) -> Fields:
    """The fields of an object: a mapping with text keys, or an SDK object."""
    if type(value) is dict and _TEXT.issuperset(map(type, value)):
        return value.copy()  # nearly always: decoded JSON
    found = plain(value, where)
    if not isinstance(found, Mapping):
        refuse("must be an object", value, where)
    taken: Fields = {}
    for key, item in entries(found, where):
        if not isinstance(key, str):
            refuse("must have text as keys", key, where)
        taken[key] = item
    return taken


def entries(found: Mapping[object, object], where: str) -> list[tuple[object, object]]:
    """The keys and values of a mapping, which may be of any make. Refuses one that fails to give them."""
    try:
        return [(key, item) for key, item in found.items()]
    except UNREADABLE as error:
        raise InvalidMessage(f"cannot be read ({shown(error)})", where=where) from error


def items(value: object, where: str) -> list[object]:
    """The items of a list."""
    if not isinstance(value, list | tuple):
        refuse("must be a list", value, where)
    try:
        return list(value)
    except UNREADABLE as error:
        raise InvalidMessage(f"cannot be read ({shown(error)})", where=where) from error


def take_text(found: Fields, key: str, where: str) -> str | None:
    """Take a text that says something. Null and the empty text are left where they are and give None."""
    value = found.get(key)
    if value is None or (isinstance(value, str) and not value):
        return None
    if not isinstance(value, str):
        refuse("must be text", value, f"{where}.{key}")
    del found[key]
    return value


def require_text(found: Fields, key: str, where: str) -> str:
    """Take a text that may be empty but must be there."""
    value = found.pop(key, MISSING)
    if value is MISSING:
        raise InvalidMessage("is missing", where=f"{where}.{key}")
    if not isinstance(value, str):
        refuse("must be text", value, f"{where}.{key}")
    return value


def take_count(found: Mapping[str, object], key: str, where: str) -> int:
    """A number of tokens; absent or null is 0."""
    value = found.get(key)
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        refuse("must be a whole number that is not negative", value, f"{where}.{key}")
    return value
