"""How likely the next requests need a result: what was fitted to recordings, and what this conversation itself shows.

Conversations differ more in this than anything else tells: one goes back to its results all the time, another never
does. So each counts how often it used results again and how long after their last use, and this habit is shrunk
towards the rates of other conversations, which `tools/fit_needed.py` takes from recordings (each original source
weighing the same) and writes into ``needed.json``; the same script makes tables without one source, to be measured on
that source. The shrinkage is that of a Gamma prior for a Poisson rate; the age is binned as in a life table.
"""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from math import exp

import msgspec

from callsheet.graph.values import Count, Value

AGES = (0, 3, 6, 10, 20, 40, 80)
"""Upper bounds of the bins of age: turns since the result was last used. The last bin is open."""

LAST = 160
"""Turns over which the uses in the open bin are taken to spread."""

SIZES = (50, 150, 300, 1000)
"""Upper bounds of the bins of size: tokens of the dense form."""

STRENGTH = 10.0
"""Results of this conversation that weigh as much as what is known of others."""

_BOUNDS = (*AGES, AGES[-1] + LAST)
_LOWER = (-1, *AGES)


class Habit(Value):
    """How a conversation has used its results so far."""

    turns: Count = 0
    results: Count = 0
    #: Uses by the bin of the age at which they came.
    uses: tuple[Count, ...] = ()

    def reached(self, age_bin: int) -> float:
        """About how many results have grown old enough for a bin."""
        if not self.turns:
            return 0.0
        return self.results * max(0.0, 1 - max(0, _LOWER[age_bin]) / self.turns)

    def used(self, age_bin: int) -> int:
        """How many uses came in a bin."""
        return self.uses[age_bin] if age_bin < len(self.uses) else 0

    @property
    def late(self) -> int:
        """Uses of what had not been used for some turns."""
        return sum(self.uses[2:])


class Needed(Value):
    """What is known of other conversations."""

    name: str
    #: Uses for each result that grows old enough, by bin of age.
    uses: tuple[float, ...]
    #: By bin of size, beside the mean.
    size: tuple[float, ...]

    def __post_init__(self) -> None:
        for factors, bounds in ((self.uses, AGES), (self.size, SIZES)):
            if len(factors) != len(bounds) + 1:
                raise ValueError(f"table {self.name!r} has {len(factors)} factors for {len(bounds) + 1} bins")

    def of(self, *, age: int, size: int, habit: Habit, horizon: int) -> float:
        """P for a result last used `age` turns ago, `size` tokens long, within the next `horizon` turns."""
        expected = 0.0
        for place, prior in enumerate(self.uses):
            low, high = _LOWER[place], _BOUNDS[place]
            overlap = min(high, age + horizon) - max(low, age)
            if overlap > 0:
                rate = (habit.used(place) + STRENGTH * prior) / (habit.reached(place) + STRENGTH)
                expected += rate * overlap / (high - low)
        expected *= self.size[age_bin(size, SIZES)]
        # Rounded, so that the last bits of an exponential, which differ between machines, decide nothing.
        return round(1 - exp(-expected), 9)


def age_bin(value: float, bounds: Sequence[float] = AGES) -> int:
    """The bin of a value."""
    return next((index for index, bound in enumerate(bounds) if value <= bound), len(bounds))


@cache
def shipped() -> Needed:
    """The table that was fitted to all recordings."""
    raw = files("callsheet.assemble").joinpath("needed.json").read_bytes()
    return msgspec.json.decode(raw, type=Needed)
