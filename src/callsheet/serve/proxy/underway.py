"""One request that is under way: what is known of it by now."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from anyio import to_thread

from callsheet.serve.proxy import headers as heads
from callsheet.serve.proxy.answering import Answering
from callsheet.serve.proxy.bodies import ClientGone
from callsheet.serve.proxy.concluding import Round
from callsheet.serve.proxy.credentials import Asker
from callsheet.serve.proxy.desk import Desk
from callsheet.serve.proxy.journal import Sent
from callsheet.serve.proxy.noting import Note
from callsheet.serve.proxy.orders import Order
from callsheet.serve.proxy.prepared import Prepared
from callsheet.serve.proxy.preparing import Preparing
from callsheet.serve.proxy.responding import Responding
from callsheet.serve.proxy.routes import Route
from callsheet.serve.proxy.turned import Turned

_T = TypeVar("_T")

CLIENT_CLOSED = 499
"""The status that is noted where the client left before it got one; servers have agreed on it."""

FAILED = "callsheet failed; its log says where"


@dataclass(kw_only=True, slots=True)
class Underway:
    """A request, from its head to what was sent and came. Used by one thread at a time."""

    note: Note
    #: Names in lower case.
    headers: Mapping[str, str]
    raw_headers: list[heads.Header]
    responding: Responding
    #: The body as it came, as long as it is needed; and its bytes.
    raw: bytes = b""
    size: int = 0
    #: As its body or address names it.
    model: str = ""
    #: Dollars that count as spent until it is over.
    reserved: float = 0.0
    order: Order | None = None
    prepared: Prepared | None = None
    #: The answer that comes, or came.
    answering: Answering | None = None
    #: Those before it that the proxy has answered.
    rounds: list[Round] = field(default_factory=list)

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

    @property
    def preparing(self) -> Preparing:
        """What prepares requests for its tenant."""
        return self.desk.preparing(self.asker.tenant)

    async def in_thread(self, run: Callable[[], _T]) -> _T:
        """Run what blocks, once its answer comes."""
        return await to_thread.run_sync(run, limiter=self.desk.answering)

    async def turn(self, turned: Turned) -> None:
        """Answer it with an error."""
        with suppress(ClientGone):
            await self.responding.turn(turned, self.route.wire, self.marks())

    def marks(self) -> list[heads.Header]:
        """What the client is told beside the answer."""
        found = [(b"x-callsheet-request", self.note.request.encode())]
        prepared = self.prepared
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
            earlier = (one.prepared.weighed for one in self.rounds)
            tokens = last + sum(one.assembled.tokens for one in earlier if one is not None)
            found.append((b"x-callsheet-tokens", f"{tokens}/{weighed.own.tokens}".encode()))
        if self.rounds:
            rounds = len(self.rounds) + (0 if prepared.unsent else 1)
            found.append((b"x-callsheet-rounds", str(rounds).encode()))
        return found
