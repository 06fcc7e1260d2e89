"""Lexical ranking by BM25, with the statistics of exactly the documents that were added and of nothing else.

Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), with the idf that is
never negative (as Lucene has it). Terms come analysed from outside.
"""

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass

from callsheet.errors import InvalidOption
from callsheet.graph.ids import RecordId

K1 = 1.2
"""How soon more occurrences of a term stop to matter."""

B = 0.75
"""How much long documents are held to be long rather than rich."""

_DIGITS = 9
"""Scores are rounded so that the last bits of a logarithm, which differ between machines, decide no order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TermDocument:
    """What ranking needs to know of a document."""

    id: RecordId
    #: Terms with how often each occurs; a term that stands twice counts with the sum.
    terms: tuple[tuple[str, int], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Scored:
    """A document that holds at least one term of the query. Scores compare within one answer only."""

    id: RecordId
    score: float


class Bm25:
    """An index to which documents are added one by one, oldest first; adding and asking cost what they touch.

    Adding costs the terms of the document; asking costs the occurrences of the query's terms. Not thread-safe.
    """

    def __init__(self, documents: Iterable[TermDocument] = ()) -> None:
        self._ids: list[RecordId] = []
        self._known: set[RecordId] = set()
        self._lengths: list[int] = []
        self._total = 0
        #: By term: the places of the documents that hold it, ascending, with how often.
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for document in documents:
            self.add(document)

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, id: object) -> bool:
        return id in self._known

    def add(self, document: TermDocument) -> None:
        """Add a document, newer than all before it. Raises `InvalidOption` for an id that was added before."""
        if document.id in self._known:
            raise InvalidOption(f"document {document.id!r} is in the index already")
        place = len(self._ids)
        counts: dict[str, int] = {}
        for term, count in document.terms:
            if count > 0:
                counts[term] = counts.get(term, 0) + count
        length = sum(counts.values())
        self._ids.append(document.id)
        self._known.add(document.id)
        self._lengths.append(length)
        self._total += length
        for term, count in counts.items():
            self._postings.setdefault(term, []).append((place, count))

    def frequency(self, term: str) -> int:
        """How many documents hold the term."""
        return len(self._postings.get(term, ()))

    def idf(self, term: str) -> float:
        """The weight of a term: the rarer, the more; 0 or above, the highest for a term that no document holds."""
        holding = self.frequency(term)
        return math.log1p((len(self._ids) - holding + 0.5) / (holding + 0.5))

    def rank(self, query: Iterable[str], limit: int | None = None) -> list[Scored]:
        """The documents that hold a term of the query, best first, equal ones newest first, at most `limit`.

        A term that the query repeats counts once; the order of its terms does not matter.
        """
        scores: dict[int, float] = {}
        average = self._total / len(self._ids) if self._ids else 0.0
        for term in sorted(set(query)):
            postings = self._postings.get(term)
            if postings is None:
                continue
            weight = self.idf(term) * (K1 + 1)
            for place, count in postings:
                norm = K1 * (1 - B + B * self._lengths[place] / average)
                scores[place] = scores.get(place, 0.0) + weight * count / (count + norm)
        keyed = ((-round(score, _DIGITS), -place) for place, score in scores.items())
        best = sorted(keyed) if limit is None else heapq.nsmallest(max(limit, 0), keyed)
        return [Scored(id=self._ids[-place], score=-score) for score, place in best]


def rank(query: Iterable[str], documents: Iterable[TermDocument], limit: int | None = None) -> list[Scored]:
    """Rank documents (oldest first) once; see `Bm25.rank`."""
    return Bm25(documents).rank(query, limit)
