"""Which older records stand in the note by score alone: the best first, skipping what does not fit.

The comparable setting beside the knapsack, as agents with a paged working memory fill theirs: recency, likeness to what
is asked now, role and use, weighted. Each record stands in the most detail it may have, or not at all.
"""

import math
from collections.abc import Collection, Mapping, Sequence

from callsheet.assemble.items import Item
from callsheet.assemble.signal import signal
from callsheet.graph.enums import Level
from callsheet.graph.ids import RecordId
from callsheet.policy.settings import Weights
from callsheet.policy.verdict import DETAIL

_TELLING = frozenset({Level.RAW, Level.DENSE, Level.FOCUS, Level.GIST})
"""The levels that show something of the content."""


def score(weights: Weights, *, minutes: float, similarity: float, leads: bool, utilisation: float) -> float:
    """The page-in score. `leads`: it is an instruction or a milestone; `utilisation` counts up to 1."""
    recency = math.exp2(-max(0.0, minutes) / weights.half_life)
    role = 1.0 if leads else weights.other_role
    return (
        weights.recency * recency
        + weights.semantic * similarity
        + weights.role * role
        + weights.signal * min(1.0, max(0.0, utilisation))
    )


def fill(
    items: Sequence[Item],
    must: Mapping[RecordId, Level],
    room: int,
    *,
    weights: Weights,
    brought: Collection[RecordId] = (),
) -> dict[RecordId, Level]:
    """The level of each record that stands in the note: what `must`, and what fits into `room` tokens beside it.

    What is asked for now (`brought`) is wholly like it. Of equal scores the newer record comes first.
    """
    chosen = dict(must)
    named = frozenset(brought)

    def rank(item: Item) -> tuple[float, int]:
        found = score(
            weights,
            minutes=item.minutes,
            similarity=1.0 if item.id in named else item.similar,
            leads=item.instruction,
            utilisation=signal(item),
        )
        # Rounded, so that the last bits of an exponential, which differ between machines, decide nothing.
        return -round(found, 9), -item.position

    for item in sorted(items, key=rank):
        level = _best(item, must.get(item.id, Level.NONE))
        size = item.noted[level] - item.noted.get(must.get(item.id, Level.NONE), 0) if level in item.noted else 0
        if level is not Level.NONE and size <= room:
            chosen[item.id] = level
            room -= size
    return chosen


def _best(item: Item, base: Level) -> Level:
    """The most detail that an older record may have in a note, above what it must have; none: there is nothing more."""
    if item.most is Level.NONE or item.instruction:
        return Level.NONE
    usable = [
        level
        for level, size in item.noted.items()
        if DETAIL[item.most] <= DETAIL[level] < DETAIL[base] and level in _TELLING and size > item.noted.get(base, 0)
    ]
    return min(usable, key=lambda level: DETAIL[level], default=Level.NONE)
