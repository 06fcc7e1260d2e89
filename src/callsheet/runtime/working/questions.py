"""Making the vectors of what users asked while the embedder failed, so that later requests find what it means.

What an attempt came to is stored beside the turn. A vector counts from the record on that says so, for what was
assembled without it must come out again.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from callsheet.graph.ids import StreamId
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record, Stream
from callsheet.graph.times import Instant
from callsheet.policy.freshness import SECOND
from callsheet.runtime.alluding import ATTEMPTS, FAILED, Questions, again_of
from callsheet.runtime.ground import asks
from callsheet.runtime.meaning import Meaning
from callsheet.runtime.working.advancing import advance
from callsheet.runtime.working.work import Outcome, Unit
from callsheet.runtime.working.workshop import Workshop

NAME = "questions"

LATELY = 32
"""Messages, the newest of a conversation, among which failed turns are looked for: requests ask for the last turns."""

WAIT = 30
"""Seconds before the next attempt at the turns of a conversation, twice as many after each that fails."""

_LOG = logging.getLogger(__name__)


class _Due(NamedTuple):
    """A turn that has no vector which counts."""

    asked: Record
    #: Which attempt is next; None: the vector is there, and is not recorded.
    attempt: int | None


@dataclass(frozen=True, kw_only=True)
class FailedQuestions:
    """Tries again in each conversation, oldest turn first: `ATTEMPTS` times in all, with growing waits between.

    A unit names a turn and the attempt. A turn whose attempts are used up is left without a vector for good.
    """

    workshop: Workshop
    meaning: Meaning
    #: Where conversations ended in which nothing was due.
    _quiet: dict[StreamId, int] = field(default_factory=dict, repr=False)
    #: Before when a conversation is not tried again.
    _waits: dict[StreamId, Instant] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, workshop: Workshop) -> "FailedQuestions | None":
        """The work where the store was opened with an embedder."""
        if workshop.embedder is None:
            return None
        return cls(workshop=workshop, meaning=Meaning.of(workshop.ledger, workshop.embedder, workshop.policy))

    @property
    def name(self) -> str:
        """See `Work.name`."""
        return NAME

    def pending(self, limit: int) -> list[Unit]:
        """See `Work.pending`. What waits for its next attempt is not pending before that."""
        found: list[Unit] = []
        now = self.workshop.clock.now()
        for stream in self.workshop.conversations():
            if len(found) >= limit:
                break
            head = self.workshop.ledger.head(stream.key)
            if head is None or self._quiet.get(stream.id) == head.position or self._waits.get(stream.id, now) > now:
                continue
            due = next(self._due(stream), None)
            if due is None:
                self._quiet[stream.id] = head.position
            else:
                found.append(Unit(work=NAME, stream=stream.key, target=f"{due.asked.position}-{due.attempt or 0}"))
        return found

    def do(self, unit: Unit) -> Outcome:
        """See `Work.do`. Goes on to the other turns of the conversation until the embedder fails, and raises then.

        The last attempt at a turn that fails is refused instead.
        """
        stream = self.workshop.session(unit.stream).conversation
        outcome = Outcome.NOTHING
        for due in self._due(stream):
            if due.attempt is not None and not self._made(stream, due, due.attempt):
                return Outcome.REFUSED
            # One at a time: a vector counts together with those before it, and none may be made below that mark.
            advance(self.workshop, stream, again_of(self.meaning.index), due.asked.position)
            outcome = Outcome.DONE
        return outcome

    def _made(self, stream: Stream, due: _Due, attempt: int) -> bool:
        """Whether the attempt made a vector. Raises what the embedder raises, unless it was the last."""
        questions = self._questions(stream)
        try:
            vector = questions.made(due.asked)
        except Exception as problem:
            questions.put(due.asked, FAILED, attempt)
            if attempt < ATTEMPTS:
                wait = WAIT * 2 ** (attempt - 2) * SECOND
                self._waits[stream.id] = Instant(self.workshop.clock.now() + wait)
                raise
            _LOG.warning("the embedder failed with %s, %s times at one turn", type(problem).__name__, attempt)
            return False
        self._waits.pop(stream.id, None)
        questions.put(due.asked, vector, attempt)
        return True

    def _due(self, stream: Stream) -> Iterator[_Due]:
        """The turns that an embedder failed at and that may be tried again, the oldest first."""
        ledger, questions = self.workshop.ledger, self._questions(stream)
        head = ledger.head(stream.key)
        mark = questions.made_again(head.position) if head is not None else 0
        query = NodeQuery(kinds=("message",), after=mark, newest=True, limit=LATELY)
        said = sorted(ledger.nodes(stream.key, query), key=lambda record: record.position)
        for asked in questions.failed([record for record in said if asks(record)]):
            for attempt in range(2, ATTEMPTS + 1):
                known = questions.stored_at(asked, attempt)
                if known != FAILED:
                    yield _Due(asked, attempt if known is None else None)
                    break

    def _questions(self, stream: Stream) -> Questions:
        return Questions(meaning=self.meaning, conversation=stream, makes=False)
