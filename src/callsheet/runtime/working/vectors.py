"""Making vectors of what is recorded, so that it is found by what it means.

How far the work has come in a stream is a record of that stream: what is found at a cut rests on the vectors up to
there, and on no others that lie in the store already.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from callsheet.errors import NotFound, PositionConflict, StoreBusy
from callsheet.graph.changes import IndexAdvanced
from callsheet.graph.enums import StreamKind
from callsheet.graph.ids import StreamId
from callsheet.graph.ports import Append, Embedder
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Draft, Record, Stream, StreamKey
from callsheet.graph.values import Vector
from callsheet.runtime.embedded import embedded
from callsheet.runtime.entrusting import Entrusting, provider_of
from callsheet.runtime.meaning import advanced, index_of
from callsheet.runtime.working.meant import KINDS, Meant
from callsheet.runtime.working.work import Outcome, Unit
from callsheet.runtime.working.workshop import Workshop

NAME = "vectors"

BATCH = 32
"""Records of one unit at most: a second or two of work by a small model on one thread."""

_ATTEMPTS = 200
"""Times that a record is tried to be appended; each time at least one other writer got through."""

_KINDS_OF_STREAM = (StreamKind.WORKSPACE, StreamKind.USER, StreamKind.CONVERSATION)

NOTHING = Vector(scale=0.0, cells=b"")
"""Stands for a record in which there is nothing to embed."""


@dataclass(frozen=True, kw_only=True)
class Vectors:
    """Embeds records that have no vector yet, the oldest of each stream first."""

    workshop: Workshop
    embedder: Embedder
    #: Where streams ended in which nothing was to do. A stream that is new here is looked through for lost vectors too.
    _quiet: dict[StreamId, int] = field(default_factory=dict, repr=False)
    _meant: dict[StreamId, Meant] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, workshop: Workshop) -> "Vectors | None":
        """The work where the store was opened with an embedder."""
        return cls(workshop=workshop, embedder=workshop.embedder) if workshop.embedder is not None else None

    @property
    def name(self) -> str:
        """See `Work.name`."""
        return NAME

    @property
    def index(self) -> str:
        """The name of the vectors."""
        return index_of(self.embedder)

    def pending(self, limit: int) -> list[Unit]:
        """See `Work.pending`. A unit names the first and the last position that it is about."""
        found: list[Unit] = []
        for stream in self._known().values():
            head = self.workshop.ledger.head(stream.key)
            if head is not None and self._quiet.get(stream.id) != head.position and len(found) < limit:
                due = list(self._due(stream.key, head.position, limit - len(found)))
                if not due:
                    self._quiet[stream.id] = head.position
                found += due
        return found

    def _known(self) -> dict[StreamKey, Stream]:
        ledger, tenant = self.workshop.ledger, self.workshop.tenant
        return {stream.key: stream for kind in _KINDS_OF_STREAM for stream in ledger.streams(tenant, kind)}

    def _due(self, key: StreamKey, position: int, limit: int) -> Iterator[Unit]:
        """What is to do in one stream; what was lost of what had been done comes first."""
        ledger = self.workshop.ledger
        mark = advanced(ledger, key, self.index, position)
        after = mark if key.stream in self._quiet else 0
        lacking = self._lacking(key, after, BATCH * limit)
        for start in range(0, len(lacking), BATCH):
            batch = lacking[start : start + BATCH]
            yield _unit(key, batch[0].position, batch[-1].position)
        # A process that ended between the vectors and the record that tells of them has left that to do.
        newest = ledger.nodes(key, NodeQuery(kinds=KINDS, newest=True, limit=1, after=mark)) if not lacking else []
        if newest:
            yield _unit(key, mark + 1, newest[0].position)

    def _lacking(self, key: StreamKey, after: int, limit: int, upto: int | None = None) -> list[Record]:
        before = upto + 1 if upto is not None else None
        query = NodeQuery(kinds=KINDS, after=after, before=before, limit=limit)
        return self.workshop.ledger.without_vectors(key, self.index, query)

    def do(self, unit: Unit) -> Outcome:
        """See `Work.do`. What lies before the unit and has no vector is done with it: the work goes on from there."""
        first, _, last = unit.target.partition("-")
        stream, upto = self._stream(unit.stream), int(last)
        after = min(self._mark(stream), int(first) - 1)
        done = False
        while batch := self._lacking(stream.key, after, BATCH, upto):
            self.workshop.ledger.put_vectors(stream.key, self.index, dict(self._made(stream, batch)))
            after, done = batch[-1].position, True
        return Outcome.DONE if self._advance(stream, upto) or done else Outcome.NOTHING

    def _stream(self, key: StreamKey) -> Stream:
        found = self._known().get(key)
        if found is None:
            raise NotFound(f"no stream {key.stream!r} of this tenant that has vectors")
        return found

    def _mark(self, stream: Stream) -> int:
        head = self.workshop.ledger.head(stream.key)
        return advanced(self.workshop.ledger, stream.key, self.index, head.position) if head is not None else 0

    def _made(self, stream: Stream, records: Sequence[Record]) -> Iterable[tuple[int, Vector]]:
        meant = self._meant.get(stream.id)
        if meant is None:
            # The units of one stream mostly follow each other, and what one has read serves the next.
            self._meant.clear()
            meant = self._meant[stream.id] = Meant(ledger=self.workshop.ledger, stream=stream)
        kept = self._entrusting.refused(stream.key, records)
        texts = {record.position: "" if record.id in kept else meant.text(record) for record in records}
        asked = [position for position, text in texts.items() if text.strip()]
        vectors = embedded(self.embedder, [texts[position] for position in asked], query=False)
        return (dict.fromkeys(texts, NOTHING) | dict(zip(asked, vectors, strict=True))).items()

    @property
    def _entrusting(self) -> Entrusting:
        workshop = self.workshop
        return Entrusting(ledger=workshop.ledger, provider=provider_of(self.embedder), policy=workshop.policy)

    def _advance(self, stream: Stream, upto: int) -> bool:
        """Record how far the work has come, unless somebody has come further; whether that was to do."""
        ledger, ids = self.workshop.ledger, self.workshop.ids
        for _ in range(_ATTEMPTS):
            head = ledger.head(stream.key)
            if head is None or advanced(ledger, stream.key, self.index, head.position) >= upto:
                return False
            body = IndexAdvanced(index=self.index, stream=stream.id, position=upto)
            at = self.workshop.clock.now()
            draft = Draft(id=ids.record("index_advanced"), at=at, body=body, nonce=ids.nonce())
            try:
                ledger.append([Append(stream=stream, drafts=(draft,), expect=head.position)])
            except PositionConflict:
                continue
            return True
        raise StoreBusy(f"other writers of {stream.name!r} were first {_ATTEMPTS} times; try again")


def _unit(key: StreamKey, first: int, last: int) -> Unit:
    return Unit(work=NAME, stream=key, target=f"{first}-{last}")
