"""The document that all line- and text-like kinds are: pieces of a text, and excerpts that say what they leave out."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from callsheet.derive.document import ContentKind, Segment
from callsheet.derive.prose.blobs import Blob, blobs
from callsheet.derive.prose.pieces import Span, tile
from callsheet.derive.prose.tidy import tidy

_LONG_LINES = 500
"""Text whose lines are longer than this on average is counted in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A text whose segments follow one another and cover it. A `Document`."""

    kind: ContentKind
    text: str
    unit: str
    total: int
    segments: tuple[Segment, ...]
    #: Units before each segment, and all of them at the end.
    before: Sequence[int]
    solid: Sequence[Blob] = ()
    #: What follows the counts in the outline.
    shape: str = ""
    #: For each segment the one that must stand with it, or -1.
    leads: Sequence[int] = ()
    #: What is shown for each segment where that is not its own text.
    shown: Sequence[str] | None = None
    #: What a reader must know about all that is shown.
    note: str = ""
    #: Whether white space at the ends of lines means something.
    trailing: bool = False
    _always: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        standing = tuple(index for index, segment in enumerate(self.segments) if segment.always)
        object.__setattr__(self, "_always", standing)

    def dense(self) -> str:
        """The text without what no reader misses; see `tidy`."""
        shorter = tidy(self.text, trailing=self.trailing)
        return shorter if len(shorter) < len(self.text) else self.text

    def excerpt(self, chosen: Sequence[int]) -> str:
        """The chosen segments and those that always stand, with marks for what was left out between them."""
        indices = {index for index in chosen if 0 <= index < len(self.segments)} | set(self._always)
        if self.leads:
            indices |= {self.leads[index] for index in indices if self.leads[index] >= 0}
        parts: list[str] = []
        run_from = at = 0
        for index in sorted(indices):
            if index != at:
                self._add_run(parts, run_from, at)
                parts.append(self._gap(at, index))
                run_from = index
            at = index + 1
        self._add_run(parts, run_from, at)
        if at < len(self.segments):
            parts.append(self._gap(at, len(self.segments)))
        return "\n".join([*self._heading(indices), *parts])

    def outline(self) -> str:
        """Counts and, where the kind has them, names."""
        counted = f"{self.total:,} {_unit(self.unit, self.total)}"
        return f"{counted}: {self.shape}" if self.shape else counted

    def _heading(self, indices: set[int]) -> list[str]:
        """How much is shown; nothing where all is."""
        if len(indices) == len(self.segments):
            return [f"({self.note})"] if self.note else []
        note = f"; {self.note}" if self.note else ""
        if self.unit == "lines" and self._in_parts(indices):
            size = sum(self.segments[index].end - self.segments[index].start for index in indices)
            return [f"(excerpt: {size:,} of {len(self.text):,} characters in {self.total:,} lines{note})"]
        units = sum(self.before[index + 1] - self.before[index] for index in indices)
        return [f"(excerpt: {units:,} of {self.total:,} {_unit(self.unit, self.total)}{note})"]

    def _in_parts(self, indices: set[int]) -> bool:
        """Whether a part of a line is shown without the rest of it."""
        segments = self.segments
        return any(
            (index - 1 not in indices and not self._at_line(segments[index].start))
            or (index + 1 not in indices and not self._at_line(segments[index].end))
            for index in indices
        )

    def _gap(self, first: int, stop: int) -> str:
        """The mark for the segments from one index up to another; an empty line stands for empty lines."""
        start, end = self.segments[first].start, self.segments[stop - 1].end
        if self.shown is None and _is_space(self.text, start, end):
            return ""
        units = self.before[stop] - self.before[first]
        if not units:
            size = end - start
            return f"... ({size:,} {_unit('characters', size)} left out)"
        if self.unit == "lines" and not (self._at_line(start) and self._at_line(end)):
            last = self.before[stop] + (not self._at_line(end))
            return f"... ({end - start:,} characters left out, from line {self.before[first] + 1:,} to {last:,})"
        where = f"{self.before[first] + 1:,}"
        if units > 1:
            where += f" to {self.before[stop]:,}"
        return f"... ({units:,} {_unit(self.unit, units)} left out: {where})"

    def _at_line(self, at: int) -> bool:
        return at in {0, len(self.text)} or self.text[at - 1] == "\n"

    def _add_run(self, parts: list[str], first: int, stop: int) -> None:
        if first >= stop:
            return
        if self.shown is not None:
            parts.extend(part for part in self.shown[first:stop] if part)
            return
        text = self._masked(self.segments[first].start, self.segments[stop - 1].end)
        text = text[:-1] if text.endswith("\n") else text
        parts.append(tidy(text, trailing=self.trailing))

    def _masked(self, start: int, end: int) -> str:
        """The text with a mark in place of each run of base64."""
        index = bisect_left(self.solid, start, key=lambda blob: blob.start)
        parts = []
        for blob in self.solid[index:]:
            if blob.start >= end:
                break
            parts += [self.text[start : blob.start], blob.mark]
            start = blob.end
        return "".join([*parts, self.text[start:end]])


def written(
    kind: ContentKind,
    text: str,
    cuts: Sequence[int],
    *,
    always: Sequence[Span] = (),
    longest: int = 1000,
    shape: str = "",
    trailing: bool = False,
) -> Written:
    """A document whose segments begin at `cuts`, counted in lines, or in characters where lines are very long."""
    solid = blobs(text)
    pieces, inside = tile(text, cuts, always=always, solid=solid, longest=longest)
    stands = {span.start for span in always}
    inside = inside and len(text) > _LONG_LINES * (text.count("\n") + 1)
    before = [piece.start for piece in pieces] + [len(text)] if inside else _lines_before(text, pieces)
    total = before[-1] if pieces else 0
    segments = tuple(
        Segment(piece.start, piece.end, _name(inside, before[index], before[index + 1]), piece.start in stands)
        for index, piece in enumerate(pieces)
    )
    return Written(
        kind=kind,
        text=text,
        unit="characters" if inside else "lines",
        total=total,
        segments=segments,
        before=before,
        solid=solid,
        shape=shape,
        trailing=trailing,
    )


def _lines_before(text: str, pieces: Sequence[Span]) -> list[int]:
    counts = [0]
    for piece in pieces:
        counts.append(counts[-1] + text.count("\n", piece.start, piece.end))
    if pieces and not text.endswith("\n"):
        counts[-1] += 1
    return counts


def _name(inside: bool, first: int, stop: int) -> str:
    unit = "character" if inside else "line"
    return f"{unit} {first + 1:,}" if stop <= first + 1 else f"{unit}s {first + 1:,} to {stop:,}"


def _is_space(text: str, start: int, end: int) -> bool:
    # The beginning tells mostly, and spares a copy of all that was left out.
    return text[start : min(end, start + 200)].isspace() and text[start:end].isspace()


def _unit(unit: str, number: int) -> str:
    return unit.removesuffix("s") if number == 1 else unit
