"""The vectors of one stream's records at hand, to find the nearest, by the array library of the extra ``embeddings``.

Sums of products of bytes stay below what a 32-bit float holds exactly, so the fast product of floats is exact.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from callsheet.errors import InvalidOption, MissingExtra
from callsheet.graph.values import Vector

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float32]]

LONGEST = 1024
"""Dimensions up to which sums are exact: 1024 · 127² is below 2²⁴."""

_DIGITS = 9
_ROOM = 256
_FIRST = 64
"""Nearest ones that are put in order at first; each time more are asked for, four times as many."""


class ArrayVectors:
    """See `NearestVectors`. Raises `MissingExtra` where the library is not installed."""

    def __init__(self) -> None:
        try:
            import numpy
        except ImportError:
            raise MissingExtra("embeddings", purpose="a fast search by vectors") from None
        self._np = numpy
        self._rows: Floats = numpy.zeros((0, 0), numpy.float32)
        self._roots = numpy.zeros(0)
        self._places = numpy.zeros(0, numpy.int64)
        #: Where the vector of each place lies.
        self._at: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._at)

    def add(self, rows: Iterable[tuple[int, Vector]]) -> None:
        """See `NearestVectors.add`."""
        np, given = self._np, dict(rows)
        if not given:
            return
        dimensions = self._rows.shape[1] if self._at else len(next(iter(given.values())).cells)
        for vector in given.values():
            _check(dimensions, vector)
        self._make_room(len(given), dimensions)
        made = np.frombuffer(b"".join(vector.cells for vector in given.values()), np.int8).reshape(-1, dimensions)
        at = [self._at.setdefault(place, len(self._at)) for place in given]
        self._rows[at] = made
        self._places[at] = list(given)
        self._roots[at] = np.sqrt(np.square(made.astype(np.float64)).sum(axis=1))

    def _make_room(self, more: int, dimensions: int) -> None:
        np, used = self._np, len(self._at)
        if self._rows.shape[1] != dimensions:
            self._rows = np.zeros((0, dimensions), np.float32)
            self._roots, self._places = np.zeros(0), np.zeros(0, np.int64)
        room = len(self._rows)
        if used + more <= room:
            return
        # Growing by halves keeps the cost of adding one by one in proportion.
        larger = max(used + more, room + room // 2, _ROOM)
        rows, roots, places = np.zeros((larger, dimensions), np.float32), np.zeros(larger), np.zeros(larger, np.int64)
        rows[:used], roots[:used], places[:used] = self._rows[:used], self._roots[:used], self._places[:used]
        self._rows, self._roots, self._places = rows, roots, places

    def drop(self, places: Iterable[int]) -> None:
        """See `NearestVectors.drop`."""
        for place in places:
            at = self._at.pop(place, None)
            if at is None:
                continue
            last = len(self._at)
            if at != last:
                moved = int(self._places[last])
                self._rows[at], self._roots[at], self._places[at] = self._rows[last], self._roots[last], moved
                self._at[moved] = at
            self._rows[last] = 0

    def scores(self, query: Vector, places: Iterable[int]) -> dict[int, float]:
        """See `NearestVectors.scores`."""
        at = [self._at[place] for place in places if place in self._at]
        if not at:
            return {}
        return dict(zip(self._places[at].tolist(), self._cosines(query, at).tolist(), strict=True))

    def _cosines(self, query: Vector, at: "list[int] | slice") -> Any:
        _check(self._rows.shape[1], query)
        np = self._np
        asked = np.frombuffer(query.cells, np.int8).astype(np.float32)
        root = float(np.sqrt(np.square(asked.astype(np.float64)).sum()))
        roots = self._roots[at] * root
        products = (self._rows[at] @ asked).astype(np.float64)
        return np.round(np.divide(products, roots, out=np.zeros(len(roots)), where=roots > 0), _DIGITS)

    def nearest(self, query: Vector) -> Iterator[tuple[int, float]]:
        """See `NearestVectors.nearest`."""
        np, count = self._np, len(self._at)
        if not count:
            return
        scores = self._cosines(query, slice(count))
        places = self._places[:count].copy()
        given, wanted = 0, _FIRST
        while given < count:
            wanted = min(wanted, count)
            # All that score as the last one wanted belong to it, so that equal ones come in order of their places.
            least = np.partition(scores, count - wanted)[count - wanted]
            among = np.flatnonzero(scores >= least)
            best = among[np.lexsort((-places[among], -scores[among]))]
            yield from zip(places[best[given:]].tolist(), scores[best[given:]].tolist(), strict=True)
            given, wanted = len(best), max(wanted, len(best)) * 4


def _check(dimensions: int, vector: Vector) -> None:
    if len(vector.cells) > LONGEST:
        raise InvalidOption(f"vectors of {len(vector.cells)} dimensions; at most {LONGEST} are compared exactly")
    if len(vector.cells) != dimensions:
        raise InvalidOption(f"vectors of {len(vector.cells)} and {dimensions} dimensions do not compare")
