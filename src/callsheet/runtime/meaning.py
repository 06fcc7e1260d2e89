"""Finding records by what they mean: the stored vectors of a stream, at hand, as far as they had been made at a cut.

How far a background work has come is a record of the stream, so a cut says which vectors count: those up to there, and
no others that may lie in the store already. The same cut finds the same, whenever it is asked.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from callsheet.errors import InvalidOption
from callsheet.graph.changes import Erased
from callsheet.graph.cut import Lineage
from callsheet.graph.enums import StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.index import VectorQuery
from callsheet.graph.ports import Embedder, Ledger, NearestVectors
from callsheet.graph.query import NodeQuery, StateQuery
from callsheet.graph.record import Record, StreamKey
from callsheet.graph.values import Vector
from callsheet.policy.sets import BALANCED, PolicySetDocument
from callsheet.recall.vectors import PlainVectors
from callsheet.runtime.embedded import embedded
from callsheet.runtime.entrusting import Entrusting, provider_of

_STREAMS = 64
"""Streams whose vectors are kept at hand."""

_QUERIES = 256
"""Queries whose vectors are kept at hand."""


def index_of(embedder: Embedder) -> str:
    """The name of the vectors that an embedder makes: those of one name compare with each other."""
    return f"{embedder.name}/{embedder.dimensions}"


def target(index: str, key: StreamKey) -> str:
    """What an `IndexAdvanced` says something about."""
    return f"{index} {key.stream}"


def advanced(ledger: Ledger, key: StreamKey, index: str, upto: int) -> int:
    """Up to which position the vectors of a stream had been made as of a position; 0: none of them."""
    query = StateQuery(field=StateField.INDEX, targets=(target(index, key),), lineage=Lineage(segments=(), upto=upto))
    rows = ledger.states(key, query)
    return int(rows[0].value or 0) if rows else 0


class Near(NamedTuple):
    """A record by how near its vector lies to what was asked."""

    position: int
    record: RecordId
    #: The cosine of the angle between both.
    score: float


Those = Callable[[Sequence[Near]], Sequence[Near]]
"""Those of some records that count, in the same order. It is asked for a few at a time, and for none in vain."""


@dataclass(slots=True)
class _AtHand:
    """The vectors of one stream, loaded up to a position, without those erased up to another."""

    vectors: NearestVectors
    records: dict[int, RecordId] = field(default_factory=dict)
    loaded: int = 0
    cleaned: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


def _fast() -> NearestVectors:
    from callsheet.engines.embedding import vectors

    made = vectors()
    return made if made is not None else PlainVectors()


@dataclass(kw_only=True)
class Meaning:
    """Searches streams of one store by the vectors of one embedder. Thread-safe.

    Without the embedder itself, what was stored of it still compares.
    """

    ledger: Ledger
    #: The name of its vectors; part of the pins.
    index: str
    embedder: Embedder | None = None
    #: What the embedder may be given; None: everything.
    entrusting: Entrusting | None = None
    _streams: OrderedDict[StreamKey, _AtHand] = field(default_factory=OrderedDict, repr=False)
    _queries: OrderedDict[str, Vector] = field(default_factory=OrderedDict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @classmethod
    def of(cls, ledger: Ledger, embedder: Embedder, policy: PolicySetDocument = BALANCED) -> "Meaning":
        """Searches with what this embedder makes, which is given what the policy set lets go where it runs."""
        entrusting = Entrusting(ledger=ledger, provider=provider_of(embedder), policy=policy)
        return cls(ledger=ledger, index=index_of(embedder), embedder=embedder, entrusting=entrusting)

    def may_have(self, key: StreamKey, record: Record) -> bool:
        """Whether the embedder may be given what a record says."""
        return self.entrusting is None or not self.entrusting.refused(key, (record,))

    def advanced(self, key: StreamKey, upto: int) -> int:
        """Up to which position vectors count as of a position."""
        return advanced(self.ledger, key, self.index, upto)

    def nearest(self, key: StreamKey, query: str, *, upto: int, those: Those, limit: int) -> list[Near]:
        """The nearest records first, at most `limit`, of those that count, as of a position."""
        mark = self.advanced(key, upto) if limit > 0 else 0
        return self._nearest(key, self.vector(query), mark, those, limit) if mark else []

    def nearest_to(self, key: StreamKey, asked: Vector, *, upto: int, those: Those, limit: int) -> list[Near]:
        """The same for a vector that is there already."""
        mark = self.advanced(key, upto) if limit > 0 else 0
        return self._nearest(key, asked, mark, those, limit) if mark else []

    def _nearest(self, key: StreamKey, asked: Vector, mark: int, those: Those, limit: int) -> list[Near]:
        at_hand = self._at_hand(key)
        with at_hand.lock:
            self._load(key, at_hand, mark)
            near = (Near(at, at_hand.records[at], score) for at, score in at_hand.vectors.nearest(asked) if at <= mark)
            found: list[Near] = []
            while len(found) < limit and (more := list(islice(near, limit - len(found)))):
                found += those(more)
            return found

    def scores(self, key: StreamKey, query: str, positions: Sequence[int], *, upto: int) -> dict[int, float]:
        """The cosine of each of these positions that has a vector as of a position."""
        mark = self.advanced(key, upto)
        if not mark or not positions:
            return {}
        asked = self.vector(query)
        at_hand = self._at_hand(key)
        with at_hand.lock:
            self._load(key, at_hand, mark)
            return at_hand.vectors.scores(asked, [at for at in positions if at <= mark])

    def vector(self, query: str) -> Vector:
        """The vector of what is searched for. Raises `InvalidOption` where nothing is there to make it."""
        with self._lock:
            known = self._queries.get(query)
        if known is None:
            if self.embedder is None:
                raise InvalidOption(f"the store was opened without the embedder of {self.index}")
            text = self.entrusting.query(query) if self.entrusting is not None else query
            (known,) = embedded(self.embedder, [text], query=True)
            with self._lock:
                self._queries[query] = known
                while len(self._queries) > _QUERIES:
                    self._queries.popitem(last=False)
        return known

    def _at_hand(self, key: StreamKey) -> _AtHand:
        with self._lock:
            found = self._streams.pop(key, None) or _AtHand(_fast())
            self._streams[key] = found
            while len(self._streams) > _STREAMS:
                self._streams.popitem(last=False)
            return found

    def _load(self, key: StreamKey, at_hand: _AtHand, upto: int) -> None:
        if upto > at_hand.loaded:
            rows = self.ledger.vectors(key, VectorQuery(index=self.index, after=at_hand.loaded, upto=upto))
            made = [row for row in rows if row.vector.cells]
            at_hand.vectors.add((row.position, row.vector) for row in made)
            at_hand.records.update((row.position, row.record) for row in made)
            at_hand.loaded = upto
        later = self.ledger.nodes(key, NodeQuery(kinds=("erased",), after=at_hand.cleaned))
        for record in later:
            if isinstance(record.body, Erased):
                at_hand.vectors.drop(at for stream, at in record.body.bodies if stream == key.stream)
            at_hand.cleaned = record.position
