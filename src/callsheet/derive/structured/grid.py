"""A table that was read: its header, its rows with their spans, and the lines around them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

_QUOTED = re.compile(r'"([^"]*(?:""[^"]*)*)"')


class Style(Enum):
    """How a table was drawn."""

    #: Cells parted by one sign; already as short as a table gets.
    DELIMITED = 0
    #: Cells padded or framed: Markdown, database clients.
    DRAWN = 1


@dataclass(frozen=True, slots=True)
class Row:
    """One row: where it stands, and its cells without padding."""

    start: int
    end: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """The parts of a table text. `before` and `after` are spans of lines that belong to it but hold no cells."""

    style: Style
    header: Row | None
    rows: Sequence[Row]
    after: tuple[int, int] | None = None


def joined(cells: tuple[str, ...]) -> str:
    """The cells with bars between them; quotes only around a cell that needs them."""
    return "|".join([_cell(cell) for cell in cells]) if len(cells) != 1 or cells[0] else '""'


def _cell(cell: str) -> str:
    if cell and not any(sign in cell for sign in '|"\n\r'):
        return cell
    return '"' + cell.replace('"', '""') + '"' if cell else ""


def cells_of(line: str) -> tuple[str, ...]:
    """What `joined` joined."""
    cells: list[str] = []
    at = 0
    while True:
        found = _QUOTED.match(line, at)
        if found:
            cells.append(found.group(1).replace('""', '"'))
            at = found.end()
        else:
            end = line.find("|", at)
            end = len(line) if end < 0 else end
            cells.append(line[at:end])
            at = end
        if at >= len(line):
            return tuple(cells)
        at += 1
        if at == len(line):
            return (*cells, "")
