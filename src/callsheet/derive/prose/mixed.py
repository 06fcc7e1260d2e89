"""Text with a block of JSON or a table in it: the block is read as what it is, the text around it as text."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from callsheet.derive.document import ContentKind, Document, Segment
from callsheet.derive.prose.pieces import Span
from callsheet.derive.prose.texts import read_text
from callsheet.derive.prose.written import written

Reader = Callable[[str], Document | None]

_OPENING = re.compile(r"^(?:[^\n{\[|]{0,80}: ?)?([{\[])(?=[\s\"{\[}\]\d-])", re.MULTILINE)
_BARS = re.compile(r"^[|+][^\n]*\n(?:[|+][^\n]*\n){2,}(?:[|+][^\n]*)?", re.MULTILINE)
_TRIES = 12
_LEAST = 80
_SHORT = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixed:
    """Documents that follow one another in one text. A `Document`; each part states its own counts."""

    text: str
    total: int
    segments: tuple[Segment, ...]
    parts: tuple[Document, ...]
    kind: ContentKind = ContentKind.TEXT
    unit: str = "lines"

    def dense(self) -> str:
        """The parts in their dense forms."""
        shorter = "\n".join(part.dense().strip("\n") for part in self.parts)
        return shorter if len(shorter) < len(self.text) else self.text

    def excerpt(self, chosen: Sequence[int]) -> str:
        """The excerpts of the parts."""
        written_parts: list[str] = []
        first = 0
        for part in self.parts:
            stop = first + len(part.segments)
            within = [index - first for index in chosen if first <= index < stop]
            written_parts.append(part.excerpt(within).strip("\n"))
            first = stop
        return "\n".join(written_parts)

    def outline(self) -> str:
        """The outlines of the parts."""
        return " | ".join(part.outline() for part in self.parts)


def read_mixed(text: str, read_json: Reader, read_table: Reader) -> Mixed | None:
    """The text in parts if blocks of JSON or tables make up a good part of it, else None."""
    found: list[tuple[Span, Document]] = []
    size = 0
    for span, document in _inner(text, read_json, read_table):
        found.append((span, document))
        size += span.end - span.start
    if size < _LEAST or size * 5 < len(text):
        return None
    parts: list[tuple[int, Document]] = []
    at = 0
    for span, document in found:
        parts += _around(text, at, span.start)
        parts.append((span.start, document))
        at = span.end
    parts += _around(text, at, len(text))
    segments = [
        Segment(start + s.start, start + s.end, s.name, s.always) for start, part in parts for s in part.segments
    ]
    total = text.count("\n") + (not text.endswith("\n"))
    return Mixed(text=text, total=total, segments=tuple(segments), parts=tuple(part for _, part in parts))


def _around(text: str, start: int, end: int) -> Iterator[tuple[int, Document]]:
    """What stands between two blocks; always shown if it is short."""
    piece = text[start:end]
    if not piece.strip():
        return
    if len(piece) <= _SHORT:
        yield start, written(ContentKind.TEXT, piece, [], always=[Span(0, len(piece))])
    else:
        yield start, read_text(piece)


def _inner(text: str, read_json: Reader, read_table: Reader) -> Iterator[tuple[Span, Document]]:
    at = tries = 0
    opening = _OPENING.search(text) if "{" in text or "[" in text else None
    bars = _BARS.search(text) if "\n|" in text or "\n+" in text else None
    while tries < _TRIES:
        if opening is not None and opening.start() < at:
            opening = _OPENING.search(text, at)
        if bars is not None and bars.start() < at:
            bars = _BARS.search(text, at)
        if opening is None and bars is None:
            return
        tries += 1
        if bars is not None and (opening is None or bars.start() < opening.start()):
            document = read_table(bars[0])
            if document is not None:
                yield Span(*bars.span()), document
            at = bars.end()
        elif opening is not None:
            block = _json(text, opening.start(1), read_json)
            if block is not None:
                yield block
            at = block[0].end if block is not None else opening.end()


def _json(text: str, start: int, read_json: Reader) -> tuple[Span, Document] | None:
    """The JSON that begins here: its line alone, or up to the line that closes it without indentation."""
    closing = "}" if text[start] == "{" else "]"
    line_end = text.find("\n", start)
    ends = [len(text) if line_end < 0 else line_end]
    close = text.find("\n" + closing, start)
    if close >= 0:
        ends.append(close + 2)
    for end in ends:
        block = text[start:end].rstrip()
        if len(block) >= _LEAST and block.endswith(closing):
            document = read_json(block)
            if document is not None:
                return Span(start, start + len(block)), document
    return None
