"""Answers to clients: sent piece by piece as fast as they take them, or errors in their provider's shape."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio
import msgspec

from callsheet.serve.proxy.bodies import ClientGone
from callsheet.serve.proxy.headers import Header
from callsheet.serve.proxy.turned import Turned
from callsheet.wire.failures import error_body
from callsheet.wire.names import Wire

if TYPE_CHECKING:
    from starlette.types import Receive, Send


class Stalled(ClientGone):
    """The client takes nothing of its answer any more."""


class Responding:
    """The answer to one request."""

    def __init__(self, send: "Send", stalled: float) -> None:
        self._send = send
        self._stalled = stalled
        #: Since when a piece waits to be taken; None: none does.
        self._since: float | None = None
        #: Whether a status was sent: then it is too late for another one.
        self.begun = False
        self.over = False

    async def begin(self, status: int, headers: Sequence[Header]) -> None:
        """Send the status and the headers."""
        self.begun = True
        await self._out({"type": "http.response.start", "status": status, "headers": list(headers)})

    async def piece(self, content: bytes) -> None:
        """Send some of the body. Waits while the client takes nothing; `stalled` tells when that is too long."""
        if not content:
            return
        self._since = time.monotonic()
        try:
            await self._send({"type": "http.response.body", "body": content, "more_body": True})
        except OSError:
            raise ClientGone from None
        finally:
            self._since = None

    async def end(self, content: bytes = b"") -> None:
        """Send the last of the body."""
        self.over = True
        await self._out({"type": "http.response.body", "body": content, "more_body": False})

    async def turn(self, turned: Turned, wire: Wire, headers: Sequence[Header] = ()) -> None:
        """Answer with an error in the provider's shape."""
        body = error_body(wire, turned.status, turned.kind, turned.message, where=turned.where, code=turned.code)
        content = msgspec.json.encode(body)
        sent = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode()), *headers]
        if turned.retry_after is not None:
            sent.append((b"retry-after", str(turned.retry_after).encode()))
        await self.begin(turned.status, sent)
        await self.end(content)

    async def _out(self, message: "dict[str, object]") -> None:
        try:
            with anyio.fail_after(self._stalled):
                await self._send(message)
        except TimeoutError:
            raise Stalled from None
        except OSError:
            raise ClientGone from None

    async def stalled(self) -> None:
        """Wait until the client has taken nothing of a piece for too long.

        One who looks now and then, since a timer for each piece would cost as much as passing it on does.
        """
        while True:
            since = self._since
            left = self._stalled if since is None else since + self._stalled - time.monotonic()
            if left <= 0:
                return
            await anyio.sleep(left)


async def gone(receive: "Receive") -> None:
    """Wait until the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
