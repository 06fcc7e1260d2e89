"""The asynchronous way to execute: async functions run on the caller's own loop, everything else in threads."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace

from callsheet.runtime.executing.executing import Execution
from callsheet.runtime.executing.job import Executed


async def execute(run: Callable[[Execution], Executed], execution: Execution) -> Executed:
    """Await an execution. Cancelling this cancels the execution, and returns when that is recorded."""
    stop = execution.cancel or threading.Event()
    given = replace(execution, cancel=stop, loop=asyncio.get_running_loop())
    running = asyncio.ensure_future(asyncio.to_thread(run, given))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([running])
        raise
