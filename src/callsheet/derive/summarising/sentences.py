"""Where sentences begin and end, in any language; lines and paragraphs end one, too."""

import re
from typing import NamedTuple

LONGEST = 400
"""Characters of a sentence at most; a longer one is cut between words."""

MOST = 2_000
"""Sentences of one text at most: its first half of them and its last."""

_END = re.compile(r"\n|[.!?…]++[\"'»”’)\]]*+(?=\s|\Z)|[。！？][」』”’]*+")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:[A-Za-zÄÖÜäöü]|e\.g|i\.e|z\.\s?B|d\.\s?h|u\.\s?a|bzw|ca|vgl|Nr|No|Dr|Mr|Mrs|Ms|Prof|St|vs|etc|approx|resp"
    r"|\d{1,2})\.\Z"
)
_FENCE = re.compile(r"^[ \t]{0,3}(?:```|~~~)", re.MULTILINE)


class Sentence(NamedTuple):
    """One sentence. Positions are characters of its text."""

    start: int
    end: int


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text in order, without the white space around them. Code between fences is none.

    Takes time in proportion to the text. Joined in order, with what was between them, they are the text.
    """
    found = [piece for start, end in _prose(text) for piece in _within(text, start, end)]
    return found if len(found) <= MOST else [*found[: MOST // 2], *found[-(MOST // 2) :]]


def _prose(text: str) -> list[tuple[int, int]]:
    """The stretches of a text outside of fences; a fence that is never closed reaches to the end."""
    stretches: list[tuple[int, int]] = []
    at, inside = 0, False
    for fence in _FENCE.finditer(text):
        if not inside:
            stretches.append((at, fence.start()))
        else:
            line = text.find("\n", fence.end())
            at = len(text) if line < 0 else line + 1
        inside = not inside
    return stretches if inside else [*stretches, (at, len(text))]


def _within(text: str, start: int, end: int) -> list[Sentence]:
    found: list[Sentence] = []
    begins = start
    for mark in _END.finditer(text, start, end):
        if mark[0][0] in ".…" and _ABBREVIATED.search(text[max(begins, mark.end() - 8) : mark.end()]):
            continue
        found += _trimmed(text, begins, mark.end())
        begins = mark.end()
    return [*found, *_trimmed(text, begins, end)]


def _trimmed(text: str, start: int, end: int) -> list[Sentence]:
    """The stretch without white space around it, cut between words where it is too long."""
    pieces: list[Sentence] = []
    while start < end:
        while start < end and text[start].isspace():
            start += 1
        stop = end
        if end - start > LONGEST:
            space = text.rfind(" ", start + 1, start + LONGEST)
            stop = space if space > start else start + LONGEST
        last = stop
        while last > start and text[last - 1].isspace():
            last -= 1
        if last > start:
            pieces.append(Sentence(start, last))
        start = stop
    return pieces
