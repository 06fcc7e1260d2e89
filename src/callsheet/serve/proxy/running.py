"""The server: connections of clients, with patience for their beginnings, and a graceful end."""

import asyncio
import socket
import sys
from collections.abc import Callable
from typing import Any

import msgspec
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from callsheet.errors import InvalidOption
from callsheet.serve.proxy.app import application
from callsheet.serve.proxy.opening import Opening
from callsheet.serve.proxy.settings import Limits, Settings
from callsheet.wire.failure import Failure
from callsheet.wire.failures import error_body
from callsheet.wire.names import Wire

_KEEP_ALIVE = 75
"""Seconds for which an idle connection is kept: more than clients keep theirs, so that it is they who close it."""


_SWITCH = 0.001
"""Seconds after which a thread that works on the store lets the event loop go on; Python's own 5 ms are as long as a
request takes there, and the loop, which passes all streams on, waits so long at each of its system calls.
"""


_BAD = (
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b"
)


class Connection(HttpToolsProtocol):
    """A connection that is closed where the head of a request does not come in time."""

    #: Seconds.
    patience = 10.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See `asyncio.Protocol`."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        if self._waiting is None and (self.cycle is None or self.cycle.response_complete):
            self._wait()
        super().data_received(data)

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._wait_no_more()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP gets an error that clients of providers can read, too."""
        content = msgspec.json.encode(error_body(Wire.OPENAI, 400, Failure.INVALID, f"callsheet: {msg}"))
        self.transport.write(_BAD % (len(content), content))
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(self.patience, self._impatient)

    def _wait_no_more(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _impatient(self) -> None:
        self._waiting = None
        if not self.transport.is_closing():
            self.transport.close()


def server(
    opening: Opening, *, started: Callable[[int], object] | None = None, stopped: Callable[[], object] | None = None
) -> uvicorn.Server:
    """A server that is ready to `run`. `started` is told the port when it listens, `stopped` that it does no more."""
    settings = opening.settings
    config = uvicorn.Config(
        application(opening),
        host=settings.host,
        port=settings.port,
        http=_patient(settings.limits),
        ws="none",
        lifespan="on",
        loop="asyncio",
        # These would tell addresses, in which keys stand.
        access_log=False,
        log_level="warning",
        log_config=None,
        date_header=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=max(1, round(settings.limits.shutdown_seconds)),
    )
    return _Server(config, started, stopped)


def bound(settings: Settings) -> socket.socket:
    """A socket at the address where the proxy is to listen. Raises `InvalidOption`."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # With the protocol named, or what is accepted would hold small pieces of streams back until others are confirmed:
    # asyncio sees to that for sockets that it knows to be of TCP.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((settings.host, settings.port))
    except OSError as problem:
        made.close()
        said = f"cannot listen at {settings.host}:{settings.port}: {problem.strerror}"
        raise InvalidOption(said) from None
    made.set_inheritable(False)
    return made


class _Server(uvicorn.Server):
    def __init__(
        self, config: uvicorn.Config, started: Callable[[int], object] | None, stopped: Callable[[], object] | None
    ) -> None:
        super().__init__(config)
        self._told = started
        self._told_end = stopped
        self._switch = sys.getswitchinterval()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        sys.setswitchinterval(min(_SWITCH, self._switch))
        await super().startup(sockets)
        if self._told is not None and self.started:
            self._told(self.servers[0].sockets[0].getsockname()[1])

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        sys.setswitchinterval(self._switch)
        # Here, since behind it the signal that ended it may end the process.
        if self._told_end is not None:
            self._told_end()


def _patient(limits: Limits) -> type[asyncio.Protocol]:
    return type("Connection", (Connection,), {"patience": limits.head_seconds})
