"""One answer to a client that takes several rounds: the proxy answers calls of the recall tool itself, and asks again.

The client gets one message. Of a stream all but the hidden calls goes to it as it comes; a whole answer is held until
it is known that it is the last.
"""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace

from callsheet.runtime.hidden_recalls import RECALL
from callsheet.serve.proxy import headers as heads
from callsheet.serve.proxy.answering import LARGEST, Answering
from callsheet.serve.proxy.bodies import decoded, encoded
from callsheet.serve.proxy.concluding import Came
from callsheet.serve.proxy.journal import Outcome
from callsheet.serve.proxy.packing import unpacked
from callsheet.serve.proxy.responding import Responding
from callsheet.serve.proxy.turned import Turned
from callsheet.serve.proxy.upstream import Answer, Broke
from callsheet.wire.failure import Failure
from callsheet.wire.failures import error_event
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields
from callsheet.wire.splicing import Splice, asks_only, merged, splice
from callsheet.wire.streaming import Lines, events

_QUIET = 15.0
"""Seconds after which a client is told that something still comes, while thoughts are held. Some give up in minutes."""

_STILL = b": still thinking\n\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Over:
    """How it ended."""

    came: Came
    #: The end of what the client gets; None: it is left unfinished, so that the client sees that it is.
    rest: bytes | None = None
    #: What the client gets instead, where it has got nothing.
    turned: Turned | None = None


@dataclass(kw_only=True, slots=True)
class Rounds:
    """Passes an answer on that may take several rounds."""

    wire: Wire
    responding: Responding
    #: Sends a request.
    ask: Callable[[bytes], AbstractAsyncContextManager[Answer]]
    #: What the client is told beside the answer.
    marks: Callable[[], Sequence[heads.Header]]
    #: Told of each answer as it begins.
    begun: Callable[[Answering], None]
    #: Whether another round may follow; else what the model calls all the same is nobody's.
    open: Callable[[], bool]
    #: Records a response that waits for recalls alone, answers these, and gives the next request. Raises `Turned`.
    further: Callable[[Fields], Awaitable[bytes]]
    #: The responses of earlier rounds.
    responses: list[Fields] = field(default_factory=list)
    _splice: Splice = field(init=False)
    _streams: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self._splice = splice(self.wire, RECALL)

    async def run(self, content: bytes) -> Over:
        """Ask until there is an answer for the client."""
        while True:
            try:
                async with self.ask(content) as answer:
                    answering = Answering(wire=self.wire, answer=answer)
                    self.begun(answering)
                    over = await self._pass(answering)
                if over is not None:
                    return over
                response = answering.gathered()
                assert response is not None, "it was read already"
                content = await self.further(response)
                self.responses.append(response)
                self._splice.begin()
            except Turned as turned:
                return self._turned(turned)

    def _turned(self, turned: Turned) -> Over:
        failed = turned.status in (400, 500, 503)
        outcome = Outcome.FAILED if failed else turned.outcome
        came = Came(outcome=outcome, status=turned.status, problem=turned.message)
        if not self.responding.begun:
            return Over(came=came, turned=turned)
        return Over(came=came, rest=self._error(turned.status, turned.kind, turned.message))

    async def _pass(self, answering: Answering) -> Over | None:
        """Pass one answer on; None: another round follows."""
        if not answering.good:
            return await self._refused(answering)
        if not self.responses and answering.streams:
            self._streams = True
            headers = heads.back(answering.answer.headers, rewritten=True)
            await self.responding.begin(answering.status, [*headers, *self.marks()])
        return await (self._stream(answering) if self._streams else self._whole(answering))

    # ----------------------------------------------------------------------- streams

    async def _stream(self, answering: Answering) -> Over | None:
        lines = Lines()
        try:
            last = time.monotonic()
            async for piece in self._plain(answering):
                out = b"".join(map(self._splice.feed, lines.feed(piece)))
                now = time.monotonic()
                if out or now - last > _QUIET:
                    last = now
                    await self.responding.piece(out or _STILL)
        except Broke as broke:
            came = Came(outcome=Outcome.BROKEN, status=answering.status, problem=broke.problem)
            said = f"the answer of the upstream ended before its end: {broke.problem}"
            return Over(came=came, rest=self._error(502, Failure.UPSTREAM, said))
        left = lines.close()
        # The end of the answer goes out behind the last event, and what the stream ended inside of behind that.
        whole = [replace(each, raw=each.ended) for each in left if not each.broken]
        await self.responding.piece(b"".join(map(self._splice.feed, whole)))
        broken = b"".join(each.raw for each in left if each.broken)
        if not answering.good:
            return Over(came=Came(outcome=Outcome.REFUSED, status=answering.status), rest=self._splice.end() + broken)
        if answering.streams and not answering.ended:
            early = Came(outcome=Outcome.BROKEN, status=answering.status, problem="it ended too early")
            if self.responses:  # the client has the beginning of a whole answer, whose end must not be left out
                said = "the answer of the upstream ended before its end: it ended too early"
                broken = self._error(502, Failure.UPSTREAM, said)
            return Over(came=early, rest=self._splice.end() + broken)
        response = answering.gathered()
        if not answering.streams and (none := self._none(answering, response)) is not None:
            return none
        if self._goes_on(response):
            return None
        return Over(came=Came(outcome=Outcome.ANSWERED, status=answering.status), rest=self._splice.end() + broken)

    async def _plain(self, answering: Answering) -> AsyncIterator[bytes]:
        """The bytes of a stream, as events: also of one that was packed, or that came whole."""
        packing = answering.answer.header(b"content-encoding").strip().lower()
        if answering.streams and packing in ("", "identity"):
            async for piece, _ in answering.pieces():
                yield piece
            return
        kept = [piece async for piece, _ in answering.pieces()]
        if answering.streams:
            yield unpacked(b"".join(kept), packing, LARGEST)
        elif (response := answering.gathered()) is not None:
            for event in events(response, self.wire):
                yield event

    def _error(self, status: int, kind: Failure, said: str) -> bytes:
        return b"\n\n" + error_event(self.wire, status, kind, said)

    # ----------------------------------------------------------------------- whole answers

    async def _whole(self, answering: Answering) -> Over | None:
        kept: list[bytes] = []
        size = 0
        try:
            async for piece, _ in answering.pieces():
                size += len(piece)
                kept.append(piece)
                if size > LARGEST:
                    # Nobody reads it here any more, so it goes on as it comes.
                    await self._begin_as_it_came(answering)
                    await self.responding.piece(b"".join(kept))
                    kept.clear()
        except Broke as broke:
            came = Came(outcome=Outcome.BROKEN, status=answering.status, problem=broke.problem)
            if self.responding.begun:
                return Over(came=came)
            said = f"the answer of the upstream ended before its end: {broke.problem}"
            return Over(came=came, turned=Turned(502, Failure.UPSTREAM, said))
        response = answering.gathered()
        if self.responses and (none := self._none(answering, response)) is not None:
            return none
        if self._goes_on(response):
            return None
        came = Came(outcome=Outcome.ANSWERED, status=answering.status)
        shown = merged([*self.responses, response], self.wire, RECALL) if response is not None else None
        if shown is None or shown == response:
            await self._begin_as_it_came(answering)
            return Over(came=came, rest=b"".join(kept))
        content = encoded(shown)
        headers = heads.back(answering.answer.headers, rewritten=True)
        sized = (b"content-length", str(len(content)).encode())
        await self.responding.begin(answering.status, [*headers, sized, *self.marks()])
        return Over(came=came, rest=content)

    def _goes_on(self, response: Fields | None) -> bool:
        return response is not None and self.open() and asks_only(response, self.wire, RECALL)

    async def _begin_as_it_came(self, answering: Answering) -> None:
        if not self.responding.begun:
            await self.responding.begin(answering.status, [*heads.back(answering.answer.headers), *self.marks()])

    # ----------------------------------------------------------------------- errors

    def _none(self, answering: Answering, response: Fields | None) -> Over | None:
        """How it ends where what came behind a round is no answer; None: it is one. What the provider says is told."""
        outcome = answering.instead(response, awaited=True)
        if outcome is None:
            return None
        said = _said(response) or "what the upstream sent in place of an answer is none"
        came = Came(outcome=outcome, status=502, problem="it is no answer")
        if self.responding.begun:
            return Over(came=came, rest=self._error(502, Failure.UPSTREAM, said))
        return Over(came=came, turned=Turned(502, Failure.UPSTREAM, said))

    async def _refused(self, answering: Answering) -> Over:
        """The provider's error goes to the client as it came; into a stream that has begun, as its event."""
        came = Came(outcome=Outcome.REFUSED, status=answering.status)
        if not self.responding.begun:
            await self._begin_as_it_came(answering)
        kept: list[bytes] = []
        try:
            async for piece, _ in answering.pieces():
                kept.append(piece)
        except Broke as broke:
            if not self._streams:
                return Over(came=replace(came, outcome=Outcome.BROKEN, problem=broke.problem))
        content = b"".join(kept)
        if not self._streams:
            return Over(came=came, rest=content)
        return Over(came=came, rest=self._error(answering.status, _kind(answering.status), _words(content)))


_KINDS = {
    400: Failure.INVALID,
    401: Failure.AUTHENTICATION,
    403: Failure.PERMISSION,
    404: Failure.NOT_FOUND,
    413: Failure.TOO_LARGE,
    429: Failure.RATE,
    503: Failure.UNAVAILABLE,
    504: Failure.TIMEOUT,
}


def _kind(status: int) -> Failure:
    return _KINDS.get(status, Failure.INVALID if status < 500 else Failure.UPSTREAM)


def _words(content: bytes) -> str:
    """What the provider says in an error; something in general where that cannot be read."""
    try:
        found = decoded(content)
    except Turned:
        found = None
    return _said(found) or "the upstream refused to go on with this answer"


def _said(found: object) -> str:
    error = found.get("error") if isinstance(found, dict) else None
    said = error.get("message") if isinstance(error, dict) else None
    return said if isinstance(said, str) else ""
