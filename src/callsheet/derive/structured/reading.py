"""JSON text to values. What does not read in full is not JSON."""

import re
from array import array
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from json import JSONDecoder
from operator import sub
from typing import Protocol, TypeAlias

from callsheet.derive.structured.values import Json, Number

number = lru_cache(maxsize=1 << 16)(Number)
"""Equal numbers are one object: long arrays of few values take little memory."""


class _Scan(Protocol):
    def __call__(self, text: str, start: int) -> tuple[Json, int]: ...


def _scan() -> _Scan:
    decoder = JSONDecoder(object_pairs_hook=tuple, parse_float=number, parse_int=number, parse_constant=number)
    scan: _Scan = vars(decoder)["scan_once"]
    return scan


_SCAN = _scan()
_BLANK = re.compile(r"[ \t\n\r]*")
SCALAR = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null|NaN|-?Infinity"
"""What a number, true, false or null looks like."""
_SCALAR = re.compile(SCALAR)
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"')
_UNQUOTED: frozenset[type] = frozenset({Number, bool, type(None)})
_LONG = 10_000
_WINDOW = 1 << 20
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}


Spans: TypeAlias = "tuple[array[int], array[int], array[int]]"
"""Of the parts of a container: where they begin, where their values begin after a key, and where they end."""


def parse(text: str) -> Json:
    """The value of a JSON text, of any depth.

    Raises ValueError where the text is anything but one whole JSON value.
    """
    value, end = value_at(text, blank_end(text, 0))
    _ends(text, end)
    return value


def parse_object(text: str, start: int) -> tuple[Json, Spans]:
    """The object that begins at `start` and is all of the text, and the spans of its members. ValueError as above."""
    members: list[tuple[str, Json]] = []
    spans, end = _walk(text, start, members)
    _ends(text, end)
    return tuple(members), spans


def spans_in(text: str, start: int, value: Json) -> Spans:
    """The spans of the parts of the container at `start` of a text known to be whole, and its value."""
    if isinstance(value, list) and len(value) >= _LONG and set(map(type, value)) <= _UNQUOTED:
        end = text.index("]", start)
        commas = text.count(",", start, end)
        for sign in (",", ", ") if all(text.find(blank, start, end) < 0 for blank in "\n\t\r") else ():
            if text.count(sign, start, end) == commas and text.count(" ", start, end) == commas * (len(sign) - 1):
                return _evenly(text, start + 1, end, sign)
    return _walk(text, start, None)[0]


def _evenly(text: str, start: int, end: int, sign: str) -> Spans:
    """The spans of what `sign` parts: of long arrays of numbers, which one by one take long."""
    starts, ends = _places(text), _places(text)
    while start < end:
        cut = text.find(sign, start + _WINDOW, end)
        cut = end if cut < 0 else cut
        sizes = list(map(len, text[start:cut].split(sign)))
        ends.extend(accumulate((size + len(sign) for size in sizes), initial=start - len(sign)))
        del ends[-len(sizes) - 1]
        starts.extend(map(sub, ends[-len(sizes) :], sizes))
        start = cut + len(sign)
    return starts, starts, ends


def _places(text: str) -> "array[int]":
    """For places in the text, in half the memory where it is not very long."""
    return array("i" if len(text) < 1 << 31 else "q")


def _ends(text: str, at: int) -> None:
    if blank_end(text, at) != len(text):
        raise ValueError(f"more text at {at}")


def _walk(text: str, start: int, members: list[tuple[str, Json]] | None) -> tuple[Spans, int]:
    keyed = text[start] == "{"
    starts, ends = _places(text), _places(text)
    values = _places(text) if keyed else starts
    closing = "}" if keyed else "]"
    at = blank_end(text, start + 1)
    if text[at : at + 1] == closing:
        return (starts, values, ends), at + 1
    while True:
        starts.append(at)
        key: Json = None
        if keyed:
            if text[at : at + 1] != '"':
                raise ValueError(f"no key at {at}")
            key, at = value_at(text, at)
            at = blank_end(text, _past(text, ":", at))
            values.append(at)
        value, at = value_at(text, at)
        ends.append(at)
        if members is not None and isinstance(key, str):
            members.append((key, value))
        at = blank_end(text, at)
        if text[at : at + 1] == closing:
            return (starts, values, ends), at + 1
        at = blank_end(text, _past(text, ",", at))


def _past(text: str, sign: str, at: int) -> int:
    at = blank_end(text, at)
    if text[at : at + 1] != sign:
        raise ValueError(f"{sign} expected at {at}")
    return at + 1


def value_at(text: str, start: int) -> tuple[Json, int]:
    """The value that begins at `start`, and where it ends. Raises ValueError where none does."""
    try:
        return _SCAN(text, start)
    except StopIteration as stop:
        raise ValueError(f"no value at {stop.value}") from None
    except RecursionError:
        return _Deep(text).read(start)


def blank_end(text: str, start: int) -> int:
    """Where the white space that JSON allows ends."""
    if text[start : start + 1] > " ":
        return start
    found = _BLANK.match(text, start)
    return found.end() if found else start


def scalar(lexeme: str) -> Json:
    """What a bare word stands for: a number, true, false, null, or else itself as a string."""
    if not _SCALAR.fullmatch(lexeme):
        return lexeme
    return _WORDS[lexeme] if lexeme in _WORDS else number(lexeme)


def is_scalar(lexeme: str) -> bool:
    """Whether a bare word would be read as a number, true, false or null."""
    return _SCALAR.fullmatch(lexeme) is not None


class _Deep:
    """Reads without recursion, for what nests deeper than the interpreter follows."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._build: dict[str, Callable[[list[Json]], Json]] = {"[": list, "{": _pairs}

    def read(self, start: int) -> tuple[Json, int]:
        """The value at `start` and its end."""
        text = self._text
        opened: list[tuple[str, list[Json]]] = []
        at = start
        while True:
            at = blank_end(text, at)
            sign = text[at : at + 1]
            if sign and sign in "[{":
                opened.append((sign, []))
                at = blank_end(text, at + 1)
                if text[at : at + 1] not in ("]", "}"):
                    at = self._key(opened[-1], at)
                    continue
                value, at = self._closed(opened, at)
            else:
                value, at = self._scalar(at)
            while opened:
                opened[-1][1].append(value)
                at = blank_end(text, at)
                if text[at : at + 1] == ",":
                    at = self._key(opened[-1], blank_end(text, at + 1))
                    break
                value, at = self._closed(opened, at)
            else:
                return value, at

    def _closed(self, opened: list[tuple[str, list[Json]]], at: int) -> tuple[Json, int]:
        sign, parts = opened.pop()
        if self._text[at : at + 1] != {"[": "]", "{": "}"}[sign]:
            raise ValueError(f"not closed at {at}")
        return self._build[sign](parts), at + 1

    def _key(self, container: tuple[str, list[Json]], at: int) -> int:
        """Past the key and colon of a member; nowhere further in an array."""
        if container[0] == "[":
            return at
        key, at = self._string(at)
        container[1].append(key)
        at = blank_end(self._text, at)
        if self._text[at : at + 1] != ":":
            raise ValueError(f"no colon at {at}")
        return at + 1

    def _string(self, at: int) -> tuple[str, int]:
        found = _STRING.match(self._text, at)
        if not found:
            raise ValueError(f"no string at {at}")
        value, _ = value_at(self._text, at)
        return str(value), found.end()

    def _scalar(self, at: int) -> tuple[Json, int]:
        if self._text[at : at + 1] == '"':
            return self._string(at)
        found = _SCALAR.match(self._text, at)
        if not found:
            raise ValueError(f"no value at {at}")
        return scalar(found.group()), found.end()


def _pairs(parts: list[Json]) -> Json:
    return tuple((str(key), value) for key, value in zip(parts[::2], parts[1::2], strict=True))
