"""Which parts of a document are shown within a limit of tokens, and text shortened to a limit without a false piece."""

import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from enum import StrEnum
from functools import partial

from callsheet.derive.document import ContentKind, Document, Segment
from callsheet.derive.prose.blobs import blobs, masked

WHOLE_TABLE = 20
"""Tables of up to so many rows are not thinned out."""

TABLE_EDGE = 5
"""Of longer tables so many rows are shown at each end."""

_MOST_CHARACTERS = 40
"""Characters per token that no readable text goes beyond: a longer one is known to be too long without counting it."""

_SKIPS = 6


class Manner(StrEnum):
    """From where a result is shown when it must be shortened."""

    START = "start"
    START_END = "start_end"


def narrow(
    document: Document,
    limit: int,
    count: Callable[[str], int],
    *,
    touching: Callable[[Segment], bool] | None = None,
    manner: Manner = Manner.START_END,
) -> str:
    """The document within `limit` as `count` measures it: dense if that fits, else an excerpt, else its text cut.

    Only where it is dense does it hold base64; an excerpt and a cut have a mark in its place.
    Empty where not even the mark of a cut fits.
    """
    dense = document.dense()
    if _fits(dense, limit, count):
        return dense
    text = document.excerpt(choose(document, limit, count, touching=touching, manner=manner))
    if document.segments and _fits(text, limit, count):
        return text
    return cut_text(masked(document.text, blobs(document.text)), limit, count, manner)


def choose(
    document: Document,
    limit: int,
    count: Callable[[str], int],
    *,
    touching: Callable[[Segment], bool] | None = None,
    named: Collection[int] = (),
    manner: Manner = Manner.START_END,
) -> tuple[int, ...]:
    """Indices of the segments whose excerpt takes at most `limit`, ascending; ``()`` where none fits.

    First those that are `named`, then those that touch what is in play, then those at the ends that `manner` names, as
    many as fit; of a table longer than `WHOLE_TABLE` rows no more than `TABLE_EDGE` at each end. What always stands
    need not be chosen. Of plain text of which nothing is named or touched, a beginning and an end without a gap.
    """
    segments = document.segments
    free = [index for index, segment in enumerate(segments) if not segment.always]
    first = [index for index in free if index in named]
    if touching is not None:
        first += [index for index in free if index not in named and touching(segments[index])]
    taken = set(first)
    ends = _from_ends([index for index in free if index not in taken], manner)
    if document.kind is ContentKind.TABLE and document.total > WHOLE_TABLE:
        ends = ends[: 2 * TABLE_EDGE if manner is Manner.START_END else TABLE_EDGE]

    def fits(indices: Iterable[int]) -> bool:
        return _fits(document.excerpt(sorted(indices)), limit, count)

    if document.kind is ContentKind.TEXT and not first:
        return tuple(sorted(_fill_ends(ends, len(free) // 2, fits)))
    return tuple(sorted(_fill([*first, *ends], fits)))


def _fill(order: Sequence[int], fits: Callable[[Iterable[int]], bool]) -> list[int]:
    """The longest beginning of `order` that fits, going on behind what alone was too large a few times."""
    chosen: list[int] = []
    rest = order
    for _ in range(_SKIPS):
        good = _longest(len(rest), partial(_with_first, tuple(chosen), rest, fits))
        chosen += rest[:good]
        rest = rest[good + 1 :]
        if not rest:
            break
    return chosen


def _fill_ends(order: Sequence[int], half: int, fits: Callable[[Iterable[int]], bool]) -> list[int]:
    """The longest beginning of `order` that fits; then only that side goes on whose next piece was not too large."""
    good = _longest(len(order), lambda number: fits(order[:number]))
    chosen = list(order[:good])
    rest = order[good + 1 :]
    if not rest:
        return chosen
    middle = sorted(order)[half] if half else -1
    side = [index for index in rest if (index < middle) != (order[good] < middle)]
    return chosen + side[: _longest(len(side), partial(_with_first, tuple(chosen), side, fits))]


def _with_first(kept: Sequence[int], rest: Sequence[int], fits: Callable[[Iterable[int]], bool], number: int) -> bool:
    return fits([*kept, *rest[:number]])


def _longest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `most` that was seen to fit, 0 if none: doubling, then halving."""
    good, step = 0, 1
    while good < most and fits(min(good + step, most)):
        good = min(good + step, most)
        step *= 2
    bad = min(good + step, most + 1)
    while bad - good > 1:
        middle = (good + bad) // 2
        if fits(middle):
            good = middle
        else:
            bad = middle
    return good


def _from_ends(indices: Sequence[int], manner: Manner) -> list[int]:
    """In the order in which they are wanted: from the start, or last, first, last but one, second, and so on."""
    if manner is Manner.START:
        return list(indices)
    half = len(indices) // 2
    order = [index for pair in zip(reversed(indices[half:]), indices[:half], strict=False) for index in pair]
    return [*order, *indices[half : len(indices) - half]]


def cut_text(text: str, limit: int, count: Callable[[str], int], manner: Manner = Manner.START_END) -> str:
    """The text itself if `count` of it is at most `limit`, else its beginning, or beginning and end, around a mark.

    The mark says how many characters are left out. Apart from it the result is an exact prefix and suffix, which
    split no written character and, where white space is near, no word or number. Empty where not even the mark fits.
    """
    if _fits(text, limit, count):
        return text

    def kept(number: int) -> str:
        return _around_mark(text, number, manner)

    most = len(text) - 1
    good = _longest(most, lambda number: _fits(kept(number), limit, count))
    shortest = kept(good)
    return shortest if _fits(shortest, limit, count) else ""


def _around_mark(text: str, number: int, manner: Manner) -> str:
    head = number if manner is Manner.START else (number + 1) // 2
    start = _whole_before(text, head)
    end = len(text) if manner is Manner.START else _whole_after(text, len(text) - (number - head))
    left_out = end - start
    unit = "character" if left_out == 1 else "characters"
    return f"{text[:start]}...({left_out:,} {unit} left out)...{text[end:]}"


_NEAR = 24


def _whole_before(text: str, at: int) -> int:
    """The last place up to `at` where no word is split, or at least no written character."""
    for place in range(at, max(0, at - _NEAR), -1):
        if text[place - 1].isspace() or text[place : place + 1].isspace():
            return place
    while at > 0 and _joined(text, at):
        at -= 1
    return at


def _whole_after(text: str, at: int) -> int:
    for place in range(at, min(len(text), at + _NEAR)):
        if text[place].isspace() or text[place - 1 : place].isspace():
            return place
    while at < len(text) and _joined(text, at):
        at += 1
    return at


def _joined(text: str, at: int) -> bool:
    """Whether the characters on both sides of this place are written as one."""
    if at >= len(text):
        return False
    before, after = text[at - 1], text[at]
    return (
        ("\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff")
        or before == "\u200d"
        or after in "\u200d\ufe0e\ufe0f\u20e3"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or unicodedata.category(after) in {"Mn", "Me", "Mc"}
    )


def _fits(text: str, limit: int, count: Callable[[str], int]) -> bool:
    return len(text) <= max(limit, 1) * _MOST_CHARACTERS and count(text) <= limit
