"""For tests of programs that use Callsheet: time that stands still, ids in sequence, a store in memory.

Everything here is real: the in-memory store passes the same conformance suite as the others.
"""

import itertools

from callsheet.graph.ids import RecordId, StreamId
from callsheet.graph.record import NONCE_BYTES
from callsheet.graph.times import Instant, instant
from callsheet.runtime.opening import MEMORY
from callsheet.runtime.opening import open as open_store
from callsheet.runtime.options import Time
from callsheet.runtime.runtime import Runtime

START = "2026-01-01T00:00:00Z"
"""When a `FixedClock` stands unless it is told otherwise."""


class FixedClock:
    """A clock that stands still until it is moved."""

    def __init__(self, start: Time = START) -> None:
        self._now = instant(start)

    def now(self) -> Instant:
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock on."""
        self._now = Instant(self._now + round(seconds * 1_000_000))


class SequenceIds:
    """Ids and nonces in sequence: the same calls give the same ids, so whole stores can be compared."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def record(self, kind: str) -> RecordId:
        return RecordId(f"{kind}_{next(self._numbers)}")

    def stream(self) -> StreamId:
        return StreamId(f"stream_{next(self._numbers)}")

    def nonce(self) -> bytes:
        return next(self._numbers).to_bytes(NONCE_BYTES, "big")


def memory_runtime(*, tenant: str = "local", clock: FixedClock | None = None) -> Runtime:
    """A runtime over an in-memory store, with ids in sequence and a clock that stands still."""
    return open_store(MEMORY, tenant=tenant, ids=SequenceIds(), clock=clock or FixedClock())
