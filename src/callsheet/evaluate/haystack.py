"""Exact search for values in many texts at once.

A value stands in a text if it stands there verbatim and not as a part of a longer word or number.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate


class Haystack:
    """Several texts, searched in one pass. A needle must not hold a line break."""

    def __init__(self, texts: Iterable[str]) -> None:
        parts = list(texts)
        # A line break is no letter, digit, point or comma, so each part ends for the search as a text of its own does.
        self._joined = "\n".join(parts)
        self._starts = [0, *accumulate(len(part) + 1 for part in parts)]

    def holders(self, needles: Iterable[str]) -> tuple[int, ...]:
        """The positions of the texts in which one of the needles stands, ascending."""
        found: set[int] = set()
        for needle in needles:
            found.update(self._holders(needle))
        return tuple(sorted(found))

    def _holders(self, needle: str) -> Iterator[int]:
        at = _find(needle, self._joined, 0)
        while at >= 0:
            part = bisect_right(self._starts, at) - 1
            yield part
            at = _find(needle, self._joined, self._starts[part + 1])


def stands_in(needles: Sequence[str], text: str) -> bool:
    """One of the needles stands in the text."""
    return any(_find(needle, text, 0) >= 0 for needle in needles)


def _find(needle: str, text: str, start: int) -> int:
    """Where the needle first stands at or behind `start`; -1 if nowhere."""
    at = text.find(needle, start)
    while at >= 0 and not (_begins_free(needle, text, at) and _ends_free(needle, text, at + len(needle))):
        at = text.find(needle, at + 1)
    return at


def _begins_free(needle: str, text: str, at: int) -> bool:
    if at == 0 or not needle[0].isalnum():
        return True
    before = text[at - 1]
    if before.isalnum():
        # The letter of an escaped line break or tab belongs to the escape, not to the word behind it.
        return before in "nrt" and at > 1 and text[at - 2] == "\\"
    return not (needle[0].isdigit() and before in ".," and at > 1 and text[at - 2].isdigit())


def _ends_free(needle: str, text: str, end: int) -> bool:
    if end == len(text) or not needle[-1].isalnum():
        return True
    if text[end].isalnum():
        return False
    return not (needle[-1].isdigit() and text[end] in ".," and text[end + 1 : end + 2].isdigit())
