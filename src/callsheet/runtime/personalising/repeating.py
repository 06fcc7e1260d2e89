"""Memories of a user that are about the same, and those that say the same: one fact that was observed several times."""

from collections.abc import Iterator

from msgspec.structs import replace

from callsheet.graph.enums import Freshness
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import UserMemory
from callsheet.runtime.personalising.book import Shelf
from callsheet.runtime.personalising.standing import Held, held
from callsheet.runtime.personalising.subject import statement, subject

_AT_A_TIME = 256
"""Memories of one subject that are read at once."""


def versions(shelf: Shelf, body: UserMemory, branch: RecordId | None) -> list[Held]:
    """All memories of the subject of one, for the same readers."""
    about = subject(body)
    return [] if about is None else [one for one in _named(shelf, about, branch) if subject(one.body) == about]


def saying(shelf: Shelf, body: UserMemory, branch: RecordId | None) -> Iterator[Held]:
    """The memories, or proposals, that say the same in the same words, whenever it was observed, and do not age."""
    told = statement(body, shelf.read(body.value).decode())
    for one in _named(shelf, told, branch):
        spelt = shelf.read(one.body.value) == shelf.read(body.value)
        if spelt and repeated(replace(one.body, value=body.value), body):
            yield one


def repeated(one: UserMemory, other: UserMemory) -> bool:
    """Whether two say the same but for when it was observed and where it was said, and do not age."""
    lasting = one.stale_after is None and one.freshness in (Freshness.DURABLE, Freshness.PERMANENT)
    return lasting and replace(one, source=other.source, observed=other.observed) == other


def repeats(shelf: Shelf, memory: Held) -> list[Held]:
    """A memory with those that say the same and hold right before and right after it, by when they were observed.

    Nothing else held between them, in whatever order they came in.
    """
    if memory.body.proposed:
        return [memory]
    same = sorted(saying(shelf, memory.body, memory.record.branch), key=lambda one: one.order)
    at = next((place for place, one in enumerate(same) if one.id == memory.id), None)
    if at is None:
        return [memory]
    first = last = at
    while first and same[first - 1].until == same[first].body.observed:
        first -= 1
    while last + 1 < len(same) and same[last].until == same[last + 1].body.observed:
        last += 1
    return same[first : last + 1]


def _named(shelf: Shelf, name: str, branch: RecordId | None) -> list[Held]:
    along = shelf.over((branch,))
    ids: list[RecordId] = []
    before: int | None = None
    while found := along.postings(entities=(name,), limit=_AT_A_TIME, before=before):
        ids += [posting.record for posting in found]
        before = found[-1].position
        if len(found) < _AT_A_TIME:
            break
    records = [record for record in along.get(ids) if record.branch == branch]
    return held(shelf, records)
