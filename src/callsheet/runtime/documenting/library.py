"""`Library`: what is there of a tenant's documents, to find and to read: the part that writes nothing."""

from dataclasses import dataclass
from typing import NamedTuple

from callsheet.graph.ids import RecordId, TenantId
from callsheet.graph.nodes import KnowledgeChunk
from callsheet.graph.ports import Ledger, Owner
from callsheet.graph.record import StreamKey
from callsheet.runtime.documenting.admitting import Admission
from callsheet.runtime.documenting.finding import Filters, Finder, Passage, eligible
from callsheet.runtime.documenting.indexing import above
from callsheet.runtime.documenting.shelf import KINDS, Shelf, Version
from callsheet.runtime.documenting.texts import Texts
from callsheet.runtime.meaning import Meaning
from callsheet.runtime.reranking import Reranking, depth

_PREFIXES = ("", "chunk_", "doc_")


class Located(NamedTuple):
    """A document or a chunk that a reference names."""

    id: RecordId
    version: Version
    #: None: it is the document itself.
    chunk: KnowledgeChunk | None
    #: The version that stands in the place of its own, as far as may be seen; None: it is of the newest.
    current: Version | None


@dataclass(frozen=True, kw_only=True)
class Library:
    """The documents of one tenant. Thread-safe."""

    shelf: Shelf
    texts: Texts
    finder: Finder
    ledger: Ledger
    tenant: TenantId
    #: Puts what is found in a better order; None: it stays in that of the search.
    reranking: Reranking | None = None

    @classmethod
    def of(
        cls, ledger: Ledger, tenant: TenantId, meaning: Meaning | None = None, reranking: Reranking | None = None
    ) -> "Library":
        """The library of a tenant of a store."""
        shelf, texts = Shelf(ledger, tenant), Texts(ledger=ledger, owner=Owner(tenant=tenant))
        finder = Finder(ledger=ledger, shelf=shelf, texts=texts, meaning=meaning)
        return cls(shelf=shelf, texts=texts, finder=finder, ledger=ledger, tenant=tenant, reranking=reranking)

    def find(
        self,
        query: str,
        limit: int,
        admission: Admission | None,
        *,
        filters: Filters | None = None,
        secrets: bool = False,
    ) -> list[Passage]:
        """The passages that answer best; see `Finder.find`."""
        return self.finder.find(query, limit, filters or Filters(), admission, secrets=secrets)

    def best(self, query: str, limit: int, admission: Admission | None, filters: Filters) -> list[Passage]:
        """The same, and behind those that hold an identifier to the letter in the order of the reranker."""
        if self.reranking is None:
            return self.find(query, limit, admission, filters=filters)
        found = self.find(query, depth(limit), admission, filters=filters)
        exact = [one for one in found if one.exact]
        rest = {one.reference: one for one in found if not one.exact}
        ids = list(rest)
        order = self.reranking.order(self.tenant, query, ids, lambda id: rest[id].text)
        return [*exact, *(rest[ids[place]] for place in order)][:limit]

    def locate(self, reference: str, admission: Admission | None) -> Located | None:
        """What a whole id names, its kind's prefix left out or not; None: nothing that may be read goes by it."""
        contents = self.shelf.look()
        if contents.stream is None:
            return None
        ids = [RecordId(prefix + reference) for prefix in _PREFIXES]
        for record in self.ledger.get(contents.stream.key, ids):
            version = contents.holding(record.position) if record.header.kind in KINDS else None
            if version is None or (admission is not None and not admission.admits(version)):
                continue
            counting = eligible(contents, Filters(document=version.name), admission)
            current = counting.replaced_by.get(version.id)
            return Located(
                id=record.id,
                version=version,
                chunk=record.body if isinstance(record.body, KnowledgeChunk) else None,
                current=contents.by_id(current) if current is not None else None,
            )
        return None

    def named(self, name: str, admission: Admission | None) -> Located | None:
        """The newest version that may be read of the document with this name; None: there is none."""
        contents = self.shelf.look()
        for version in eligible(contents, Filters(document=name), admission).versions:
            return Located(id=version.id, version=version, chunk=None, current=None)
        return None

    def tells(self, admission: Admission) -> bool:
        """Whether there is a document that may be read."""
        return any(map(admission.admits, self.shelf.look().versions))

    def read(self, located: Located, *, secrets: bool = False) -> str:
        """Its text. Raises `BodyErased`, `Damaged`."""
        key = self._key()
        if located.chunk is None:
            return self.texts.whole(key, located.version.id, secrets=secrets)
        return self.texts.piece(key, located.chunk, secrets=secrets)

    def heading(self, located: Located) -> str:
        """The headings that a chunk stands under, with markers in the place of secrets."""
        if located.chunk is None:
            return ""
        return above(located.version.body, located.chunk, self.texts.marked(self._key(), located.version.id))[1]

    def _key(self) -> StreamKey:
        stream = self.shelf.look().stream
        assert stream is not None, "what was located stands in a stream"
        return stream.key
