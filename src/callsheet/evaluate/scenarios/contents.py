"""What tools give back in a scenario: text as it is, JSON, or rows and lines that a small rule makes."""

import json
import re
from typing import TypeAlias

from msgspec import Struct

MOST = 20_000
"""Lines that one rule makes."""
LONGEST = 2_000_000
"""Characters of one content."""


class Lines(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Lines made from one: ``{n}`` is the number of the line, ``{red|green|blue}`` one of these words in turn."""

    repeat: str
    count: int
    first: int = 1


class Rows(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table made from one row, as CSV under a header."""

    header: str
    rows: str
    count: int
    first: int = 1


class Data(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A value as JSON text."""

    json: object


Piece: TypeAlias = str | dict[str, object]
"""Of a content: text, or a mapping that is a `Lines`, `Rows` or `Data`."""

KINDS: tuple[type[Lines] | type[Rows] | type[Data], ...] = (Lines, Rows, Data)

_PLACE = re.compile(
    r"\{n(?P<steps>(?:[+*%][0-9]{1,6}){0,4})(?::(?P<width>[0-9]{1,2}))?\}|\{(?P<words>[^{}\"\n]{0,200}\|[^{}\"\n]{0,200})\}"
)
_STEP = re.compile(r"([+*%])([0-9]{1,6})")


def made(content: str | Lines | Rows | Data) -> str:
    """The text of one piece. Raises `ValueError` where it would be too long, or counts what cannot be counted."""
    if isinstance(content, str):
        return content
    if isinstance(content, Data):
        return json.dumps(content.json, ensure_ascii=False)
    if not 0 <= content.count <= MOST:
        raise ValueError(f"count is {content.count:,}; it must be from 0 to {MOST:,}")
    template = content.repeat if isinstance(content, Lines) else content.rows
    if len(template) * content.count > LONGEST:
        raise ValueError(f"more than {LONGEST:,} characters would come of it")
    lines = [filled(template, content.first + at) for at in range(content.count)]
    return "\n".join(lines if isinstance(content, Lines) else [content.header, *lines])


def filled(template: str, number: int) -> str:
    """One line: ``{n}``, ``{n:3}`` (three digits), ``{n*7%10+1}`` (from left to right), ``{a|b}`` (in turn)."""

    def value(found: re.Match[str]) -> str:
        if found["words"] is not None:
            words = found["words"].split("|")
            return words[number % len(words)]
        counted = number
        for sign, by in _STEP.findall(found["steps"]):
            counted = _stepped(counted, sign, int(by))
        return str(counted).zfill(int(found["width"] or 0))

    return _PLACE.sub(value, template)


def _stepped(number: int, sign: str, by: int) -> int:
    match sign:
        case "+":
            return number + by
        case "*":
            return number * by
        case _:
            return number % by if by else number
