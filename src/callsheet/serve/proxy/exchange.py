"""One request that a model answers, from its body to what is recorded of its answer."""

from collections.abc import Awaitable, Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from callsheet.assemble.blocks import Reply
from callsheet.serve.proxy import concluding, receiving
from callsheet.serve.proxy.asking import Asking
from callsheet.serve.proxy.bodies import ClientGone, read_body
from callsheet.serve.proxy.concluding import Came
from callsheet.serve.proxy.crowding import LARGE
from callsheet.serve.proxy.journal import Ended, Outcome, Sent
from callsheet.serve.proxy.responding import gone
from callsheet.serve.proxy.turned import Turned
from callsheet.serve.proxy.underway import CLIENT_CLOSED, FAILED, Underway
from callsheet.wire.failure import Failure
from callsheet.wire.reading import Fields

if TYPE_CHECKING:
    from starlette.types import Receive

HOLD = 2.0
"""Seconds for which the end of an answer waits until it is recorded.

The client sends the answer back with its next request, which is recognised by it: also after this process was killed.
"""

_LEFT = "the client left, or the proxy was stopped"


@dataclass(kw_only=True, slots=True)
class Exchange:
    """One request and its answer."""

    under: Underway
    _came: Came = field(init=False, default_factory=lambda: Came(outcome=Outcome.CUT_OFF, status=CLIENT_CLOSED))
    _reply: Reply | None = field(init=False, default=None)
    _concluded: bool = field(init=False, default=False)

    async def run(self, receive: "Receive") -> None:
        """Answer it. Whatever happens, what came of it is noted."""
        outcome = Outcome.CUT_OFF
        try:
            await self._run(receive)
        except ClientGone:
            pass
        except Exception as error:  # noqa: BLE001 - its words may hold content; what happened is told by its class
            self.under.note.failed(error, "exchange")
            outcome = Outcome.FAILED
            if not self.under.responding.begun:
                await self.under.turn(Turned(500, Failure.INTERNAL, FAILED))
        finally:
            with anyio.CancelScope(shield=True):
                if self.under.prepared is not None and not self._concluded:
                    await self._conclude(self._cut_off(outcome))
                if not self.under.note.over:
                    self._came = replace(self._came, outcome=outcome)
                    await self.under.in_thread(self._end)

    async def _run(self, receive: "Receive") -> None:
        try:
            self.under.raw = await read_body(receive, self.under.headers, self.under.desk.settings.limits)
            self.under.size = len(self.under.raw)
            await self._prepare(receive)
        except Turned as turned:
            if turned.__cause__ is not None:
                self.under.note.failed(turned.__cause__, "prepare")
            self._came = Came(outcome=turned.outcome, status=turned.status, problem=turned.message)
            await self.under.in_thread(self._end)
            await self.under.turn(turned)
            return
        await self._answer(receive)

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
        self.under.note.prepared = self.under.note.seconds

    async def _prepare_in_turn(self) -> None:
        under, desk = self.under, self.under.desk
        large = under.size > LARGE or "content-encoding" in under.headers
        async with desk.turns.turn(under.asker.scope), desk.large if large else nullcontext():
            await to_thread.run_sync(receiving.prepare, under, limiter=desk.threads)

    # ----------------------------------------------------------------------- the answer

    async def _answer(self, receive: "Receive") -> None:
        """Ask, and pass the answer on, until it is over or the client is gone."""
        async with anyio.create_task_group() as tasks:

            async def watch(leaves: Callable[[], Awaitable[None]]) -> None:
                await leaves()
                tasks.cancel_scope.cancel()

            tasks.start_soon(watch, partial(gone, receive))
            tasks.start_soon(watch, self.under.responding.stalled)
            with suppress(ClientGone):
                await self._ask()
            tasks.cancel_scope.cancel()

    async def _ask(self) -> None:
        over = await Asking(under=self.under).ask()
        if over.turned is not None:
            await self._conclude(over.came)
            await self.under.turn(over.turned)
            return
        await self._end_of(over.came, over.rest)

    async def _end_of(self, came: Came, rest: bytes | None) -> None:
        """Record the answer, then let its end out; where recording takes long, the end goes before it.

        `rest` None: the answer is left unfinished, so that the client sees that it is.
        """
        done = anyio.Event()

        async def conclude() -> None:
            # The client may leave while it is recorded; that changes nothing any more.
            with anyio.CancelScope(shield=True):
                await self._conclude(await self.under.in_thread(lambda: self._with_response(came)))
            done.set()

        async with anyio.create_task_group() as tasks:
            self._concluded = True
            tasks.start_soon(conclude)
            with anyio.move_on_after(HOLD):
                await done.wait()
            if rest is not None:
                with suppress(ClientGone):
                    await self.under.responding.end(rest)

    def _with_response(self, came: Came) -> Came:
        """What came with the response that is recorded. What is no answer, whatever its status says, is none."""
        response, answering = self._gathered(), self.under.answering
        if answering is None or came.outcome is not Outcome.ANSWERED:
            return replace(came, response=response)
        instead = answering.instead(response)
        if instead is None:
            return replace(came, response=response)
        return replace(came, outcome=instead, response=response, problem="it is no answer")

    def _gathered(self) -> Fields | None:
        answering = self.under.answering
        if answering is None:
            return None
        if answering.failure is not None:
            self.under.note.failed(answering.failure, "gather")
        try:
            return answering.gathered()
        except Exception as error:  # noqa: BLE001 - the client has its answer, and sends it with its next request
            self.under.note.failed(error, "gather")
            return None

    def _cut_off(self, outcome: Outcome) -> Came:
        """What is recorded of an answer that the client did not wait for, or was not given time for."""
        answering = self.under.answering
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
        self._came = came = replace(came, rounds=tuple(self.under.rounds))
        async with self.under.desk.turns.recording(self.under.asker.scope):
            await self.under.in_thread(self._recorded)

    def _recorded(self) -> None:
        prepared, order = self.under.prepared, self.under.order
        assert prepared is not None
        assert order is not None
        preparing = self.under.preparing
        try:
            self._reply = concluding.conclude(preparing, order, prepared, self._came)
        except Exception as error:  # noqa: BLE001 - the client has its answer, and sends it with its next request
            self.under.note.failed(error, "record")
            self._reply = concluding.read(self._came.response, order.wire)
        self._end()

    def _end(self) -> None:
        """Note how it ended. Blocks."""
        order, at = self.under.order, self.under.desk.now()
        row = Ended(at=at, sent=Sent.NOTHING, outcome=self._came.outcome, status=self._came.status)
        if order is not None:
            row = concluding.ended(at, order, self.under.prepared, self._came, self._reply, size=self.under.size)
        self.under.note.end(row)
