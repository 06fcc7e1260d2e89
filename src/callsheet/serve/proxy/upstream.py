"""Connections to providers: a request out, and its answer as a stream of bytes, exactly as they come."""

import logging
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import anyio
import httpx2

from callsheet.serve.proxy import headers as heads
from callsheet.serve.proxy.headers import Header
from callsheet.serve.proxy.settings import Upstream
from callsheet.serve.proxy.turned import Turned
from callsheet.wire.failure import Failure

_IDLE = 30.0
"""Seconds for which a connection is kept for the next request. Providers close theirs after a minute or more."""


class Broke(Exception):
    """An answer ended before its end: the connection broke, or nothing came for too long."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        #: What happened, without content.
        self.problem = problem


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """An answer that has begun."""

    status: int
    headers: Sequence[Header]
    #: The bytes of the body as they come, packed as they are. Raises `Broke`.
    pieces: AsyncIterator[bytes]

    @property
    def good(self) -> bool:
        """Whether the provider did what it was asked."""
        return 200 <= self.status < 300

    def header(self, name: bytes) -> str:
        """The value of a header; empty: there is none."""
        return next((value.decode("latin-1") for key, value in self.headers if key.lower() == name), "")


class Upstreams:
    """The connections of one proxy. An asynchronous context manager."""

    def __init__(self, *, streams: int) -> None:
        _silence()
        # Nothing is shared between requests but connections: no cookies, since each client has its own, no redirects,
        # since they would take credentials elsewhere.
        self._client = httpx2.AsyncClient(
            follow_redirects=False,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=streams, keepalive_expiry=_IDLE),
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    def ask(
        self,
        upstream: Upstream,
        method: str,
        address: str,
        headers: Sequence[Header],
        content: bytes | AsyncIterator[bytes],
    ) -> AbstractAsyncContextManager[Answer]:
        """Send a request, and give its answer as soon as it begins. Leaving it closes the connection if it is not over.

        Raises `Turned` where the upstream is not reached or does not answer in time.
        """
        return self._ask(upstream, method, address, headers, content)

    @asynccontextmanager
    async def _ask(
        self,
        upstream: Upstream,
        method: str,
        address: str,
        headers: Sequence[Header],
        content: bytes | AsyncIterator[bytes],
    ) -> AsyncIterator[Answer]:
        response = await self._sent(upstream, method, address, headers, content)
        try:
            status, head = response.status_code, response.headers.raw
            if not heads.can_be_said(status, head):
                raise Turned(502, Failure.UPSTREAM, f"upstream {upstream.name!r} answered with a head that is no HTTP")
            yield Answer(status=status, headers=heads.framed(status, head), pieces=_pieces(response))
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()

    async def _sent(
        self,
        upstream: Upstream,
        method: str,
        address: str,
        headers: Sequence[Header],
        content: bytes | AsyncIterator[bytes],
    ) -> httpx2.Response:
        times = upstream.timeouts
        waits = {"connect": times.connect, "read": None, "write": times.silence, "pool": None}
        # Made directly and not by the client, which would add headers and cookies of its own.
        request = httpx2.Request(method, address, headers=list(headers), content=content, extensions={"timeout": waits})
        try:
            with anyio.fail_after(times.connect + times.answer):
                response = await self._client.send(request, stream=True)
            # It is asked for again where the body begins. A timer of our own for each piece would cost as much as
            # passing the piece on does.
            waits["read"] = times.silence
            return response
        except (TimeoutError, httpx2.ConnectTimeout, httpx2.WriteTimeout):
            raise Turned(504, Failure.TIMEOUT, f"upstream {upstream.name!r} did not answer in time") from None
        except httpx2.ConnectError as problem:
            why = "its certificate was not accepted" if _untrusted(problem) else "it could not be reached"
            raise Turned(502, Failure.UPSTREAM, f"upstream {upstream.name!r} did not answer: {why}") from None
        except (httpx2.TransportError, httpx2.InvalidURL, ssl.SSLError):
            raise Turned(502, Failure.UPSTREAM, f"upstream {upstream.name!r} broke off before it answered") from None


async def _pieces(response: httpx2.Response) -> AsyncIterator[bytes]:
    try:
        async for piece in response.aiter_raw():
            if piece:
                yield piece
    except httpx2.ReadTimeout:
        raise Broke("nothing came for too long") from None
    except (httpx2.TransportError, httpx2.StreamError, ssl.SSLError):
        raise Broke("the connection broke") from None


def _untrusted(problem: BaseException | None) -> bool:
    while problem is not None:
        if isinstance(problem, ssl.SSLCertVerificationError):
            return True
        problem = problem.__cause__ or problem.__context__
    return False


def missing(upstreams: Sequence[Upstream], environment: Mapping[str, str]) -> list[str]:
    """The environment variables that headers come from and that are not set."""
    wanted = dict.fromkeys(variable for one in upstreams for variable in one.fill.values())
    return [variable for variable in wanted if not environment.get(variable)]


def _silence() -> None:
    """Keep the libraries from logging addresses and headers, in which keys stand."""
    for name in ("httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
