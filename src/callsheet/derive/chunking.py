"""Cuts a text into chunks that can be found on their own: by headings and paragraphs, so that each says one thing.

Chunks follow each other without a gap: their bytes joined are the text. Headings are read as Markdown has them; where
there are none, paragraphs alone part the text. One pass, whatever the text holds.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

CHUNKER = "headings:1"
"""Name and version of how texts are cut. The version changes whenever some text is cut in another way."""

SIZE = 1_600
"""Bytes that a chunk has at most unless the caller says otherwise: about 400 tokens of English, which an embedding
model of the usual 512 reads to the end."""

SMALLEST = 64
"""Bytes that a chunk may have whatever size is asked for: with less there is no good place to cut."""

_SECTION = 8
"""A heading begins a chunk where the one before it has this part of the size: shorter sections stay together."""

_LONGEST_HEADING = 400
"""Characters of a line that is read as a heading; a longer one is text."""

_KEPT_HEADING = 120
"""Characters that are kept of a heading."""

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?\Z")
_UNDERLINE = re.compile(r" {0,3}(?:(=+)|-{2,})[ \t]*\Z")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_NO_TITLE = ("|", "-", "*", "+", ">", "#", "=")
# Where to cut what is too long: behind a line, else behind a sentence, else behind a word.
_PLACES = (re.compile(r"\n"), re.compile(r"[.!?](?=\s)|[。！？]"), re.compile(r"\s"))


class Chunk(NamedTuple):
    """One piece of a text."""

    #: From and up to which byte of the text as UTF-8.
    start: int
    end: int
    #: The headings that it stands under, the outermost first; empty where there is none.
    headings: tuple[str, ...]


class _Block(NamedTuple):
    """A heading or a paragraph, with the blank lines behind it; places are characters."""

    start: int
    end: int
    #: Of a heading, from 1; 0: it is none.
    level: int
    title: str


class _Piece(NamedTuple):
    """A chunk whose places are characters."""

    start: int
    end: int
    headings: tuple[str, ...]


def chunks(text: str, size: int = SIZE) -> list[Chunk]:
    """The chunks of a text, in order; none of an empty one. Each has at least one byte and at most `size`."""
    packing = _Packing(text, max(size, SMALLEST))
    for block in _blocks(text):
        packing.take(block)
    return _in_bytes(text, packing.finished())


def _in_bytes(text: str, pieces: Sequence[_Piece]) -> list[Chunk]:
    found: list[Chunk] = []
    at = 0
    for piece in pieces:
        end = at + _size(text, piece.start, piece.end)
        found.append(Chunk(at, end, piece.headings))
        at = end
    return found


def _size(text: str, start: int, end: int) -> int:
    piece = text[start:end]
    return len(piece) if piece.isascii() else len(piece.encode("utf-8", "surrogatepass"))


# ---------------------------------------------------------------------------------------------- packing


@dataclass(slots=True)
class _Open:
    """The chunk that is being filled."""

    start: int
    end: int
    bytes: int
    headings: tuple[str, ...]
    #: Where the headings at its end begin, under which nothing stands yet; None: it does not end with a heading.
    bare: int | None = None


class _Packing:
    """Puts blocks together while they fit; a section that is not too short begins a chunk."""

    def __init__(self, text: str, size: int) -> None:
        self._text = text
        self._size = size
        self._made: list[_Piece] = []
        self._path: list[_Block] = []
        self._open: _Open | None = None

    def take(self, block: _Block) -> None:
        """Take the block that follows."""
        if block.level:
            self._path = [*(outer for outer in self._path if outer.level < block.level), block]
        taken = _size(self._text, block.start, block.end)
        self._make_room(block, taken)
        self._append(block, taken)
        self._cut()

    def finished(self) -> list[_Piece]:
        """All chunks, when every block was taken."""
        if self._open is not None:
            self._close(self._open)
        return self._made

    @property
    def _headings(self) -> tuple[str, ...]:
        return tuple(heading.title for heading in self._path if heading.title)

    def _make_room(self, block: _Block, taken: int) -> None:
        """Close the open chunk where the block begins another one."""
        open_ = self._open
        if open_ is None:
            return
        full = open_.bytes + taken > self._size
        if open_.bare is None:
            if full or (block.level and open_.bytes * _SECTION >= self._size):
                self._close(open_)
        elif full and open_.bare > open_.start:
            # A heading goes with what stands under it.
            bare, end = open_.bare, open_.end
            open_.end = bare
            self._close(open_)
            self._open = _Open(bare, end, _size(self._text, bare, end), self._headings, bare)

    def _append(self, block: _Block, taken: int) -> None:
        if self._open is None:
            self._open = _Open(block.start, block.start, 0, self._headings)
        open_ = self._open
        if not block.level:
            open_.bare = None
        elif open_.bare is None:
            open_.bare = block.start
        if open_.bare == open_.start:
            open_.headings = self._headings
        open_.end, open_.bytes = block.end, open_.bytes + taken

    def _cut(self) -> None:
        """Cut the open chunk where it is too long."""
        open_ = self._open
        while open_ is not None and open_.bytes > self._size:
            at = _place(self._text, open_.start, open_.end, self._size)
            left = open_.bytes - _size(self._text, open_.start, at)
            self._made.append(_Piece(open_.start, at, open_.headings))
            open_ = self._open = _Open(at, open_.end, left, self._headings)

    def _close(self, open_: _Open) -> None:
        self._made.append(_Piece(open_.start, open_.end, open_.headings))
        self._open = None


def _place(text: str, start: int, end: int, size: int) -> int:
    """The best place behind `start` to cut at, with at most `size` bytes before it."""
    window = text[start : min(end, start + size)]
    fits = len(window)
    if not window.isascii():
        fits = len(window.encode("utf-8", "surrogatepass")[:size].decode("utf-8", "ignore")) or 1
    for place in _PLACES:
        *_, last = [0, *(found.end() for found in place.finditer(window, fits // 2, fits))]
        if last:
            return start + last
    return start + fits


# ---------------------------------------------------------------------------------------------- blocks


def _blocks(text: str) -> Iterator[_Block]:
    """Headings and paragraphs in order, without a gap: each goes on to where the next one begins."""
    begun = _Block(0, 0, 0, "")
    for block in _beginnings(text):
        if block.start > begun.start:
            yield begun._replace(end=block.start)
        begun = block
    if text:
        yield begun._replace(end=len(text))


def _beginnings(text: str) -> Iterator[_Block]:
    """Where blocks begin; their ends are not known yet."""
    fence = ""
    #: Whether a paragraph goes on in the next line.
    within = underline = False
    lines = _lines(text)
    following = next(lines, None)
    while following is not None:
        (start, line), following = following, next(lines, None)
        if underline:
            underline = False
            continue
        if fence:
            if line.strip() and not line.strip(" \t" + fence[0]) and line.lstrip().startswith(fence):
                fence = ""
            continue
        if not line.strip():
            within = False
            continue
        opening = _FENCE.match(line)
        heading = None if opening is not None else _heading(line, following[1] if following and not within else "")
        if heading is not None:
            level, title, underline = heading
            yield _Block(start, start, level, title)
            within = False
            continue
        fence = opening[1] if opening is not None else ""
        if not within:
            yield _Block(start, start, 0, "")
        within = True


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Each line with where it begins; of a long one what is enough to tell that it is no heading."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start : min(end, start + _LONGEST_HEADING + 1)]
        # A long line is text even where it begins with spaces alone.
        yield start, line.rstrip("\r") if len(line) <= _LONGEST_HEADING or not line.isspace() else text[start:end]
        start = end + 1


def _heading(line: str, below: str) -> tuple[int, str, bool] | None:
    """Level and title of a heading, and whether the line below underlines it; None: it is none."""
    if len(line) > _LONGEST_HEADING:
        return None
    marked = _ATX.match(line)
    if marked is not None:
        title = (marked[2] or "").strip()
        bare = title.rstrip("#")
        if bare != title and (not bare or bare[-1] in " \t"):
            title = bare.rstrip()
        return len(marked[1]), title[:_KEPT_HEADING], False
    under = _UNDERLINE.match(below)
    if under is None or line.startswith(("    ", "\t")) or line.lstrip().startswith(_NO_TITLE):
        return None
    return 1 if under[1] else 2, line.strip()[:_KEPT_HEADING], True
