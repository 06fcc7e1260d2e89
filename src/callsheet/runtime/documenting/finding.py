"""Finding passages: first which documents count, then their chunks by name, by word and by meaning."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from callsheet.derive import entities, terms
from callsheet.errors import BodyErased
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Index
from callsheet.graph.nodes import KnowledgeChunk
from callsheet.graph.ports import Ledger
from callsheet.graph.record import StreamKey
from callsheet.recall.bm25 import rank
from callsheet.recall.finding import Candidate, Question, Ranked, candidate, ranked
from callsheet.recall.fusing import DEPTH
from callsheet.runtime.documenting.admitting import Admission
from callsheet.runtime.documenting.indexing import ABOVE, above
from callsheet.runtime.documenting.lexical import Occurring
from callsheet.runtime.documenting.shelf import Contents, Shelf, Version
from callsheet.runtime.documenting.texts import Texts
from callsheet.runtime.meaning import Meaning, Near

MOST_FOUND = 20
"""Passages that one search gives unless the caller says otherwise."""

MOST_WORDS = 64
"""Words of a query that are looked for, the first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """A chunk of a document that was found."""

    #: The chunk: what recall serves by this reference.
    reference: RecordId
    document: str
    version: str
    #: The record of the version.
    document_id: RecordId
    title: str
    #: The headings that it stands under.
    heading: str
    #: Its text, with markers in the place of secrets.
    text: str
    locale: str | None
    attributes: Mapping[str, str]
    #: The version that stands in the place of its own; None: it is of the newest.
    replaced_by: RecordId | None
    #: Whether it holds an identifier that was asked for to the letter.
    exact: bool
    #: Compares within one search only.
    score: float
    #: What found it: ``identifiers``, ``words``, ``meaning``.
    arms: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Filters:
    """What narrows a search; what is None or empty narrows nothing."""

    document: str | None = None
    version: str | None = None
    locale: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)

    def takes(self, version: Version) -> bool:
        """Whether a version is asked for."""
        return (
            self.document in (None, version.name)
            and self.version in (None, version.body.version)
            and self.locale in (None, version.body.locale)
            and (not self.attributes or self.attributes.items() <= version.attributes.items())
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Eligible:
    """The versions that count in one search, by position, and which visible one stands in the place of each."""

    versions: tuple[Version, ...]
    replaced_by: Mapping[RecordId, RecordId]

    def holding(self, position: int) -> Version | None:
        """The version that counts whose chunk stands at a position."""
        at = bisect_right(self.versions, position, key=lambda version: version.position) - 1
        return self.versions[at] if at >= 0 and position <= self.versions[at].last else None

    def holds(self, position: int) -> bool:
        """Whether what stands at a position counts."""
        return self.holding(position) is not None


def eligible(contents: Contents, filters: Filters, admission: Admission | None) -> Eligible:
    """The versions that may be found. One that may not be read stands in no other's place."""
    seen = [version for version in contents.versions if admission is None or admission.admits(version)]
    newest: dict[str, RecordId] = {version.name: version.id for version in seen}
    replaced = {version.id: newest[version.name] for version in seen if newest[version.name] != version.id}
    wanted = [version for version in seen if filters.version is not None or version.id not in replaced]
    return Eligible(versions=tuple(filter(filters.takes, wanted)), replaced_by=replaced)


@dataclass(frozen=True, kw_only=True, slots=True)
class Finder:
    """Searches the documents of one tenant."""

    ledger: Ledger
    shelf: Shelf
    texts: Texts
    meaning: Meaning | None = None

    def find(
        self, query: str, limit: int, filters: Filters, admission: Admission | None, *, secrets: bool = False
    ) -> list[Passage]:
        """The passages that answer best, at most `limit`."""
        contents = self.shelf.look()
        counting = eligible(contents, filters, admission)
        if contents.stream is None or not counting.versions:
            return []
        key = contents.stream.key
        best = self._ranked(query, key, contents.position, counting, limit)
        chunks = {record.id: record for record in self.ledger.get(key, [one.id for one in best])}
        found: list[Passage] = []
        for one in best:
            record = chunks[one.id]
            version = counting.holding(record.position)
            if isinstance(record.body, KnowledgeChunk) and version is not None:
                try:
                    found.append(self._passage(key, one, record.body, version, counting, secrets=secrets))
                except BodyErased:  # removed a moment ago
                    continue
        return found

    def _ranked(self, query: str, key: StreamKey, upto: int, counting: Eligible, limit: int) -> list[Ranked]:
        wanted = tuple(dict.fromkeys([*entities.entities(query), entities.normal(query.strip())]))
        occurring = Occurring(ledger=self.ledger, key=key, upto=upto, counts=counting.holds)
        occurring.collect(wanted)
        question = Question(entities=wanted)
        if occurring.found and _names_alone(query):
            return ranked(question, _candidates(occurring, question, counting), limit, lexical=())
        words = terms.query_words(query)[:MOST_WORDS]
        occurring.collect_words(words)
        if not occurring.found:
            words = terms.query_characters(query)[:MOST_WORDS]
            occurring.collect_words(words)
        near = self._near(query, key, upto, counting, limit)
        occurring.found.update((one.position, one.record) for one in near)
        candidates = _candidates(occurring, question, counting)
        return ranked(
            Question(entities=wanted, words=words),
            candidates,
            limit,
            lexical=rank(words, [one.document() for one in candidates]),
            meaning=[(one.record, one.score) for one in near],
            text=partial(self._text, key),
            plain=terms.compared,
        )

    def _near(self, query: str, key: StreamKey, upto: int, counting: Eligible, limit: int) -> list[Near]:
        """The chunks that mean what is asked, the nearest first; none where there is no embedder."""
        if self.meaning is None:
            return []

        def those(near: Sequence[Near]) -> list[Near]:
            return [one for one in near if counting.holds(one.position)]

        return self.meaning.nearest(key, query, upto=upto, those=those, limit=limit * DEPTH)

    def _text(self, key: StreamKey, id: RecordId) -> str:
        (record,) = self.ledger.get(key, (id,))
        try:
            return self.texts.piece(key, record.body) if isinstance(record.body, KnowledgeChunk) else ""
        except BodyErased:
            return ""

    def _passage(
        self, key: StreamKey, one: Ranked, chunk: KnowledgeChunk, version: Version, counting: Eligible, *, secrets: bool
    ) -> Passage:
        body = version.body
        title, heading = above(body, chunk, self.texts.marked(key, version.id))
        return Passage(
            reference=one.id,
            document=body.document,
            version=body.version,
            document_id=version.id,
            title=body.title if secrets else title,
            heading=chunk.heading if secrets else heading,
            text=self.texts.piece(key, chunk, secrets=secrets),
            locale=body.locale,
            attributes={attribute.name: attribute.value for attribute in body.attributes},
            replaced_by=counting.replaced_by.get(version.id),
            exact=one.exact > 0,
            score=one.score,
            arms=one.arms,
        )


def _names_alone(query: str) -> bool:
    """Whether a query asks for identifiers and nothing else: then what it means plays no part."""
    at, left = 0, []
    for entity in entities.find(query):
        left.append(query[at : entity.start])
        at = entity.end
    return at > 0 and not any(character.isalnum() for character in "".join([*left, query[at:]]))


def _candidates(occurring: Occurring, question: Question, counting: Eligible) -> list[Candidate]:
    """The chunks with what they are found by, oldest first.

    What a chunk stands in and under says where it is; only what it names itself tells it from one that says the same.
    """
    wanted = frozenset(question.entities)
    places = {entities.normal(version.name) for version in counting.versions} - wanted
    position = {id: place for place, id in occurring.found.items()}
    found: list[Candidate] = []
    for id, index in occurring.indexes():
        own = tuple(name for name in index.entities if name[:1] != ABOVE and name not in places)
        version = counting.holding(position[id])
        # A document without a title has its name for one.
        untitled = version is not None and version.body.title == version.name
        name = frozenset(terms.query_terms(version.name)) if version is not None and untitled else frozenset()
        found.append(candidate(id, Index(entities=own, terms=index.terms), apart=name))
    return found
