"""The order of requests: those of one credential are recognised one after the other, as they came, and each only when
the answers that were given before it are recorded, since the client sends them back with it.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

PATIENCE = 10.0
"""Seconds for which a request waits for an answer to be recorded; the store itself waits about as long for others."""


class _Line:
    """The requests of one credential."""

    def __init__(self) -> None:
        self.lock = anyio.Lock()
        self.waiting = 0
        self.recording: set[anyio.Event] = set()


class Turns:
    """Lines of requests, by credential. Belongs to one event loop."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}

    @asynccontextmanager
    async def turn(self, scope: str) -> AsyncIterator[None]:
        """Wait until it is this request's turn to be recognised."""
        async with self._line(scope) as line, line.lock:
            with anyio.move_on_after(PATIENCE):
                for event in tuple(line.recording):
                    await event.wait()
            yield

    @asynccontextmanager
    async def recording(self, scope: str) -> AsyncIterator[None]:
        """Hold back what comes behind while an answer is recorded."""
        async with self._line(scope) as line:
            event = anyio.Event()
            line.recording.add(event)
            try:
                yield
            finally:
                line.recording.discard(event)
                event.set()

    @asynccontextmanager
    async def _line(self, scope: str) -> AsyncIterator[_Line]:
        line = self._lines.setdefault(scope, _Line())
        line.waiting += 1
        try:
            yield line
        finally:
            line.waiting -= 1
            if not line.waiting:
                del self._lines[scope]
