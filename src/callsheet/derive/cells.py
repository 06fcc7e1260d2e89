"""The type of a column, told by its cells: the narrowest as which each of them keeps its value to the digit.

What might be an identifier stays text: zeros in front, signs and spaces have no place in a number.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal

from callsheet.graph.tabular import Column

TEXT = "VARCHAR"

_INTEGER = re.compile(r"-?[1-9][0-9]*|0")
_INTEGERS = re.compile(rf"(?:{_INTEGER.pattern})(?:\n(?:{_INTEGER.pattern}))*+")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.([0-9]+))?")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+(?:[eE][+-]?[0-9]+)?")
"""How cells of a table that knows no types write a number with an exponent: without a point it may be an id."""

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{0,5}[1-9])?")
"""As it is printed again: other ways to write a time stay text, so that they are given back as they were written."""

_LONG = 1 << 63
_HUGE = 1 << 127
_SHORT = 18
"""Characters of a whole number that any long integer holds."""
_WIDEST = 38
"""Digits of the widest exact decimal."""

_NARROW = 18
"""Digits of decimals that are amounts rather than measurements; longer ones are doubles where these hold them."""

_FINE = 9
"""Places behind the point of such amounts."""

_LONGEST = 60
"""Characters of a number that is read as one."""


def plain(name: str, cells: Sequence[str]) -> Column:
    """A column of a table that knows texts alone, as CSV does. An empty cell holds nothing."""
    found = set(cells)
    found.discard("")
    kind = _of_texts(found) if found else TEXT
    return Column(name=name, type=kind, cells=[cell or None for cell in cells])


def numbers(texts: Collection[str]) -> str:
    """The type of numbers as JSON writes them, ``NaN`` and infinities among them."""
    return _whole(texts) or _decimal(texts) or _double(texts) or TEXT


def words(texts: Collection[str]) -> str:
    """The type of what was written as text: days and moments may be read as such, numbers never."""
    return _moments(texts) or TEXT


def _of_texts(texts: Collection[str]) -> str:
    if all(text in ("true", "false") for text in texts):
        return "BOOLEAN"
    number = _whole(texts) or _decimal(texts)
    if number is None and all(_FLOAT.fullmatch(text) for text in texts):
        number = _double(texts)
    return number or _moments(texts) or TEXT


def _whole(texts: Collection[str]) -> str | None:
    if not _INTEGER.fullmatch(next(iter(texts))) or max(map(len, texts)) > _LONGEST:
        return None
    # In one match: one by one, a long column takes three times as long.
    joined = "\n".join(texts)
    if not _INTEGERS.fullmatch(joined) or joined.count("\n") >= len(texts):
        return None
    most = max(abs(int(text)) for text in texts) if max(map(len, texts)) > _SHORT else 0
    return "BIGINT" if most < _LONG else "HUGEINT" if most < _HUGE else None


def _decimal(texts: Collection[str]) -> str | None:
    whole = scale = 0
    for text in texts:
        found = _DECIMAL.fullmatch(text) if len(text) <= _LONGEST and not _signed_zero(text) else None
        if found is None:
            return None
        places = len(found[1] or "")
        scale = max(scale, places)
        whole = max(whole, len(text.lstrip("-")) - (places + 1 if places else 0))
    if (whole + scale > _NARROW or scale > _FINE) and (_double(texts) or whole + scale > _WIDEST):
        return _double(texts)
    return f"DECIMAL({whole + scale},{scale})"


def _double(texts: Iterable[str]) -> str | None:
    return "DOUBLE" if all(map(_held, texts)) else None


def _held(text: str) -> bool:
    """Whether a double is the number, so that it prints as the same one."""
    if len(text) > _LONGEST:
        return False
    number = float(text)
    return text in ("NaN", "Infinity", "-Infinity") or Decimal(repr(number)) == Decimal(text)


def _signed_zero(text: str) -> bool:
    return text.startswith("-0") and not text.strip("-0.")


def _moments(texts: Collection[str]) -> str | None:
    try:
        if all(_DATE.fullmatch(text) and date.fromisoformat(text) for text in texts):
            return "DATE"
        if all(_MOMENT.fullmatch(text) and datetime.fromisoformat(text) for text in texts):
            return "TIMESTAMP"
    except ValueError:
        pass
    return None
