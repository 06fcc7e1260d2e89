"""Long parts that occur several times in one text: the first is numbered, the others are its number.

The writers put signs around what may repeat, which no written value holds; `named_once` takes all of them out again.
"""

import re
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby

_CELL = "\x01"
_ROW = "\x02"
_END = "\x03"
_SCOPED = "\x04"
_SIGN = re.compile("[\x01\x02][^\x04]{0,24}\x04|\x03")

_LONG = 24
"""Characters from which a repeat is worth a number: shorter ones, most of them ids and names, stand everywhere."""


def scope(header: str) -> str:
    """Tells apart columns in which the same text is not the same value."""
    return blake2b(header.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def cell(text: str, scope: str = "") -> str:
    """A value on one line or in a cell, with signs around it where it is long."""
    return f"{_CELL}{scope}{_SCOPED}{text}{_END}" if len(text) >= _LONG else text


def row(text: str, scope: str) -> str:
    """A row of a table, with signs around it where it is long."""
    return f"{_ROW}{scope}{_SCOPED}{text}{_END}" if len(text) >= _LONG else text


def runs(lines: list[str]) -> list[str]:
    """The lines, where three or more that are equal follow each other one and ``(+2 same)``."""
    if len(set(lines)) > len(lines) - 2:
        return lines
    out: list[str] = []
    for line, equal in groupby(lines):
        more = sum(1 for _ in equal) - 1
        same = f"(+{more} same)"
        shorter = more > 1 and more * (len(line) + 1) > len(same) + 1
        out += (line, same) if shorter else [line] * (more + 1)
    return out


def unmarked(text: str) -> str:
    """The text without signs, its repeats as they are."""
    return _SIGN.sub("", text) if _END in text else text


@dataclass(frozen=True, slots=True)
class _Span:
    """A part with its signs, and where it begins within them."""

    start: int
    inner: int
    end: int


def named_once(text: str) -> str:
    """The text without signs: ``&1 `` before a value and ``&1:`` before a row that comes again, then ``*1`` for it."""
    if _END not in text:
        return text
    spans = _spans(text)
    again = _again(text, spans)
    number = {at: count for count, at in enumerate(sorted(set(again.values())), 1)}
    out: list[str] = []
    at = 0
    for place, span in enumerate(spans):
        if span.start < at:
            continue
        if place in again:
            out += (text[at : span.start], f"*{number[again[place]]}")
            at = span.end
        elif place in number:
            sign = ":" if text[span.start] == _ROW else " "
            out += (text[at : span.start], f"&{number[place]}{sign}")
            at = span.inner
    return unmarked("".join((*out, text[at:])))


def _spans(text: str) -> list[_Span]:
    """What has signs around it, by where it begins."""
    spans: list[_Span | None] = []
    opened: list[tuple[int, int, int]] = []
    for found in _SIGN.finditer(text):
        if found.group() == _END:
            place, start, inner = opened.pop()
            spans[place] = _Span(start, inner, found.end())
        else:
            opened.append((len(spans), *found.span()))
            spans.append(None)
    return [span for span in spans if span is not None]


def _again(text: str, spans: list[_Span]) -> dict[int, int]:
    """Of spans that come again which one is the first; what lies within a repeat is not looked at."""
    first: dict[str, int] = {}
    again: dict[int, int] = {}
    past = 0
    for place, span in enumerate(spans):
        if span.start < past:
            continue
        seen = first.setdefault(text[span.start : span.end], place)
        if seen != place:
            again[place] = seen
            past = span.end
    return again
