"""Making vectors of what is recorded, so that it is found by what it means.

How far the work has come in a stream is a record of that stream: what is found at a cut rests on the vectors up to
there, and on no others that lie in the store already.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from callsheet.errors import NotFound, StoreBusy, StoreClosed
from callsheet.graph.enums import StreamKind
from callsheet.graph.ids import StreamId
from callsheet.graph.ports import Embedder
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record, Stream, StreamKey
from callsheet.graph.values import Vector
from callsheet.runtime.embedded import embedded
from callsheet.runtime.entrusting import Entrusting, provider_of
from callsheet.runtime.meaning import advanced, index_of
from callsheet.runtime.working.advancing import advance
from callsheet.runtime.working.aside import Aside
from callsheet.runtime.working.meant import KINDS, Meant
from callsheet.runtime.working.work import Outcome, SetAside, Unit
from callsheet.runtime.working.workshop import Workshop

NAME = "vectors"

BATCH = 32
"""Records of one unit at most: a second or two of work by a small model on one thread."""

_KINDS_OF_STREAM = (StreamKind.WORKSPACE, StreamKind.USER, StreamKind.CONVERSATION)

NOTHING = Vector(scale=0.0, cells=b"")
"""Stands for a record in which there is nothing to embed, or that no vector can be made of."""

_ANY = "text"
"""By which an embedder that fails is tried: one that takes it fails at what it was given, not altogether."""


class _Made(NamedTuple):
    """The vectors of some records by position, and what happened at those that have none."""

    vectors: dict[int, Vector]
    #: At those that are tried again, and at those that are set aside.
    failed: tuple[Exception, ...] = ()
    aside: tuple[Exception, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Vectors:
    """Embeds records that have no vector yet, the oldest of each stream first."""

    workshop: Workshop
    embedder: Embedder
    #: Where streams ended in which nothing was to do. A stream that is new here is looked through for lost vectors too.
    _quiet: dict[StreamId, int] = field(default_factory=dict, repr=False)
    #: Streams in which another worker was faster with a unit: they are done from the other end, to meet it only once.
    _met: set[StreamId] = field(default_factory=set, repr=False)
    _meant: dict[StreamId, Meant] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, workshop: Workshop) -> "Vectors | None":
        """The work where the store was opened with an embedder."""
        return cls(workshop=workshop, embedder=workshop.embedder) if workshop.embedder is not None else None

    @property
    def name(self) -> str:
        """See `Work.name`."""
        return NAME

    @cached_property
    def _aside(self) -> Aside:
        return Aside(workshop=self.workshop, index=self.index)

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
                if not due and not self._aside.waiting(stream.id):
                    self._quiet[stream.id] = head.position
                    self._met.discard(stream.id)
                found += reversed(due) if stream.id in self._met else due
        return found

    def _known(self) -> dict[StreamKey, Stream]:
        ledger, tenant = self.workshop.ledger, self.workshop.tenant
        return {stream.key: stream for kind in _KINDS_OF_STREAM for stream in ledger.streams(tenant, kind)}

    def _due(self, key: StreamKey, position: int, limit: int) -> Iterator[Unit]:
        """What is to do in one stream; what was lost of what had been done comes first."""
        ledger = self.workshop.ledger
        mark = advanced(ledger, key, self.index, position)
        after = mark if key.stream in self._quiet else 0
        left = self._lacking(key, after, BATCH * limit)
        lacking = self._aside.ready(key.stream, left)
        for start in range(0, len(lacking), BATCH):
            batch = lacking[start : start + BATCH]
            yield _unit(key, batch[0].position, batch[-1].position)
        # A process that ended between the vectors and the record that tells of them has left that to do.
        newest = ledger.nodes(key, NodeQuery(kinds=KINDS, newest=True, limit=1, after=mark)) if not left else []
        if newest:
            yield _unit(key, mark + 1, newest[0].position)

    def _lacking(self, key: StreamKey, after: int, limit: int, upto: int | None = None) -> list[Record]:
        before = upto + 1 if upto is not None else None
        query = NodeQuery(kinds=KINDS, after=after, before=before, limit=limit)
        return self.workshop.ledger.without_vectors(key, self.index, query)

    def do(self, unit: Unit) -> Outcome:
        """See `Work.do`. What lies before the unit and has no vector is done with it: the work goes on from there.

        Unless another worker does that: then the one that comes last to a gap records how far the work has come. Where
        the embedder fails at some texts and takes others, the others get their vectors all the same.
        """
        first, _, last = unit.target.partition("-")
        stream, upto = self._stream(unit.stream), int(last)
        mark, after = self._mark(stream), int(first) - 1
        if stream.id not in self._met:
            after = min(mark, after)
        done = False
        failed: list[Exception] = []
        aside: list[Exception] = []
        while batch := self._lacking(stream.key, after, BATCH, upto):
            made = self._made(stream, self._aside.ready(stream.id, batch))
            kept = self.workshop.ledger.put_vectors(stream.key, self.index, made.vectors)
            if kept < len(made.vectors):
                self._met.add(stream.id)
            after, done = batch[-1].position, done or kept > 0
            failed += made.failed
            aside += made.aside
        outcome = self._advanced(stream, mark, upto, done=done)
        if failed:
            raise failed[0]
        if aside:
            raise SetAside(aside[0])
        return outcome

    def _advanced(self, stream: Stream, mark: int, upto: int, *, done: bool) -> Outcome:
        """Record how far the work has come, where nothing is lacking up to there."""
        if self._lacking(stream.key, mark, 1, upto):
            return Outcome.DONE if done else Outcome.NOTHING
        return Outcome.DONE if advance(self.workshop, stream, self.index, upto) or done else Outcome.NOTHING

    def _stream(self, key: StreamKey) -> Stream:
        found = self._known().get(key)
        if found is None:
            raise NotFound(f"no stream {key.stream!r} of this tenant that has vectors")
        return found

    def _mark(self, stream: Stream) -> int:
        head = self.workshop.ledger.head(stream.key)
        return advanced(self.workshop.ledger, stream.key, self.index, head.position) if head is not None else 0

    def _made(self, stream: Stream, records: Sequence[Record]) -> _Made:
        """Raises what the embedder raises where it takes no text at all."""
        try:
            return _Made(self._vectors(stream, records))
        except (StoreBusy, StoreClosed):
            raise
        except Exception:  # noqa: BLE001 - what it fails at is found below
            embedded(self.embedder, [_ANY], query=False)
        vectors: dict[int, Vector] = {}
        failed: list[Exception] = []
        aside: list[Exception] = []
        for record in records:
            try:
                vectors |= self._vectors(stream, [record])
                self._aside.done(stream.id, record.position)
            except (StoreBusy, StoreClosed):
                raise
            except Exception as problem:  # noqa: BLE001 - one text that cannot be embedded keeps no other from being so
                if self._aside.failed(stream, record.position, problem):
                    vectors[record.position] = NOTHING
                    aside.append(problem)
                else:
                    failed.append(problem)
        return _Made(vectors, tuple(failed), tuple(aside))

    def _vectors(self, stream: Stream, records: Sequence[Record]) -> dict[int, Vector]:
        meant = self._meant.get(stream.id)
        if meant is None:
            # The units of one stream mostly follow each other, and what one has read serves the next.
            self._meant.clear()
            meant = self._meant[stream.id] = Meant(ledger=self.workshop.ledger, stream=stream)
        kept = self._entrusting.refused(stream.key, records)
        texts = {record.position: "" if record.id in kept else meant.text(record) for record in records}
        asked = [position for position, text in texts.items() if text.strip()]
        vectors = embedded(self.embedder, [texts[position] for position in asked], query=False)
        return dict.fromkeys(texts, NOTHING) | dict(zip(asked, vectors, strict=True))

    @property
    def _entrusting(self) -> Entrusting:
        workshop = self.workshop
        return Entrusting(ledger=workshop.ledger, provider=provider_of(self.embedder), policy=workshop.policy)


def _unit(key: StreamKey, first: int, last: int) -> Unit:
    return Unit(work=NAME, stream=key, target=f"{first}-{last}")
