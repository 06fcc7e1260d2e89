"""Server-sent events: bytes in any pieces to events, and events to bytes."""

import json
import re
from dataclasses import dataclass
from typing import Final

import msgspec

from callsheet.wire.jsonvalue import NESTING_LIMIT, nested_too_deep
from callsheet.wire.reading import Fields

LARGEST_EVENT: Final = 32 * 1024 * 1024
"""Bytes of one event. Providers send whole pictures in one; beyond this a stream is not events but an attack."""

_END: Final = re.compile(rb"[\r\n](?>(?:(?<=\r)\n)?)(?:\r\n|[\r\n])")
"""An event ends with a blank line. Lines end as each sender likes. That it begins with a set makes the search fast."""

DONE: Final = "[DONE]"
"""The data of the last event, where a sender writes one behind what it says in JSON."""

_LONGEST_END = 4
_CLOSED: Final = re.compile(rb"(?:\r\n|\r|\n)(?:\r\n|(?<!\r)\n|\r)\Z")
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One event. The `raw` bytes of all events, in order, are the stream."""

    raw: bytes
    #: The name that the sender gave it; empty: none.
    name: str = ""
    #: None: it has no data (a comment that keeps the connection open), or it is broken.
    data: str | None = None
    #: It is too large, or no UTF-8, or the stream ended inside it.
    broken: bool = False

    @property
    def ended(self) -> bytes:
        """The bytes with a blank line behind them, so that the next event may follow."""
        return self.raw if _CLOSED.search(self.raw) else self.raw + b"\n\n"

    @property
    def fields(self) -> Fields | None:
        """The JSON object that its data is; None for anything else."""
        if self.data is None or not self.data.lstrip().startswith("{"):
            return None
        try:
            found: object = msgspec.json.decode(self.data)
        except (ValueError, RecursionError):
            found = _leniently(self.data)
        if not isinstance(found, dict) or (self.data.count("{") > NESTING_LIMIT and nested_too_deep(found)):
            return None
        return found


def _leniently(text: str) -> object:
    """JSON that only Python takes: lone surrogates in escapes, which models write."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


class Lines:
    """Splits a stream into events. However the bytes are cut into pieces, the events are the same."""

    def __init__(self, *, largest: int = LARGEST_EVENT) -> None:
        self._largest = largest
        self._waiting = bytearray()
        self._searched = 0
        self._begun = False
        #: Inside an event that was too large.
        self._cut = False

    def feed(self, piece: bytes) -> list[Event]:
        """The events that this piece completes. One that is too large comes in several broken events."""
        self._waiting += piece
        found: list[Event] = []
        while (end := self._next()) is not None:
            found.append(self._taken(*end))
        return found

    def close(self) -> list[Event]:
        """What the end of the stream leaves: whole where only the ends of its lines are missing, else broken."""
        if not self._waiting:
            return []
        cut, lined, raw = self._cut, self._waiting.endswith((b"\n", b"\r")), bytes(self._waiting)
        last = self._taken(len(raw), cut)
        # Of a line without its end nobody knows whether more of it was to come, unless nothing can follow what it says.
        whole = not cut and (lined or last.data == DONE or last.fields is not None)
        return [last if whole else Event(raw=raw, broken=True)]

    def _next(self) -> tuple[int, bool] | None:
        """Where the next event ends and whether it is broken; None: not known yet."""
        # A carriage return at the end may be the first half of a line's end.
        known = len(self._waiting) - self._waiting.endswith(b"\r")
        end = _END.search(self._waiting, self._searched, known)
        if end is not None and end.end() <= self._largest + _LONGEST_END:
            broken, self._cut = self._cut, False
            return end.end(), broken
        if known > self._largest + _LONGEST_END:
            self._cut = True
            return self._largest, True
        self._searched = max(0, known - _LONGEST_END + 1)
        return None

    def _taken(self, end: int, broken: bool) -> Event:
        raw = bytes(self._waiting[:end])
        del self._waiting[:end]
        self._searched = 0
        text = raw if self._begun else raw.removeprefix(_BOM)
        self._begun = True
        if broken:
            return Event(raw=raw, broken=True)
        name, data = "", list[bytes]()
        for line in _LINE_END.split(text):
            key, _, value = line.partition(b":")
            if key == b"data":
                data.append(value.removeprefix(b" "))
            elif key == b"event":
                name = value.removeprefix(b" ").decode("utf-8", "replace")
        try:
            return Event(raw=raw, name=name, data=b"\n".join(data).decode() if data else None)
        except UnicodeDecodeError:
            return Event(raw=raw, name=name, broken=True)


def event(data: Fields | str, name: str = "") -> bytes:
    """The bytes of an event. Text is written as it is and must be one line."""
    text = data.encode() if isinstance(data, str) else _encoded(data)
    return (b"event: " + name.encode() + b"\n" if name else b"") + b"data: " + text + b"\n\n"


def _encoded(data: Fields) -> bytes:
    try:
        return msgspec.json.encode(data)
    except (UnicodeEncodeError, ValueError):
        # Lone surrogates, which only an escape can write.
        return json.dumps(data, separators=(",", ":")).encode()
