"""Vectors as whole numbers, so that what is near to what does not depend on the machine that asks.

A model's floats differ in their last bits between processors. They are rounded once, to a signed byte for each
dimension, and stored; what is computed from the bytes afterwards is exact but for one root and one division, which
every processor rounds alike.
"""

from array import array
from collections.abc import Sequence
from operator import mul

from callsheet.errors import InvalidOption
from callsheet.graph.values import Vector

LARGEST = 127
"""The largest cell, on both sides of zero."""

_DIGITS = 9
"""Similarities are rounded, so that they can be written and read as the same number."""


def quantised(values: Sequence[float]) -> Vector:
    """The vector of these numbers, the largest of which becomes `LARGEST`. Raises `InvalidOption` for no numbers.

    What is no finite number counts as zero.
    """
    if not values:
        raise InvalidOption("a vector has at least one dimension")
    finite = [value if -1e30 < value < 1e30 else 0.0 for value in values]
    largest = max(map(abs, finite))
    if largest < 1e-30:
        return Vector(scale=0.0, cells=bytes(len(finite)))
    scale = largest / LARGEST
    return Vector(scale=scale, cells=array("b", (round(value / scale) for value in finite)).tobytes())


def cells(vector: Vector) -> Sequence[int]:
    """The cells as whole numbers."""
    return memoryview(vector.cells).cast("b")


def similarity(one: Vector, other: Vector) -> float:
    """The cosine of the angle between two vectors, -1 to 1; 0 where either is zero.

    Raises `InvalidOption` for vectors of different dimensions.
    """
    if len(one.cells) != len(other.cells):
        raise InvalidOption(f"vectors of {len(one.cells)} and {len(other.cells)} dimensions do not compare")
    return cosine(product(one, other), product(one, one), product(other, other))


def product(one: Vector, other: Vector) -> int:
    """The sum of the products of their cells, exactly."""
    return sum(map(mul, cells(one), cells(other)))


def cosine(product: int, square: int, other: int) -> float:
    """The cosine from the product of two vectors and that of each with itself."""
    return round(product / float(square * other) ** 0.5, _DIGITS) if square and other else 0.0
