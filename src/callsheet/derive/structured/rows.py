"""Columns as text: the header that names them, and a line per row."""

from collections.abc import Sequence
from itertools import accumulate

from callsheet.derive.structured.columns import MISSING, Cell, Column, Form, Missing
from callsheet.derive.structured.inline import PLAIN_IN_HEADER, PLAIN_IN_ROW, bare, name, quoted, title
from callsheet.derive.structured.reading import is_scalar
from callsheet.derive.structured.repeats import cell as repeatable_cell
from callsheet.derive.structured.repeats import row as repeatable_row
from callsheet.derive.structured.repeats import scope
from callsheet.derive.structured.values import Number

CELLS = "|"
"""Between the cells of a row. Not a comma: 87,102 reads as one number."""

is_plain = PLAIN_IN_ROW.fullmatch


def header(columns: Sequence[Column]) -> str:
    """The keys of the columns, with the members of a group in braces and constant values after ``=``."""
    return " ".join([_title(column) for column in columns])


def _title(column: Column) -> str:
    key = title(column.name)
    if column.form is Form.GROUP:
        return f"{key}{{{header(column.inner)}}}"
    if column.form is Form.ROWS:
        return f"{key}[]{{{header(column.inner)}}}"
    if column.form is Form.MEMBERS:
        return f"{key}{{*}}{{{header(column.inner)}}}"
    if column.form is Form.SAME:
        return f"{key}={_constant(column.cells[0])}"
    if column.form is Form.KEY:
        return f"{key}=@key"
    return f"{key}:text" if _all_text(column.cells) else key


def _constant(cell: Cell) -> str:
    return _cell(cell) if isinstance(cell, Missing) else bare(cell, PLAIN_IN_HEADER)


def lines(columns: Sequence[Column], count: int) -> list[str]:
    """The rows, as many as `count`, in the order of the header's keys."""
    parts = list(_leaves(columns, range(count), count))
    if not parts:
        return [""] * count
    return [CELLS.join(cells) for cells in zip(*parts, strict=True)]


def _leaves(columns: Sequence[Column], places: Sequence[int], count: int) -> list[list[str]]:
    """A list of cells per leaf column, each as long as the table; `places` says in which rows the cells stand."""
    found: list[list[str]] = []
    for column in columns:
        if column.form in (Form.SAME, Form.KEY):
            continue
        here = [row for row, cell in zip(places, column.cells, strict=True) if cell is not MISSING]
        if column.form is Form.GROUP:
            found += _leaves(column.inner, here, count)
            continue
        texts = nested(column) if column.form in (Form.ROWS, Form.MEMBERS) else _texts(column.cells)
        within = _scope(column)
        texts = [repeatable_cell(text, within) for text in texts]
        if len(texts) == count:
            found.append(texts)
            continue
        spread = [""] * count
        for row, text in zip(places if column.form is Form.VALUES else here, texts, strict=True):
            spread[row] = text
        found.append(spread)
    return found


def _scope(column: Column) -> str:
    """Empty where the same text is the same value in any cell."""
    if column.form in (Form.ROWS, Form.MEMBERS):
        return scope(header(column.inner))
    return "text" if _all_text(column.cells) else ""


def nested(column: Column) -> list[str]:
    """Per cell that is there, its rows parted by semicolons: in brackets, or in braces after their keys."""
    present = [cell for cell in column.cells if isinstance(cell, list | tuple)]
    ends = list(accumulate(len(cell) for cell in present))
    within = scope(header(column.inner))
    written = [repeatable_row(line, within) for line in lines(column.inner, ends[-1] if ends else 0)]
    texts: list[str] = []
    for cell, end in zip(present, ends, strict=True):
        rows = written[end - len(cell) : end]
        if isinstance(cell, list):
            texts.append(f"[{';'.join(rows)}]")
        else:
            texts.append(f"{{{';'.join(f'{name(key)}:{row}' for (key, _), row in zip(cell, rows, strict=True))}}}")
    return texts


def _texts(cells: Sequence[Cell]) -> list[str]:
    types = set(map(type, cells))
    if types == {Number}:
        return [cell for cell in cells if isinstance(cell, str)]
    if _all_text(cells):
        return ["" if cell is MISSING else str(cell) for cell in cells]
    if types == {str}:
        return [text if is_plain(text) else quoted(text) for text in cells if isinstance(text, str)]
    return [_cell(cell) for cell in cells]


def _all_text(cells: Sequence[Cell]) -> bool:
    """Whether all are strings that need no quotes once the header says that they are strings, and some of them do."""
    types = set(map(type, cells))
    if str not in types or not types <= {str, Missing}:
        return False
    scalars = False
    for cell in cells:
        if isinstance(cell, str) and not is_plain(cell):
            if not is_scalar(cell):
                return False
            scalars = True
    return scalars


def _cell(cell: Cell) -> str:
    if isinstance(cell, Missing):
        return ""
    return bare(cell, PLAIN_IN_ROW)
