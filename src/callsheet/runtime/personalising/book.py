"""The stream of one user: found, begun, read and appended to. All that is read here is of this user alone.

Each question names the stream, so that the store filters; what comes back of another stream all the same is dropped.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from callsheet.assemble.contents import text_of
from callsheet.errors import InputError, PositionConflict, StoreBusy
from callsheet.graph.cut import Lineage, Segment
from callsheet.graph.enums import Privacy, Relation, StateField, StreamKind
from callsheet.graph.ids import RecordId, TenantId, UserId
from callsheet.graph.index import Index, Posting, PostingQuery
from callsheet.graph.nodes import UserMemory
from callsheet.graph.ports import Append, Clock, Ids, Ledger, Owner
from callsheet.graph.query import LinkQuery, LinkRow, NodeQuery, StateQuery
from callsheet.graph.record import Body, Draft, Record, Stream
from callsheet.graph.times import Instant
from callsheet.graph.values import DEFAULT_PRIVACY, Payload, Scope
from callsheet.runtime.indexing import Indexing
from callsheet.runtime.redacting import redaction_of

PROPOSED = RecordId("proposed")
"""The branch of proposals: nobody's view goes along it, so no proposal takes a place among what is looked for."""

_ATTEMPTS = 200
"""Times that writing begins anew because other writers were first; each time at least one of them got through."""

_T = TypeVar("_T")


def branch_for(participant: str | None) -> RecordId | None:
    """The branch of what one participant alone may see; None: everyone's.

    A digest, since headers stay when bodies are erased and hold nothing that was said.
    """
    if participant is None:
        return None
    return RecordId(f"for_{hashlib.sha256(participant.encode()).hexdigest()[:24]}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Shelf:
    """One user's stream as far as one reader sees it, up to a position; it is read here and not written."""

    ledger: Ledger
    stream: Stream
    lineage: Lineage
    #: The program itself reads: also what stands on the branch of any participant.
    whole: bool = False

    @property
    def position(self) -> int:
        """The last position that counts."""
        return self.lineage.upto

    def over(self, branches: Iterable[RecordId | None]) -> "Shelf":
        """The same along these branches alone."""
        return replace(self, lineage=along(self.position, branches))

    def get(self, ids: Iterable[RecordId]) -> list[Record]:
        """Those of these records that are there and seen."""
        wanted = tuple(dict.fromkeys(ids))
        return self._own(self.ledger.get(self.stream.key, wanted)) if wanted else []

    def nodes(self, *kinds: str) -> list[Record]:
        """All records of some kinds that are seen, in order of position."""
        lineage = None if self.whole else self.lineage
        query = NodeQuery(kinds=kinds, lineage=lineage, before=self.position + 1)
        return self._own(self.ledger.nodes(self.stream.key, query))

    def at(self, position: int) -> list[Record]:
        """The record at a position, if it is seen and not erased."""
        found = self.ledger.records(self.stream.key, after=position - 1, upto=position)
        return [record for record in self._own(found) if record.body is not None]

    def states(self, fields: Iterable[StateField], ids: tuple[RecordId, ...]) -> dict[StateField, dict[str, str]]:
        """The values of some states of these records; unset ones are left out."""
        key, lineage = self.stream.key, self.lineage
        return {
            field: {
                row.target: row.value
                for row in self.ledger.states(key, StateQuery(field=field, targets=ids, lineage=lineage))
                if row.value is not None
            }
            for field in fields
        }

    def links(
        self,
        relation: Relation,
        *,
        sources: tuple[RecordId, ...] | None = None,
        targets: tuple[RecordId, ...] | None = None,
    ) -> list[LinkRow]:
        """The links from or to records, oldest first."""
        query = LinkQuery(relation=relation, sources=sources, targets=targets, lineage=self.lineage)
        return self.ledger.links(self.stream.key, query)

    def pinned(self) -> list[RecordId]:
        """The memories that are shown always."""
        rows = self.ledger.states(self.stream.key, StateQuery(field=StateField.PINNED, lineage=self.lineage))
        return [RecordId(row.target) for row in rows]

    def postings(
        self, *, entities: tuple[str, ...] = (), terms: tuple[str, ...] = (), limit: int, before: int | None = None
    ) -> list[Posting]:
        """The newest occurrences of each name among what is seen."""
        query = PostingQuery(entities=entities, terms=terms, lineage=self.lineage, before=before, limit=limit)
        return self.ledger.postings(self.stream.key, query) if entities or terms else []

    def indexes(self, records: Sequence[Record]) -> list[tuple[RecordId, Index]]:
        """What these records are found by, oldest first."""
        ordered = sorted(records, key=lambda record: record.position)
        stored = self.ledger.indexed(self.stream.key, [record.position for record in ordered]) if ordered else {}
        return [(record.id, stored[record.position]) for record in ordered if record.position in stored]

    def read(self, payload: Payload) -> bytes:
        """The bytes of a payload, as they were given."""
        return payload.inline if payload.inline is not None else self.ledger.fetch(owner_of(self.stream), payload)

    def text(self, body: UserMemory) -> str:
        """What a memory says, with markers in the place of secrets."""
        return redaction_of(self.stream).text(text_of(self.read(body.value)))

    def _own(self, records: Iterable[Record]) -> list[Record]:
        key = self.stream.key
        return [
            record
            for record in records
            if (record.header.tenant, record.header.stream) == (key.tenant, key.stream)
            and (self.whole or self.lineage.sees(record.branch, record.position))
        ]


def owner_of(stream: Stream) -> Owner:
    """Whose bytes they are."""
    return Owner(tenant=stream.tenant, user=stream.user)


def stream_of(ledger: Ledger, owner: Owner) -> Stream | None:
    """The stream of a user's memories; None: nothing was ever kept."""
    if owner.user is None:
        return None
    found = ledger.stream(owner.tenant, StreamKind.USER, owner.user)
    return found if found is not None and (found.tenant, found.user) == (owner.tenant, owner.user) else None


def along(upto: int, branches: Iterable[RecordId | None] = ()) -> Lineage:
    """What stands on no branch and on these, up to a position."""
    named = dict.fromkeys(branch for branch in branches if branch is not None)
    return Lineage(segments=tuple(Segment(branch=branch, upto=upto) for branch in named), upto=upto)


@dataclass(kw_only=True, slots=True)
class Page:
    """What one transaction puts at the end of a user's stream."""

    shelf: Shelf
    ids: Ids
    at: Instant
    drafts: list[Draft] = field(default_factory=list)

    def add(
        self,
        body: Body,
        *,
        kind: str,
        branch: RecordId | None = None,
        privacy: Privacy = DEFAULT_PRIVACY,
    ) -> RecordId:
        """Draft one record with what it is found by. Returns its id."""
        indexing = Indexing(read=self.shelf.read, count=len, redaction=redaction_of(self.shelf.stream))
        draft = Draft(
            id=self.ids.record(kind),
            at=self.at,
            body=body,
            nonce=self.ids.nonce(),
            scope=Scope(branch=branch),
            privacy=privacy,
            index=indexing.of(body),
        )
        self.drafts.append(draft)
        return draft.id

    def stash(self, text: str) -> Payload:
        """Text, ready to be named by a record."""
        return self.shelf.ledger.stash(owner_of(self.shelf.stream), text.encode())


@dataclass(frozen=True, kw_only=True, slots=True)
class Book:
    """Where the memories of one user are read and written, by whoever may see all of them."""

    ledger: Ledger
    ids: Ids
    #: What time it is.
    now: Callable[[], Instant]
    owner: Owner

    @classmethod
    def of(cls, ledger: Ledger, ids: Ids, clock: Clock, tenant: TenantId, user: str) -> "Book":
        """The book of a user."""
        return cls(ledger=ledger, ids=ids, now=clock.now, owner=Owner(tenant=tenant, user=UserId(user)))

    def shelf(self) -> Shelf | None:
        """All there is by now, on every branch; None: nothing was ever kept."""
        stream = stream_of(self.ledger, self.owner)
        return self._shelf(stream) if stream is not None else None

    def _shelf(self, stream: Stream) -> Shelf:
        head = self.ledger.head(stream.key)
        upto = head.position if head is not None else 0
        return Shelf(ledger=self.ledger, stream=stream, lineage=along(upto), whole=True)

    def write(self, draft: Callable[[Page], _T]) -> _T:
        """Append what is drafted, as one transaction; drafted anew where another writer was first.

        The page shows the stream as of the position that it is appended at. Raises `StoreBusy`, and what `draft` does.
        """
        for _ in range(_ATTEMPTS):
            found = stream_of(self.ledger, self.owner)
            stream = found or self._begun()
            shelf = self._shelf(stream)
            page = Page(shelf=shelf, ids=self.ids, at=self.now())
            result = draft(page)
            if not page.drafts:
                return result
            try:
                self.ledger.append([Append(stream=stream, drafts=tuple(page.drafts), expect=shelf.position)])
            except PositionConflict:
                continue
            except InputError:
                if found is not None or stream_of(self.ledger, self.owner) is None:
                    raise
                continue  # Somebody else began the stream a moment ago.
            return result
        raise StoreBusy(f"other writers of the memories were first {_ATTEMPTS} times; try again")

    def _begun(self) -> Stream:
        assert self.owner.user is not None
        return Stream(
            tenant=self.owner.tenant,
            id=self.ids.stream(),
            kind=StreamKind.USER,
            name=self.owner.user,
            user=self.owner.user,
        )
