"""The memories of a user as the program reads them: all, those that held at a time, those that answer a query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from callsheet.derive import entities, terms
from callsheet.errors import NotFound
from callsheet.graph.enums import ConfidenceSource, Freshness, Privacy
from callsheet.graph.ids import RecordId
from callsheet.graph.times import Instant, to_datetime
from callsheet.recall.finding import find
from callsheet.runtime.meaning import Meaning
from callsheet.runtime.personalising.book import Book, Shelf
from callsheet.runtime.personalising.once import told_once
from callsheet.runtime.personalising.resting import MISSING
from callsheet.runtime.personalising.standing import Held, held
from callsheet.runtime.personalising.subject import normal

NEAREST = 10
"""Memories that a query finds by their meaning at most: everything is like everything else a little."""


class MemoryStatus(StrEnum):
    """How a memory of a user stands at one time."""

    CURRENT = "current"
    #: Something newer on the same subject, or what was put in its place, ended it.
    REPLACED = "replaced"
    #: It was said from the beginning until when it holds.
    ENDED = "ended"
    #: It was observed later than the time that is asked for.
    LATER = "later"
    #: A tool or a model would have it kept.
    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    DECLINED = "declined"


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptMemory:
    """One memory of a user, or a proposal of one. Times are in UTC."""

    id: RecordId
    #: ``preference``, ``fact`` or ``episode``.
    kind: str
    #: Whom or what it is about, and what it says of that.
    entity: str
    attribute: str | None
    #: What it says, with markers in the place of secrets.
    value: str
    status: MemoryStatus
    observed: datetime
    #: From when on it holds no more; None: it is not known to end.
    valid_until: datetime | None
    stale_after: datetime | None
    freshness: Freshness
    confidence: float
    confidence_source: ConfidenceSource
    privacy: Privacy
    #: It rests on what a tool or a model said.
    tainted: bool
    #: It is shown in every request of the user.
    always: bool
    #: The name of the only participant that sees it; None: every one.
    participant: str | None
    #: What ended it, the newest first; of an accepted proposal the memory that it became.
    replaced_by: tuple[RecordId, ...]
    conflicts_with: tuple[RecordId, ...]
    #: The message, result or call that it was taken from, and the records that it was made from.
    source: RecordId | None
    sources: tuple[RecordId, ...]
    attributes: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """Which memories are asked for; what is not given narrows nothing."""

    query: str | None = None
    #: None: now.
    at: Instant | None = None
    kind: str | None = None
    entity: str | None = None
    attribute: str | None = None
    #: Also those that do not hold at that time.
    history: bool = False
    #: Proposals, in place of memories.
    proposals: bool = False

    def meets(self, one: Held) -> bool:
        """Whether a memory is one of those, whenever it holds."""
        body = one.body
        return (
            body.proposed is self.proposals
            and self.kind in (None, body.kind)
            and (self.entity is None or normal(self.entity) == normal(body.entity))
            and (self.attribute is None or normal(self.attribute) == normal(body.attribute or ""))
        )


def memories(book: Book, wanted: Wanted, meaning: Meaning | None = None) -> list[KeptMemory]:
    """The memories that are asked for, by when they were observed; of a query the best first, by meaning too."""
    shelf = book.shelf()
    at = wanted.at if wanted.at is not None else book.now()
    return listed(shelf, wanted, at, meaning) if shelf is not None else []


def listed(shelf: Shelf, wanted: Wanted, at: Instant, meaning: Meaning | None = None) -> list[KeptMemory]:
    """The same of what one reader sees. Takes time in proportion to the number of memories."""
    there = held(shelf, shelf.nodes("user_memory"))
    found = [one for one in there if wanted.meets(one) and (wanted.history or _stands(one, at))]
    found = sorted(found, key=lambda one: one.order)
    if wanted.query is not None:
        found = _found(shelf, found, wanted.query, meaning)
    current = {one.id for one in there if one.holds(at)}
    return [kept(shelf, one, at, current) for one in found]


def _stands(one: Held, at: Instant) -> bool:
    return one.became is None and one.body.observed <= at if one.body.proposed else one.holds(at)


def _found(shelf: Shelf, among: Sequence[Held], query: str, meaning: Meaning | None) -> list[Held]:
    if not query.strip():
        return []
    by_id = {one.id: one for one in among}
    indexes = shelf.indexes([one.record for one in among])
    names = (*entities.entities(query), entities.normal(query.strip()))
    near = _near(shelf, among, query, meaning)
    ranked = find(names, terms.query_terms(query), indexes, len(indexes), meaning=near)
    if not ranked:
        ranked = find(names, [term for (term,) in terms.query_characters(query)], indexes, len(indexes))
    named = {one.id: one.exact for one in ranked if one.exact}
    told = told_once([one.id for one in ranked], by_id, indexes, named=named, text=shelf.text)
    return [by_id[id] for id in told]


def _near(shelf: Shelf, among: Sequence[Held], query: str, meaning: Meaning | None) -> list[tuple[RecordId, float]]:
    """Those that lie nearest to what is asked, the nearest first; what has no vector yet is not among them."""
    if meaning is None or not query.strip():
        return []
    places = {one.record.position: one.id for one in among}
    scores = meaning.scores(shelf.stream.key, query, sorted(places), upto=shelf.position)
    nearest = sorted(scores.items(), key=lambda one: (-one[1], -one[0]))[:NEAREST]
    return [(places[at], score) for at, score in nearest]


def memory(book: Book, id: RecordId) -> KeptMemory:
    """One memory or proposal by its id. Raises `NotFound`, for one of another user exactly as for none."""
    shelf = book.shelf()
    found = held(shelf, shelf.get((id,))) if shelf is not None else []
    if not found or shelf is None:
        raise NotFound(MISSING)
    at = book.now()
    against = held(shelf, shelf.get(found[0].conflicts))
    return kept(shelf, found[0], at, {one.id for one in against if one.holds(at)})


def kept(shelf: Shelf, one: Held, at: Instant, current: set[RecordId]) -> KeptMemory:
    """A memory as the program reads it, as of a time; `current` are those that hold then."""
    body = one.body
    return KeptMemory(
        id=one.id,
        kind=body.kind,
        entity=body.entity,
        attribute=body.attribute,
        value=shelf.text(body),
        status=_status(one, at),
        observed=to_datetime(body.observed),
        valid_until=to_datetime(one.until) if one.until is not None else None,
        stale_after=to_datetime(body.stale_after) if body.stale_after is not None else None,
        freshness=body.freshness,
        confidence=body.confidence,
        confidence_source=body.confidence_source,
        privacy=one.privacy,
        tainted=body.tainted,
        always=one.pinned,
        participant=body.participant,
        replaced_by=(RecordId(one.became),) if one.became else one.successors,
        conflicts_with=tuple(id for id in one.conflicts if id in current),
        source=body.source,
        sources=body.sources,
        attributes=MappingProxyType({attribute.name: attribute.value for attribute in body.attributes}),
    )


def _status(one: Held, at: Instant) -> MemoryStatus:
    if one.body.proposed:
        if one.became is None:
            return MemoryStatus.PROPOSED
        return MemoryStatus.ACCEPTED if one.became else MemoryStatus.DECLINED
    if one.holds(at):
        return MemoryStatus.CURRENT
    if one.body.observed > at:
        return MemoryStatus.LATER
    return MemoryStatus.REPLACED if one.ended is not None and one.ended <= at else MemoryStatus.ENDED
