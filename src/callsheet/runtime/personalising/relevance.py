"""Which memories are called for by what is named: by identifier, or by words that few of them hold."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from callsheet.graph.ids import RecordId
from callsheet.graph.index import Index, Posting
from callsheet.recall.bm25 import TermDocument, rank
from callsheet.runtime.personalising.book import Shelf

NAMES = 24
"""Identifiers, and words, that are looked up."""

OCCURRENCES = 16
"""Memories that hold a name and are looked at, the newest."""

PROMISING = 48
"""Memories that are looked at, those first that hold most of what is named."""

NEAR = 0.5
"""By words only those are called for that match at least so well beside the one that matches best."""

COMMON = 8
"""A word that more memories hold than these calls for none of them, unless they share another."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Called:
    """What some messages name."""

    entities: tuple[str, ...]
    terms: tuple[str, ...]

    @classmethod
    def of(cls, entities: Iterable[str], terms: Iterable[str]) -> "Called":
        """Each once, no more than are looked up: of many those at both ends, where what is asked mostly stands."""
        return cls(entities=_ends(entities), terms=_ends(terms))


@dataclass(frozen=True, kw_only=True, slots=True)
class Matched:
    """The memories that hold what is named."""

    called: Called
    #: By identifier and by word, those that hold it.
    by_entity: Mapping[str, Sequence[RecordId]]
    by_term: Mapping[str, Sequence[RecordId]]
    #: The most promising of them.
    records: tuple[RecordId, ...]

    def named(self) -> dict[RecordId, int]:
        """Those that hold an identifier, and how many."""
        named: dict[RecordId, int] = {}
        for ids in self.by_entity.values():
            for id in ids:
                named[id] = named.get(id, 0) + 1
        return named

    def ranked(
        self, indexes: Sequence[tuple[RecordId, Index]], currents: Mapping[RecordId, Sequence[RecordId]]
    ) -> list[RecordId]:
        """Those that are called for, the best first; `currents` are what holds now in the place of each.

        Scores come from these memories alone, so from nothing that the reader does not see.
        """
        named = self.named()
        shared: dict[RecordId, int] = {}
        for ids in self.by_term.values():
            distinct = {current for id in ids for current in currents.get(id, ())[:1]}
            for id in ids:
                shared[id] = shared.get(id, 0) + (2 if len(distinct) <= COMMON else 1)
        there = [(id, index) for id, index in indexes if currents.get(id)]
        documents = [_document(id, index) for id, index in there]
        scores = {one.id: one.score for one in rank([(term,) for term in self.called.terms], documents)}
        least = max(scores.values(), default=0.0) * NEAR
        told = [id for id in scores if shared.get(id, 0) >= 2 and scores[id] >= least]
        newest = {id: place for place, (id, _) in enumerate(there)}
        wanted = dict.fromkeys(id for id in (*named, *told) if id in newest)
        return sorted(wanted, key=lambda id: (-named.get(id, 0), -scores.get(id, 0.0), -newest[id]))


def called_for(shelf: Shelf, called: Called) -> Matched:
    """Look up what is named; one question to the store, and none where nothing is."""
    by_entity: dict[str, list[RecordId]] = {}
    by_term: dict[str, list[RecordId]] = {}
    count: dict[RecordId, tuple[int, int]] = {}
    for posting in shelf.postings(entities=called.entities, terms=called.terms, limit=OCCURRENCES):
        holding = by_entity if posting.entity is not None else by_term
        holding.setdefault(posting.entity or posting.term or "", []).append(posting.record)
        held, _ = count.get(posting.record, (0, 0))
        count[posting.record] = (held + _weight(posting), posting.position)
    best = sorted(count, key=lambda id: (-count[id][0], -count[id][1]))
    return Matched(called=called, by_entity=by_entity, by_term=by_term, records=tuple(best[:PROMISING]))


def _ends(names: Iterable[str]) -> tuple[str, ...]:
    distinct = tuple(dict.fromkeys(names))
    return distinct if len(distinct) <= NAMES else distinct[: NAMES // 2] + distinct[-(NAMES // 2) :]


def _document(id: RecordId, index: Index) -> TermDocument:
    terms: dict[str, float] = dict(index.terms)
    return TermDocument(id=id, terms=terms, length=sum(terms.values()))


def _weight(posting: Posting) -> int:
    return 2 if posting.entity is not None else 1
