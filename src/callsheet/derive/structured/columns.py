"""Which columns a list of like objects has: keys once, nested objects as groups, constant values stated once."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from callsheet.derive.structured.values import Json, Number, Pairs

_NESTED = 8
"""Objects nested deeper than this in a row stay JSON."""

_MOST_EXCEPTIONS = 8
"""One row in so many may have its keys in another order; with more there is no table."""


_SPARSEST = 1.99
"""Where more cells than this stand for one that holds something, rows are hard to read."""


_WORDS: frozenset[type] = frozenset({str, Number, bool, type(None)})


class Missing(Enum):
    """The key does not occur in this row."""

    MISSING = 0


MISSING = Missing.MISSING
Cell: TypeAlias = "Json | Missing"


class Form(Enum):
    """How the values of a column are written."""

    VALUES = 0
    GROUP = 1
    ROWS = 2
    MEMBERS = 3
    SAME = 4
    KEY = 5


@dataclass(frozen=True, slots=True)
class Column:
    """One key of the rows and its value in each."""

    name: str
    form: Form
    cells: list[Cell]
    #: Of a group, the columns of its members; of rows or members in a cell, those of all rows of all cells in order.
    inner: "tuple[Column, ...]" = ()


def order_of(rows: Sequence[Pairs]) -> tuple[list[str], frozenset[tuple[str, ...]]] | None:
    """The keys of all rows in an order that nearly all of them keep, and the key sequences that do not keep it."""
    count: dict[tuple[str, ...], int] = {}
    for row in rows:
        keys = tuple([key for key, _ in row])
        count[keys] = count.get(keys, 0) + 1
    if 4 * len(count) > len(rows) + 8 or sum(map(len, count)) > 4 * sum(map(len, rows)):
        return None
    order: list[str] = []
    for keys in sorted(count, key=lambda keys: -count[keys]):
        _merge(order, keys)
        if len(order) > 512:
            return None
    place = {key: at for at, key in enumerate(order)}
    odd = frozenset(keys for keys in count if not _keeps(keys, place))
    if sum(count[keys] for keys in odd) * _MOST_EXCEPTIONS > len(rows):
        return None
    if len(order) * len(rows) > _SPARSEST * sum(map(len, rows)):
        return None
    return order, odd


def _merge(order: list[str], keys: tuple[str, ...]) -> None:
    known = set(order)
    at = 0
    for key in keys:
        if key in known:
            at = order.index(key) + 1
        else:
            order.insert(at, key)
            known.add(key)
            at += 1


def _keeps(keys: tuple[str, ...], place: dict[str, int]) -> bool:
    last = -1
    for key in keys:
        here = place[key]
        if here <= last:
            return False
        last = here
    return True


def columns_of(
    rows: Sequence[Pairs], order: Sequence[str], depth: int = 0, *, constants: bool = True
) -> tuple[Column, ...]:
    """The columns of rows that all keep the order.

    Without `constants` none is stated once: in a group that some rows lack, only its cells tell which rows have it.
    """
    width = len(order)
    if all(len(row) == width for row in rows):
        cells: list[list[Cell]] = [[row[at][1] for row in rows] for at in range(width)]
    else:
        found = [dict(row) for row in rows]
        cells = [[row.get(key, MISSING) for row in found] for key in order]
    return tuple(_column(key, column, depth, constants) for key, column in zip(order, cells, strict=True))


def _column(key: str, cells: list[Cell], depth: int, constants: bool) -> Column:
    types = set(map(type, cells))
    if constants and len(cells) > 1 and len(types) == 1 and types <= _WORDS and cells.count(cells[0]) == len(cells):
        return Column(key, Form.SAME, cells[:1])
    if depth < _NESTED and not types & _WORDS:
        present = [cell for cell in cells if cell is not MISSING]
        inner = _group(present, depth, constants and len(present) == len(cells))
        if inner is not None:
            return Column(key, Form.GROUP, cells, inner)
        for form, columns in ((Form.MEMBERS, _members), (Form.ROWS, _rows)):
            inner = columns(present, depth)
            if inner is not None:
                return Column(key, form, cells, inner)
    return Column(key, Form.VALUES, cells)


def keyed(columns: tuple[Column, ...], keys: Sequence[str]) -> tuple[Column, ...]:
    """The columns of members of an object, where one of strings that are the member's key is only named."""
    return tuple(
        Column(column.name, Form.KEY, [])
        if column.form is Form.VALUES and column.cells == keys and Number not in map(type, column.cells)
        else column
        for column in columns
    )


def lists_of_rows(items: Sequence[Cell]) -> Column | None:
    """Lists of like objects as one column of rows; None for any other items."""
    inner = _rows(items, 0)
    return None if inner is None else Column("", Form.ROWS, list(items), inner)


def _group(present: Sequence[Cell], depth: int, constants: bool) -> tuple[Column, ...] | None:
    objects = [cell for cell in present if isinstance(cell, tuple) and cell]
    return uniform(objects, depth + 1, constants=constants) if len(objects) == len(present) else None


def _members(present: Sequence[Cell], depth: int) -> tuple[Column, ...] | None:
    objects: list[Pairs] = []
    keys: list[str] = []
    for cell in present:
        if not isinstance(cell, tuple):
            return None
        for key, value in cell:
            if not isinstance(value, tuple) or not value:
                return None
            objects.append(value)
            keys.append(key)
    columns = uniform(objects, depth + 1) if len(objects) > 1 else None
    return None if columns is None else keyed(columns, keys)


def _rows(present: Sequence[Cell], depth: int) -> tuple[Column, ...] | None:
    objects: list[Pairs] = []
    for cell in present:
        if not isinstance(cell, list):
            return None
        for item in cell:
            if not isinstance(item, tuple) or not item:
                return None
            objects.append(item)
    columns = uniform(objects, depth + 1) if len(objects) > 1 else None
    # Without any cell one row could not be told from none.
    return columns if columns is None or _has_cells(columns) else uniform(objects, depth + 1, constants=False)


def _has_cells(columns: Sequence[Column]) -> bool:
    return any(
        _has_cells(column.inner) if column.form is Form.GROUP else column.form not in (Form.SAME, Form.KEY)
        for column in columns
    )


def uniform(objects: Sequence[Pairs], depth: int, *, constants: bool = True) -> tuple[Column, ...] | None:
    """The columns of objects that keep one order without exception."""
    found = order_of(objects) if objects else None
    if found is None or found[1]:
        return None
    return columns_of(objects, found[0], depth, constants=constants)
