"""How likely the next requests need a result: the one thing here that is fitted to recordings.

P = base x age x size x reuse x task, each factor by a few bins. `tools/fit_needed.py` fits the factors (iterative
proportional fitting of a log-linear rate, each original source weighing the same) and writes ``needed.json``; the same
script makes tables without one source, to be measured on that source.
"""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from math import exp, log

import msgspec

from callsheet.graph.values import Value

AGES = (0, 3, 6, 10, 20, 40, 80)
"""Upper bounds of the bins of age: turns since the result was last used. The last bin is open."""

SIZES = (50, 150, 300, 1000)
"""Upper bounds of the bins of size: tokens of the dense form."""

REUSES = (0.1, 0.3, 0.5)
"""Upper bounds of the bins of reuse: the share of this conversation's earlier results that were used again."""


class Needed(Value):
    """A table of P(needed within the horizon)."""

    name: str
    base: float
    age: tuple[float, ...]
    size: tuple[float, ...]
    reuse: tuple[float, ...]
    #: Used before the present task began, and since.
    task: tuple[float, float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        for factors, bounds in ((self.age, AGES), (self.size, SIZES), (self.reuse, REUSES)):
            if len(factors) != len(bounds) + 1:
                raise ValueError(f"table {self.name!r} has {len(factors)} factors for {len(bounds) + 1} bins")

    def of(self, *, age: int, size: int, reuse: float, present: bool = False) -> float:
        """P for a result last used `age` turns ago, `size` tokens long, in a conversation that reuses that share.

        `present`: it was used since the present task began.
        """
        rate = (
            self.base * _between(age, AGES, self.age) * self.size[_bin(size, SIZES)] * self.reuse[_bin(reuse, REUSES)]
        )
        rate *= self.task[present]
        # Rounded, so that the last bits of a logarithm, which differ between machines, decide nothing.
        return round(min(1.0, rate), 9)


def _bin(value: float, bounds: Sequence[float]) -> int:
    return next((index for index, bound in enumerate(bounds) if value <= bound), len(bounds))


def _between(value: float, bounds: Sequence[float], factors: Sequence[float]) -> float:
    """The factor at a value: that of a bin at its upper bound, and in between on the way, in logarithms."""
    at = _bin(value, bounds)
    low = bounds[at - 1] if at else 0.0
    high = bounds[at] if at < len(bounds) else 2.0 * bounds[-1]
    if at == 0 or high <= low:
        return factors[at]
    way = min(1.0, log((1 + value) / (1 + low)) / log((1 + high) / (1 + low)))
    return exp((1 - way) * log(factors[at - 1]) + way * log(factors[at]))


@cache
def shipped() -> Needed:
    """The table that was fitted to all recordings."""
    raw = files("callsheet.assemble").joinpath("needed.json").read_bytes()
    return msgspec.json.decode(raw, type=Needed)
