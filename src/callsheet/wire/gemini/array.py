"""A stream of generateContent without ``alt=sse``: one JSON list, whose elements come one after another."""

import json
import re
from collections.abc import Iterator
from typing import Final

from callsheet.wire.gemini.stream import chunks
from callsheet.wire.reading import Fields
from callsheet.wire.sse import LARGEST_EVENT, Event

_OUTSIDE: Final = re.compile(rb'["{}]')
_INSIDE: Final = re.compile(rb'"|\\.', re.DOTALL)


class Elements:
    """Splits such a list into its objects, as `callsheet.wire.sse.Lines` splits events, in whatever pieces it comes.

    What stands between two objects is part of the event behind it.
    """

    def __init__(self, *, largest: int = LARGEST_EVENT) -> None:
        self._largest = largest
        self._waiting = bytearray()
        self._read = 0
        self._depth = 0
        self._begins = 0
        self._in_text = False

    def feed(self, piece: bytes) -> list[Event]:
        """The objects that this piece completes. One that is too large comes in several broken events."""
        self._waiting += piece
        found: list[Event] = []
        while (end := self._next()) is not None:
            raw = bytes(self._waiting[:end])
            found.append(_event(raw, self._begins))
            del self._waiting[:end]
            self._read = self._begins = 0
        if len(self._waiting) > self._largest:
            found.append(Event(raw=bytes(self._waiting[: self._read]), broken=True))
            del self._waiting[: self._read]
            self._read = 0
            self._begins = -1
        return found

    def close(self) -> list[Event]:
        """What the end of the stream leaves: the end of the list, or a broken object."""
        raw, self._waiting = bytes(self._waiting), bytearray()
        whole = not self._depth and raw.strip().endswith(b"]")
        return [Event(raw=raw, broken=not whole)] if raw else []

    def _next(self) -> int | None:
        """Where the next object ends; None: not known yet."""
        while True:
            found = (_INSIDE if self._in_text else _OUTSIDE).search(self._waiting, self._read)
            if found is None:
                # An escape may be cut in half.
                self._read = len(self._waiting) - (self._in_text and self._waiting.endswith(b"\\"))
                return None
            self._read = found.end()
            match found.group():
                case b'"':
                    self._in_text = not self._in_text
                case b"{":
                    if not self._depth:
                        self._begins = found.start()
                    self._depth += 1
                case b"}":
                    self._depth = max(0, self._depth - 1)
                    if not self._depth:
                        return self._read


def _event(raw: bytes, begins: int) -> Event:
    if begins < 0:
        return Event(raw=raw, broken=True)
    try:
        return Event(raw=raw, data=raw[begins:].decode())
    except UnicodeDecodeError:
        return Event(raw=raw, broken=True)


def written(response: Fields) -> Iterator[bytes]:
    """A whole response as such a list, an element at a time."""
    before = b"["
    for chunk in chunks(response):
        # In ASCII: only escapes can write lone surrogates.
        yield before + json.dumps(chunk, separators=(",", ":")).encode()
        before = b",\r\n"
    yield b"]"
