"""Tables whose cells are parted by a sign: CSV, TSV, semicolons, and the bars of sqlite."""

import re
from array import array
from collections.abc import Iterator, Sequence
from typing import overload

from callsheet.derive.structured.grid import Grid, Row, Style

_SAMPLE = 40
_NAME = re.compile(r"[^\W\d][\w .()/%#$&°:@*?'+-]{0,62}|#|")
_QUOTED_NAME = re.compile(r"[^\W\d][^\r\n]{0,62}")
_QUOTE = '"'
_LONGEST_CELL = 120
_MARK = "\ufeff"
"""A byte order mark, as spreadsheets write it before a table. It is no part of the first name."""
_CHUNK = 1 << 20
"""Characters whose lines are held at once."""


def read_delimited(text: str) -> Grid | None:
    """The table that a text is; None where its lines do not agree on a sign and a number of cells."""
    head = text[text.startswith(_MARK) : 40_000]
    sample = [line for line in head.split("\n")[:_SAMPLE] if line.strip()]
    if len(sample) < 3:
        return None
    for sign in "\t", ",", ";", "|":
        if sign in sample[0] and _agrees(sample, sign, whole=len(text) <= 40_000):
            return _read(text, sign)
    return None


def _agrees(sample: Sequence[str], sign: str, *, whole: bool) -> bool:
    """Whether the first lines look like rows: as many cells in each, short ones, no prose."""
    if '"' in "".join(sample):
        rows = [cells for _, _, cells in _quoted_rows("\n".join(sample), sign)]
        rows = rows if whole else rows[:-1]
    else:
        rows = [line.rstrip("\r").split(sign) for line in sample]
    width = len(rows[0]) if rows else 0
    if width < 2 or len(rows) < 3:
        return False
    odd = sum(len(row) != width for row in rows)
    if odd * 20 > len(rows):
        return False
    if sign in ",;" and not _names(rows[0], "\n".join(sample), rows[1:]):
        return False
    if sign == "\t" and sum(row[0].startswith(" ") for row in rows) * 2 > len(rows):
        return False  # A listing with line numbers.
    cells = [cell for row in rows for cell in row]
    spaced = sum(cell.startswith(" ") for row in rows for cell in row[1:])
    if sign == "," and spaced * 2 > len(cells) - len(rows) and not _some_numbers(rows[1:]):
        return False
    return sum(map(len, cells)) <= _LONGEST_CELL * len(cells)


def _names(cells: Sequence[str], written: str, body: Sequence[Sequence[str]]) -> bool:
    """Whether cells name columns; one that stands in quotes as `written` may hold any sign.

    Each stands once, unless the rows of the `body` have numbers where a name stands: then no data is taken for names.
    """
    bare = [cell.strip().strip('"') for cell in cells]
    named = all(
        _NAME.fullmatch(name) or (_QUOTED_NAME.fullmatch(cell) and f'"{cell.replace(_QUOTE, 2 * _QUOTE)}"' in written)
        for name, cell in zip(bare, cells, strict=True)
    )
    return named and any(bare) and (len(set(bare)) == len(bare) or _over_numbers(body, len(bare)))


def _over_numbers(body: Sequence[Sequence[str]], width: int) -> bool:
    """Whether some column holds nothing but numbers."""
    columns = ([row[at] for row in body if at < len(row)] for at in range(width))
    return any(cells and all(map(_is_number, cells)) for cells in columns)


def _some_numbers(rows: Sequence[Sequence[str]]) -> bool:
    return any(_is_number(cell) for row in rows for cell in row)


def _is_number(cell: str) -> bool:
    return cell.strip().lstrip("-").replace(".", "", 1).isdigit()


class Rows(Sequence[Row]):
    """The rows of a text, each made when it is asked for."""

    def __init__(self, text: str, sign: str, starts: "array[int]", ends: "array[int]") -> None:
        self.text = text
        self.sign = sign
        self.starts = starts
        self.ends = ends

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | Sequence[Row]:
        if isinstance(at, slice):
            return Rows(self.text, self.sign, self.starts[at], self.ends[at])
        start, end = self.starts[at], self.ends[at]
        line = self.text[start:end]
        found = list(_quoted_rows(line, self.sign)) if '"' in line else []
        return Row(start, end, tuple(found[0][2] if found else line.split(self.sign)))


def _read(text: str, sign: str) -> Grid | None:
    starts, ends = array("q"), array("q")
    width = odd = 0
    for start, end, cells in _quoted_rows(text, sign) if '"' in text else _plain_rows(text, sign):
        width = width or len(cells)
        odd += len(cells) != width
        starts.append(start)
        ends.append(end)
    if odd * 20 > len(starts):
        return None
    rows = Rows(text, sign, starts, ends)
    if _has_header(rows, sign):
        return Grid(Style.DELIMITED, rows[0], rows[1:])
    return Grid(Style.DELIMITED, None, rows)


def _has_header(rows: Rows, sign: str) -> bool:
    body = [row.cells for row in rows[1:20]]
    if not _names(rows[0].cells, rows.text[rows[0].start : rows[0].end], body):
        return False
    return sign in ",;" or _over_numbers(body, len(rows[0].cells))


def _plain_rows(text: str, sign: str) -> Iterator[tuple[int, int, list[str]]]:
    at = int(text.startswith(_MARK))
    while at <= len(text):
        cut = text.find("\n", at + _CHUNK)
        for line in text[at : cut if cut >= 0 else len(text)].split("\n"):
            bare = line.rstrip("\r")
            if bare.strip():
                yield at, at + len(bare), bare.split(sign)
            at += len(line) + 1


def _quoted_rows(text: str, sign: str) -> Iterator[tuple[int, int, list[str]]]:
    """Rows of cells that may be quoted and then hold the sign, quotes and line ends."""
    cell = re.compile(rf'"([^"]*(?:""[^"]*)*)"(?=[{re.escape(sign)}\r\n]|\Z)|([^{re.escape(sign)}\n]*)')
    start = int(text.startswith(_MARK))
    while start <= len(text):
        cells, at = _unquoted(text, start, sign) or _quoted(text, start, sign, cell)
        if len(cells) > 1 or cells[0].strip():
            yield start, at - text.startswith("\r", at - 1), cells
        start = at + 1


def _unquoted(text: str, start: int, sign: str) -> tuple[list[str], int] | None:
    """The cells of a line without quotes and where it ends; None: it has some."""
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    if text.find('"', start, end) >= 0:
        return None
    cells = text[start:end].split(sign)
    return ([cell.rstrip("\r") for cell in cells] if text.find("\r", start, end) >= 0 else cells), end


def _quoted(text: str, at: int, sign: str, cell: re.Pattern[str]) -> tuple[list[str], int]:
    cells: list[str] = []
    while found := cell.match(text, at):
        quoted, bare = found.groups()
        cells.append(quoted.replace('""', '"') if quoted is not None else bare.rstrip("\r"))
        at = found.end()
        if text.startswith("\r", at):
            at += 1
        if not text.startswith(sign, at):
            break
        at += 1
    return cells, at
