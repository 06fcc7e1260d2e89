"""The tables that content holds: CSV and drawn tables, lists in JSON, and rows as database drivers print them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from msgspec.structs import replace

from callsheet.derive.cells import TEXT, numbers, plain, words
from callsheet.derive.document import ContentKind, Document
from callsheet.derive.prose.mixed import Mixed
from callsheet.derive.structured import JsonDocument, TableDocument
from callsheet.derive.structured.inline import write
from callsheet.derive.structured.values import Json, Number, Pairs
from callsheet.graph.tabular import Column, Table

MOST_TABLES = 16
"""Tables of one content that can be asked."""

MOST_COLUMNS = 1_000

MOST_CELLS = 5_000_000
"""Cells of one table, empty ones included: it takes a few hundred bytes for each to ask them."""

_DEEPEST = 6
"""Steps down into JSON on which tables are looked for."""

_ALIKE = 2
"""Objects, at least, that are rows of a table where they are the members of an object."""

_ALONE = "value"
"""The column of a list of plain values."""

_PLACE = re.compile(r"\$[0-9]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ASCII_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def tables(document: Document) -> list[Table]:
    """The tables of a document: the largest list of objects or table first, then the others in their order.

    Of JSON, lists of objects, lists of lists of one length and lists of plain values are tables, and so are objects
    whose members are objects with the same keys, which have the column ``key``. A key that is missing in a row, null,
    and an empty cell of a table in text are nothing. What is nested in a cell is JSON, as text.
    """
    found = list(islice(_tables(document), MOST_TABLES))
    first = max(range(len(found)), key=lambda at: (found[at].columns[0].name != _ALONE, found[at].rows, -at), default=0)
    return [*found[first : first + 1], *found[:first], *found[first + 1 :]]


def _tables(document: Document) -> Iterator[Table]:
    if isinstance(document, TableDocument):
        table = _drawn(document)
        if table is not None:
            yield table
    elif isinstance(document, JsonDocument):
        for table in _in_json(document.value):
            yield table if document.kind is not ContentKind.TABLE else _unnamed(table)
    elif isinstance(document, Mixed):
        for part in document.parts:
            yield from _tables(part)


def _unnamed(table: Table) -> Table:
    """With the names that a query gives to places, where a driver printed rows without names."""
    names = named("" if _PLACE.fullmatch(column.name) else column.name for column in table.columns)
    columns = (replace(column, name=name) for column, name in zip(table.columns, names, strict=True))
    return replace(table, columns=tuple(columns))


def _drawn(document: TableDocument) -> Table | None:
    header, rows = document.grid.header, [row.cells for row in document.grid.rows]
    width = max([len(header.cells) if header is not None else 0, *map(len, rows)])
    if not rows or not _fits(width, len(rows)):
        return None
    names = [cell.strip() for cell in header.cells] if header is not None else []
    # Few rows, if any, have another number of cells: what such a row lacks is nothing.
    even = [cells if len(cells) == width else (*cells, *[""] * (width - len(cells))) for cells in rows]
    columns = zip(named([*names, *[""] * (width - len(names))]), zip(*even, strict=True), strict=True)
    odd = not document.text.isascii()
    made = tuple(plain(name, list(map(_storable, cells)) if odd else cells) for name, cells in columns)
    return Table(pointer="", columns=made, rows=len(rows))


def named(names: Iterable[str]) -> list[str]:
    """Names by which a query can tell the columns apart: none is empty, none equals another in either case."""
    taken: set[str] = set()
    found: list[str] = []
    for place, given in enumerate(names, start=1):
        wanted = name = _storable(given).replace("\0", "\ufffd").strip() or f"c{place}"
        again = 1
        while name.translate(_ASCII_LOWER) in taken:
            again += 1
            name = f"{wanted}_{again}"
        taken.add(name.translate(_ASCII_LOWER))
        found.append(name)
    return found


def _fits(columns: int, rows: int) -> bool:
    return columns <= MOST_COLUMNS and columns * rows <= MOST_CELLS


# ---------------------------------------------------------------------------------------------- JSON


def _in_json(value: Json) -> Iterator[Table]:
    level: list[tuple[str, Json]] = [("", value)]
    for _ in range(_DEEPEST):
        below: list[tuple[str, Json]] = []
        for pointer, one in level:
            table = _table(pointer, one)
            if table is not None:
                yield table
            # What stands in rows is reached through their cells; one row alone is as good as none.
            if isinstance(one, tuple) and (table is None or table.rows < _ALIKE):
                below += [(f"{pointer}/{_escaped(key)}", inner) for key, inner in one]
            elif isinstance(one, list) and len(one) == 1:
                below.append((f"{pointer}/0", one[0]))
        level = [(pointer, one) for pointer, one in below if isinstance(one, list | tuple)]


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _table(pointer: str, value: Json) -> Table | None:
    if isinstance(value, list) and value:
        kinds = set(map(type, value))
        if kinds == {tuple}:
            return _objects(pointer, [item for item in value if isinstance(item, tuple)])
        if kinds == {list}:
            return _lists(pointer, [item for item in value if isinstance(item, list)])
        if not kinds & {list, tuple}:
            return _made(pointer, [_ALONE], [value])
    if isinstance(value, tuple) and len(value) >= _ALIKE:
        rows = [item for _, item in value if isinstance(item, tuple)]
        shapes = {frozenset(key for key, _ in row) for row in rows}
        if len(rows) == len(value) and len(shapes) == 1 and next(iter(shapes)):
            return _objects(pointer, rows, keys=[key for key, _ in value])
    return None


def _objects(pointer: str, rows: Sequence[Pairs], keys: list[str] | None = None) -> Table | None:
    """Of keys that repeat within an object the last counts, as for most readers of JSON."""
    names: dict[str, list[Json]] = {}
    for row in rows:
        for key, _ in row:
            names.setdefault(key, [])
        if len(names) > MOST_COLUMNS:
            return None
    if not names or not _fits(len(names) + 1, len(rows)):
        return None
    for row in rows:
        held = dict(row)
        for key, cells in names.items():
            cells.append(held.get(key))
    if keys is None:
        return _made(pointer, list(names), list(names.values()))
    return _made(pointer, ["key", *names], [list(keys), *names.values()])


def _lists(pointer: str, rows: Sequence[list[Json]]) -> Table | None:
    width = len(rows[0])
    if not width or any(len(row) != width for row in rows) or not _fits(width, len(rows)):
        return None
    return _made(pointer, [""] * width, [list(cells) for cells in zip(*rows, strict=True)])


def _made(pointer: str, names: list[str], columns: Sequence[list[Json]]) -> Table | None:
    if not _fits(len(names), len(columns[0])):
        return None
    made = tuple(_column(name, cells) for name, cells in zip(named(names), columns, strict=True))
    return Table(pointer=pointer, columns=made, rows=len(columns[0]))


def _column(name: str, cells: Sequence[Json]) -> Column:
    kinds = set(map(type, cells)) - {type(None)}
    texts = [None if cell is None else _text(cell) for cell in cells]
    written = {text for text in texts if text is not None}
    if kinds == {Number}:
        kind = numbers(written)
    elif kinds == {bool}:
        kind = "BOOLEAN"
    else:
        kind = words(written) if kinds == {str} else TEXT
    return Column(name=name, type=kind, cells=texts)


def _text(cell: Json) -> str:
    if type(cell) is str:
        return _storable(cell)
    return str(cell) if isinstance(cell, Number) else write(cell)


def _storable(text: str) -> str:
    """Half a surrogate pair, which no table can hold, as JSON escapes it."""
    return text if text.isascii() else _SURROGATE.sub(lambda half: f"\\u{ord(half.group()):04x}", text)
