"""One attempt under way: in a thread of its own, or on the caller's event loop."""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import cast

from callsheet.graph.times import Instant
from callsheet.runtime.executing.job import Job
from callsheet.runtime.executing.results import Catching


@dataclass(kw_only=True, eq=False)
class Flight:
    """An attempt that runs. A thread cannot be stopped: when it is given up on it runs on, and lands late."""

    job: Job
    function: Callable[..., object]
    arguments: Mapping[str, object]
    #: Told when it has finished in time, in the thread that it ran in.
    landed: Callable[["Flight"], None]
    #: Told when it finishes after it was given up on, in a thread where waiting is allowed.
    late: Callable[["Flight"], None]
    #: On the clock of the pace.
    deadline: float
    started: Instant
    #: Which attempt of the call it is, from 1.
    attempt: int = 1
    #: Where async functions run; None: on a loop of their own.
    loop: asyncio.AbstractEventLoop | None = None
    #: Whether it asks what became of an earlier attempt.
    lookup: bool = False
    value: object = None
    error: BaseException | None = None
    _given_up: bool = False
    _done: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stop: Callable[[], object] | None = None

    def start(self) -> None:
        """Begin. What cannot begin lands with the error that says why."""
        context = contextvars.copy_context()
        if self.loop is not None and inspect.iscoroutinefunction(self.function):
            self._on(self.loop)
            return
        thread = threading.Thread(target=context.run, args=(self._run,), name=f"tool {self.job.tool.name}", daemon=True)
        try:
            thread.start()
        except RuntimeError as problem:  # no thread to be had
            self.error = problem
            self._land()

    def _on(self, loop: asyncio.AbstractEventLoop) -> None:
        called = self._awaited()
        try:
            future = asyncio.run_coroutine_threadsafe(called, loop)
        except RuntimeError as problem:  # the loop is closed
            called.close()
            self.error = problem
            self._land()
            return
        self._stop = future.cancel
        future.add_done_callback(self._returned)

    def give_up(self) -> bool:
        """Let it run on unheeded; an async function is cancelled. False: it has landed already."""
        with self._lock:
            if self._done:
                return False
            self._given_up = True
            stop = self._stop
        if stop is not None:
            stop()
        return True

    def _run(self) -> None:
        caught = Catching()
        with caught:
            value = self.function(**self.arguments)
            if inspect.isawaitable(value):
                value = asyncio.run(self._alone(value))
            self.value = value
        self.error = caught.error
        self._land()

    async def _alone(self, value: Awaitable[object]) -> object:
        """Await on a loop of its own, where it can be cancelled from outside."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()

        def stop() -> None:
            if task is not None and not loop.is_closed():
                loop.call_soon_threadsafe(task.cancel)

        with self._lock:
            self._stop = stop
            given_up = self._given_up
        if given_up:
            if inspect.iscoroutine(value):
                value.close()
            raise asyncio.CancelledError
        return await value

    async def _awaited(self) -> object:
        return await cast("Awaitable[object]", self.function(**self.arguments))

    def _returned(self, future: "Future[object]") -> None:
        caught = Catching()
        with caught:
            self.value = future.result()
        self.error = caught.error
        if self._given_up:
            # This is the loop's thread, which must not wait for the store.
            threading.Thread(target=self._land, name=f"late {self.job.tool.name}", daemon=True).start()
        else:
            self._land()

    def _land(self) -> None:
        with self._lock:
            self._done = True
            late = self._given_up
        if not late:
            self.landed(self)
        elif not isinstance(self.error, asyncio.CancelledError):
            self.late(self)
