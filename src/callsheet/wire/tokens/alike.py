"""Counting a text that is nearly another one, from the tokens of that: only where they differ is counted.

Rests on a place that always lies between two parts of either encoding's pattern, whatever stands further away on
either side: before a space behind a printable ASCII character that is none. See `pieces`.
"""

from collections.abc import Callable

from callsheet.wire.tokens.pieces import PIECE

_LEAST = 512
"""Characters below which counting at once is as quick."""

_WORTH = 0.75
"""What differs may be at most so large beside the text for this to be worth it."""


def count_alike(text: str, other: str, tokens: int, count: Callable[[str], int]) -> int:
    """The tokens of a text, as `count` tells them, from those of another one that may be much like it."""
    if not _LEAST <= len(text) <= PIECE or not _LEAST <= len(other) <= PIECE:
        return count(text)
    begins = _place_before(text, _common_beginning(text, other))
    differ = _differing(text[begins:], other[begins:])
    if differ is None or sum(map(len, (*differ[0], *differ[1]))) > _WORTH * len(text):
        return count(text)
    return tokens + sum(map(count, differ[0])) - sum(map(count, differ[1]))


def _differing(text: str, other: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The pieces of both without the longest that both end with, white space at the very end apart; None: no such."""
    one, two = text.rstrip(), other.rstrip()
    length = _common_end(one, two)
    starts = _place_behind(one, len(one) - length + 1)
    ends = _place_before(one, len(one))
    if starts < 0 or starts >= ends:
        return (text,), (other,)
    # Counted from the end, where both have the same.
    first, last = len(one) - starts, len(one) - ends
    return (text[:starts], text[ends:]), (other[: len(two) - first], other[len(two) - last :])


def _place_before(text: str, end: int) -> int:
    """The last place before `end` where the text may be cut; 0: there is none but the beginning."""
    at = text.rfind(" ", 0, end)
    while at > 0 and not _ends_part(text[at - 1]):
        at = text.rfind(" ", 0, at)
    return max(at, 0)


def _place_behind(text: str, start: int) -> int:
    """The first place from `start` on, with one character before it, where the text may be cut; -1: there is none."""
    at = text.find(" ", max(start, 1))
    while at >= 0 and not _ends_part(text[at - 1]):
        at = text.find(" ", at + 1)
    return at


def _ends_part(character: str) -> bool:
    return "!" <= character <= "~"


def _common_beginning(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low
