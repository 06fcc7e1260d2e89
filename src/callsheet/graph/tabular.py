"""Tables as values: columns with a name, a type and a text for each cell. What a query over content works on."""

from collections.abc import Sequence

from callsheet.graph.values import Count, Value


class Column(Value):
    """One column. Its type is exact: each cell, read as the type, is the value that the content holds."""

    #: Unique within its table in either case, not empty.
    name: str
    #: ``VARCHAR``, ``BOOLEAN``, ``BIGINT``, ``HUGEINT``, ``DECIMAL(p,s)``, ``DOUBLE``, ``DATE`` or ``TIMESTAMP``.
    type: str
    #: A text that reads as the type, for each row; None: there is nothing.
    cells: Sequence[str | None]


class Table(Value):
    """Rows that content holds, column by column."""

    #: Where they stand, as a JSON Pointer; empty: they are the content, or stand in text.
    pointer: str
    columns: tuple[Column, ...]
    rows: Count
