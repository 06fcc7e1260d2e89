"""Tables whose cells repeat: columns of one value stated once, long cells written once."""

import re
from collections.abc import Sequence
from itertools import islice

from callsheet.derive.structured.columns import MISSING, Cell, Column, Form
from callsheet.derive.structured.crowds import WRITTEN
from callsheet.derive.structured.cursor import Cursor, Repeats, specs
from callsheet.derive.structured.decoding import decode
from callsheet.derive.structured.grid import Grid, Row, cells_of
from callsheet.derive.structured.reading import is_scalar
from callsheet.derive.structured.repeats import named_once, runs
from callsheet.derive.structured.rows import header, lines
from callsheet.derive.structured.values import Number

_WORTH = 0.9
"""Another notation than that of the table has to be this much shorter."""

_SAMPLE = 250
_LARGEST = 20_000_000
"""Characters of a table beyond which it takes too much memory to hold all cells."""

_TITLE = re.compile(r"\[[0-9]+\]\{")


def shared(grid: Grid, length: int) -> str | None:
    """The table as ``[3]{a b=x}:`` and a line per row, where that is clearly shorter than `length` characters.

    A cell that is empty is an empty cell; ``b=x`` is a column with the same cell in all rows, ``&1 `` stands before a
    long cell that comes again as ``*1``, ``(+2 same)`` for two more of the row above.
    """
    rows = grid.rows
    if grid.header is None or not rows or length > _LARGEST or len(set(grid.header.cells)) < len(grid.header.cells):
        return None
    names = grid.header.cells
    if len(rows) * len(names) > WRITTEN:
        return None
    if len(rows) > 2 * _SAMPLE:
        sample = [*islice(rows, _SAMPLE), *islice(rows, _SAMPLE, None, len(rows) // _SAMPLE)]
        written = _written(names, sample)
        if written is None or len(written) > _WORTH * sum(row.end - row.start + 1 for row in sample):
            return None
    written = _written(names, rows)
    return written if written is not None and len(written) <= _WORTH * length else None


def _written(names: Sequence[str], rows: Sequence[Row]) -> str | None:
    cells: list[list[str]] = [[] for _ in names]
    for row in rows:
        if len(row.cells) != len(names):
            return None
        for column, text in zip(cells, row.cells, strict=True):
            column.append(text)
    columns = [_column(name, column) for name, column in zip(names, cells, strict=True)]
    return named_once("\n".join([f"[{len(rows)}]{{{header(columns)}}}:", *runs(lines(columns, len(rows)))]))


def _column(name: str, texts: list[str]) -> Column:
    if len(texts) > 1 and texts.count(texts[0]) == len(texts):
        return Column(name, Form.SAME, [_cell(texts[0]) if texts[0] else ""])
    return Column(name, Form.VALUES, [_cell(text) for text in texts])


def _cell(text: str) -> Cell:
    """What is written as the text itself: whatever looks like a number or word without quotes."""
    return (Number(text) if is_scalar(text) else text) if text else MISSING


def decode_table(dense: str) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The header and the rows of a table from its dense form, where that is not the text of the table itself.

    Raises ValueError for what begins like the dense form of a table whose cells repeat and is none.
    """
    found = _TITLE.match(dense)
    if not found:
        head, *others = [cells_of(line) for line in dense.split("\n")]
        return head, others
    names = tuple(spec.name for spec in specs(Cursor(dense.partition("\n")[0], Repeats(), found.end())))
    rows: list[tuple[str, ...]] = []
    value = decode(dense)
    for row in value if isinstance(value, list) else ():
        cells = {key: _text(cell) for key, cell in row} if isinstance(row, tuple) else {}
        rows.append(tuple(cells.get(name, "") for name in names))
    return names, rows


def _text(cell: object) -> str:
    return cell if isinstance(cell, str) else "null" if cell is None else "true" if cell else "false"
