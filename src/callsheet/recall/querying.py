"""SQL over the tables of one content: which name means which table, and how the rows that answer are shown."""

from collections.abc import Sequence

from callsheet.errors import InvalidOption, NotFound
from callsheet.graph.ports import NamedTable, Queried, QueryLimits, QueryRefusal, TableQueries
from callsheet.graph.tabular import Table
from callsheet.recall.exact import encoded_size
from callsheet.recall.request import Range
from callsheet.recall.slices import fitting

SECONDS = 10.0
"""From the start of a query to its answer: a thousand times what a small one takes beside the start of its process."""

_A_CELL = 5e-6
"""Seconds more for each cell: ten times what handing it over takes on a machine that does nothing else."""

MEMORY = 512 << 20
"""Bytes of memory of a query: twice what sorting the largest table that is read takes, about."""

FIRST = "t"
"""The name of the first table; the others are ``t2``, ``t3`` and so on."""

_TOLD = 500
"""Characters that tell what there is to ask."""

_LISTED = 4
"""Tables that are named."""

_LONGEST_NAME = 60
"""Characters of a column's name that are shown: a query names its columns by their expressions."""

_CUT = " … (cut)"


class Answered:
    """The rows that answer a query, as they are shown: a line with the columns, then a line for each row.

    Cells are parted by a bar. One that holds a bar, a quote, a line end or nothing stands in double quotes, quotes in
    it doubled; what is null is NULL, and the text NULL stands in quotes.
    """

    def __init__(self, found: Queried, asked: Range, limit: int) -> None:
        first, last = asked
        last = found.total if last is None else min(last, found.total)
        self.total = found.total
        self.more = found.more
        self.first = first
        header = "|".join(
            _cell(name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…") for name, _ in found.columns
        )
        self.lines = [header[: fitting(header, 0, len(header), limit)]]
        room = limit - encoded_size(self.lines[0])
        self.partial = False
        for row in found.rows[: max(last - first, 0)]:
            line = "|".join(map(_cell, row))
            size = encoded_size(line) + 1
            if size > room and len(self.lines) > 1:
                break
            if size > room:
                line = line[: fitting(line, 0, len(line), max(room - len(_CUT), 4))] + _CUT
                self.partial = True
            self.lines.append(line)
            room -= size
        self.end = first + len(self.lines) - 1
        #: The rows that follow of those that were asked for; None: there are none.
        self.onward: Range | None = (
            (self.end, asked[1]) if self.end < last or (found.more and asked[1] is None) else None
        )

    @property
    def text(self) -> str:
        """The lines."""
        return "\n".join(self.lines)

    @property
    def counted(self) -> str:
        """How many rows there are, and which of them are shown."""
        total = f"{'more than ' if self.more else ''}{self.total:,} {'row' if self.total == 1 else 'rows'}"
        if self.first == 0 and self.end >= self.total and not self.more:
            return total
        return f"rows [{self.first}, {self.end}) of {total}"


def _cell(cell: str | None) -> str:
    if cell is None:
        return "NULL"
    if cell and cell != "NULL" and not any(sign in cell for sign in '|"\n\r'):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def ask(
    queries: TableQueries, sql: str, tables: Sequence[Table], asked: Range | None, *, reference: str, limit: int
) -> Answered:
    """The rows of a query over tables, those that were asked for, within a limit of bytes.

    Raises `NotFound` where there is no table or no such row, `InvalidOption` for a query that is not answered.
    """
    if not tables:
        raise NotFound(f"{reference} holds no table that can be asked; ask for lines, or search")
    wanted = asked or (0, None)
    cells = sum(table.rows * len(table.columns) for table in tables)
    limits = QueryLimits(seconds=SECONDS + cells * _A_CELL, memory=MEMORY, bytes=limit, first=wanted[0])
    found = queries.run(sql, named(tables), limits)
    if isinstance(found, QueryRefusal):
        raise InvalidOption(f"sql: {found.problem}; {described(tables)}")
    if wanted[0] and wanted[0] >= found.total:
        raise NotFound(f"the query has {found.total:,} rows, counted from 0; {wanted[0]:,} is behind the last")
    return Answered(found, wanted, limit)


def named(tables: Sequence[Table]) -> list[NamedTable]:
    """The tables with their names: ``t``, ``t2``, ..., and of those in JSON also their pointers."""
    found: list[NamedTable] = []
    taken = {""}
    for place, table in enumerate(tables, start=1):
        name = FIRST if place == 1 else f"{FIRST}{place}"
        # Names are told apart in neither case, and some pointers cannot be one.
        pointer = table.pointer.lower()
        names = (name, table.pointer) if pointer not in taken and pointer.isprintable() else (name,)
        taken.add(pointer)
        found.append(NamedTable(names=names, table=table))
    return found


def listed(tables: Sequence[Table]) -> str:
    """What each name means, in a few words."""
    told = []
    for given in named(tables[:_LISTED]):
        whence = f" = {_short(given.table.pointer)}" if given.table.pointer else ""
        told.append(f"{given.names[0]}{whence} ({given.table.rows:,} rows)")
    return ", ".join(told) + (", …" if len(tables) > _LISTED else "")


def described(tables: Sequence[Table]) -> str:
    """The names of the tables with the columns of the first."""
    told = ", ".join(f"{_short(column.name)} {column.type}" for column in tables[0].columns)
    told = told if len(told) <= _TOLD else told[:_TOLD] + " …"
    rest = f"; {listed(tables)}" if len(tables) > 1 else ""
    return f"{FIRST} has {tables[0].rows:,} rows of {told}{rest}"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…"
