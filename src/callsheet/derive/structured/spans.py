"""Many segments in little memory: where they begin and end is kept, each is made when it is asked for."""

from array import array
from collections.abc import Callable, Sequence
from typing import overload

from callsheet.derive.document import Segment


class Spans(Sequence[Segment]):
    """Segments in the order of their spans; those of one long run of like parts are not kept as objects."""

    __slots__ = ("_after", "_before", "_ends", "_name", "_starts")

    def __init__(
        self,
        before: Sequence[Segment],
        starts: "array[int]",
        ends: "array[int]",
        name: Callable[[int], str],
        after: Sequence[Segment] = (),
    ) -> None:
        self._before = before
        self._starts = starts
        self._ends = ends
        self._name = name
        self._after = after

    def __len__(self) -> int:
        return len(self._before) + len(self._starts) + len(self._after)

    @overload
    def __getitem__(self, at: int) -> Segment: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Segment]: ...
    def __getitem__(self, at: int | slice) -> Segment | Sequence[Segment]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        at = at + len(self) if at < 0 else at
        if not 0 <= at < len(self):
            raise IndexError(at)
        if at < len(self._before):
            return self._before[at]
        at -= len(self._before)
        if at < len(self._starts):
            return Segment(self._starts[at], self._ends[at], self._name(at))
        return self._after[at - len(self._starts)]
