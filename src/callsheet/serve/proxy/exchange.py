"""One request that a model answers, from its body to what is recorded of its answer."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import anyio
from anyio import to_thread

from callsheet.assemble.blocks import Reply
from callsheet.runtime.windows import window_of
from callsheet.serve.proxy import concluding
from callsheet.serve.proxy import headers as heads
from callsheet.serve.proxy.answering import Answering
from callsheet.serve.proxy.bodies import ClientGone, decoded, encoded, read_body, repeats
from callsheet.serve.proxy.concluding import Came
from callsheet.serve.proxy.credentials import CREDENTIALS, Asker, credentials_of
from callsheet.serve.proxy.crowding import LARGE, too_many
from callsheet.serve.proxy.desk import Desk
from callsheet.serve.proxy.journal import Ended, Outcome, Sent
from callsheet.serve.proxy.noting import Note
from callsheet.serve.proxy.observing import told
from callsheet.serve.proxy.packing import unpacked
from callsheet.serve.proxy.preparing import Order, Prepared
from callsheet.serve.proxy.pricing import price_of
from callsheet.serve.proxy.responding import Responding, gone
from callsheet.serve.proxy.rounds import Rounds
from callsheet.serve.proxy.routes import Route, address_of, upstream_for
from callsheet.serve.proxy.spending import reserved
from callsheet.serve.proxy.turned import Turned
from callsheet.serve.proxy.upstream import Answer, Broke
from callsheet.wire.failure import Failure
from callsheet.wire.failures import error_event
from callsheet.wire.reading import Fields

if TYPE_CHECKING:
    from starlette.types import Receive

_T = TypeVar("_T")

HOLD = 2.0
"""Seconds for which the end of an answer waits until it is recorded.

The client sends the answer back with its next request, which is recognised by it: also after this process was killed.
"""

CLIENT_CLOSED = 499
"""The status that is noted where the client left before it got one; servers have agreed on it."""

_LEFT = "the client left, or the proxy was stopped"
FAILED = "callsheet failed; its log says where"
_LONGEST_MODEL = 256


@dataclass(kw_only=True, slots=True)
class Exchange:
    """One request and its answer."""

    note: Note
    #: Names in lower case.
    headers: Mapping[str, str]
    raw_headers: list[heads.Header]
    responding: Responding
    _raw: bytes = field(init=False, default=b"")
    _size: int = field(init=False, default=0)
    #: Dollars that count as spent until it is over.
    _reserved: float = field(init=False, default=0.0)
    _order: Order | None = field(init=False, default=None)
    _prepared: Prepared | None = field(init=False, default=None)
    _model: str = field(init=False, default="")
    _answering: Answering | None = field(init=False, default=None)
    _came: Came = field(init=False, default_factory=lambda: Came(outcome=Outcome.CUT_OFF, status=CLIENT_CLOSED))
    _reply: Reply | None = field(init=False, default=None)
    _rounds: list[concluding.Round] = field(init=False, default_factory=list)
    _concluded: bool = field(init=False, default=False)

    async def run(self, receive: "Receive") -> None:
        """Answer it. Whatever happens, what came of it is noted."""
        outcome = Outcome.CUT_OFF
        try:
            await self._run(receive)
        except ClientGone:
            pass
        except Exception as error:  # noqa: BLE001 - its words may hold content; what happened is told by its class
            self.note.failed(error, "exchange")
            outcome = Outcome.FAILED
            if not self.responding.begun:
                await self._turn(Turned(500, Failure.INTERNAL, FAILED))
        finally:
            with anyio.CancelScope(shield=True):
                if self._prepared is not None and not self._concluded:
                    await self._conclude(self._cut_off(outcome))
                if not self.note.over:
                    self._came = replace(self._came, outcome=outcome)
                    await self._in_thread(self._end)

    async def _run(self, receive: "Receive") -> None:
        try:
            self._raw = await read_body(receive, self.headers, self.desk.settings.limits)
            self._size = len(self._raw)
            await self._prepare(receive)
        except Turned as turned:
            if turned.__cause__ is not None:
                self.note.failed(turned.__cause__, "prepare")
            self._came = Came(outcome=turned.outcome, status=turned.status, problem=turned.message)
            await self._in_thread(self._end)
            await self._turn(turned)
            return
        await self._answer(receive)

    async def _turn(self, turned: Turned) -> None:
        with suppress(ClientGone):
            await self.responding.turn(turned, self.route.wire, self._marks())

    @property
    def desk(self) -> Desk:
        """What all requests share."""
        return self.note.desk

    @property
    def route(self) -> Route:
        """What its address means."""
        return self.note.route

    @property
    def asker(self) -> Asker:
        """Whose it is."""
        return self.note.asker

    # ----------------------------------------------------------------------- before

    async def _prepare(self, receive: "Receive") -> None:
        """Everything until the request can be sent on. Raises `ClientGone` where its client did not wait for that."""
        failed: Exception | None = None
        left = True
        async with anyio.create_task_group() as tasks:

            async def watch() -> None:
                await gone(receive)
                tasks.cancel_scope.cancel()

            tasks.start_soon(watch)
            try:
                await self._prepare_in_turn()
                left = False
            except Exception as error:  # noqa: BLE001 - it goes on from behind the tasks, which would wrap it
                failed = error
            tasks.cancel_scope.cancel()
        if failed is not None:
            raise failed
        if left:
            raise ClientGone
        self.note.prepared = self.note.seconds

    async def _prepare_in_turn(self) -> None:
        large = self._size > LARGE or "content-encoding" in self.headers
        async with self.desk.turns.turn(self.asker.scope), self.desk.large if large else nullcontext():
            await to_thread.run_sync(self._prepare_now, limiter=self.desk.threads)

    def _prepare_now(self) -> None:
        content, body = self._read_now()
        self._model = self._model_of(body)
        self.note.model = self._told_model
        upstream = upstream_for(self.desk.settings, self.route, self._model)
        if upstream is None:
            raise Turned(404, Failure.NOT_FOUND, f"callsheet: no upstream serves model {self.note.model!r} here")
        self.note.upstream = upstream
        handling = self.desk.settings.handling_of(self._model)
        provider = self.desk.provider_of(upstream, self.route.wire)
        price = price_of(handling, upstream.provider, self._model)
        self.desk.purse.check(self.asker, self.note.at, price, self._model)
        self._order = Order(
            wire=self.route.wire,
            provider=provider,
            model=self.route.model,
            stream=self.route.stream,
            handling=handling,
            price=price,
            scope=self.asker.scope,
            named=_label(self.headers.get(heads.CONVERSATION)),
            user=_label(self.headers.get(heads.USER)),
            at=self.note.at,
            listed=bool(self.route.stream) and "alt=sse" not in self.route.query.split("&"),
            account=f"upstream/{upstream.name}" if CREDENTIALS & upstream.fill.keys() else "",
        )
        try:
            window, known = window_of(upstream.provider, self._model)
            self._reserved = reserved(
                price, body, len(content), reply=handling.reserve, window=window if known else None
            )
            self.note.begin(upstream, self._reserved)
        except Exception as error:
            if self.desk.purse.limits_of(self.asker).limited:
                raise Turned(503, Failure.UNAVAILABLE, "callsheet: what keys spend cannot be noted") from error
            self.note.failed(error, "journal")
        many = too_many(body, self.desk.settings.limits.messages)
        if many is not None:
            if not handling.observe_only:
                raise many
            self._prepared = Prepared(sent=Sent.UNASSEMBLED, content=None, model=self._model)
            return
        self._prepared = self.desk.preparing(self.asker.tenant).prepare(self._order, body)
        if self._prepared.failure is not None:
            self.note.failed(self._prepared.failure, "prepare")
        if self._prepared.content is None and not handling.observe_only and repeats(content, body):
            # Sent is what was judged, whichever of them its provider would take.
            self._prepared = replace(self._prepared, content=encoded(body))

    def _read_now(self) -> tuple[bytes, object]:
        """The unpacked body, and what it says; None: nothing that is understood here, and its provider may judge it."""
        content, settings = self._raw, self.desk.settings
        try:
            content = unpacked(content, self.headers.get("content-encoding", ""), settings.limits.body)
            return content, decoded(content)
        except Turned as problem:
            passes = settings.handling_of(self.route.model or "").observe_only
            # Where there is a limit, nobody knows what it would cost.
            if problem.kind is not Failure.INVALID or not passes or self.desk.purse.limits_of(self.asker).limited:
                raise
            return content, None

    def _model_of(self, body: object) -> str:
        if self.route.model is not None:
            return self.route.model[:_LONGEST_MODEL]
        given = body.get("model") if isinstance(body, dict) else None
        return given[:_LONGEST_MODEL] if isinstance(given, str) else ""

    # ----------------------------------------------------------------------- the answer

    async def _answer(self, receive: "Receive") -> None:
        """Ask, and pass the answer on, until it is over or the client is gone."""
        async with anyio.create_task_group() as tasks:

            async def watch(leaves: Callable[[], Awaitable[None]]) -> None:
                await leaves()
                tasks.cancel_scope.cancel()

            tasks.start_soon(watch, partial(gone, receive))
            tasks.start_soon(watch, self.responding.stalled)
            with suppress(ClientGone):
                await self._ask()
            tasks.cancel_scope.cancel()

    async def _ask(self) -> None:
        prepared, upstream = self._prepared, self.note.upstream
        assert prepared is not None
        assert upstream is not None
        rewritten = prepared.content is not None
        onward = heads.onward(self.raw_headers, upstream, self.desk.environment, rewritten=rewritten, read=True)
        content = prepared.content if prepared.content is not None else self._raw
        address = address_of(upstream, self.route)
        if prepared.hides:
            self._raw = b""

            def ask(body: bytes) -> AbstractAsyncContextManager[Answer]:
                assert self._prepared is not None
                self._prepared = replace(self._prepared, unsent=False)
                return self.desk.upstreams.ask(upstream, "POST", address, onward, body)

            await self._ask_in_rounds(content, ask)
            return
        try:
            async with self.desk.upstreams.ask(upstream, "POST", address, onward, content) as answer:
                self.note.first = self.note.seconds
                self._answering = answering = Answering(wire=self.route.wire, answer=answer)
                await self.responding.begin(answer.status, [*heads.back(answer.headers), *self._marks()])
                # A stream may stay open for long; what was asked is not needed any more.
                del content
                self._raw = b""
                self._prepared = prepared = prepared.light()
                came, rest = await self._pass(answering)
        except Turned as turned:
            await self._conclude(Came(outcome=Outcome.UNREACHED, status=turned.status, problem=turned.message))
            await self._turn(turned)
            return
        await self._end_of(came, rest)

    async def _ask_in_rounds(self, content: bytes, ask: Callable[[bytes], AbstractAsyncContextManager[Answer]]) -> None:
        """Ask, and answer what the model calls of ours, until there is an answer for the client."""

        def begun(answering: Answering) -> None:
            self.note.first = self.note.first or self.note.seconds
            self._answering = answering

        rounds = Rounds(
            wire=self.route.wire,
            responding=self.responding,
            ask=ask,
            marks=self._marks,
            begun=begun,
            open=lambda: not self._rounds or (self._prepared is not None and self._prepared.recalls),
            further=lambda response: self._in_thread(lambda: self._further(response)),
        )
        over = await rounds.run(content)
        if self._prepared is not None:
            self._prepared = self._prepared.light()
        if over.turned is not None:
            await self._conclude(over.came)
            await self._turn(over.turned)
            return
        await self._end_of(over.came, over.rest)

    def _further(self, response: Fields) -> bytes:
        """Record a round, and make the request of the next. What is done is noted at once: the client may leave."""
        prepared, order = self._prepared, self._order
        assert prepared is not None
        assert order is not None
        preparing, handling = self.desk.preparing(self.asker.tenant), order.handling
        left = handling.recall_bytes - sum(one.read for one in self._rounds)
        limit = min(left, preparing.readable(order, prepared))
        try:
            made = concluding.went_on(preparing, order, prepared, response, limit=limit, size=self._size)
            self._rounds.append(made)
            self._answering = None
            self._prepared = replace(prepared, unsent=True)
            spent = concluding.spent_in(self._rounds, order.price) - self._reserved
            self.desk.purse.check(self.asker, self.note.at, order.price, self._model, more=spent)
            again = prepared.recalls and len(self._rounds) < handling.recall_rounds and made.read < left
            prepared = preparing.further(order, prepared, recall=again)
            self._prepared = replace(prepared, unsent=True)
        except Turned as turned:
            if turned.__cause__ is not None:
                self.note.failed(turned.__cause__, "recall")
            raise
        except Exception as error:
            self.note.failed(error, "recall")
            raise Turned(503, Failure.UNAVAILABLE, FAILED) from error
        assert prepared.content is not None
        return prepared.content

    async def _pass(self, answering: Answering) -> tuple[Came, bytes | None]:
        """Pass an answer on but for what may be its end, and give that; None: it broke, which the client shall see."""
        held = b""
        try:
            async for piece, last in answering.pieces():
                if last or held:
                    held += piece
                else:
                    await self.responding.piece(piece)
        except Broke as broke:
            await self.responding.piece(held)
            return Came(outcome=Outcome.BROKEN, status=answering.status, problem=broke.problem), self._broken(answering)
        if not answering.good:
            return Came(outcome=Outcome.REFUSED, status=answering.status), held
        if answering.streams and not answering.ended:
            # The provider closed the stream as if it were over, and had not said so: that is passed on as it came.
            return Came(outcome=Outcome.BROKEN, status=answering.status, problem="it ended too early"), held
        return Came(outcome=Outcome.ANSWERED, status=answering.status), held

    async def _end_of(self, came: Came, rest: bytes | None) -> None:
        """Record the answer, then let its end out; where recording takes long, the end goes before it.

        `rest` None: the answer is left unfinished, so that the client sees that it is.
        """
        done = anyio.Event()

        async def conclude() -> None:
            # The client may leave while it is recorded; that changes nothing any more.
            with anyio.CancelScope(shield=True):
                await self._conclude(await self._in_thread(lambda: self._with_response(came)))
            done.set()

        async with anyio.create_task_group() as tasks:
            self._concluded = True
            tasks.start_soon(conclude)
            with anyio.move_on_after(HOLD):
                await done.wait()
            if rest is not None:
                with suppress(ClientGone):
                    await self.responding.end(rest)

    def _with_response(self, came: Came) -> Came:
        """What came with the response that is recorded. What is no answer, whatever its status says, is none."""
        response, answering = self._gathered(), self._answering
        if answering is None or came.outcome is not Outcome.ANSWERED:
            return replace(came, response=response)
        instead = answering.instead(response)
        if instead is None:
            return replace(came, response=response)
        return replace(came, outcome=instead, response=response, problem="it is no answer")

    def _gathered(self) -> Fields | None:
        answering = self._answering
        if answering is None:
            return None
        if answering.failure is not None:
            self.note.failed(answering.failure, "gather")
        try:
            return answering.gathered()
        except Exception as error:  # noqa: BLE001 - the client has its answer, and sends it with its next request
            self.note.failed(error, "gather")
            return None

    def _broken(self, answering: Answering) -> bytes | None:
        if not answering.events or answering.answer.header(b"content-length"):
            return None  # nothing can be put behind it that its client would take
        said = f"the answer of the upstream ended before its end: {answering.problem}"
        return b"\n\n" + error_event(self.route.wire, 502, Failure.UPSTREAM, said)

    def _cut_off(self, outcome: Outcome) -> Came:
        """What is recorded of an answer that the client did not wait for, or was not given time for."""
        answering = self._answering
        if answering is None:
            return Came(outcome=outcome, status=CLIENT_CLOSED, problem=_LEFT)
        # All that the provider says may have come, and only the end of the stream was missing.
        whole = answering.streams and answering.ended and answering.good
        return Came(
            outcome=Outcome.ANSWERED if whole else outcome,
            status=answering.status,
            response=self._gathered() if answering.good else None,
            problem="" if whole else _LEFT,
        )

    # ----------------------------------------------------------------------- after

    async def _conclude(self, came: Came) -> None:
        """Record what came of it: in the conversation, then in the list of requests."""
        self._concluded = True
        self._came = came = replace(came, rounds=tuple(self._rounds))
        async with self.desk.turns.recording(self.asker.scope):
            await self._in_thread(self._recorded)

    def _recorded(self) -> None:
        prepared, order = self._prepared, self._order
        assert prepared is not None
        assert order is not None
        preparing = self.desk.preparing(self.asker.tenant)
        try:
            self._reply = concluding.conclude(preparing, order, prepared, self._came)
        except Exception as error:  # noqa: BLE001 - the client has its answer, and sends it with its next request
            self.note.failed(error, "record")
            self._reply = concluding.read(self._came.response, order.wire)
        self._end()

    def _end(self) -> None:
        """Note how it ended. Blocks."""
        order, at = self._order, self.desk.now()
        row = Ended(at=at, sent=Sent.NOTHING, outcome=self._came.outcome, status=self._came.status)
        if order is not None:
            row = concluding.ended(at, order, self._prepared, self._came, self._reply, size=self._size)
        self.note.end(row)

    @property
    def _told_model(self) -> str:
        credentials = credentials_of(self.headers, self.route.query)
        return "?" if any(one in self._model for one in credentials) else told(self._model)

    def _marks(self) -> list[heads.Header]:
        """What the client is told beside the answer."""
        found = [(b"x-callsheet-request", self.note.request.encode())]
        prepared = self._prepared
        if prepared is None:
            return found
        found.append((b"x-callsheet-sent", prepared.sent.value.encode()))
        if prepared.placed is not None:
            # Named so in a request, it is that one again; and so in the log, and to `callsheet show`.
            found.append((heads.CONVERSATION.encode(), prepared.placed.talk.id.encode()))
        if prepared.sheet is not None:
            found.append((b"x-callsheet-sheet", prepared.sheet.id.encode()))
        if prepared.weighed is not None:
            weighed = prepared.weighed
            sent = weighed.assembled if prepared.sent is Sent.SHEET else weighed.own
            last = 0 if prepared.unsent else sent.tokens
            earlier = (one.prepared.weighed for one in self._rounds)
            tokens = last + sum(one.assembled.tokens for one in earlier if one is not None)
            found.append((b"x-callsheet-tokens", f"{tokens}/{weighed.own.tokens}".encode()))
        if self._rounds:
            rounds = len(self._rounds) + (0 if prepared.unsent else 1)
            found.append((b"x-callsheet-rounds", str(rounds).encode()))
        return found

    async def _in_thread(self, run: "Callable[[], _T]") -> _T:
        return await to_thread.run_sync(run, limiter=self.desk.answering)


def _label(given: str | None) -> str | None:
    return given.strip() or None if given is not None else None
