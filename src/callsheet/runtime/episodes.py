"""What compaction has made for one reader: how far it has come, its episodes, and what outlives them.

A reader goes by its own compactions alone: when another's history was compacted tells how much that one had seen.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from callsheet.assemble.items import Item
from callsheet.graph.changes import Compacted
from callsheet.graph.cut import Lineage
from callsheet.graph.enums import Relation
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Episode
from callsheet.graph.ports import Ledger
from callsheet.graph.query import LinkQuery, NodeQuery
from callsheet.graph.record import Record, StreamKey
from callsheet.graph.values import Digest
from callsheet.policy.visibility import hidden_from
from callsheet.runtime.releasing import Reader

_AT_A_TIME = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """How far the history was compacted for a reader."""

    #: The newest position that was looked at, and the turn there.
    upto: int = 0
    turn: int = 0
    #: Tokens in o200k_base, messages and results, and of these results, that episodes stand for.
    tokens: int = 0
    records: int = 0
    results: int = 0
    #: What was passed over and no episode stands for yet.
    left: tuple[RecordId, ...] = ()
    #: The record that says so, and its position; None: nothing was compacted.
    record: RecordId | None = None
    position: int = 0


NOTHING = Mark()


@dataclass(frozen=True, kw_only=True, slots=True)
class Silenced:
    """Whether the content of a source may not go to a provider, and whether a record quotes such a one."""

    sources: dict[RecordId, bool] = field(default_factory=dict)
    quoting: dict[RecordId, bool] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Retold:
    """What was read of one reader's compactions, kept at hand until there is another."""

    #: The newest compaction, the newest episode and the number of episodes that it was read for.
    key: tuple[RecordId | None, RecordId | None, int] = (None, None, 0)
    #: Oldest first.
    episodes: tuple[Record, ...] = ()
    #: What people laid down, and other milestones and facts, the newest of each; oldest first.
    laid_down: tuple[Record, ...] = ()
    others: tuple[Record, ...] = ()
    #: Of records that were looked at, the episode that stands for each; None: none does.
    covered: dict[RecordId, RecordId | None] = field(default_factory=dict)
    #: Items of such records as they were and as that leaves them, so that the same is not made again.
    made: dict[RecordId, tuple[Item, Item]] = field(default_factory=dict)
    #: By policy set and provider: what may not go there.
    silent: dict[tuple[Digest, str], Silenced] = field(default_factory=dict)

    @property
    def records(self) -> tuple[Record, ...]:
        """All that is considered for every request."""
        return (*self.laid_down, *self.others, *self.episodes)


@dataclass(frozen=True, kw_only=True, slots=True)
class Compactions:
    """Those of one reader along a lineage."""

    ledger: Ledger
    key: StreamKey
    lineage: Lineage
    reader: Reader

    def owns(self, record: Record) -> bool:
        """Whether a record was made for this reader, by its own compaction."""
        scope = record.header.scope
        own = scope.owner == self.reader.participant and scope.sub_agent == self.reader.run
        return own and hidden_from(scope, *self.reader) is None and record.body is not None

    def newest(self, *kinds: str, first: int = _AT_A_TIME) -> Iterator[Record]:
        """The reader's own records of these kinds, newest first, read a few at a time, `first` so many."""
        before, limit = None, first
        while True:
            query = NodeQuery(kinds=kinds, lineage=self.lineage, newest=True, limit=limit, before=before)
            found = self.ledger.nodes(self.key, query)
            yield from (record for record in reversed(found) if self.owns(record))
            if len(found) < limit:
                return
            before, limit = found[0].position, _AT_A_TIME

    def mark(self) -> Mark:
        """How far compaction has come."""
        return self.state()[0]

    def state(self) -> tuple[Mark, RecordId | None]:
        """How far compaction has come, and the newest episode. One look-up where nothing was ever compacted."""
        # Of a long history there are many of each, and nearly always the newest is the reader's.
        marks = self.newest("compacted", first=1)
        mark = next((_mark(one, one.body) for one in marks if isinstance(one.body, Compacted)), NOTHING)
        episodes = self.newest("episode", first=1) if mark.record is not None else iter(())
        return mark, next((one.id for one in episodes), None)

    def asked(self, after: int) -> bool:
        """Whether somebody asked for a compaction behind a position."""
        query = NodeQuery(kinds=("compacted",), lineage=self.lineage, after=after)
        found = (record for record in self.ledger.nodes(self.key, query) if self.owns(record))
        return any(isinstance(record.body, Compacted) and record.body.asked for record in found)

    def window(self, limit: int) -> list[Record]:
        """The episodes of the newest spans, oldest first; of several for one span the newest."""
        spans: dict[tuple[int, int], Record] = {}
        for record in self.newest("episode") if limit else ():
            if isinstance(record.body, Episode):
                spans.setdefault((record.body.first, record.body.last), record)
                if len(spans) >= limit:
                    break
        return [spans[span] for span in sorted(spans)]

    def telling(self, first: int, last: int) -> list[Record]:
        """The episodes that tell of any of these turns, oldest first; of several for one span the newest."""
        spans: dict[tuple[int, int], Record] = {}
        for record in self.newest("episode"):
            body = record.body
            if not isinstance(body, Episode):
                continue
            if body.turns[0] <= last and body.turns[1] >= first:
                spans.setdefault((body.first, body.last), record)
        return [spans[span] for span in sorted(spans)]

    def covered(self, ids: tuple[RecordId, ...]) -> dict[RecordId, RecordId]:
        """Those of these records that an episode of the reader stands for, each with the newest that does."""
        if not ids:
            return {}
        query = LinkQuery(relation=Relation.SUMMARISES, targets=ids, lineage=self.lineage)
        rows = self.ledger.links(self.key, query)
        sources = dict.fromkeys(row.source for row in rows)
        found = self.ledger.get(self.key, tuple(sources)) if sources else []
        own = {record.id for record in found if self.owns(record)}
        return {row.target: row.source for row in rows if row.source in own}


def _mark(record: Record, body: Compacted) -> Mark:
    return Mark(
        upto=body.last,
        turn=body.turn,
        tokens=body.tokens,
        records=body.records,
        results=body.results,
        left=body.left,
        record=record.id,
        position=record.position,
    )
