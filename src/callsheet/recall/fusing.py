"""One order from several: reciprocal rank fusion, in which each place weighs as much as speaks for it.

Source: Cormack, Clarke and Büttcher, Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods
(2009). Arms of equal weight pull each other down where one knows better, so the weights come from the answer itself:
of words, how much of what was asked a match holds; of vectors, how far it stands out from the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from callsheet.graph.ids import RecordId
from callsheet.recall.bm25 import Scored

K = 60
"""How much alike neighbouring ranks count; the value of the source."""

DEPTH = 5
"""How many times as many as are wanted each arm gives."""

WORDS = "words"
MEANING = "meaning"
ARMS = (WORDS, MEANING)
IDENTIFIERS = "identifiers"
"""What found a record that holds an identifier of the query; always asked, so none of `ARMS`."""
"""Ways to search beside exact lookups, which come before all others."""

SURE = 0.45
"""The part of the way to the same meaning that is as good as holding every word that was asked for."""

POWER = 1.5
"""Evidence counts by this power: much on one side is more than as much divided over both."""

_LEAST = 1e-6
_DIGITS = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class Arm:
    """What one way to search has found."""

    name: str
    #: The best first, each with how much speaks for it, 0 to 1.
    found: tuple[tuple[RecordId, float], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Fused:
    """A record that at least one arm has found."""

    id: RecordId
    score: float
    #: Names of the arms that found it.
    arms: tuple[str, ...]


def by_words(found: Sequence[Scored], depth: int) -> Arm:
    """What a search by words has found. For the best speaks how much of what was asked for it holds.

    For the others as much less as they score less.
    """
    best = found[:depth]
    share = best[0].share / best[0].score if best and best[0].score else 0.0
    return Arm(name=WORDS, found=tuple((one.id, one.score * share) for one in best))


def by_meaning(found: Sequence[tuple[RecordId, float]], depth: int) -> Arm:
    """What a search by vectors has found, with the cosine of each.

    Cosines of one model lie close together, wherever that is; what tells is which part of the way to 1 lies between
    the last of those wanted and each of them.
    """
    best = found[:depth]
    last = best[-1][1] if len(best) > 1 else 0.0
    away = [(score - last) / (1 - last) if last < 1 else 0.0 for _, score in best]
    return Arm(
        name=MEANING, found=tuple((id, max(0.0, min(1.0, way / SURE))) for (id, _), way in zip(best, away, strict=True))
    )


def fuse(arms: Sequence[Arm]) -> list[Fused]:
    """All that the arms have found, best first; of equal ones what an earlier arm found, and found better."""
    scores: dict[RecordId, float] = {}
    names: dict[RecordId, tuple[str, ...]] = {}
    for arm in arms:
        for place, (id, evidence) in enumerate(arm.found):
            # What nothing speaks for still has its place, behind what something speaks for.
            weight = max(evidence**POWER, _LEAST)
            scores[id] = scores.get(id, 0.0) + weight / (K + place + 1)
            names[id] = (*names.get(id, ()), arm.name)
    order = {id: place for place, id in enumerate(scores)}
    found = [Fused(id=id, score=round(score, _DIGITS), arms=names[id]) for id, score in scores.items()]
    return sorted(found, key=lambda one: (-one.score, order[one.id]))
