"""Exact lookups, which bypass ranking: a text inside one artifact, and the records that hold an entity."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from callsheet.errors import InvalidOption
from callsheet.graph.ids import RecordId

WINDOW = 240
"""Characters of a long line that a hit shows, the match in their middle."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """One place where a text stands. Matches that its excerpt shows as well are no hits of their own."""

    #: Counted from 0.
    line: int
    #: Characters of the text that match, from and up to but without.
    start: int
    end: int
    #: The same in bytes of the text as UTF-8.
    byte_start: int
    byte_end: int
    #: The line, or of a long one the `WINDOW` around the match.
    text: str
    #: Where the excerpt stands in the text, in characters.
    text_start: int
    #: Whether the line goes on before or after the excerpt.
    cut_before: bool = False
    cut_after: bool = False
    #: Neighbouring lines, at most `WINDOW` characters of each.
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Hits:
    """The first hits in order, and how often the text occurs in all."""

    hits: tuple[Hit, ...]
    total: int
    #: Whether more occurrences follow behind the last hit.
    more: bool


def search(text: str, query: str, limit: int, *, context: int = 0) -> Hits:
    """Find a text literally and in either case: the first `limit` hits, each with `context` lines on both sides.

    Time is linear in the text, whatever it holds; room is a small multiple of it. Raises `InvalidOption` for an empty
    query.
    """
    if not query:
        raise InvalidOption("there is no text to search for")
    folded, wanted = fold(text), fold(query)
    hits: list[Hit] = []
    place = _Place(text)
    after = 0
    for _ in range(max(limit, 0)):
        start = folded.find(wanted, after)
        if start < 0:
            break
        hit = place.hit(start, start + len(wanted), context)
        hits.append(hit)
        after = max(hit.end, hit.text_start + len(hit.text))
    total = folded.count(wanted)
    return Hits(hits=tuple(hits), total=total, more=folded.find(wanted, after) >= 0)


def fold(text: str) -> str:
    """The text in lower case, character for character: places in it are places in the text."""
    # The dotted capital I is the one letter whose lower case has two characters; final sigma depends on its neighbours.
    return text.replace("\u0130", "i").lower().replace("\u03c2", "\u03c3")


class _Place:
    """Turns ascending places of a text into lines and bytes, counting each character once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 0
        self._bytes = 0

    def hit(self, start: int, end: int, context: int) -> Hit:
        text = self._text
        # Characters are turned into bytes a piece at a time, so that the whole text never stands there twice.
        while self._at < start:
            to = min(start, self._at + 1_000_000)
            piece = text[self._at : to]
            self._line += piece.count("\n")
            self._bytes += encoded_size(piece)
            self._at = to
        first = start - WINDOW
        line_start = text.rfind("\n", max(first, 0), start) + 1
        cut_before = line_start == 0 and first > 0
        shown_from = max(start - WINDOW // 2, 0) if cut_before else line_start
        line_end = text.find("\n", end, end + WINDOW)
        cut_after = line_end < 0 and end + WINDOW < len(text)
        shown_to = end + WINDOW // 2 if cut_after else (line_end if line_end >= 0 else len(text))
        return Hit(
            line=self._line,
            start=start,
            end=end,
            byte_start=self._bytes,
            byte_end=self._bytes + encoded_size(text[start:end]),
            text=text[shown_from:shown_to],
            text_start=shown_from,
            cut_before=cut_before,
            cut_after=cut_after,
            before=() if cut_before else tuple(reversed(list(_back(text, line_start, context)))),
            after=() if cut_after else tuple(_on(text, shown_to, context)),
        )


def _back(text: str, line_start: int, count: int) -> Iterator[str]:
    """The lines before a line, the nearest first; ends where one is too long to show."""
    for _ in range(count):
        if line_start == 0:
            return
        earlier = text.rfind("\n", max(line_start - 1 - WINDOW, 0), line_start - 1) + 1
        if earlier == 0 and line_start - 1 > WINDOW:
            return
        yield text[earlier : line_start - 1]
        line_start = earlier


def _on(text: str, line_end: int, count: int) -> Iterator[str]:
    for _ in range(count):
        if line_end + 1 >= len(text):
            return
        end = text.find("\n", line_end + 1, line_end + 1 + WINDOW)
        if end < 0:
            if len(text) - line_end - 1 > WINDOW:
                return
            end = len(text)
        yield text[line_end + 1 : end]
        line_end = end


def encoded_size(text: str) -> int:
    """Bytes of the text as UTF-8, lone surrogates as they are recorded."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def holding(wanted: Iterable[str], entities: Iterable[tuple[RecordId, tuple[str, ...]]]) -> Mapping[RecordId, int]:
    """Which records (oldest first) hold any of the entities, and how many of them; the most first, then the newest.

    Entities are compared as they are: both sides come in normal form.
    """
    asked = frozenset(wanted)
    found = [(len(asked.intersection(held)), id) for id, held in entities]
    ranked = sorted((-count, -place, id) for place, (count, id) in enumerate(found) if count)
    return {id: -count for count, _, id in ranked}
