"""Answers one recall from the content in hand: the part that was asked for, and a line that says what it is.

The line stands first, in parentheses; below it stands the content exactly as it was recorded.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from callsheet.errors import NotFound
from callsheet.graph.ports import TableQueries
from callsheet.graph.tabular import Table
from callsheet.recall import slices
from callsheet.recall.exact import WINDOW, Hit, encoded_size, search
from callsheet.recall.pointer import Found, Missing, locate
from callsheet.recall.querying import ask, listed
from callsheet.recall.request import Range, RecallRequest
from callsheet.recall.slices import Outlined, Slice

MOST_HITS = 20
"""Places that one search shows."""

_CONTEXT = 1
"""Neighbouring lines that a hit in plain text shows on either side."""


def _only_lines(whole: bool) -> Outlined | None:
    return None


def _no_tables() -> Sequence[Table]:
    return ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """One part of a content of several, such as the blocks of a result. Their texts stand one below the other."""

    #: Characters of the text, from and up to but without.
    start: int
    end: int
    #: Its bytes in the content, from and up to but without.
    raw_start: int
    raw_end: int
    #: Whether the text as UTF-8 is these bytes.
    exact: bool = True
    #: Whether the text only tells of bytes that are no text.
    standin: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """The content of one record, read and allowed to be read."""

    #: The reference under which the answer names it.
    reference: str
    #: The content exactly as recorded.
    raw: bytes
    #: The content as text; None: it is no text.
    text: str | None
    #: Whether the text as UTF-8 is the content.
    exact: bool
    mime: str = ""
    #: The parts of the content, where it has several or its text is not its bytes; they are in order.
    pieces: tuple[Piece, ...] = ()
    #: Reads the rows or items of the text, all of them or, for False, of its beginning; None: it has but lines.
    outline: Callable[[bool], Outlined | None] = _only_lines
    #: What was asked for as it may be told again: it may hold a secret as content may.
    told: Callable[[str], str] = str
    #: Reads the tables that the text holds, the largest first.
    tables: Callable[[], Sequence[Table]] = _no_tables


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    """A part of a record."""

    #: What a model is given: the line, then the content.
    text: str
    #: The content alone, as it was recorded: what is shown, and what parts it from the slice that follows; for what
    #: tells of bytes that are no text, these; of text that is not UTF-8, the text as UTF-8; of a search or SQL, what it
    #: shows.
    content: bytes
    #: What `shown` and `total` count, such as ``lines``; for a search ``matches``.
    unit: str
    shown: int
    total: int
    #: What to ask for to read on; None: nothing is left of what was asked for.
    more: RecallRequest | None = None


def serve(source: Source, request: RecallRequest, queries: Callable[[], TableQueries] | None = None) -> Served:
    """The part of a record that a request asks for. `queries` answers SQL; it is made where that is asked for.

    Raises `NotFound` for a part that it does not have, `InvalidOption` for SQL that is not answered, and what making
    `queries` raises.
    """
    if request.bytes is not None:
        return _bytes(source, request, request.bytes)
    if source.text is None:
        return _binary(source, request)
    if request.sql is not None:
        return _sql(source, request, request.sql, queries)
    if request.search is not None:
        return _search(source, source.text, request, request.search)
    if request.pointer is not None:
        return _pointer(source, source.text, request, request.pointer)
    if request.characters is not None:
        part = slices.take_characters(source.text, request.characters, request.limit)
        return _served(source, request, part)
    if request.rows is not None:
        return _rows(source, source.text, request, request.rows)
    if request.lines is not None:
        return _lines(source, source.text, request, request.lines)
    return _whole(source, source.text, request)


def _whole(source: Source, text: str, request: RecallRequest) -> Served:
    if encoded_size(text) <= request.limit:
        lines = slices.line_count(text)
        part = Slice(text=text, unit="lines", start=0, end=lines, total=lines, span=(0, len(text)))
        served = _served(source, request, part, f"whole: {lines:,} lines, {len(source.raw):,} bytes")
        return replace(served, content=source.raw)
    return _lines(source, text, request, (0, None))


def _lines(source: Source, text: str, request: RecallRequest, asked: Range) -> Served:
    part = slices.take_lines(text, asked, request.limit, exact=source.exact)
    if part.start:
        outlined = source.outline(False)
        below = outlined is not None and part.start >= _header_lines(text, outlined)
        header = slices.header_text(text, outlined, request.limit // 4) if outlined is not None and below else ""
        if header:
            room = max(request.limit - encoded_size(header), slices.LEAST)
            part = replace(slices.take_lines(text, asked, room, exact=source.exact), header=header)
    return _served(source, request, part)


def _header_lines(text: str, outlined: Outlined) -> int:
    count = slices.header_count(outlined)
    return text.count("\n", 0, outlined.segments[count - 1].end) + 1 if count else 0


def _rows(source: Source, text: str, request: RecallRequest, asked: Range) -> Served:
    outlined = source.outline(True)
    if outlined is None:
        raise NotFound(f"{source.reference} has no rows or items; ask for lines")
    return _served(source, request, slices.take_rows(text, outlined, asked, request.limit, exact=source.exact))


def _bytes(source: Source, request: RecallRequest, asked: Range) -> Served:
    part = slices.take_bytes(source.raw, asked, request.limit)
    return replace(_served(source, request, part), content=source.raw[part.start : part.end])


def _binary(source: Source, request: RecallRequest) -> Served:
    kind = source.mime or "application/octet-stream"
    size = len(source.raw)
    said = f"{kind}, {size:,} bytes, not text; ask for bytes, or in Python conversation.raw({source.reference!r})"
    asked = request.arguments()
    if asked:
        said = f"{source.told(asked)} needs text: {said}"
    return Served(text=f"({source.reference}, {said})", content=b"", unit="bytes", shown=0, total=size)


def _pointer(source: Source, text: str, request: RecallRequest, pointer: str) -> Served:
    found = locate(text, pointer)
    if isinstance(found, Missing):
        named = _named(source, pointer)
        if named is None:
            raise NotFound(_nothing_there(source, pointer, found))
        found = named
    part = slices.take_span(text, found.start, found.end, request.limit, exact=source.exact)
    asked = _short(source.told(pointer)) or "the document"
    return _served(source, request, part, f"{asked}: {_amount(part)}")


def _named(source: Source, pointer: str) -> Found | None:
    """A segment of that name: content that is read as one document although its text is none, such as JSON lines."""
    outlined = source.outline(True)
    for piece in outlined.segments if outlined is not None else ():
        if piece.name == pointer:
            return Found(start=piece.start, end=piece.end)
    return None


def _nothing_there(source: Source, pointer: str, missing: Missing) -> str:
    reached = _short(source.told(missing.reached)) or "the document"
    what = {
        "object": f"{reached} has {missing.size:,} keys: {', '.join(missing.keys)}",
        "array": f"{reached} has {missing.size:,} items, counted from 0",
        "value": f"{reached} is neither object nor array" + ("" if missing.reached else "; ask for lines, or search"),
    }.get(missing.kind, "it is not JSON there; ask for lines, or search")
    if missing.kind == "object" and missing.size > len(missing.keys):
        what += ", …"
    return f"{source.reference} has nothing at {_short(source.told(pointer))}: {what}"


# ---------------------------------------------------------------------------------------------- search


def _search(source: Source, text: str, request: RecallRequest, query: str) -> Served:
    found = search(text, query, MOST_HITS, context=_CONTEXT)
    outlined = source.outline(True) if found.hits else None
    header = slices.header_text(text, outlined, request.limit // 4) if outlined is not None else ""
    showing = _Showing(text, outlined, room=request.limit - encoded_size(header))
    shown = 0
    for hit in found.hits:
        if not showing.take(hit):
            break
        shown += 1
    complete = shown == len(found.hits) and not found.more
    matches = f"{found.total:,} {'match' if found.total == 1 else 'matches'}"
    said = f'search "{_short(source.told(query))}": {matches} in {slices.line_count(text):,} lines'
    if not complete:
        said += f"; the first {shown} places are shown, a longer text finds fewer"
    if header:
        said += "; the header stands first"
    content = "\n".join(([header] if header else []) + showing.lines)
    return Served(
        text=f"({source.reference}, {said})" + (f"\n{content}" if content else ""),
        content=content.encode("utf-8", "surrogatepass"),
        unit="matches",
        shown=found.total if complete else min(shown, found.total),
        total=found.total,
    )


class _Showing:
    """Collects what hits show: their row or item with its name, or their line with its neighbours; nothing twice."""

    def __init__(self, text: str, outlined: Outlined | None, room: int) -> None:
        self.text = text
        self.pieces = outlined.segments if outlined is not None and outlined.unit != "lines" else ()
        self.unit = outlined.unit.removesuffix("s") if outlined is not None else ""
        self.head = slices.header_count(outlined) if outlined is not None else 0
        self.room = room
        self.lines: list[str] = []
        #: Up to where in the text everything is shown; the header stands above.
        self.reached = outlined.segments[self.head - 1].end if outlined is not None and self.head else 0
        self.last_line = -1

    def take(self, hit: Hit) -> bool:
        """Show a hit; False: there is no room for it."""
        if hit.end <= self.reached:
            return True
        said, reached = self._row(hit) or self._around(hit)
        size = encoded_size(said) + 1
        if size > self.room and self.lines:
            return False
        self.lines.append(said[: slices.fitting(said, 0, len(said), max(self.room, slices.LEAST))])
        self.room -= size
        self.reached = reached
        return True

    def _row(self, hit: Hit) -> tuple[str, int] | None:
        at = bisect_right(self.pieces, hit.start, key=lambda piece: piece.start) - 1
        if at < self.head or hit.end > self.pieces[at].end:
            return None
        piece = self.pieces[at]
        name = piece.name if piece.name.startswith("/") else f"{self.unit} {at - self.head}"
        if piece.end - piece.start <= 2 * WINDOW:
            return f"{name}: {self.text[piece.start : piece.end]}", piece.end
        return f"{name}: {_marked(hit)}", hit.end

    def _around(self, hit: Hit) -> tuple[str, int]:
        before, after = (hit.before, hit.after) if not self.pieces else ((), ())
        numbered = [
            *((hit.line - back, line) for back, line in zip(range(len(before), 0, -1), before, strict=True)),
            (hit.line, _marked(hit)),
            *((hit.line + on, line) for on, line in enumerate(after, 1)),
        ]
        said = "\n".join(f"line {number}: {line}" for number, line in numbered if number > self.last_line)
        if hit.line <= self.last_line:  # another place of a long line
            said = f"line {hit.line}: {_marked(hit)}"
        self.last_line = numbered[-1][0]
        return said, hit.text_start + len(hit.text) + sum(len(line) + 1 for line in after)


def _marked(hit: Hit) -> str:
    return f"{'…' if hit.cut_before else ''}{hit.text}{'…' if hit.cut_after else ''}"


# ---------------------------------------------------------------------------------------------- SQL


def _sql(source: Source, request: RecallRequest, sql: str, queries: Callable[[], TableQueries] | None) -> Served:
    if queries is None:
        raise NotFound("there is no SQL here; ask for rows, or search")
    engine, tables = queries(), source.tables()
    found = ask(engine, sql, tables, request.rows, reference=source.reference, limit=request.limit)
    said = f"sql over {listed(tables)}: {found.counted}"
    if found.partial:
        said += ", the first in part"
    more = replace(request, rows=found.onward) if found.onward is not None else None
    if found.onward is not None:
        first, last = found.onward
        said += f'; to read on: "part": "rows {first}:{last or ""} sql ..." with the same query'
    return Served(
        text=f"({source.reference}, {said})\n{found.text}",
        content=found.text.encode("utf-8", "surrogatepass"),
        unit="rows",
        shown=found.end - found.first,
        total=found.total,
        more=more,
    )


# ---------------------------------------------------------------------------------------------- what is said


def _served(source: Source, request: RecallRequest, part: Slice, said: str | None = None) -> Served:
    more = _onward(request, part.more)
    said = said or f"{part.unit} [{part.start}, {part.end}) of {part.total:,}"
    if part.partial:
        said += ", the last in part"
    if more is not None:
        said += f"; to read on: {{{more.arguments()}}}"
    if part.header:
        said += "; the header stands first"
    content = f"{part.header}\n{part.text}" if part.header else part.text
    return Served(
        text=f"({source.reference}, {said})" + (f"\n{content}" if content else ""),
        content=_recorded(source, part),
        unit=part.unit,
        shown=part.end - part.start,
        total=part.total,
        more=more,
    )


def _recorded(source: Source, part: Slice) -> bytes:
    """The bytes for which a slice of the text stands."""
    text, (start, end) = source.text, part.span
    if text is None or not source.pieces:
        return (text[start:end] if text is not None else part.text).encode("utf-8", "surrogatepass")
    first = max(bisect_right(source.pieces, start, key=lambda piece: piece.start) - 1, 0)
    found: list[bytes] = []
    for piece in source.pieces[first:]:
        if piece.start > end or (piece.start == end and end < len(text)):
            break
        begin, stop = max(piece.start, start), min(piece.end, end)
        if piece.standin:
            # They go with the beginning of the words that tell of them.
            found.append(source.raw[piece.raw_start : piece.raw_end] if start <= piece.start else b"")
        elif not piece.exact:
            found.append(text[begin:stop].encode("utf-8", "surrogatepass"))
        elif begin < stop:
            at = piece.raw_start + encoded_size(text[piece.start : begin])
            found.append(source.raw[at : at + encoded_size(text[begin:stop])])
    return b"".join(found)


def _onward(request: RecallRequest, more: tuple[str, Range] | None) -> RecallRequest | None:
    if more is None:
        return None
    name, onward = more
    return RecallRequest(
        reference=request.reference,
        lines=onward if name == "lines" else None,
        rows=onward if name == "rows" else None,
        bytes=onward if name == "bytes" else None,
        characters=onward if name == "characters" else None,
        limit=request.limit,
    )


def _amount(part: Slice) -> str:
    return f"{part.total:,} characters" if part.more is None else f"the first {part.end:,} of {part.total:,} characters"


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:80] + "…"
