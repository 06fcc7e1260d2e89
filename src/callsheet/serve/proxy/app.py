"""The application: every address of the proxy, and what is opened and closed with it."""

import hmac
import re
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
import msgspec
from anyio import to_thread
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Mount, Route

from callsheet.errors import InvalidMessage
from callsheet.serve.proxy import headers as heads
from callsheet.serve.proxy import pricing, routes, unpacking
from callsheet.serve.proxy.bodies import ClientGone, read_body
from callsheet.serve.proxy.counting import counted
from callsheet.serve.proxy.desk import Desk
from callsheet.serve.proxy.exchange import Exchange
from callsheet.serve.proxy.noting import Note
from callsheet.serve.proxy.opening import Opening
from callsheet.serve.proxy.passing import Passage
from callsheet.serve.proxy.permitting import lets_all
from callsheet.serve.proxy.responding import Responding
from callsheet.serve.proxy.turned import Turned
from callsheet.serve.proxy.underway import FAILED, Underway
from callsheet.wire.failure import Failure
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields
from callsheet.wire.tokens import counter_for

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

LINGER = 10.0
"""Seconds for which what is still to be recorded is waited for when the proxy is stopped."""

_PORT = re.compile(r":[0-9]*$")
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(kw_only=True, slots=True)
class Proxy:
    """Answers every address that is not the proxy's own."""

    desk: Desk
    _idle: anyio.Event = field(default_factory=anyio.Event)

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """One request. Never raises: the server would log what it says."""
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        responding = Responding(send, self.desk.settings.limits.stalled_seconds)
        self.desk.observer.open += 1
        try:
            await self._run(scope, receive, responding)
        except Exception as error:  # noqa: BLE001 - its words may hold content, and the server would log them
            self.desk.observer.failed(error, "request")
            if not responding.begun:
                await self._turn(responding, Turned(500, Failure.INTERNAL, FAILED), Wire.OPENAI)
        finally:
            self.desk.observer.open -= 1
            if not self.desk.observer.open:
                self._idle.set()
                self._idle = anyio.Event()

    async def _run(self, scope: "Scope", receive: "Receive", responding: Responding) -> None:
        raw_headers: list[heads.Header] = list(scope["headers"])
        headers = heads.read(raw_headers)
        query = scope["query_string"].decode("latin-1")
        raw_path: bytes = scope.get("raw_path") or scope["path"].encode()
        route = routes.route(self.desk.settings, scope["method"], raw_path.decode("latin-1"), query, headers)
        asker = self.desk.credentials.asker(headers, query, route.format)
        note = Note(desk=self.desk, route=route, asker=asker, request=secrets.token_hex(8), at=self.desk.now())
        try:
            if not routes.is_plain(raw_path.decode("latin-1")):
                raise Turned(400, Failure.INVALID, "callsheet: the address has dot segments, or no path")
            self._admit(route, headers, scope["method"])
            if route.kind is routes.Kind.ANSWER:
                under = Underway(note=note, headers=headers, raw_headers=raw_headers, responding=responding)
                await Exchange(under=under).run(receive)
                return
            passage = Passage(
                note=note,
                method=scope["method"],
                headers=headers,
                raw_headers=raw_headers,
                responding=responding,
            )
            if route.kind is routes.Kind.COUNT:
                passage.content = await read_body(receive, headers, self.desk.settings.limits)
                found = await to_thread.run_sync(self._count, passage, limiter=self.desk.threads)
                if found is not None:
                    await _json(responding, found)
                    return
            await passage.run(receive)
        except ClientGone:
            pass
        except Turned as turned:
            await self._turn(responding, turned, route.wire)

    async def _turn(self, responding: Responding, turned: Turned, wire: Wire) -> None:
        with suppress(ClientGone):
            await responding.turn(turned, wire)

    def _admit(self, route: routes.Route, headers: Mapping[str, str], method: str) -> None:
        """Raise `Turned` for what is not let in."""
        limits = self.desk.settings.limits
        if self.desk.observer.open > limits.streams:
            said = f"callsheet: {limits.streams} requests are being answered; try again"
            raise Turned(503, Failure.UNAVAILABLE, said, retry_after=1)
        if any(one.fill for one in self.desk.settings.upstreams) and self._of_a_page(headers):
            raise Turned(403, Failure.PERMISSION, "callsheet: requests from web pages are not let in where it has keys")
        if route.kind is routes.Kind.PASS and not self.desk.settings.pass_others and method not in ("GET", "HEAD"):
            raise Turned(403, Failure.PERMISSION, "callsheet: this proxy passes nothing on that it cannot look through")

    def _of_a_page(self, headers: Mapping[str, str]) -> bool:
        """Whether a web page may have sent it: any that a browser shows can, and would spend the operator's key.

        A page that was given this machine's address under a name of its own is told by that name.
        """
        local = self.desk.settings.host in _LOOPBACK
        return "origin" in headers or (local and host_of(headers.get("host", "")) not in _LOOPBACK)

    def _count(self, passage: Passage) -> Fields | None:
        """The count of a request, where it may not go to the provider unseen; None: it may."""
        settings, route = self.desk.settings, passage.route
        assert passage.content is not None
        passes = settings.handling_of(route.model or "").observe_only
        _, body = unpacking.read(passage.content, passage.headers, settings.limits, passes=passes)
        if not isinstance(body, dict):
            if passes:
                return None  # its provider judges it
            raise Turned(400, Failure.INVALID, "the body of the request must be a JSON object")
        given = route.model or body.get("model")
        model = given if isinstance(given, str) else ""
        upstream = routes.upstream_for(settings, route, model)
        if upstream is None:
            raise Turned(404, Failure.NOT_FOUND, "callsheet: no upstream serves this model here")
        handling = settings.handling_of(model)
        if handling.observe_only or lets_all(handling.policy, upstream.provider):
            return None
        scales = self.desk.preparing(passage.note.asker.tenant).comparing.scales
        try:
            return counted(body, route.wire, route.model, counter_for(upstream.provider, model), scales)
        except InvalidMessage as problem:
            raise Turned(400, Failure.INVALID, f"{problem} (callsheet; nothing was sent)") from None

    async def settled(self) -> None:
        """Wait until no request is open any more, but not for ever."""
        with anyio.move_on_after(LINGER):
            while self.desk.observer.open:
                await self._idle.wait()


def application(opening: Opening) -> Starlette:
    """The application of a proxy. What it needs is opened when the server starts, and closed when it stops."""
    state = _State()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with opening.opened() as desk:
            state.proxy = Proxy(desk=desk)
            yield
            await state.proxy.settled()

    async def proxied(scope: "Scope", receive: "Receive", send: "Send") -> None:
        assert state.proxy is not None
        await state.proxy(scope, receive, send)

    async def healthz(_: "Request") -> Response:
        return _response({"status": "ok"})

    async def status(request: "Request") -> Response:
        assert state.proxy is not None
        desk = state.proxy.desk
        if not may_see(desk, request):
            return _response({"error": "not from here; see `operator` in the documentation"}, 403)
        return _response(
            {
                "open": desk.observer.open,
                **desk.observer.counts(),
                "observe_only": desk.settings.handling.observe_only,
                "upstreams": [one.name for one in desk.settings.upstreams],
                "prices": pricing.table(),
            }
        )

    return Starlette(
        routes=[
            Route("/healthz", healthz, methods=["GET"]),
            Route("/callsheet/status", status, methods=["GET"]),
            Mount("", app=proxied),
        ],
        lifespan=lifespan,
    )


@dataclass(slots=True)
class _State:
    proxy: Proxy | None = None


def may_see(desk: Desk, request: "Request") -> bool:
    """Whether the operator asks: with the token, or where there is none, from this machine and no web page."""
    variable = desk.settings.operator
    if variable is not None:
        wanted = desk.environment.get(variable, "")
        given = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
        return bool(wanted) and hmac.compare_digest(given.encode(), wanted.encode())
    client = request.client.host if request.client is not None else ""
    forwarded = any(name in request.headers for name in ("origin", "forwarded", "x-forwarded-for"))
    return client in _LOOPBACK and host_of(request.headers.get("host", "")) in _LOOPBACK and not forwarded


def host_of(given: str) -> str:
    """The host of a ``host`` header, without its port and brackets."""
    return _PORT.sub("", given.strip()).strip("[]").lower()


async def _json(responding: Responding, found: Fields) -> None:
    content = msgspec.json.encode(found)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
    await responding.begin(200, [*headers, (b"x-callsheet-counted", b"here")])
    await responding.end(content)


def _response(value: object, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")
