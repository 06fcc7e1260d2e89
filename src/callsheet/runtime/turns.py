"""What was said and found in some turns of a history, each record with the number of its turn."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from callsheet.errors import NotFound
from callsheet.graph.cut import Lineage
from callsheet.graph.enums import INSTRUCTING
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, ToolArtifact
from callsheet.graph.ports import Ledger
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record, StreamKey
from callsheet.graph.values import CallRef

_AT_A_TIME = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Turns:
    """The turns of one history as one reader counts them: a message is one, and its results belong to it."""

    ledger: Ledger
    stream: StreamKey
    lineage: Lineage
    #: Whether a record along the lineage exists for the reader.
    shows: Callable[[Record], bool]

    def between(self, first: int, last: int) -> list[tuple[int, Record]]:
        """The messages and results of these turns, in order of position; instructions belong to none.

        Raises `NotFound` where there is no such turn. Takes time in proportion to what stands before their end.
        """
        turn, turns = 0, dict[RecordId, int]()
        found: list[tuple[int, Record]] = []
        waiting: set[RecordId] = set()
        for record in self._read():
            body = record.body
            if record.header.kind == "message":
                # What was erased counts as it did before.
                if isinstance(body, Message) and body.role in INSTRUCTING:
                    continue
                turn += 1
                turns[record.id] = turn
            asked = body.message if isinstance(body, ToolArtifact) else None
            here = turns.get(asked, turn) if asked is not None else turns.get(record.id, turn)
            if first <= here <= last:
                found.append((here, record))
                waiting |= _calls(body)
            if isinstance(body, ToolArtifact) and body.call is not None:
                waiting.discard(body.call)
            # A result may come after others have spoken.
            if turn > last and not waiting and found:
                break
        if not found:
            raise NotFound(f"there is no turn {last:,}; there are {turn:,}, counted from 1")
        return found

    def _read(self) -> Iterator[Record]:
        after = 0
        while True:
            query = NodeQuery(kinds=("message", "artifact"), lineage=self.lineage, after=after, limit=_AT_A_TIME)
            portion = self.ledger.nodes(self.stream, query)
            yield from filter(self.shows, portion)
            if len(portion) < _AT_A_TIME:
                return
            after = portion[-1].position


def _calls(body: object) -> set[RecordId]:
    return {part.call for part in body.parts if isinstance(part, CallRef)} if isinstance(body, Message) else set()
