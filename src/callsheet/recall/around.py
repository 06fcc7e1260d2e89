"""What was said is understood from what was said around it: a message is ranked with the terms of its neighbours.

"When is the concert?" – "On Friday." Neither holds the answer alone. The terms of neighbours count as a field of the
message with a low weight, which halves with each step away.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from callsheet.graph.ids import RecordId
from callsheet.recall.bm25 import TermDocument

WEIGHTS = (0.5, 0.25)
"""Of the nearest neighbours on both sides, and of the next."""

_DIGITS = 9


Around = Mapping[RecordId, Sequence[tuple[RecordId, float]]]
"""The neighbours of each, with their weights."""


def neighbours(rows: Sequence[Sequence[RecordId]]) -> dict[RecordId, tuple[tuple[RecordId, float], ...]]:
    """Those around each member of some rows, with their weights, the nearest first on each side.

    A row is a piece of what was said, in order. Rows that overlap are one: what several have in common has the
    neighbours that all of them know.
    """
    before: dict[RecordId, RecordId] = {}
    for row in rows:
        before.update((later, earlier) for earlier, later in pairwise(row))
    after = {earlier: later for later, earlier in before.items()}
    return {
        id: (*zip(_steps(id, before), WEIGHTS, strict=False), *zip(_steps(id, after), WEIGHTS, strict=False))
        for id in dict.fromkeys(id for row in rows for id in row)
    }


def blended(documents: Mapping[RecordId, TermDocument], around: Around) -> dict[RecordId, TermDocument]:
    """The documents that have neighbours, each with the terms of those around it."""
    return {id: _blended(documents, id, others) for id, others in around.items()}


def smoothed(scores: Mapping[RecordId, float], around: Around) -> dict[RecordId, float]:
    """The scores, of those that have neighbours as the weighted mean with theirs, as far as they have some."""
    found = dict(scores)
    for id, others in around.items():
        known = [(scores[other], weight) for other, weight in others if other in scores]
        if id in scores and known:
            total = scores[id] + sum(score * weight for score, weight in known)
            found[id] = round(total / (1 + sum(weight for _, weight in known)), _DIGITS)
    return found


def _steps(id: RecordId, next: Mapping[RecordId, RecordId]) -> list[RecordId]:
    found: list[RecordId] = []
    while len(found) < len(WEIGHTS) and id in next:
        id = next[id]
        found.append(id)
    return found


def _blended(
    documents: Mapping[RecordId, TermDocument], id: RecordId, others: Sequence[tuple[RecordId, float]]
) -> TermDocument:
    own = documents[id]
    terms, length = dict(own.terms), own.length
    for neighbour, weight in others:
        other = documents[neighbour]
        length += weight * other.length
        for term, count in other.terms.items():
            terms[term] = terms.get(term, 0.0) + weight * count
    return TermDocument(id=id, terms=terms, length=length)
