"""The dense notation of JSON: lines of keys and values, and tables for arrays of like objects.

::

    next: null
    bins[3]{sku shelf{row level} unit=box}:
    W1|4|2
    W2|4|3
    W7|9|1
    levels:[87;102;41]
    note: counted by hand

A value is JSON without white space, or a bare string; a list of numbers is ``[1;2;3]``. ``key[3]{...}:`` announces
three rows, ``key[]{...}:`` has its only row behind it; a cell that is empty is a key that the object does not have,
``unit=box`` a value that all rows share, ``shelf{row level}`` an object, ``marks[]{a b}`` a list of objects written
``[1|2;3|4]``, ``bays{*}{a b}`` an object of objects written ``{x:1|2;y:3|4}``, ``zip:text`` a column of strings that
look like numbers. A row ``={...}`` is an object of another shape; ``(+2 same)`` are two more of the row above.
``key{3}{...}:`` is an object whose three members are the rows, each after its key, which ``id=@key`` is too.
``key[3][]{...}:`` announces three lists, the rows of each on a line and parted by semicolons. ``key[3]:`` announces
three items, each after ``- ``; ``key:`` an object on the indented lines that follow; ``key:|3`` three lines of text as
they are. ``&1 `` stands before a long value and ``&1:`` before a row that comes again as ``*1``.
"""

import re
from collections.abc import Iterable, Sequence

from callsheet.derive.structured.columns import Column, columns_of, keyed, lists_of_rows, order_of
from callsheet.derive.structured.inline import PLAIN_IN_LIST, PLAIN_ON_LINE, bare, name, write
from callsheet.derive.structured.repeats import cell as repeatable_cell
from callsheet.derive.structured.repeats import named_once, runs, scope
from callsheet.derive.structured.repeats import row as repeatable_row
from callsheet.derive.structured.rows import header, lines, nested
from callsheet.derive.structured.values import Json, Pairs

_DEEPEST = 40
_LITERAL = re.compile("[^\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]*")


_CONTAINERS = frozenset({list, tuple})


def notation(value: Json) -> str:
    """The value in the dense notation; JSON for a scalar or what has no structure to gain from."""
    if isinstance(value, tuple) and value:
        table = _members(value) if _worth(value) else None
        return named_once("\n".join(table if table is not None else _object(value, 0)))
    if isinstance(value, list) and not _CONTAINERS.isdisjoint(map(type, value)):
        return named_once("\n".join(_array("", value, 0)))
    return bare(value, PLAIN_IN_LIST) if isinstance(value, list) else write(value)


def member_lines(key: str, value: Json, indent: int) -> Iterable[str]:
    """The lines of a member of an object that stands at this indentation."""
    return value_lines(" " * indent + name(key), value, indent)


def _object(pairs: Pairs, indent: int) -> Iterable[str]:
    for key, value in pairs:
        yield from member_lines(key, value, indent)


def value_lines(start: str, value: Json, indent: int) -> Iterable[str]:
    """The lines of one value whose first begins with `start`; deeper lines are indented below `indent`."""
    if isinstance(value, tuple) and value and indent < _DEEPEST:
        table = _members(value) if _worth(value) else None
        if table is not None:
            yield start + table[0]
            yield from table[1:]
        else:
            yield start + ":"
            yield from _object(value, indent + 1)
    elif isinstance(value, list) and value and indent < _DEEPEST:
        yield from _array(start, value, indent)
    elif _is_literal(value):
        text = str(value)
        yield f"{start}:" + repeatable_cell(f"|{text.count(chr(10)) + 1}\n{text}")
    else:
        text = bare(value, PLAIN_ON_LINE)
        yield f"{start}:{' ' if text[:1].isalpha() else ''}{repeatable_cell(text)}"


def _is_literal(value: Json) -> bool:
    return type(value) is str and "\n" in value and bool(_LITERAL.fullmatch(value))


def _array(start: str, items: Sequence[Json], indent: int) -> Iterable[str]:
    table = table_of(items)
    if table is not None:
        if len(items) == 1:
            yield f"{start}[]{table[0]}:{table[1][0]}"
        else:
            yield f"{start}[{len(items)}]{table[0]}:"
            yield from runs(table[1])
    elif (column := lists_of_rows(items)) is not None:
        yield f"{start}[{len(items)}][]{{{header(column.inner)}}}:"
        for cell in nested(column):
            yield cell[1:-1]
    elif not start or (not _CONTAINERS.isdisjoint(map(type, items)) and any(_has_structure(item) for item in items)):
        yield f"{start}[{len(items)}]:"
        pad = " " * (indent + bool(start))
        for item in items:
            yield from items_of(pad, item)
    else:
        yield f"{start}:{repeatable_cell(bare(list(items), PLAIN_IN_LIST))}"


def _has_structure(item: Json) -> bool:
    return isinstance(item, tuple | list) and bool(item)


def items_of(pad: str, item: Json) -> Iterable[str]:
    """The lines of an item of a list whose items stand behind `pad`."""
    if isinstance(item, tuple) and item and len(pad) < _DEEPEST:
        first, *rest = _object(item, len(pad) + 2)
        yield f"{pad}- {first[len(pad) + 2 :]}"
        yield from rest
    elif isinstance(item, list) and item and len(pad) < _DEEPEST and any(_has_structure(inner) for inner in item):
        yield from _array(f"{pad}- ", item, len(pad) + 1)
    elif _is_literal(item):
        text = str(item)
        yield f"{pad}- " + repeatable_cell(f"|{text.count(chr(10)) + 1}\n{text}")
    else:
        yield f"{pad}- {repeatable_cell(bare(item, PLAIN_IN_LIST))}"


def _worth(pairs: Pairs) -> bool:
    return len(pairs) > 1 and all(isinstance(value, tuple) and value for _, value in pairs)


def table_of(items: Sequence[Json]) -> tuple[str, list[str]] | None:
    """The keys in braces and a line per item of a list of like objects; None for any other list."""
    objects = [item for item in items if isinstance(item, tuple)]
    if len(objects) < len(items) or (len(items) == 1 and any(_has_structure(cell) for _, cell in objects[0])):
        return None
    found = _shape(objects)
    if found is None:
        return None
    columns, odd = found
    title = f"{{{header(columns)}}}"
    return title, [text for _, text in _rows(columns, odd, items, title)]


def _members(pairs: Pairs) -> list[str] | None:
    """The header and rows of an object whose members are like objects."""
    objects = [value for _, value in pairs if isinstance(value, tuple)]
    found = _shape(objects)
    if found is None:
        return None
    columns, odd = found
    columns = keyed(columns, [key for at, (key, _) in enumerate(pairs) if at not in odd])
    title = f"{{{header(columns)}}}"
    rows = _rows(columns, odd, objects, title)
    return [f"{{{len(pairs)}}}{title}:", *(f"{name(pairs[at][0])}:{text}" for at, text in rows)]


def _rows(columns: Sequence[Column], odd: set[int], items: Sequence[Json], title: str) -> Iterable[tuple[int, str]]:
    """A text per item: its cells, or itself where it is of another shape."""
    within = scope(title[1:-1])
    regular = iter(lines(columns, len(items) - len(odd)))
    for at, item in enumerate(items):
        yield at, "=" + write(item) if at in odd else repeatable_row(next(regular), within)


def _shape(objects: Sequence[Pairs]) -> tuple[tuple[Column, ...], set[int]] | None:
    found = order_of(objects)
    if found is None:
        return None
    order, strange = found
    odd = {at for at, item in enumerate(objects) if strange and tuple([key for key, _ in item]) in strange}
    regular = [item for at, item in enumerate(objects) if at not in odd]
    return (columns_of(regular, order), odd) if regular and order else None
