"""What a memory rests on: the user's own words, other memories, or what tools and models said, no authority."""

from collections.abc import Iterable
from dataclasses import dataclass

from callsheet.derive.classify import STRICTNESS
from callsheet.errors import InvalidOption, NotFound
from callsheet.graph.enums import Freshness, Privacy, Role, StreamKind
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message
from callsheet.graph.record import Record
from callsheet.graph.times import Instant
from callsheet.runtime.personalising.book import Shelf
from callsheet.runtime.personalising.standing import held

MISSING = "there is no such memory; Runtime.memories lists those there are"
"""The same for a memory of somebody else, for one that was forgotten, and for none at all: it names nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rests:
    """What follows from what a memory rests on: as strict as the strictest, as short-lived as the shortest-lived."""

    #: One of them is no word of the user and no memory that somebody took on.
    unvouched: bool = False
    tainted: bool = False
    #: None: nothing that it rests on has one.
    privacy: Privacy | None = None
    freshness: Freshness | None = None
    stale_after: Instant | None = None


def rests(shelf: Shelf, ids: Iterable[RecordId]) -> Rests:
    """What a memory that rests on these would be. Raises `NotFound` for what is not there or not this user's."""
    found = Rests()
    for id in ids:
        found = _with(found, _one(shelf, id))
    return found


def still_rests(shelf: Shelf, ids: Iterable[RecordId]) -> Rests:
    """The same of those that are there and something to rest on."""
    found = Rests()
    for id in ids:
        try:
            found = _with(found, _one(shelf, id))
        except (NotFound, InvalidOption):
            continue
    return found


def _one(shelf: Shelf, id: RecordId) -> Rests:
    own = shelf.get((id,))
    if own:
        return _memory(shelf, own[0])
    placed = shelf.ledger.find(shelf.stream.tenant, id)
    stream, record = placed if placed is not None else (None, None)
    if record is None or stream is None or stream.kind is not StreamKind.CONVERSATION or record.body is None:
        raise NotFound(_NOWHERE)
    if stream.user != shelf.stream.user or stream.tenant != shelf.stream.tenant:
        raise NotFound(_NOWHERE)
    said = vouched(record)
    return Rests(unvouched=not said, tainted=not said, privacy=record.header.privacy)


_NOWHERE = "there is no such record among this user's conversations and memories"


def vouched(record: Record) -> bool:
    """Whether a record is what the user, or the program itself, said; not a tool, a model or a sub-agent."""
    body, scope = record.body, record.header.scope
    return isinstance(body, Message) and body.role is not Role.ASSISTANT and scope.sub_agent is None


def _memory(shelf: Shelf, record: Record) -> Rests:
    there = held(shelf, (record,))
    if not there:
        raise NotFound(_NOWHERE)
    one = there[0]
    if one.body.proposed:
        raise InvalidOption("a proposal is nothing to rest on; accept it first")
    return Rests(
        tainted=one.body.tainted,
        privacy=one.privacy,
        freshness=one.body.freshness,
        stale_after=one.body.stale_after,
    )


def _with(one: Rests, other: Rests) -> Rests:
    ends = [moment for moment in (one.stale_after, other.stale_after) if moment is not None]
    return Rests(
        unvouched=one.unvouched or other.unvouched,
        tainted=one.tainted or other.tainted,
        privacy=max(filter(None, (one.privacy, other.privacy)), key=STRICTNESS.index, default=None),
        freshness=min(filter(None, (one.freshness, other.freshness)), key=list(Freshness).index, default=None),
        stale_after=min(ends, default=None),
    )


def as_short(given: Freshness | None, on: Rests) -> Freshness:
    """How it ages: as was asked for, and no slower than what it rests on. Not at all, where nothing was said."""
    return min(filter(None, (given or Freshness.DURABLE, on.freshness)), key=list(Freshness).index)


def as_strict(given: Privacy | None, *on: Rests) -> Privacy:
    """The class that was asked for, and none less strict than what it rests on. Personal, where nothing was said."""
    classes = (given or Privacy.PERSONAL, *(one.privacy for one in on))
    return max(filter(None, classes), key=STRICTNESS.index)
