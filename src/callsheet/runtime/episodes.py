"""What compaction has made for one reader: how far it has come, its episodes, and what outlives them.

A reader goes by its own compactions alone: when another's history was compacted tells how much that one had seen.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from callsheet.assemble.items import Item
from callsheet.derive.redaction import Redaction
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

_LOOKED_UP = 1_024
"""Milestones and facts that are kept at hand because a question was looked up among them."""


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

_KINDS = ("compacted", "episode")


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """What compaction had made for one reader up to a position."""

    mark: Mark = NOTHING
    #: The newest episode.
    episode: RecordId | None = None
    upto: int = 0

    @property
    def records(self) -> tuple[RecordId, ...]:
        """What it rests on."""
        return tuple(id for id in (self.mark.record, self.episode) if id is not None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Silenced:
    """Whether the content of a source may not go to a provider, and whether a record quotes such a one."""

    sources: dict[RecordId, bool] = field(default_factory=dict)
    quoting: dict[RecordId, bool] = field(default_factory=dict)


@dataclass(kw_only=True, slots=True)
class Within:
    """What was found to stand in the extracts of some episodes, word for word, and what was found not to."""

    #: The episodes, and how secrets are marked in what they and the records say.
    _of: tuple[tuple[RecordId, ...], Redaction | None] = ((), None)
    #: By record, and whether its content may not go to the provider.
    _found: dict[tuple[RecordId, bool], RecordId | None] = field(default_factory=dict)

    def of(
        self, episodes: tuple[RecordId, ...], redaction: Redaction | None
    ) -> dict[tuple[RecordId, bool], RecordId | None]:
        """The episode that says it, for each record that was looked for in these; None: none does."""
        if (episodes, redaction) != self._of:
            self._of = (episodes, redaction)
            self._found.clear()
        return self._found


@dataclass(kw_only=True, slots=True)
class Stated:
    """The milestones and facts that questions were looked up among, and the names and words that too many hold."""

    records: dict[RecordId, Record] = field(default_factory=dict)
    #: Of each such entity and term the position of the oldest of those that were found to be too many.
    common: dict[tuple[str | None, str | None], int] = field(default_factory=dict)

    def clear(self) -> None:
        """Keep nothing."""
        self.records.clear()
        self.common.clear()

    def get(self, ledger: Ledger, key: StreamKey, ids: Iterable[RecordId]) -> list[Record]:
        """These records; those that were read before are at hand."""
        wanted = tuple(ids)
        if len(self.records) > _LOOKED_UP:
            self.clear()
        missing = tuple(id for id in wanted if id not in self.records)
        self.records.update((record.id, record) for record in (ledger.get(key, missing) if missing else ()))
        return [self.records[id] for id in wanted if id in self.records]


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
    #: What was looked for in the extracts of the episodes.
    within: Within = field(default_factory=Within)
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
        return self.state().mark

    def state(self, before: "State | None" = None) -> "State":
        """How far compaction has come, and the newest episode. One look-up where nothing was compacted since `before`.

        Of `before` is gone on from where it was read for the same reader and nothing of it was erased since.
        """
        if before is not None and 0 < before.upto <= self.lineage.upto:
            query = NodeQuery(kinds=_KINDS, lineage=self.lineage, after=before.upto, limit=1)
            if before.upto == self.lineage.upto or not self.ledger.nodes(self.key, query):
                return replace(before, upto=self.lineage.upto)
        # Of a long history there are many of each, and nearly always the newest is the reader's.
        marks = self.newest("compacted", first=1)
        mark = next((_mark(one, one.body) for one in marks if isinstance(one.body, Compacted)), NOTHING)
        episodes = self.newest("episode", first=1) if mark.record is not None else iter(())
        return State(mark=mark, episode=next((one.id for one in episodes), None), upto=self.lineage.upto)

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
