"""Forgetting memories: the bodies, what they are found by, what was made of them alone, and where requests showed them.

That something was forgotten stays on record: ids, when and by whom, and nothing of what it said. What was made of a
forgotten memory and of others may hold its words, so it goes too, and is made anew of the others.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from callsheet.assemble.contents import text_of
from callsheet.errors import NotFound
from callsheet.graph.changes import Conflicted, Erased, Pinned, Superseded
from callsheet.graph.enums import ConfidenceSource, Relation
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import UserMemory
from callsheet.graph.times import Instant
from callsheet.runtime.personalising.blocks import blocks_showing
from callsheet.runtime.personalising.book import Book, Page, Shelf, owner_of
from callsheet.runtime.personalising.options import LONGEST
from callsheet.runtime.personalising.repeating import repeats
from callsheet.runtime.personalising.resting import MISSING
from callsheet.runtime.personalising.standing import Held, held


@dataclass(frozen=True, kw_only=True, slots=True)
class Forgotten:
    """What forgetting came to."""

    #: The record that says so; None: nothing was there to forget.
    record: RecordId | None = None
    #: The memories and proposals that are gone now, with what was made of them alone.
    gone: tuple[RecordId, ...] = ()
    #: Those among the ones asked for that were gone before.
    already_gone: tuple[RecordId, ...] = ()
    #: What was made of others too, each with what stands in its place, made of these alone; None: nothing does.
    rebuilt: tuple[tuple[RecordId, RecordId | None], ...] = ()

    def __str__(self) -> str:
        """In a line: how many are gone, or that they were already."""
        if self.record is None:
            return "already gone" if self.already_gone else "nothing to forget"
        rebuilt = f", {len(self.rebuilt):,} made anew without them" if self.rebuilt else ""
        before = f", {len(self.already_gone):,} already gone" if self.already_gone else ""
        return f"{len(self.gone):,} gone{rebuilt}{before}"


def forget(
    book: Book, ids: Sequence[RecordId], *, before: Instant | None = None, versions: bool = False, by: str = ""
) -> Forgotten:
    """Forget memories, by id and by when they were observed. See `Runtime.forget`."""
    shelf = book.shelf()
    if shelf is None:
        if ids:
            raise NotFound(MISSING)
        return Forgotten()
    _finish(book, shelf)

    def draft(page: Page) -> _Drafted:
        return _drafted(page, ids, before, versions, by)

    drafted = book.write(draft)
    if drafted.note is not None:
        _erase(book, drafted.note)
    return drafted.forgotten


def forget_taken_from(book: Book, records: Iterable[RecordId], *, by: str = "") -> Forgotten:
    """Forget what was taken from records of a conversation, from these alone or from others too: see `forget`."""
    shelf, given = book.shelf(), frozenset(records)
    memories = shelf.nodes("user_memory") if shelf is not None else []
    ids = [
        record.id
        for record in memories
        if isinstance(record.body, UserMemory) and not given.isdisjoint((record.body.source, *record.body.sources))
    ]
    return forget(book, ids, by=by) if ids else Forgotten()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Drafted:
    forgotten: Forgotten
    note: Erased | None = None


def _drafted(page: Page, ids: Sequence[RecordId], before: Instant | None, versions: bool, by: str) -> _Drafted:
    shelf = page.shelf
    known = {record.id: record for record in shelf.get(ids) if record.header.kind == "user_memory"}
    if any(id not in known for id in ids):
        raise NotFound(MISSING)
    living = {same.id: same for one in held(shelf, known.values()) for same in repeats(shelf, one)}
    already = tuple(id for id in dict.fromkeys(ids) if id not in living)
    if before is not None:
        every = held(shelf, shelf.nodes("user_memory"))
        living |= {one.id: one for one in every if one.body.observed < before}
    if not living:
        return _Drafted(forgotten=Forgotten(already_gone=already))
    leaving = _Leaving(page=page, gone=living)
    leaving.with_proposals()
    if versions:
        leaving.with_versions()
    leaving.with_derived()
    gone = [*leaving.gone.values(), *leaving.partly.values()]
    records = tuple(one.id for one in gone)
    positions = [one.record.position for one in gone] + _contradictions(shelf, frozenset(records))
    places = tuple((shelf.stream.id, position) for position in positions)
    blocks = blocks_showing(shelf, [(one.id, one.body) for one in gone])
    rebuilt = tuple(leaving.rebuild())
    note = Erased(bodies=places, records=records, by=by, blocks=blocks)
    id = page.add(note, kind="erased")
    forgotten = Forgotten(record=id, gone=tuple(leaving.gone), already_gone=already, rebuilt=rebuilt)
    return _Drafted(forgotten=forgotten, note=note)


def _contradictions(shelf: Shelf, gone: frozenset[RecordId]) -> list[int]:
    """Where it is told that one of these contradicts another: the reason may hold the words of either."""
    told = [(record.position, record.body) for record in shelf.nodes("conflicted")]
    return [at for at, body in told if isinstance(body, Conflicted) and {body.one, body.other} & gone]


@dataclass(kw_only=True, slots=True)
class _Leaving:
    """What goes with the memories that are to be forgotten."""

    page: Page
    gone: dict[RecordId, Held]
    #: What was made of these and of others, in the order in which it was made.
    partly: dict[RecordId, Held] = field(default_factory=dict)

    def with_proposals(self) -> None:
        """A memory that was proposed says what its proposal says."""
        proposals = [id for one in self.gone.values() for id in one.body.sources]
        found = held(self.page.shelf, self.page.shelf.get(proposals))
        self.gone |= {one.id: one for one in found if one.body.proposed}

    def with_versions(self) -> None:
        """What they replaced, over however many steps."""
        open_ = list(self.gone)
        while open_:
            rows = self._along(self.gone.values()).links(Relation.SUPERSEDES, sources=tuple(open_))
            found = held(self.page.shelf, self.page.shelf.get(row.target for row in rows))
            new = {one.id: one for one in found if one.id not in self.gone}
            self.gone |= new
            open_ = list(new)
        self.with_proposals()

    def with_derived(self) -> None:
        """What was made of them, over however many steps: it goes too, or must be made anew of what stays."""
        derived: dict[RecordId, Held] = {}
        open_ = [*self.gone]
        while open_:
            rows = self._everywhere().links(Relation.DERIVED_FROM, targets=tuple(open_))
            found = held(self.page.shelf, self.page.shelf.get(row.source for row in rows))
            new = {one.id: one for one in found if one.id not in derived and one.id not in self.gone}
            derived |= new
            open_ = list(new)
        for one in sorted(derived.values(), key=lambda one: one.record.position):
            stays = [id for id in _rests_on(one.body) if id not in self.gone]
            (self.partly if stays else self.gone)[one.id] = one

    def rebuild(self) -> Iterable[tuple[RecordId, RecordId | None]]:
        """Draft anew what was made of others too, of what is left; yields each with what stands in its place."""
        made: dict[RecordId, RecordId | None] = {}
        texts: dict[RecordId, str] = {}
        for one in self.partly.values():
            sources: list[RecordId] = []
            for id in one.body.sources:
                now = made.get(id, None if id in self.gone else id)
                if now is not None:
                    sources.append(now)
            told = [text for id in sources if (text := texts.get(id) or self._text(id))]
            text = "\n".join(told)[:LONGEST]
            made[one.id] = None
            if text and not one.body.proposed:
                made[one.id] = self._made(one, tuple(sources), text)
                texts[made[one.id] or one.id] = text
            yield one.id, made[one.id]

    def _made(self, one: Held, sources: tuple[RecordId, ...], text: str) -> RecordId:
        branch = one.record.branch
        source = one.body.source if one.body.source not in self.gone else None
        body = replace(
            one.body,
            value=self.page.stash(text),
            source=source,
            sources=sources,
            confidence_source=ConfidenceSource.RULE,
            valid_until=one.until,
        )
        id = self.page.add(body, kind="user_memory", branch=branch, privacy=one.privacy)
        change = Superseded(current=id, replaced=(one.id,), reason="rebuilt", at=one.body.observed)
        self.page.add(change, kind="superseded", branch=branch)
        if one.pinned:
            self.page.add(Pinned(records=(id,), pinned=True), kind="pinned", branch=branch)
        return id

    def _text(self, id: RecordId) -> str:
        """What a memory of this user says; of other records nothing is taken over."""
        shelf = self.page.shelf
        return "".join(text_of(shelf.read(one.body.value)) for one in held(shelf, shelf.get((id,))))

    def _along(self, memories: Iterable[Held]) -> Shelf:
        return self.page.shelf.over(one.record.branch for one in memories)

    def _everywhere(self) -> Shelf:
        """Along the branch of every memory: what is made of one may be for other readers."""
        shelf = self.page.shelf
        return shelf.over(record.branch for record in shelf.nodes("user_memory"))


def _rests_on(body: UserMemory) -> tuple[RecordId, ...]:
    return body.sources if body.sources else (body.source,) if body.source is not None else ()


# ---------------------------------------------------------------------------------------------- for good


def _erase(book: Book, note: Erased) -> None:
    """Remove what the record of it names: rendered blocks first, then the bodies with what they are found by.

    Blocks are looked for once more: a request may have been stored before it was on record that it may not show these.
    """
    shelf = book.shelf()
    if shelf is None:
        return
    left = [(record.id, record.body) for record in shelf.get(note.records) if isinstance(record.body, UserMemory)]
    late = tuple(address for address in blocks_showing(shelf, left) if address not in note.blocks)
    if late:
        further = replace(note, blocks=late)
        book.write(lambda page: page.add(further, kind="erased"))
    book.ledger.erase_blocks(owner_of(shelf.stream), (*note.blocks, *late))
    book.ledger.erase_bodies(shelf.stream.key, [position for _, position in note.bodies])


def _finish(book: Book, shelf: Shelf) -> None:
    """Remove what an erasure that was interrupted left."""
    for record in shelf.nodes("erased"):
        note = record.body
        if isinstance(note, Erased) and any(one.body is not None for one in shelf.get(note.records)):
            _erase(book, note)
