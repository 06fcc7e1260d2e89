"""What an embedder gives, as vectors that can be stored: one for each text, of its dimensions, of finite numbers.

An embedder may be anybody's object. What it gives is checked here once, for what is stored wrongly finds wrongly for
good.
"""

import math
from collections.abc import Iterable, Sequence

from callsheet.errors import InvalidOption
from callsheet.graph.ports import Embedder
from callsheet.graph.values import Vector
from callsheet.graph.vectors import quantised


def embedded(embedder: Embedder, texts: Sequence[str], *, query: bool) -> list[Vector]:
    """The vectors of these texts, in order. Raises `InvalidOption`, which says what was expected and what came."""
    if not texts:
        return []
    rows = _items(embedder.embed(texts, query=query))
    if rows is None or len(rows) != len(texts):
        came = "no list" if rows is None else str(len(rows))
        raise InvalidOption(
            f"{_who(embedder)} was given {len(texts)} texts and must give a vector for each; it gave {came}"
        )
    return [_vector(embedder, row) for row in rows]


def _vector(embedder: Embedder, row: object) -> Vector:
    dimensions = embedder.dimensions
    if isinstance(row, Vector):
        numbers, size = None, len(row.cells)
    else:
        numbers = _numbers(row)
        if numbers is None:
            raise InvalidOption(
                f"{_who(embedder)} gave {type(row).__name__} as a vector; it must be a sequence of {dimensions} finite "
                "numbers, or a Vector"
            )
        size = len(numbers)
    if size != dimensions:
        raise InvalidOption(
            f"{_who(embedder)} gave a vector of {size} dimensions; by its `dimensions` it has {dimensions}"
        )
    if numbers is None:
        assert isinstance(row, Vector)
        return row
    if not all(map(math.isfinite, numbers)):
        raise InvalidOption(
            f"{_who(embedder)} gave a vector with NaN or infinity in it; all its numbers must be finite"
        )
    return quantised(numbers)


def _numbers(row: object) -> list[float] | None:
    items = _items(row)
    if items is None or any(isinstance(item, str | bytes | bytearray) for item in items):
        return None
    try:
        return [float(item) for item in items]  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None


def _items(given: object) -> list[object] | None:
    """What stands in a sequence or an array; None: it is neither."""
    if isinstance(given, str | bytes | bytearray | dict | set | frozenset) or not isinstance(given, Iterable):
        return None
    try:
        return list(given)
    except TypeError:  # an array without dimensions
        return None


def _who(embedder: Embedder) -> str:
    return f"the embedder {str(embedder.name)[:60]!r}"
