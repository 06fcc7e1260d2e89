"""Finds words in any case: looking for a few literals is much faster than the patterns that need one of them."""

from collections.abc import Iterator, Sequence

_AFTER_ALL = 1 << 62


def lowered(text: str) -> str:
    """The text in lower case, each character in its place."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(map(_lower, text))


def _lower(character: str) -> str:
    lower = character.lower()
    return lower if len(lower) == 1 else character


class Marks:
    """The places in a text where one of some words stands, which are in lower case, asked for in ascending order."""

    def __init__(self, text: str, words: Sequence[str], start: int = 0) -> None:
        self._text = text
        self._next = {word: at for word in words if (at := text.find(word, start)) >= 0}

    def first(self, start: int) -> int:
        """The first place from ``start`` on; -1: there is none. Each part of the text is looked at once for a word."""
        if not self._next:
            return -1
        found = _AFTER_ALL
        for word, known in list(self._next.items()):
            at = known
            if known < start:
                at = self._text.find(word, start)
                if at < 0:
                    del self._next[word]
                    continue
                self._next[word] = at
            found = min(found, at)
        return found if found < _AFTER_ALL else -1


def marked_lines(text: str, words: Sequence[str], start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Where the lines with one of these words begin and end, without line end, in a stretch of the text."""
    stop = len(text) if end is None else min(end, len(text))
    part = text[start:stop]
    marks = Marks(lowered(part), words)
    at = marks.first(0)
    while at >= 0:
        first = part.rfind("\n", 0, at) + 1
        last = part.find("\n", at)
        last = len(part) if last < 0 else last
        yield start + first, start + last
        at = marks.first(last)
