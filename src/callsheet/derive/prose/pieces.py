"""Cutting a text into pieces that follow one another and cover it: lines, blocks, or parts of very long lines."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from callsheet.derive.prose.blobs import Blob

MOST = 20_000
"""Above this many lines, pieces hold several lines each: the memory for pieces stays small beside the text."""

_LONG = 1000
_ENDS = (". ", "! ", "? ", "。", "！", "？", "; ", "；", ", ", "、", "，", " ")


class Span(NamedTuple):
    """Characters of a text, from and up to but without."""

    start: int
    end: int


def line_cuts(text: str) -> Iterator[int]:
    """Where pieces of one line each begin, or of several lines where there are very many."""
    lines = text.count("\n")
    least = 0 if lines < MOST else len(text) // MOST
    at = text.find("\n", least)
    while at >= 0:
        yield at + 1
        at = text.find("\n", at + 1 + least)


def cuts_at(text: str, pattern: re.Pattern[str], seen: str | None = None) -> Iterator[int]:
    """Where pieces begin if each match of the pattern begins one; the same as `line_cuts` for very many lines.

    `seen` is the text as the pattern looks at it, if that is another: a match there begins a piece at the same place.
    """
    if text.count("\n") >= MOST:
        yield from line_cuts(text)
    else:
        yield from (match.start() for match in pattern.finditer(text if seen is None else seen))


def tile(
    text: str, cuts: Iterable[int], *, always: Sequence[Span] = (), solid: Sequence[Blob] = (), longest: int = _LONG
) -> tuple[list[Span], bool]:
    """Pieces that cover the text, cut at `cuts` and around `always`; and whether lines had to be cut inside.

    Pieces longer than `longest` characters are cut between lines, and lines longer than that between sentences,
    words or, without any, characters; never within a blob.
    """
    edges = {0, len(text), *cuts}
    for span in always:
        edges.update((span.start, span.end))
    longest = max(longest, len(text) // MOST)
    pieces: list[Span] = []
    inside = False
    starts = [blob.start for blob in solid]
    for start, end in pairwise(sorted(edges)):
        at = start
        while end - at > longest:
            cut = text.rfind("\n", at, at + longest) + 1
            if cut <= at:
                cut = _within_line(text, Span(at, end), longest, solid, starts)
                inside = inside or (cut < end and text[cut - 1] != "\n")
            pieces.append(Span(at, cut))
            at = cut
        if at < end:
            pieces.append(Span(at, end))
    return pieces, inside


def _within_line(text: str, rest: Span, longest: int, solid: Sequence[Blob], starts: Sequence[int]) -> int:
    """Where to cut text of which the first `longest` characters are in one line. Looks no further than they go."""
    at, end = rest.start, rest.end
    stop = min(at + longest, end)
    index = bisect_right(starts, stop) - 1
    if index >= 0 and solid[index].end > at:
        blob = solid[index]
        if blob.start > at:
            return blob.start
        return min(end, blob.end)
    if stop == end:
        return stop
    for ending in _ENDS:
        cut = text.rfind(ending, at + longest // 4, stop)
        if cut >= 0:
            return cut + len(ending)
    return stop - 1 if is_pair(text, stop) else stop


def is_pair(text: str, at: int) -> bool:
    """Whether two halves of one character stand on both sides of this place."""
    return 0 < at < len(text) and "\ud800" <= text[at - 1] <= "\udbff" and "\udc00" <= text[at] <= "\udfff"


def line_span(text: str, at: int) -> Span:
    """The line at a place, with its line end."""
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    return Span(start, len(text) if end < 0 else end + 1)


def within(spans: Iterable[Span], budget: int) -> list[Span]:
    """The spans, most important first, that fit into a number of characters; without overlaps, in their order.

    A line that is too long stands with its beginning.
    """
    taken: list[Span] = []
    for wanted in spans:
        span = Span(wanted.start, min(wanted.end, wanted.start + _LONG // 2))
        if span.end <= span.start or any(span.start < other.end and other.start < span.end for other in taken):
            continue
        if span.end - span.start <= budget:
            taken.append(span)
            budget -= span.end - span.start
    return sorted(taken, key=lambda span: span.start)
