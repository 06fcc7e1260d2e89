"""What a refused request would have needed: the smallest budget under which it would be made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Fitting: TypeAlias = Callable[[int], Mapping[str, int] | None]
"""The tokens, by part, of the request that is made under a budget; None: there is none."""

_RAISED = 12
"""How often a budget that is not enough after all is raised, by twice as much each time: 4,095 tokens together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Enough:
    """A budget that is enough where one token less is not, and what the request takes of it by part."""

    budget: int
    sizes: Mapping[str, int]


def enough(refused: int, first: int, fitting: Fitting) -> Enough | None:
    """The smallest budget above the `refused` one, looked for from `first` on; None: none was found near it.

    Planning weighs records by estimates of their sizes, so the smallest request that it came to under one budget is
    not the smallest that there is. What fits into a budget fits into each larger one.
    """
    bracket = _above(first, fitting)
    if bracket is None:
        return None
    low, high, sizes = bracket
    low = max(low, refused)
    step = 1
    while high - low > 1:
        # Mostly one token less is too little: steps grow from one until they reach too far, and then halve.
        budget = max(high - step, (low + high) // 2)
        found = fitting(budget)
        if found is None:
            low = budget
        else:
            high, sizes = budget, found
        step *= 2
    return Enough(budget=high, sizes=sizes)


def _above(first: int, fitting: Fitting) -> tuple[int, int, Mapping[str, int]] | None:
    """A budget that is too small (0: none was tried), and the next one that was tried, which is enough."""
    low, budget = 0, first
    for doubling in range(_RAISED + 1):
        found = fitting(budget)
        if found is not None:
            return low, budget, found
        low, budget = budget, budget + (1 << doubling)
    return None
