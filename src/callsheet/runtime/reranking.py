"""A better order for what was found, by whoever reads it beside the query.

A reranker may be anybody's object: what it gives is checked, and its scores are rounded, so that the last bits of a
number, which differ between machines, decide no order.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from callsheet.derive.redaction import Redaction
from callsheet.errors import InvalidOption
from callsheet.graph.ids import RecordId, TenantId
from callsheet.graph.ports import Reranker
from callsheet.recall.fusing import DEPTH
from callsheet.runtime.entrusting import Entrusting

MOST = 30
"""Findings that are put in order, the first: reading each beside the query is what takes time."""

LONGEST = 4_000
"""Characters of each that are given."""

_DIGITS = 6


def depth(limit: int) -> int:
    """How many findings are put in order where so many are wanted."""
    return max(limit, min(limit * DEPTH, MOST))


def order(reranker: Reranker, query: str, texts: Sequence[str]) -> list[int]:
    """Places of the texts, the best first, equal ones in the order in which they were given.

    Raises `InvalidOption` where the reranker gives anything but a finite number for each, and what it raises.
    """
    if len(texts) < 2:
        return list(range(len(texts)))
    given: object = reranker.scores(query, [text[:LONGEST] for text in texts])
    scores = _numbers(given)
    if scores is None or len(scores) != len(texts) or not all(map(math.isfinite, scores)):
        raise InvalidOption(
            f"the reranker {str(reranker.name)[:60]!r} was given {len(texts)} texts and must give a finite number "
            "for each"
        )
    return sorted(range(len(texts)), key=lambda place: (-round(scores[place], _DIGITS), place))


def _numbers(given: object) -> list[float] | None:
    if isinstance(given, str | bytes | dict | set | frozenset):
        return None
    try:
        return [float(one) for one in given]  # type: ignore[attr-defined]
    except (TypeError, ValueError, OverflowError):
        return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Reranking:
    """A reranker, and what it may be given."""

    reranker: Reranker
    entrusting: Entrusting

    def order(
        self, tenant: TenantId, query: str, found: Sequence[RecordId], texts: Callable[[RecordId], str]
    ) -> list[int]:
        """Places of what was found in the better order. What may not be given keeps its place among the others."""
        refused = self._refused(tenant, found)
        given = [place for place, id in enumerate(found) if id not in refused]
        redacted = [_UNMARKED.text(texts(found[place])) for place in given]
        moved = iter(order(self.reranker, self.entrusting.query(query), redacted))
        return [place if id in refused else given[next(moved)] for place, id in enumerate(found)]

    def _refused(self, tenant: TenantId, found: Sequence[RecordId]) -> frozenset[RecordId]:
        if not self.entrusting.provider:
            return frozenset()
        placed = (self.entrusting.ledger.find(tenant, id) for id in found)
        return frozenset(
            id for one in placed if one is not None for id in self.entrusting.refused(one[0].key, (one[1],))
        )


_UNMARKED = Redaction()
