"""A table as a document: a segment per row, a header that stands over every excerpt."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from callsheet.derive.document import ContentKind, Segment
from callsheet.derive.structured.delimited import Rows, read_delimited
from callsheet.derive.structured.drawn import read_drawn
from callsheet.derive.structured.grid import Grid, Row, Style, joined
from callsheet.derive.structured.json_document import JsonDocument
from callsheet.derive.structured.outlines import counted, listed
from callsheet.derive.structured.printed import read_printed
from callsheet.derive.structured.shared_cells import shared
from callsheet.derive.structured.spans import Spans


@dataclass(frozen=True)
class TableDocument:
    """A table that was read: its rows are never cut, its header is not counted."""

    text: str
    grid: Grid

    @property
    def kind(self) -> ContentKind:
        """A table."""
        return ContentKind.TABLE

    @property
    def unit(self) -> str:
        """Rows."""
        return "rows"

    @property
    def total(self) -> int:
        """How many rows of data there are."""
        return len(self.grid.rows)

    @cached_property
    def segments(self) -> Sequence[Segment]:
        """The header, which stands always, a segment per row, and the client's closing line, which stands always."""
        header, after = self.grid.header, self.grid.after
        first = [] if header is None else [Segment(header.start, header.end, "header", always=True)]
        last = [] if after is None else [Segment(after[0], after[1], "end", always=True)]
        rows = self.grid.rows
        if isinstance(rows, Rows):
            starts, ends = rows.starts, rows.ends
        else:
            starts = array("q", [row.start for row in rows])
            ends = array("q", [row.end for row in rows])
        return Spans(first, starts, ends, lambda at: f"row {at + 1}", last)

    def dense(self) -> str:
        """Of a drawn table its cells with bars between them; a table of delimited cells as it is.

        Where cells repeat so much that it is clearly shorter, repeats are written once.
        """
        return self._dense

    @cached_property
    def _dense(self) -> str:
        header = self.grid.header
        if header is None:
            return self.text
        written = self.text
        if self.grid.style is Style.DRAWN:
            written = min("\n".join([joined(row.cells) for row in (header, *self.grid.rows)]), self.text, key=len)
        return shared(self.grid, len(written)) or written

    def excerpt(self, chosen: Sequence[int]) -> str:
        """The header once and first, then whole rows with a mark where others stood."""
        first = int(self.grid.header is not None)
        places = [at - first for at in chosen if 0 <= at - first < self.total]
        return "\n".join(self._excerpt(places))

    def _excerpt(self, places: Sequence[int]) -> Iterator[str]:
        header = self.grid.header
        if len(places) < self.total:
            yield f"(excerpt: {len(places):,} of {counted(self.total, 'rows')} shown; a search or query sees all)"
        if header is not None:
            if places and places[0] > 0:
                yield "(header, not next to the rows below:)"
            yield self._line(header)
        last = -1
        for place in places:
            if place > last + 1:
                yield f"(… {counted(place - last - 1, 'rows')} not shown)"
            yield self._line(self.grid.rows[place])
            last = place
        if last + 1 < self.total:
            yield f"(… {counted(self.total - last - 1, 'rows')} not shown)"
        if self.grid.after is not None:
            yield self.text[slice(*self.grid.after)]

    def _line(self, row: Row) -> str:
        return self.text[row.start : row.end] if self.grid.style is Style.DELIMITED else joined(row.cells)

    def outline(self) -> str:
        """How many rows, and the names of the columns."""
        header = self.grid.header
        columns = listed(list(header.cells)) if header else f"{counted(len(self.grid.rows[0].cells), 'columns')}"
        return f"{counted(self.total, 'rows')}: {columns}"


def read_table(text: str) -> TableDocument | JsonDocument | None:
    """The table that a text is: delimited, drawn, or rows as a database driver prints them; None for other text."""
    grid = read_drawn(text) or read_delimited(text)
    return TableDocument(text, grid) if grid is not None else read_printed(text)
