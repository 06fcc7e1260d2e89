"""Asking the provider, and passing its answer on."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

from callsheet.serve.proxy import concluding
from callsheet.serve.proxy import headers as heads
from callsheet.serve.proxy.answering import Answering
from callsheet.serve.proxy.concluding import Came
from callsheet.serve.proxy.journal import Outcome
from callsheet.serve.proxy.rounds import Over, Rounds
from callsheet.serve.proxy.routes import address_of
from callsheet.serve.proxy.turned import Turned
from callsheet.serve.proxy.underway import FAILED, Underway
from callsheet.serve.proxy.upstream import Answer, Broke
from callsheet.wire.failure import Failure
from callsheet.wire.failures import error_event
from callsheet.wire.reading import Fields


@dataclass(frozen=True, kw_only=True, slots=True)
class Asking:
    """Asks for one request."""

    under: Underway

    async def ask(self) -> Over:
        """Ask, and pass the answer on but for its end. Raises `ClientGone`."""
        under = self.under
        prepared, upstream = under.prepared, under.note.upstream
        assert prepared is not None
        assert upstream is not None
        rewritten = prepared.content is not None
        onward = heads.onward(under.raw_headers, upstream, under.desk.environment, rewritten=rewritten, read=True)
        content = prepared.content if prepared.content is not None else under.raw
        address = address_of(upstream, under.route)

        def send(body: bytes) -> AbstractAsyncContextManager[Answer]:
            return under.desk.upstreams.ask(upstream, "POST", address, onward, body)

        if prepared.hides:
            under.raw = b""
            return await self._in_rounds(content, send)
        try:
            async with send(content) as answer:
                self._begins(answering := Answering(wire=under.route.wire, answer=answer))
                await under.responding.begin(answer.status, [*heads.back(answer.headers), *under.marks()])
                # A stream may stay open for long; what was asked is not needed any more.
                del content
                under.raw = b""
                under.prepared = prepared = prepared.light()
                return await self._pass(answering)
        except Turned as turned:
            came = Came(outcome=Outcome.UNREACHED, status=turned.status, problem=turned.message)
            return Over(came=came, turned=turned)

    def _begins(self, answering: Answering) -> None:
        note = self.under.note
        note.first = note.first or note.seconds
        self.under.answering = answering

    async def _in_rounds(self, content: bytes, send: Callable[[bytes], AbstractAsyncContextManager[Answer]]) -> Over:
        """Ask, and answer what the model calls of ours, until there is an answer for the client."""
        under = self.under

        def ask(body: bytes) -> AbstractAsyncContextManager[Answer]:
            assert under.prepared is not None
            under.prepared = replace(under.prepared, unsent=False)
            return send(body)

        rounds = Rounds(
            wire=under.route.wire,
            responding=under.responding,
            ask=ask,
            marks=under.marks,
            begun=self._begins,
            open=lambda: not under.rounds or (under.prepared is not None and under.prepared.recalls),
            further=lambda response: under.in_thread(lambda: self._further(response)),
        )
        over = await rounds.run(content)
        if under.prepared is not None:
            under.prepared = under.prepared.light()
        return over

    def _further(self, response: Fields) -> bytes:
        """Record a round, and make the request of the next. What is done is noted at once: the client may leave."""
        under = self.under
        prepared, order = under.prepared, under.order
        assert prepared is not None
        assert order is not None
        preparing, handling = under.preparing, order.handling
        left = handling.recall_bytes - sum(one.read for one in under.rounds)
        limit = min(left, preparing.readable(order, prepared))
        try:
            made = concluding.went_on(preparing, order, prepared, response, limit=limit, size=under.size)
            under.rounds.append(made)
            under.answering = None
            under.prepared = replace(prepared, unsent=True)
            spent = concluding.spent_in(under.rounds, order.price) - under.reserved
            under.desk.purse.check(under.asker, under.note.at, order.price, under.model, more=spent)
            again = prepared.recalls and len(under.rounds) < handling.recall_rounds and made.read < left
            prepared = preparing.further(order, prepared, recall=again)
            under.prepared = replace(prepared, unsent=True)
        except Turned as turned:
            if turned.__cause__ is not None:
                under.note.failed(turned.__cause__, "recall")
            raise
        except Exception as error:
            under.note.failed(error, "recall")
            raise Turned(503, Failure.UNAVAILABLE, FAILED) from error
        assert prepared.content is not None
        return prepared.content

    async def _pass(self, answering: Answering) -> Over:
        """Pass an answer on but for what may be its end."""
        held = b""
        try:
            async for piece, last in answering.pieces():
                if last or held:
                    held += piece
                else:
                    await self.under.responding.piece(piece)
        except Broke as broke:
            await self.under.responding.piece(held)
            came = Came(outcome=Outcome.BROKEN, status=answering.status, problem=broke.problem)
            return Over(came=came, rest=self._broken(answering))
        if not answering.good:
            return Over(came=Came(outcome=Outcome.REFUSED, status=answering.status), rest=held)
        if answering.streams and not answering.ended:
            # The provider closed the stream as if it were over, and had not said so: that is passed on as it came.
            early = Came(outcome=Outcome.BROKEN, status=answering.status, problem="it ended too early")
            return Over(came=early, rest=held)
        return Over(came=Came(outcome=Outcome.ANSWERED, status=answering.status), rest=held)

    def _broken(self, answering: Answering) -> bytes | None:
        """What the client is told of an answer that broke; None: it is left unfinished, which the client sees."""
        if not answering.events or answering.answer.header(b"content-length"):
            return None  # nothing can be put behind it that its client would take
        said = f"the answer of the upstream ended before its end: {answering.problem}"
        return b"\n\n" + error_event(self.under.route.wire, 502, Failure.UPSTREAM, said)
