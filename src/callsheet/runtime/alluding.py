"""What the user alludes to: older records and memories that mean the like of the newest turn, in whatever words.

The vector of a turn is made once, when a request first answers it, and kept beside the turn, erased with it. The same
request made again reads it: a vector that is made on another machine may differ in its last bits, and so may what is
near to it. Where the embedder failed, background work tries again (`callsheet.runtime.working.questions`), and what
comes of that counts for requests from then on.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from callsheet.graph.cut import Lineage
from callsheet.graph.enums import INSTRUCTING
from callsheet.graph.ids import RecordId
from callsheet.graph.index import VectorQuery
from callsheet.graph.nodes import Message, ToolArtifact, UserMemory
from callsheet.graph.ports import Ledger
from callsheet.graph.record import Record, Stream, StreamKey
from callsheet.graph.values import Vector
from callsheet.recall.bm25 import Scored
from callsheet.recall.fusing import by_meaning, by_words, fuse
from callsheet.recall.tool import NAME as RECALL
from callsheet.runtime.meaning import Meaning, Near, advanced
from callsheet.runtime.personalising.book import Shelf
from callsheet.runtime.working.meant import Meant

LOOKED_AT = 30
"""Records that are compared with one another, the nearest: what stands out from them is meant."""

LEAST = 8
"""Among fewer nothing stands out."""

STANDS_OUT = 0.3
"""How much must speak for a record, of what is as good as holding every word that is asked for."""

KEPT = 1_000
"""Memories of the user that are compared with one another."""

FEW = 2
"""Among fewer nothing stands out."""

AWAY = 0.15
"""Which part of the way from what is usual to the same meaning a memory must be at least."""

SPREADS = 3
"""And how many times as far from what is usual as a quarter of the memories lies below it."""

NOTHING = Vector(scale=0.0, cells=b"")
"""Stands for what has no meaning that is known."""

FAILED = Vector(scale=-1.0, cells=b"")
"""Stands for what the embedder failed at."""

ATTEMPTS = 5
"""Times that the vector of a turn is tried to be made: an outage of minutes passes, and what never can be made ends."""

_LOG = logging.getLogger(__name__)


def questions_of(index: str, attempt: int = 1) -> str:
    """The name of the vectors of what is asked, beside those of what is found; each attempt at one has its own."""
    return f"{index} asked" if attempt == 1 else f"{again_of(index)} {attempt}"


def again_of(index: str) -> str:
    """Under which name it is recorded up to where vectors count that a later attempt made."""
    return f"{index} asked again"


@dataclass(frozen=True, kw_only=True, slots=True)
class Questions:
    """The vectors of what users ask in one conversation."""

    meaning: Meaning
    conversation: Stream
    #: Whether those that are not there are made; else only what is stored counts.
    makes: bool

    @classmethod
    def of(cls, meaning: Meaning | None, conversation: Stream) -> "Questions | None":
        """Of a store; None: it was opened without an embedder."""
        return cls(meaning=meaning, conversation=conversation, makes=True) if meaning is not None else None

    @classmethod
    def stored(cls, ledger: Ledger, conversation: Stream, index: str) -> "Questions | None":
        """As far as they were made for an index; None: it has no name, so none was used."""
        meaning = Meaning(ledger=ledger, index=index)
        return cls(meaning=meaning, conversation=conversation, makes=False) if index else None

    @property
    def index(self) -> str:
        """The name of the vectors that they are compared with; part of the pins."""
        return self.meaning.index

    def vector(self, asked: Record, upto: int) -> Vector | None:
        """What a message means as of a position; None: there is nothing to be compared.

        No request fails with an embedder: where one raises, the message has no vector until background work has made
        it and recorded so. The same request, which ends before that record, comes of it again.
        """
        known = self.stored_at(asked)
        if known is None and self.makes:
            known = self._tried(asked)
            self.put(asked, known)
            # Another process may have been first, and its vector is the one that later requests are made by.
            known = self.stored_at(asked) or known
        if known == FAILED and self.made_again(upto) >= asked.position:
            later = (self.stored_at(asked, attempt) for attempt in range(2, ATTEMPTS + 1))
            known = next((one for one in later if one is not None and one.cells), None)
        return known if known is not None and known.cells else None

    def _tried(self, asked: Record) -> Vector:
        try:
            return self.made(asked)
        except Exception as problem:  # noqa: BLE001  An embedder may be anybody's object, and may raise anything.
            _LOG.warning("the embedder failed with %s at a turn; tried again in the background", type(problem).__name__)
            return FAILED

    def made(self, asked: Record) -> Vector:
        """What a message means, asked of the embedder. Raises what it raises."""
        if not self.meaning.may_have(self.conversation.key, asked):
            return NOTHING
        text = Meant(ledger=self.meaning.ledger, stream=self.conversation).text(asked)
        return self.meaning.vector(text) if text.strip() else NOTHING

    def put(self, asked: Record, vector: Vector, attempt: int = 1) -> None:
        """Keep what came of an attempt."""
        name = questions_of(self.index, attempt)
        self.meaning.ledger.put_vectors(self.conversation.key, name, {asked.position: vector})

    def failed(self, asked: Sequence[Record]) -> list[Record]:
        """Those of these messages at which the embedder failed when a request answered them."""
        query = VectorQuery(index=questions_of(self.index), positions=tuple(record.position for record in asked))
        rows = self.meaning.ledger.vectors(self.conversation.key, query) if asked else ()
        failed = {row.position for row in rows if row.vector == FAILED}
        return [record for record in asked if record.position in failed]

    def made_again(self, upto: int) -> int:
        """Up to where vectors count that later attempts made, as of a position."""
        return advanced(self.meaning.ledger, self.conversation.key, again_of(self.index), upto)

    def alluding(self, asked: Record, upto: int) -> "Alluding | None":
        """What a message means the like of, as of a position; None: that cannot be told."""
        vector = self.vector(asked, upto)
        if vector is None:
            return None
        return Alluding(meaning=self.meaning, vector=vector)

    def stored_at(self, asked: Record, attempt: int = 1) -> Vector | None:
        """What came of an attempt; None: there was none."""
        query = VectorQuery(index=questions_of(self.index, attempt), positions=(asked.position,))
        rows = self.meaning.ledger.vectors(self.conversation.key, query)
        return rows[0].vector if rows else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Alluding:
    """Looks for what one message of the user means the like of, among what a reader may be told alone."""

    meaning: Meaning
    vector: Vector

    def near(
        self,
        key: StreamKey,
        lineage: Lineage,
        told: Callable[[Sequence[Record]], Sequence[Record]],
        before: int,
        words: Sequence[Scored],
    ) -> list[RecordId]:
        """The messages and results before a position that stand out from the like, the best first.

        `words` are those that hold words of it: where both speak for a record, both count, as in a search.
        """

        def may_be_meant(ids: Sequence[RecordId]) -> set[RecordId]:
            read = self.meaning.ledger.get(key, ids)
            along = [record for record in read if record.position < before]
            along = [record for record in along if lineage.sees(record.branch, record.position)]
            return {record.id for record in told(along) if _may_be_meant(record)}

        def those(near: Sequence[Near]) -> list[Near]:
            meant = may_be_meant([one.record for one in near])
            return [one for one in near if one.record in meant]

        found = self.meaning.nearest_to(key, self.vector, upto=lineage.upto, those=those, limit=LOOKED_AT)
        if len(found) < LEAST:
            return []
        # Calls and instructions hold words too, and never come back by themselves.
        meant = may_be_meant([one.id for one in words])
        worded = [one for one in words if one.id in meant]
        arms = (by_words(worded, LOOKED_AT), by_meaning([(one.record, one.score) for one in found], LOOKED_AT))
        clear = {id for arm in arms for id, evidence in arm.found if evidence >= STANDS_OUT}
        return [one.id for one in fuse(arms) if one.id in clear]

    def kept(self, shelf: Shelf) -> list[RecordId]:
        """The memories of the user that stand out from all there are, the nearest first."""
        found = self.meaning.nearest_to(
            shelf.stream.key,
            self.vector,
            upto=shelf.position,
            those=lambda near: [one for one in near if any(_is_kept(held) for held in shelf.at(one.position))],
            limit=KEPT,
        )
        if len(found) < FEW:
            return []
        scores = sorted(one.score for one in found)
        usual, low = scores[len(scores) // 2 - 1], scores[len(scores) // 4]
        away = max(AWAY * (1 - usual), SPREADS * (usual - low))
        return [one.record for one in found if one.score - usual >= away]


def _is_kept(record: Record) -> bool:
    return isinstance(record.body, UserMemory)


def _may_be_meant(record: Record) -> bool:
    body = record.body
    if isinstance(body, Message):
        return body.role not in INSTRUCTING
    return isinstance(body, ToolArtifact) and body.recalls is None and body.tool != RECALL
