"""How an execution waits: for tools to finish, for time limits to pass, between attempts."""

import queue
import time
from typing import Protocol


class Pace(Protocol):
    """Waiting, given in from the edge, so that tests pass time limits without waiting for them."""

    def now(self) -> float:
        """Seconds on a clock that never goes backwards."""
        ...

    def landed(self, flight: object) -> None:
        """Told by a thread of a tool that it has finished."""
        ...

    def next(self, seconds: float) -> object | None:
        """What has finished, waiting at most so long; None: nothing has."""
        ...

    def pause(self, seconds: float) -> None:
        """Wait while nothing runs."""
        ...


class SystemPace:
    """Waits for real."""

    def __init__(self) -> None:
        self._landed: queue.SimpleQueue[object] = queue.SimpleQueue()

    def now(self) -> float:
        """See `Pace.now`."""
        return time.monotonic()

    def landed(self, flight: object) -> None:
        """See `Pace.landed`."""
        self._landed.put(flight)

    def next(self, seconds: float) -> object | None:
        """See `Pace.next`."""
        try:
            return self._landed.get(timeout=max(0.0, seconds))
        except queue.Empty:
            return None

    def pause(self, seconds: float) -> None:
        """See `Pace.pause`."""
        time.sleep(max(0.0, seconds))
