"""Where a text holds what somebody names, word for word and in either case."""

from collections.abc import Iterator
from itertools import islice

from callsheet.recall.exact import fold

LOOKED_FOR = 16
"""Names of the newest turn that are looked for in the text of a long result, the longest."""

TELLING = 8
"""A name that occurs more often than this in a text tells no part of it from the others."""


def named_places(text: str, names: frozenset[str]) -> list[int]:
    """Where the text holds what is named; nothing of what it holds too often."""
    wanted = sorted((name for name in names if len(name) > 2), key=lambda name: (-len(name), name))[:LOOKED_FOR]
    folded = fold(text) if wanted else ""
    found: list[int] = []
    for name in map(fold, wanted):
        places = list(islice(occurrences(folded, name), TELLING + 1))
        found += places if len(places) <= TELLING else []
    return found


def occurrences(text: str, word: str) -> Iterator[int]:
    """Where a word stands that is no part of a longer one; both are folded."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            yield at
        at = text.find(word, end)
