"""Lexical ranking by BM25, with the statistics of exactly the documents that are given and of nothing else.

Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), with the idf that is
never negative (as Lucene has it) and weighted fields: what stands in a field counts as often as the field weighs.
Terms come analysed from outside.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from callsheet.graph.ids import RecordId
from callsheet.graph.values import Value

K1 = 0.9
"""How soon more occurrences of a term stop to matter. This and the next as Anserini has them, for passages."""

B = 0.4
"""How much long documents are held to be long rather than rich."""

_DIGITS = 9
"""Scores are rounded so that the last bits of a logarithm, which differ between machines, decide no order."""


class TermDocument(Value):
    """What ranking needs to know of a document."""

    id: RecordId
    #: How often each term occurs, times the weight of where; terms that are not asked for may be left out.
    terms: Mapping[str, float]
    #: All its terms, counted alike.
    length: float


class Scored(Value):
    """A document that holds at least one term of the query. Scores compare within one answer only."""

    id: RecordId
    score: float
    #: How much of what was asked for it holds, 0 to 1: words count by their rarity.
    share: float


def rank(
    words: Iterable[Sequence[str]], documents: Sequence[TermDocument], alone: Sequence[TermDocument] | None = None
) -> list[Scored]:
    """The documents (given oldest first) that hold a term, best first, equal ones newest first.

    A word is found by any of its terms. One that the query repeats counts once; the order of words does not matter.
    How rare a term is comes from `alone`, where the documents are given with more than they hold themselves.
    """
    asked = sorted({tuple(sorted(set(word))) for word in words if word})
    holding: dict[str, list[tuple[int, float]]] = {term: [] for word in asked for term in word}
    for place, document in enumerate(documents):
        held = document.terms
        for term in holding.keys() & held.keys():
            if held[term] > 0:
                holding[term].append((place, held[term]))
    idf = {term: _idf(len(found), len(documents)) for term, found in holding.items()}
    if alone is not None:
        rarity = Counter(chain.from_iterable(holding.keys() & one.terms.keys() for one in alone))
        idf = {term: _idf(rarity[term], len(alone)) for term in holding}
    average = sum(document.length for document in documents) / len(documents) if documents else 0.0
    norms = [K1 * (1 - B + B * document.length / average) if average else K1 for document in documents]
    scores: dict[int, float] = {}
    for term in sorted(holding):
        weight = idf[term] * (K1 + 1)
        for place, count in holding[term]:
            scores[place] = scores.get(place, 0.0) + weight * count / (count + norms[place])
    keyed = sorted((-round(score, _DIGITS), -place) for place, score in scores.items())
    total = sum(max(idf[term] for term in word) for word in asked)
    held_of = _held(asked, holding, idf)
    return [
        Scored(id=documents[-place].id, score=-score, share=round(held_of[-place] / total, _DIGITS))
        for score, place in keyed
    ]


def _idf(holding: int, documents: int) -> float:
    """The weight of a term: the rarer, the more; above 0, the highest for a term that no document holds."""
    return math.log1p((documents - holding + 0.5) / (holding + 0.5))


def _held(
    words: Sequence[Sequence[str]], holding: Mapping[str, Sequence[tuple[int, float]]], idf: Mapping[str, float]
) -> dict[int, float]:
    """What the words weigh together that each document holds, each word as its rarest term there."""
    found: dict[int, float] = {}
    for word in words:
        heaviest: dict[int, float] = {}
        for term in sorted(word, key=lambda term: idf[term]):
            heaviest.update(dict.fromkeys((place for place, _ in holding[term]), idf[term]))
        for place, weight in heaviest.items():
            found[place] = found.get(place, 0.0) + weight
    return found
