"""What background work is: pieces that a query over the ledger finds, each done by whoever comes first.

Nothing is queued, so nothing can be lost: what a process that died had in hand is found again by the next query.
"""

from enum import StrEnum
from typing import NamedTuple, Protocol

from callsheet.graph.record import StreamKey


class Unit(NamedTuple):
    """One piece of background work, named so that any process can do it: kind, stream and what in it."""

    #: The name of the work that found it.
    work: str
    #: The stream it belongs to.
    stream: StreamKey
    #: What in the stream: a record id, a span ``"a-b"``, or a document id.
    target: str


class Outcome(StrEnum):
    """How a piece of work ended."""

    DONE = "done"
    #: It was done already, by somebody else or before.
    NOTHING = "nothing"
    #: Recorded with its reason; not tried again until there is new material.
    REFUSED = "refused"
    #: Tried again later.
    FAILED = "failed"


class SetAside(Exception):
    """A piece is done but for what cannot be done and is not tried again: its outcome is `Outcome.REFUSED`."""

    def __init__(self, cause: Exception) -> None:
        super().__init__()
        #: What happened at it.
        self.cause = cause


class Work(Protocol):
    """One kind of background work over a store."""

    @property
    def name(self) -> str:
        """Short and stable, such as ``vectors``, ``episodes``, ``archiving``, ``narrowing``."""
        ...

    def pending(self, limit: int) -> list[Unit]:
        """What is to do now, oldest first, at most `limit` pieces. A query: it changes nothing."""
        ...

    def do(self, unit: Unit) -> Outcome:
        """Do one piece. Idempotent: doing it twice, or when it is done already, changes nothing.

        Raises `SetAside` where only part of it can be done; every other error is a failure, and it is tried again.
        """
        ...
