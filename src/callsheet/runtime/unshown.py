"""A history of which nothing is in view: its newest records, of the older ones those that policy protects, and counts.

Reads the whole history once, a few records at a time, and holds on to what it gives out alone.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from callsheet.assemble.sizes import WITHHELD, estimated_tokens
from callsheet.graph.cut import Lineage
from callsheet.graph.enums import INSTRUCTING, ArtifactStatus, Reason, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, Message, ToolArtifact, ToolCall
from callsheet.graph.ports import Ledger
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record, StreamKey
from callsheet.runtime.desk import called
from callsheet.runtime.releasing import NOTHING, Opened
from callsheet.runtime.releasing import refused as refused_to

OPENING = 4
"""Of the older messages of the user the first ones: they tell what it is all about, and how it is to be done."""

_AT_A_TIME = 500


@dataclass(kw_only=True, slots=True)
class Unshown:
    """What a first request decides on, and how much lies behind it."""

    #: In order of position: what of the older records is protected, then the newest.
    records: list[Record] = field(default_factory=list)
    #: Turns of the protected ones, and of the last record before the newest.
    turns: dict[RecordId, int] = field(default_factory=dict)
    turn: int = 0
    #: The older records that are not among `records`, and their tokens in o200k_base.
    older: int = 0
    tokens: int = 0
    #: Of the older records in `records`, what the user said first.
    opening: tuple[RecordId, ...] = ()
    #: Results among them.
    results: int = 0
    refused: dict[Reason, int] = field(default_factory=dict)
    #: Of all the records those whose content may not go to the provider.
    silent: set[RecordId] = field(default_factory=set)


def _none(records: Sequence[Record]) -> Collection[RecordId]:
    return ()


@dataclass(kw_only=True, slots=True)
class Unshowing:
    """Reads a history for one reader."""

    ledger: Ledger
    key: StreamKey
    lineage: Lineage
    boundary: Boundary
    #: How many of the newest records are given out, and of how many of the last turns all are.
    newest: int
    turns: int
    #: Records that were pinned, and calls without a result.
    pinned: Collection[str]
    open: Collection[RecordId]
    #: What was opened to the reader beside what scopes show it.
    opened: Opened = NOTHING
    #: Which of some visible records have content that may not go to the provider.
    silent: Callable[[Sequence[Record]], Collection[RecordId]] = _none
    _found: Unshown = field(default_factory=Unshown)
    #: Results that are no success, by tool, until a later success of the tool; each with its turn.
    _failed: dict[str, list[tuple[Record, int]]] = field(default_factory=dict)
    _kept: dict[RecordId, Record] = field(default_factory=dict)
    #: The newest message of the user, with its turn.
    _asked: tuple[Record, int] | None = None
    #: The first messages of the user, each with its turn.
    _opening: list[tuple[Record, int]] = field(default_factory=list)

    def read(self) -> Unshown:
        """Read all of it. Takes time in proportion to the history, and room in proportion to what it gives out."""
        newest: deque[tuple[Record, int]] = deque()
        turn = 0
        for record in self._visible():
            body = record.body
            turn += isinstance(body, Message) and body.role not in INSTRUCTING
            newest.append((record, turn))
            self._look(record, turn)
            if len(newest) >= self.newest + _AT_A_TIME:
                self._leave(newest, _AT_A_TIME, upto=turn - self.turns)
        self._leave(newest, len(newest) - self.newest, upto=turn - self.turns)
        # A result whose call was left behind would stand without what it answers.
        behind = next((at for at, (record, _) in enumerate(newest) if isinstance(record.body, Message)), 0)
        self._leave(newest, behind, upto=turn - self.turns)
        return self._given([record for record, _ in newest])

    def _visible(self) -> Iterator[Record]:
        after = 0
        refused = self._found.refused
        while True:
            query = NodeQuery(kinds=("message", "artifact"), lineage=self.lineage, after=after, limit=_AT_A_TIME)
            portion = self.ledger.nodes(self.key, query)
            shown: list[Record] = []
            for record in portion:
                reason = refused_to(record, self.boundary, self.opened)
                if reason is None:
                    shown.append(record)
                else:
                    refused[reason] = refused.get(reason, 0) + 1
            self._found.silent.update(self.silent(shown))
            yield from shown
            if len(portion) < _AT_A_TIME:
                return
            after = portion[-1].position

    def _look(self, record: Record, turn: int) -> None:
        """Note the newest question, and which results are no success."""
        body = record.body
        if isinstance(body, Message) and body.role is Role.USER:
            self._asked = (record, turn)
            if len(self._opening) < OPENING:
                self._opening.append((record, turn))
        elif isinstance(body, ToolArtifact) and body.status is not ArtifactStatus.OK:
            self._failed.setdefault(body.tool or "", []).append((record, turn))
        elif isinstance(body, ToolArtifact) and body.tool:
            self._failed.pop(body.tool, None)

    def _leave(self, newest: deque[tuple[Record, int]], number: int, *, upto: int) -> None:
        """Count so many of the oldest, as far as their turns go up to this one, and keep those that are protected."""
        passed: list[Record] = []
        while len(passed) < number and newest[0][1] <= upto:
            record, self._found.turn = newest.popleft()
            passed.append(record)
            body = record.body
            instructs = isinstance(body, Message) and body.role in INSTRUCTING
            waits = any(call in self.open for call in called(record))
            # What waits for one result stands with the others that its message asked for.
            beside = isinstance(body, ToolArtifact) and body.message in self._kept
            if instructs or waits or beside or record.id in self.pinned:
                self._keep(record, self._found.turn)
        self._count(passed, 1)

    def _keep(self, record: Record, turn: int) -> None:
        self._kept[record.id] = record
        self._found.turns[record.id] = turn

    def _given(self, newest: list[Record]) -> Unshown:
        found = self._found
        first = newest[0].position if newest else 0
        asked = [self._asked] if self._asked is not None else []
        for record, turn in chain(*self._failed.values(), self._opening, asked):
            if record.position < first:
                self._keep(record, turn)
        found.opening = tuple(record.id for record, _ in self._opening if record.position < first)
        kept = sorted(self._kept.values(), key=lambda record: record.position)
        self._count(kept, -1)
        found.records = [*kept, *newest]
        return found

    def _count(self, records: list[Record], sign: int) -> None:
        wanted = [id for record in records for id in called(record)]
        found = self.ledger.get(self.key, wanted) if wanted else []
        calls = {record.id: record.body for record in found if isinstance(record.body, ToolCall)}
        self._found.older += sign * len(records)
        self._found.results += sign * sum(isinstance(record.body, ToolArtifact) for record in records)
        silent = self._found.silent
        self._found.tokens += sign * sum(
            WITHHELD if record.id in silent else estimated_tokens(record, calls) for record in records
        )
