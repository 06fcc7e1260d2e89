"""Requests that no model answers, such as lists of models, files, embeddings and counts: passed through untouched."""

from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from callsheet.serve.proxy import headers as heads
from callsheet.serve.proxy.bodies import ClientGone, arriving
from callsheet.serve.proxy.desk import Desk
from callsheet.serve.proxy.journal import Ended, Outcome, Sent
from callsheet.serve.proxy.noting import Note
from callsheet.serve.proxy.packing import too_large
from callsheet.serve.proxy.responding import Responding, gone
from callsheet.serve.proxy.routes import Route, address_of, upstream_for
from callsheet.serve.proxy.settings import Upstream
from callsheet.serve.proxy.turned import Turned
from callsheet.serve.proxy.underway import CLIENT_CLOSED, FAILED
from callsheet.serve.proxy.upstream import Answer, Broke
from callsheet.wire.failure import Failure

if TYPE_CHECKING:
    from starlette.types import Receive


@dataclass(kw_only=True, slots=True)
class Passage:
    """One request that is passed through."""

    note: Note
    method: str
    headers: Mapping[str, str]
    raw_headers: list[heads.Header]
    responding: Responding
    #: The body, where it was read already.
    content: bytes | None = None
    _outcome: Outcome = field(init=False, default=Outcome.CUT_OFF)
    _status: int = field(init=False, default=CLIENT_CLOSED)
    _sent: Sent = field(init=False, default=Sent.NOTHING)
    _arrived: anyio.Event = field(init=False, default_factory=anyio.Event)

    async def run(self, receive: "Receive") -> None:
        """Pass it through."""
        try:
            await self._run(receive)
        except ClientGone:
            pass
        except Turned as turned:
            self._outcome, self._status = turned.outcome, turned.status
            await self._noted()
            await self._turn(turned)
        except Exception as error:  # noqa: BLE001 - its words may hold content; what happened is told by its class
            self._outcome, self._status = Outcome.FAILED, 500
            self.note.failed(error, "pass")
            await self._turn(Turned(500, Failure.INTERNAL, FAILED))
        finally:
            with anyio.CancelScope(shield=True):
                await self._noted()

    @property
    def desk(self) -> Desk:
        """What all requests share."""
        return self.note.desk

    @property
    def route(self) -> Route:
        """What its address means."""
        return self.note.route

    async def _turn(self, turned: Turned) -> None:
        if not self.responding.begun:
            with suppress(ClientGone):
                await self.responding.turn(turned, self.route.wire, self._marks())

    async def _run(self, receive: "Receive") -> None:
        upstream = upstream_for(self.desk.settings, self.route, "")
        if upstream is None:
            raise Turned(404, Failure.NOT_FOUND, f"callsheet: no upstream of the format {self.route.format.value} here")
        self.note.upstream = upstream
        await to_thread.run_sync(self._begin, limiter=self.desk.answering)
        refused: Turned | None = None
        async with anyio.create_task_group() as tasks:

            async def watch() -> None:
                await self._arrived.wait()
                await gone(receive)
                tasks.cancel_scope.cancel()

            async def stalled() -> None:
                await self.responding.stalled()
                tasks.cancel_scope.cancel()

            tasks.start_soon(watch)
            tasks.start_soon(stalled)
            try:
                await self._ask(upstream, receive)
            except Turned as problem:
                refused = problem
            except ClientGone:
                pass
            tasks.cancel_scope.cancel()
        if refused is not None:
            raise refused

    def _begin(self) -> None:
        self.desk.purse.check(self.note.asker, self.note.at, None, "")
        assert self.note.upstream is not None
        self.note.begin(self.note.upstream)

    async def _ask(self, upstream: Upstream, receive: "Receive") -> None:
        onward = heads.onward(self.raw_headers, upstream, self.desk.environment, rewritten=False, read=False)
        content: bytes | AsyncIterator[bytes] = b""
        if self.content is not None:
            content = self.content
            self._arrived.set()
        elif "transfer-encoding" in self.headers:
            content = self._body(receive)
        elif self.headers.get("content-length", "0") != "0":
            content = self._body(receive)
            onward.append((b"content-length", self.headers["content-length"].encode()))
        else:
            self._arrived.set()
        async with self.desk.upstreams.ask(
            upstream, self.method, address_of(upstream, self.route), onward, content
        ) as answer:
            self._sent, self._status = Sent.PASSED, answer.status
            await self.responding.begin(answer.status, [*heads.back(answer.headers), *self._marks()])
            await self._pass(answer)

    async def _pass(self, answer: Answer) -> None:
        try:
            async for piece in answer.pieces:
                await self.responding.piece(piece)
        except Broke:
            self._outcome = Outcome.BROKEN
            return  # unfinished, so that the client sees that it is
        self._outcome = Outcome.ANSWERED if answer.status < 400 else Outcome.REFUSED
        await self._noted()
        await self.responding.end()

    async def _body(self, receive: "Receive") -> AsyncIterator[bytes]:
        size = 0
        async for piece in arriving(receive, self.desk.settings.limits):
            size += len(piece)
            if size > self.desk.settings.limits.body:
                raise too_large(self.desk.settings.limits.body)
            yield piece
        self._arrived.set()

    def _marks(self) -> list[heads.Header]:
        return [(b"x-callsheet-request", self.note.request.encode())]

    async def _noted(self) -> None:
        await to_thread.run_sync(self._over, limiter=self.desk.answering)

    def _over(self) -> None:
        self.note.end(Ended(at=self.desk.now(), sent=self._sent, outcome=self._outcome, status=self._status))
