"""Which level each record stands in when there is not room for all: a multiple-choice knapsack.

Each item offers its options from small to large. Only those on the concave hull of value over size are steps worth
considering; steps are taken by value per token, best first, while they fit. The result is within the value of one step
of the best there is (the usual bound of the greedy method; Kellerer, Pferschy and Pisinger, Knapsack Problems, 2004,
chapter 11), which the tests hold against trying everything on small instances.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Option:
    """One way in which an item can stand."""

    size: int
    value: float


@dataclass(frozen=True, slots=True)
class _Step(Generic[Key]):
    """From one option of an item to the next on its hull."""

    key: Key
    option: int
    size: int
    value: float
    order: int


def choose(offers: Mapping[Key, Sequence[Option]], capacity: int, *, price: float = 0.0) -> dict[Key, int]:
    """The index of the option chosen for each item; items that get none are left out.

    `price` is what a token must at least be worth: steps of less value per token are not taken. Deterministic: of equal
    steps those of items that come first in `offers` are taken first.
    """
    steps = [step for order, (key, options) in enumerate(offers.items()) for step in _steps(key, options, order)]
    steps.sort(key=lambda step: (-step.value / step.size if step.size else float("-inf"), step.order, step.option))
    chosen: dict[Key, int] = {}
    left = capacity
    skipped: set[Key] = set()
    for step in steps:
        if step.key in skipped or step.value <= price * step.size:
            continue
        if step.size > left:
            # A later step of this item rests on this one.
            skipped.add(step.key)
            continue
        left -= step.size
        chosen[step.key] = step.option
    return chosen


def _steps(key: Key, options: Sequence[Option], order: int) -> list[_Step[Key]]:
    """The steps along the concave hull of an item's options, each of less value per token than the one before."""
    hull: list[int] = []
    for index in sorted(range(len(options)), key=lambda index: (options[index].size, -options[index].value)):
        option = options[index]
        if option.value <= (options[hull[-1]].value if hull else 0.0):
            continue
        while hull and _ratio(options, hull[-2] if len(hull) > 1 else None, hull[-1]) <= _ratio(
            options, hull[-1], index
        ):
            hull.pop()
        hull.append(index)
    steps: list[_Step[Key]] = []
    size, value = 0, 0.0
    for index in hull:
        option = options[index]
        steps.append(_Step(key, index, option.size - size, option.value - value, order))
        size, value = option.size, option.value
    return steps


def _ratio(options: Sequence[Option], start: int | None, end: int) -> float:
    """Value per token on the way from one option (None: from nothing) to another."""
    size = options[end].size - (options[start].size if start is not None else 0)
    value = options[end].value - (options[start].value if start is not None else 0.0)
    return value / size if size else float("inf")
