"""Where the parts of a JSON text stand: which array the document is about, and the span of each of its items."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import sub

from callsheet.derive.document import Segment
from callsheet.derive.structured.reading import Spans as JsonSpans
from callsheet.derive.structured.reading import spans_in
from callsheet.derive.structured.spans import Spans
from callsheet.derive.structured.values import Json

_SMALL = 600
"""Characters up to which a member or item is not divided."""
_DEEPEST = 8
_FEW = 8
"""An array with fewer items than this is divided further where an item is big."""
_BESIDE = 2_000
"""Characters that the scalars beside the main array may take together to stand always."""
_SCALAR = 300
_MANY = 100_000
"""With more items than this, several that are adjacent are one segment."""


@dataclass(frozen=True, slots=True)
class Place:
    """A value and where it stands: the positions that lead to it, its pointer, its span with and without the key."""

    path: tuple[int, ...]
    pointer: str
    start: int
    value_start: int
    end: int
    value: Json
    in_array: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """How a document is divided: single places, and between them the run of items that it is about."""

    unit: str
    total: int
    segments: Sequence[Segment]
    #: The positions that lead to the array or object that the units belong to, and its pointer.
    main_path: tuple[int, ...]
    main_pointer: str
    #: Paths of the segments before and after the run of items.
    before: tuple[tuple[int, ...], ...] = ()
    after: tuple[tuple[int, ...], ...] = ()
    #: How many items there are in the run, and how many of them are one segment.
    items: int = 0
    step: int = 1

    @property
    def others(self) -> int:
        """How many segments, apart from those that stand always, are no part of what the units belong to."""
        depth = len(self.main_path)
        return sum(
            not self.segments[at].always
            for at, path in zip(self.singles(), (*self.before, *self.after), strict=True)
            if path[:depth] != self.main_path
        )

    def singles(self) -> Iterator[int]:
        """The indices of the segments outside the run of items."""
        yield from range(len(self.before))
        yield from range(len(self.segments) - len(self.after), len(self.segments))

    def paths(self, segment: int) -> Iterator[tuple[int, ...]]:
        """The positions that lead to what the segment with this index shows."""
        run = len(self.segments) - len(self.before) - len(self.after)
        place = segment - len(self.before)
        if place < 0:
            yield self.before[segment]
        elif place >= run:
            yield self.after[place - run]
        else:
            for item in range(place * self.step, min((place + 1) * self.step, self.items)):
                yield (*self.main_path, item)


def rows_layout(unit: str, starts: "array[int]", ends: "array[int]", word: str) -> Layout:
    """The layout of an array whose items have been found already; they are named by `word` and a count from one."""
    spans = Spans((), starts, ends, lambda at: f"{word} {at + 1}")
    return Layout(unit, len(starts), spans, (), "", items=len(starts))


def layout(text: str, value: Json, spans: JsonSpans) -> Layout:
    """The division of a whole JSON text whose value is a container, and the spans of its parts."""
    start = len(text) - len(text.lstrip(" \t\n\r"))
    root = Place((), "", start, start, len(text.rstrip(" \t\n\r")), value, False)
    beside: list[Place] = []
    main, found = _main(text, root, spans, beside)
    kept = _always(beside) if isinstance(main.value, list) else set()
    singles: list[Place] = []
    for place in beside:
        singles += [place] if place.path in kept else _divided(text, place, _FEW)
    if isinstance(found, list):
        parts = [deeper for place in found for deeper in _divided(text, place, len(found))]
        places = sorted(singles + parts, key=lambda place: place.start)
        segments = [_segment(place, kept) for place in places]
        unit = "items" if isinstance(main.value, list) else "keys"
        return Layout(unit, len(found), segments, main.path, main.pointer, tuple(place.path for place in places))
    return _run(main, found, sorted(singles, key=lambda place: place.start), kept)


def _run(
    main: Place, found: tuple["array[int]", "array[int]"], singles: list[Place], kept: set[tuple[int, ...]]
) -> Layout:
    """The layout of a document that is about one array with many items, or about one object with very many members."""
    starts, ends = found
    count = len(starts)
    step = -(-count // _MANY)
    before = [place for place in singles if place.start < main.start]
    after = singles[len(before) :]
    ends = ends[step - 1 :: step] + (ends[-1:] if count % step else ends[:0])
    pointer = main.pointer
    members = main.value if isinstance(main.value, tuple) else ()

    def name(at: int) -> str:
        first, last = at * step, min((at + 1) * step, count) - 1
        if members:
            return f"{pointer}/{_step(members[first][0])}" + (f" and {last - first:,} more" if last > first else "")
        return f"{pointer}/{first}" + (f"-{last}" if last > first else "")

    spans = Spans(
        [_segment(place, kept) for place in before],
        starts[::step],
        ends,
        name,
        [_segment(place, kept) for place in after],
    )
    paths = tuple(place.path for place in before), tuple(place.path for place in after)
    unit = "keys" if members else "items"
    return Layout(unit, count, spans, main.path, pointer, *paths, items=count, step=step)


def _segment(place: Place, kept: set[tuple[int, ...]]) -> Segment:
    return Segment(place.start, place.end, place.pointer or "/", place.path in kept)


def _main(
    text: str, root: Place, spans: JsonSpans, beside: list[Place]
) -> tuple[Place, "list[Place] | tuple[array[int], array[int]]"]:
    """Down from the root while one member holds most of the text; those passed by are put into `beside`.

    Of what it ends at: its parts, or only their spans where it is an array with many or an object with very many.
    """
    main = root
    while True:
        starts, value_starts, ends = spans
        largest = max(map(sub, ends, value_starts), default=0)
        half = 2 * largest < main.end - main.value_start
        if half and len(starts) >= (_FEW if isinstance(main.value, list) else _MANY):
            return main, (starts, ends)
        parts = _parts(main, starts, value_starts, ends)
        if half or not parts or len(main.path) >= _DEEPEST:
            return main, parts
        big = max(parts, key=lambda place: place.end - place.value_start)
        if not isinstance(big.value, list | tuple) or not big.value:
            return main, parts
        if len(parts) > 1 and isinstance(big.value, tuple) and isinstance(main.value, list):
            return main, parts
        beside += [place for place in parts if place is not big]
        main, spans = big, spans_in(text, big.value_start, big.value)


def _parts(parent: Place, starts: "array[int]", value_starts: "array[int]", ends: "array[int]") -> list[Place]:
    value = parent.value
    spans = enumerate(zip(starts, value_starts, ends, strict=True))
    if isinstance(value, tuple):
        return [
            Place((*parent.path, at), f"{parent.pointer}/{_step(value[at][0])}", *span, value[at][1], False)
            for at, span in spans
        ]
    items = value if isinstance(value, list) else []
    return [Place((*parent.path, at), f"{parent.pointer}/{at}", *span, items[at], True) for at, span in spans]


def _step(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _always(beside: list[Place]) -> set[tuple[int, ...]]:
    kept: set[tuple[int, ...]] = set()
    room = _BESIDE
    for place in beside:
        size = place.end - place.start
        if not place.in_array and not isinstance(place.value, list | tuple) and size <= min(_SCALAR, room):
            kept.add(place.path)
            room -= size
    return kept


def _divided(text: str, place: Place, siblings: int) -> list[Place]:
    """The place, or its parts where it is big."""
    if place.end - place.start <= _SMALL or not isinstance(place.value, list | tuple) or not place.value:
        return [place]
    if len(place.path) >= _DEEPEST or (place.in_array and siblings >= _FEW) or len(place.value) > _MANY:
        return [place]
    parts = _parts(place, *spans_in(text, place.value_start, place.value))
    return [deeper for part in parts for deeper in _divided(text, part, len(parts))]
