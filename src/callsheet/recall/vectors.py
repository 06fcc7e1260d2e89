"""The vectors of one stream's records at hand, to find the nearest; without any library."""

from collections.abc import Iterable, Iterator

from callsheet.errors import InvalidOption
from callsheet.graph.values import Vector
from callsheet.graph.vectors import cosine, product


class PlainVectors:
    """See `NearestVectors`. Asking takes about 10 µs for each vector; a library does it a hundred times as fast."""

    def __init__(self) -> None:
        self._vectors: dict[int, tuple[Vector, int]] = {}
        self._dimensions = 0

    def __len__(self) -> int:
        return len(self._vectors)

    def add(self, rows: Iterable[tuple[int, Vector]]) -> None:
        """See `NearestVectors.add`."""
        for place, vector in rows:
            self._dimensions = self._dimensions or len(vector.cells)
            _check(self._dimensions, vector)
            self._vectors[place] = (vector, product(vector, vector))

    def drop(self, places: Iterable[int]) -> None:
        """See `NearestVectors.drop`."""
        for place in places:
            self._vectors.pop(place, None)

    def scores(self, query: Vector, places: Iterable[int]) -> dict[int, float]:
        """See `NearestVectors.scores`."""
        if self._vectors:
            _check(self._dimensions, query)
        square = product(query, query)
        held = {place: self._vectors[place] for place in places if place in self._vectors}
        return {place: cosine(product(query, one), square, own) for place, (one, own) in held.items()}

    def nearest(self, query: Vector) -> Iterator[tuple[int, float]]:
        """See `NearestVectors.nearest`."""
        if not self._vectors:
            return
        _check(self._dimensions, query)
        square = product(query, query)
        scored = ((cosine(product(query, one), square, own), place) for place, (one, own) in self._vectors.items())
        for score, place in sorted(scored, reverse=True):
            yield place, score


def _check(dimensions: int, vector: Vector) -> None:
    if len(vector.cells) != dimensions:
        raise InvalidOption(f"vectors of {len(vector.cells)} and {dimensions} dimensions do not compare")
