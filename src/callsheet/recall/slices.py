"""Parts of one text exactly as they were recorded: lines, rows, bytes, spans; each within a limit, with what follows.

What follows goes on where a slice ended, also inside a line: as bytes where the text is the content's bytes, else as
characters of the text. So slices of lines joined are the text, and slices of bytes joined are the bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from callsheet.errors import NotFound
from callsheet.recall.exact import encoded_size
from callsheet.recall.request import Range

_HEADER_SHARE = 4
"""A header may take one part in so many of the limit."""

_STRETCH = 65_536

LEAST = 4
"""Bytes that any character fits into: beside a header there is room for one at least."""


class Piece(Protocol):
    """A row or item: characters of the text, from and up to but without."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def always(self) -> bool: ...


class Outlined(Protocol):
    """Text whose rows or items are known."""

    @property
    def unit(self) -> str: ...

    @property
    def total(self) -> int: ...

    @property
    def segments(self) -> Sequence[Piece]: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Slice:
    """A part of a text or of bytes."""

    #: Exactly as it stands in the content.
    text: str
    #: What it is counted in: ``lines``, ``bytes``, ``rows``, ``items``, ``characters``.
    unit: str
    #: Units from 0, from and up to but without; a unit that is shown in part counts.
    start: int
    end: int
    total: int
    #: The header that belongs to the rows and does not stand next to them.
    header: str = ""
    #: What follows within the range that was asked for, as the name of a part and its range.
    more: tuple[str, Range] | None = None
    #: The last unit is shown in part, because alone it is beyond the limit.
    partial: bool = False
    #: Characters of the text for which the slice stands: with what parts its units from those that follow.
    span: tuple[int, int] = (0, 0)


def fitting(text: str, start: int, end: int, limit: int) -> int:
    """How far from `start` the text takes at most `limit` bytes as UTF-8; whole characters, at most up to `end`."""
    window = text[start : min(end, start + limit)]
    if len(window) * 4 <= limit or encoded_size(window) <= limit:
        return start + len(window)
    return start + len(prefix(window.encode("utf-8", "surrogatepass"), limit).decode("utf-8", "surrogatepass"))


def prefix(content: bytes, limit: int) -> bytes:
    """The first bytes, at most `limit`; UTF-8 is not cut inside a character."""
    cut = min(limit, len(content))
    if cut == len(content):
        return content
    for back in range(4):
        # A byte that begins a character may follow the cut; anything else would split one.
        if cut > back and content[cut - back] & 0xC0 != 0x80:
            return content[: cut - back]
    return content[:cut]


def line_count(text: str) -> int:
    """Lines end with a line feed; what follows the last one is a line unless it is empty."""
    return text.count("\n") + (not text.endswith("\n") and text != "")


def take_lines(text: str, asked: Range, limit: int, *, exact: bool = True) -> Slice:
    """Lines with their ends. `exact`: the text as UTF-8 is the content; then a cut line goes on as bytes.

    Raises `NotFound` for lines that begin behind the last.
    """
    first, last = asked
    total = line_count(text)
    _within("lines", first, total)
    last = total if last is None else min(last, total)
    start = _line_start(text, 0, first)
    stop = fitting(text, start, len(text), limit)
    end = _line_start(text, start, last - first, stop)
    shown = text.count("\n", start, end) + (end == len(text) and not text.endswith("\n") and end > start)
    if shown or first == last:
        more = ("lines", (first + shown, last)) if first + shown < last else None
        span = (start, end)
        return Slice(
            text=text[start:end], unit="lines", start=first, end=first + shown, total=total, more=more, span=span
        )
    return Slice(
        text=text[start:stop],
        unit="lines",
        start=first,
        end=first + 1,
        total=total,
        more=_onward(text, stop, _line_start(text, start, last - first), exact=exact),
        partial=True,
        span=(start, stop),
    )


def _onward(text: str, start: int, end: int, *, exact: bool) -> tuple[str, Range]:
    """How to read on in the middle of a line."""
    if not exact:
        return "characters", (start, end)
    before = encoded_size(text[:start])
    return "bytes", (before, before + encoded_size(text[start:end]))


def _line_start(text: str, start: int, lines: int, stop: int | None = None) -> int:
    """Where the line begins that is so many lines after `start`, which begins one; with `stop`, at most there."""
    limit = len(text) if stop is None else stop
    at = start
    # Stretches that do not reach the line are passed in one step each.
    while lines and at + _STRETCH < limit and (passed := text.count("\n", at, at + _STRETCH)) < lines:
        lines -= passed
        at += _STRETCH
    for _ in range(lines):
        found = text.find("\n", at, limit)
        if found < 0:
            return limit if limit == len(text) else text.rfind("\n", start, limit) + 1 or start
        at = found + 1
    return at


def take_bytes(content: bytes, asked: Range, limit: int) -> Slice:
    """Bytes, shown as UTF-8 with ``\\xNN`` for what is none; the limit counts what is shown.

    Raises `NotFound` behind the last byte.
    """
    first, last = asked
    total = len(content)
    _within("bytes", first, total)
    last = total if last is None else min(last, total)
    taken = prefix(content[first : min(last, first + limit + 1)], limit)
    shown = taken.decode("utf-8", "backslashreplace")
    if encoded_size(shown) > limit:  # each byte that is no text takes four characters
        taken = prefix(taken, limit // 4)
        shown = taken.decode("utf-8", "backslashreplace")
    end = first + len(taken)
    return Slice(
        text=shown,
        unit="bytes",
        start=first,
        end=end,
        total=total,
        more=("bytes", (end, last)) if end < last else None,
    )


def take_rows(text: str, outlined: Outlined, asked: Range, limit: int, *, exact: bool = True) -> Slice:
    """Rows or items, with their header, which is none of them. Raises `NotFound` behind the last."""
    head = header_count(outlined)
    rows = outlined.segments[head:]
    first, last = asked
    if not rows:
        raise NotFound(f"it has no {outlined.unit}")
    _within(outlined.unit, first, len(rows))
    last = len(rows) if last is None else min(last, len(rows))
    header = header_text(text, outlined, limit // _HEADER_SHARE)
    start = rows[first].start
    stop = start + max(limit - encoded_size(header), LEAST)
    stop = fitting(text, start, rows[last - 1].end, stop - start)
    end = first
    while end < last and rows[end].end <= stop:
        end += 1
    partial = end == first
    more: tuple[str, Range] | None = ("rows", (end, last)) if end < last else None
    if partial:
        end = first + 1
        more = _onward(text, stop, rows[last - 1].end, exact=exact) if stop < rows[last - 1].end else None
    shown = stop if partial else rows[end - 1].end
    return Slice(
        text=text[start:shown],
        unit=outlined.unit,
        start=first,
        end=end,
        total=len(rows),
        header=header,
        more=more,
        partial=partial,
        span=(start, rows[end].start if not partial and end < last else shown),
    )


def header_count(outlined: Outlined) -> int:
    """How many of the first segments are header: those that always stand and are not counted as data."""
    most = max(len(outlined.segments) - outlined.total, 0)
    count = 0
    while count < most and outlined.segments[count].always:
        count += 1
    return count


def header_text(text: str, outlined: Outlined, limit: int) -> str:
    """The header as it was written, without the end of its line; a mark where it is beyond the limit."""
    count = header_count(outlined)
    if not count:
        return ""
    start, end = outlined.segments[0].start, outlined.segments[count - 1].end
    stop = fitting(text, start, end, limit)
    return text[start:stop].rstrip("\r\n") + ("" if stop == end else " … (header cut)")


def take_span(text: str, start: int, end: int, limit: int, *, exact: bool = True) -> Slice:
    """Characters from and up to; what is beyond the limit goes on as bytes, or as characters unless `exact`."""
    stop = fitting(text, start, end, limit)
    more = _onward(text, stop, end, exact=exact) if stop < end else None
    return Slice(
        text=text[start:stop],
        unit="characters",
        start=0,
        end=stop - start,
        total=end - start,
        more=more,
        span=(start, stop),
    )


def take_characters(text: str, asked: Range, limit: int) -> Slice:
    """Characters of the text, counted from 0. Raises `NotFound` behind the last."""
    first, last = asked
    total = len(text)
    _within("characters", first, total)
    last = total if last is None else min(last, total)
    stop = fitting(text, first, last, limit)
    return Slice(
        text=text[first:stop],
        unit="characters",
        start=first,
        end=stop,
        total=total,
        more=("characters", (stop, last)) if stop < last else None,
        span=(first, stop),
    )


def _within(unit: str, first: int, total: int) -> None:
    if first >= total and first:
        raise NotFound(f"there are {total:,} {unit}, counted from 0; {first:,} is behind the last")
