"""TextRank (Mihalcea and Tarau, TextRank: Bringing Order into Texts, 2004): a sentence counts as others are like it."""

import math
from collections.abc import Sequence

DAMPING = 0.85
STEPS = 30
"""Rounds; scores of a few hundred sentences have settled to four digits by then."""

COMMON = 32
"""Sentences with a term above which it links none: what stands everywhere tells nothing, and time stays linear."""

_DIGITS = 9
"""Digits that are kept of a score, so that equal sentences tie on every machine."""


def ranked(sentences: Sequence[Sequence[str]]) -> list[float]:
    """A score for each sentence, which is given as its terms. The scores of all sum to about 1.

    Two sentences are as like each other as they share distinct terms, by their lengths. Deterministic.
    """
    if not sentences:
        return []
    likeness = _likeness([list(dict.fromkeys(terms)) for terms in sentences])
    totals = [sum(links.values()) for links in likeness]
    linked = [[(other, weight, totals[other]) for other, weight in links.items()] for links in likeness]
    count = len(sentences)
    scores = [1.0 / count] * count
    for _ in range(STEPS):
        scores = [
            (1 - DAMPING) / count + DAMPING * sum([scores[other] * weight / total for other, weight, total in links])
            for links in linked
        ]
    return [round(score, _DIGITS) for score in scores]


def _likeness(sentences: Sequence[Sequence[str]]) -> list[dict[int, float]]:
    """For each sentence those that share terms with it, and how like they are; in order of place."""
    holding: dict[str, list[int]] = {}
    for place, terms in enumerate(sentences):
        for term in terms:
            holding.setdefault(term, []).append(place)
    found: list[dict[int, float]] = []
    for place, terms in enumerate(sentences):
        shared: dict[int, int] = {}
        for term in terms:
            if len(holding[term]) <= COMMON:
                for other in holding[term]:
                    shared[other] = shared.get(other, 0) + 1
        shared.pop(place, None)
        own = math.log(1 + len(terms))
        found.append({other: shared[other] / (own + math.log(1 + len(sentences[other]))) for other in sorted(shared)})
    return found
