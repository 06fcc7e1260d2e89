"""Arguments of the public face, checked and brought to one form."""

import reprlib
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias, TypeVar

from callsheet.derive.redaction import Redaction
from callsheet.errors import InvalidOption

Time: TypeAlias = datetime | str | int | float
"""A point in time with its zone: an aware datetime, ISO 8601 text with offset, or epoch seconds."""

_E = TypeVar("_E", bound=StrEnum)


def choice(kind: type[_E], value: _E | str, name: str) -> _E:
    """The member of a closed set, given as itself or by its value. Raises `InvalidOption` that lists the members."""
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(member.value for member in kind)
        raise InvalidOption(f"{name} is {shown(value)}; it must be one of: {known}") from None


LONGEST_LABEL = 512


def label(value: object, name: str) -> str:
    """A name that a person or program gave: text, not empty, that every store can hold. Raises `InvalidOption`."""
    if not isinstance(value, str) or not value:
        raise InvalidOption(f"{name} is {shown(value)}; it must be text and not empty")
    if len(value) > LONGEST_LABEL:
        raise InvalidOption(f"{name} has {len(value):,} characters; at most {LONGEST_LABEL} are allowed")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise InvalidOption(f"{name} is {shown(value)}; NUL and lone surrogates are not allowed")
    return value


def references_of(given: Sequence[str]) -> tuple[str, ...]:
    """References given as one or as several. Raises `InvalidOption`."""
    return tuple(label(one, "a reference") for one in ((given,) if isinstance(given, str) else given))


_READ = 4_096


def texts(value: object, name: str) -> tuple[str, ...]:
    """Several labels; one given as text alone is one. Raises `InvalidOption`."""
    if isinstance(value, str):
        return (label(value, name),)
    if not isinstance(value, Sequence) or isinstance(value, bytes):
        raise InvalidOption(f"{name} is {shown(value)}; it must be a list of texts")
    return tuple(label(one, name) for one in value)


def remark(value: object) -> str:
    """Why something is done, in the caller's words; it may be empty. Raises `InvalidOption`."""
    return label(value, "reason") if value != "" else ""


def line(value: object, name: str) -> str:
    """A label that stands in the texts of requests: one printable line, without the brackets that fence it there."""
    given = label(value, name)
    if not given.isprintable() or any(sign in given for sign in "[]"):
        raise InvalidOption(f"{name} is {shown(value)}; it must be one printable line without square brackets")
    return given


MOST = 10**12
MOST_SECONDS = 10**10
"""Some three centuries: a point in time so much later than now can still be written down."""


def positive(value: int, name: str) -> int:
    """A whole number above zero that every store can hold. Raises `InvalidOption`."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= MOST:
        raise InvalidOption(f"{name} is {shown(value)}; it must be a whole number from 1 to {MOST:,}")
    return value


def seconds(value: float, name: str) -> float:
    """A length of time above zero, in seconds. Raises `InvalidOption`."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value <= MOST_SECONDS:
        raise InvalidOption(f"{name} is {shown(value)}; it must be seconds above 0, at most {MOST_SECONDS:,}")
    return value


def shown(value: object) -> str:
    """A value as an error shows it: at most a line."""
    if isinstance(value, int) and abs(value) > MOST:
        return "a number of many digits"
    short = reprlib.Repr()
    short.maxstring = short.maxother = 60
    # What is refused may be a secret in the wrong place.
    unmarked = Redaction()
    return unmarked.text(short.repr(unmarked.text(value[:_READ]) if isinstance(value, str) else value))
