"""Texts that an embedder fails at while it takes others: after some attempts they are set aside, and the rest counts.

An attempt is stored beside the record, under the name of the vectors: another embedder begins anew.
"""

import logging
from dataclasses import dataclass, field

from callsheet.graph.ids import StreamId
from callsheet.graph.record import Record, Stream
from callsheet.graph.times import Instant
from callsheet.policy.freshness import SECOND
from callsheet.runtime.alluding import ATTEMPTS, FAILED
from callsheet.runtime.working.questions import WAIT
from callsheet.runtime.working.workshop import Workshop

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Aside:
    """What is known of such texts."""

    workshop: Workshop
    #: The name of the vectors.
    index: str
    #: Before when the record at a position is not tried again.
    _waits: dict[tuple[StreamId, int], Instant] = field(default_factory=dict, repr=False)

    def ready(self, stream: StreamId, records: list[Record]) -> list[Record]:
        """Those of these records that need not wait for their next attempt."""
        if not self._waits:
            return records
        now = self.workshop.clock.now()
        return [record for record in records if self._waits.get((stream, record.position), now) <= now]

    def waiting(self, stream: StreamId) -> bool:
        """Whether some of a stream are to be tried again."""
        return any(held == stream for held, _ in self._waits)

    def done(self, stream: StreamId, position: int) -> None:
        """One is not to be tried again."""
        self._waits.pop((stream, position), None)

    def failed(self, stream: Stream, position: int, problem: Exception) -> bool:
        """Note that an attempt failed; whether it was the last. The next may come after twice the wait of this one."""
        ledger = self.workshop.ledger
        names = (f"{self.index} failed {attempt}" for attempt in range(1, ATTEMPTS))
        for before, name in enumerate(names):
            if ledger.put_vectors(stream.key, name, {position: FAILED}):
                wait = Instant(self.workshop.clock.now() + WAIT * 2**before * SECOND)
                self._waits[stream.id, position] = wait
                return False
        self.done(stream.id, position)
        name = type(problem).__name__
        _LOG.warning(
            "no vector for position %s of stream %s: the embedder failed with %s, %s times, and takes other texts",
            position,
            stream.id,
            name,
            ATTEMPTS,
        )
        return True
