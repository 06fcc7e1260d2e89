"""What can be asked of the recall: one artifact or message, whole or in part, or a search over all that may be seen."""

import json
import reprlib
from dataclasses import dataclass
from typing import TypeAlias

from callsheet.errors import InvalidOption

DEFAULT_LIMIT = 8_000
"""Bytes of recorded content that one recall gives, unless told otherwise: about 2,000 tokens."""

SMALLEST_LIMIT = 16
"""Below this a slice might hold no whole character with the mark of its cut."""

MOST = 10**12
"""No content has more bytes, lines or rows."""

LONGEST_SEARCH = 1_000
"""Characters that a text to search for may have."""

LONGEST_POINTER = 10_000
"""Characters that a JSON Pointer may have."""

LONGEST_SQL = 4_000
"""Characters that a query in SQL may have."""

Range: TypeAlias = tuple[int, int | None]
"""From, and up to but without; counted from 0; None: to the end."""

PARTS = ("lines", "rows", "bytes", "characters", "pointer", "search", "sql")
"""The ways to ask for a part of one artifact; at most one at a time, but rows of what SQL finds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallRequest:
    """One recall. Raises `InvalidOption` where it asks for nothing, for two things at once, or for what cannot be."""

    #: The id of an artifact or message, or the beginning of it; None: `query` is set.
    reference: str | None = None
    lines: Range | None = None
    #: Rows of a table or items of a list; a header is none of them.
    rows: Range | None = None
    #: Of the content as recorded.
    bytes: Range | None = None
    #: Of the text, as lines show it; what reading on asks for where the text is not the bytes of the content.
    characters: Range | None = None
    #: A JSON Pointer (RFC 6901) into JSON content.
    pointer: str | None = None
    #: Text to find in the content, literally, in either case.
    search: str | None = None
    #: A SELECT over the tables that the content holds; the largest is ``t``. `rows` are then those of its answer.
    sql: str | None = None
    #: Words to find over everything that may be seen; of a longer query its beginning counts: see `beginning`.
    query: str | None = None
    #: Bytes of content, as UTF-8, that the answer may hold.
    limit: int = DEFAULT_LIMIT

    def __post_init__(self) -> None:
        asked = [name for name in PARTS if getattr(self, name) is not None]
        if (self.reference is None) == (self.query is None):
            raise InvalidOption("give either 'reference' (one artifact) or 'query' (search over everything)")
        if self.query is not None and asked:
            raise InvalidOption(f"{asked[0]!r} needs a 'reference'; 'query' stands alone")
        if len(asked) > 1 and asked != ["rows", "sql"]:
            raise InvalidOption(f"give at most one of {', '.join(PARTS)}; there are {' and '.join(asked)}")
        for name in ("lines", "rows", "bytes", "characters"):
            _check_range(name, getattr(self, name))
        for name, longest in (("search", LONGEST_SEARCH), ("query", MOST), ("sql", LONGEST_SQL)):
            _check_text(name, getattr(self, name), longest)
        _check_text("reference", self.reference, 512)
        if self.pointer is not None:
            _check_pointer(self.pointer)
        if not _whole(self.limit) or not SMALLEST_LIMIT <= self.limit <= MOST:
            raise InvalidOption(f"limit is {shown(self.limit)}; it must be a whole number from {SMALLEST_LIMIT}")

    def arguments(self) -> str:
        """What is asked for beside the reference, as a call of the recall tool has it: ``"part": "lines 0:40"``."""
        if self.query is not None:
            return json.dumps({"query": self.query}, ensure_ascii=False)[1:-1]
        if self.sql is not None:
            rows = f"{_part('rows', self.rows)} " if self.rows is not None else ""
            return json.dumps({"part": f"{rows}sql {self.sql}"}, ensure_ascii=False)[1:-1]
        told = next((_part(name, getattr(self, name)) for name in PARTS if getattr(self, name) is not None), None)
        return json.dumps({"part": told}, ensure_ascii=False)[1:-1] if told is not None else ""


def beginning(query: str) -> str:
    """The part of a query that is looked for: its first `LONGEST_SEARCH` characters, to the end of a word."""
    if len(query) <= LONGEST_SEARCH:
        return query
    start = query[:LONGEST_SEARCH]
    if start[-1].isspace() or query[LONGEST_SEARCH].isspace():
        return start
    return start.rsplit(maxsplit=1)[0]


def _part(name: str, value: object) -> str:
    if isinstance(value, tuple):
        return f"{name} {value[0]}:{value[1] if value[1] is not None else ''}"
    return f'"{value}"' if name == "search" else str(value)


def _check_range(name: str, given: object) -> None:
    if given is None:
        return
    if not isinstance(given, tuple) or len(given) != 2:
        raise InvalidOption(f"{name} is {shown(given)}; it must be [from, to], counted from 0, without 'to' itself")
    start, end = given
    if not _whole(start) or not (end is None or _whole(end)):
        raise InvalidOption(f"{name} is {shown(list(given))}; both must be whole numbers from 0")
    if max(start, end or 0) > MOST:
        raise InvalidOption(f"{name} is {shown(list(given))}; no content has more than {MOST:,} of them")
    if start < 0 or (end is not None and end <= start):
        raise InvalidOption(f"{name} is {shown(list(given))}; 'from' must be at least 0 and below 'to'")


def _check_text(name: str, given: object, longest: int) -> None:
    if given is None:
        return
    if not isinstance(given, str) or not given.strip():
        raise InvalidOption(f"{name} is {shown(given)}; it must be text and not empty")
    if len(given) > longest:
        raise InvalidOption(f"{name} has {len(given):,} characters; at most {longest:,} are allowed")


def _check_pointer(given: object) -> None:
    if not isinstance(given, str) or (given and not given.startswith("/")):
        raise InvalidOption(f"pointer is {shown(given)}; a JSON Pointer begins with '/', as in /items/3/name")
    if len(given) > LONGEST_POINTER:
        raise InvalidOption(f"pointer has {len(given):,} characters; at most {LONGEST_POINTER:,} are allowed")


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def shown(value: object) -> str:
    """A value as an error shows it: at most a line."""
    if isinstance(value, int) and abs(value) > MOST:
        return "a number of many digits"
    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = 60
    return short.repr(value)
