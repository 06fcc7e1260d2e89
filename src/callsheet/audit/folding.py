"""The projections that a stream's records come to, and how those in a store differ from them."""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from callsheet.graph.graph import Graph
from callsheet.graph.index import Index, IndexRow, index_row, packed
from callsheet.graph.query import LinkRow, NodeRow, Projection, StateRow
from callsheet.graph.record import Record

Row = NodeRow | StateRow | LinkRow | IndexRow


class Rows(Graph):
    """The fold of a stream of any length: it keeps the rows, and lets go of what was said."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[IndexRow] = []

    def apply(self, record: Record, index: Index | None = None) -> None:
        """See `Graph.apply`."""
        super().apply(record)
        if index is not None:
            self._rows.append(index_row(record.position, packed(index)))
        bare = Record(header=record.header, body=None)
        self._records[-1] = self._by_id[record.id] = bare

    def _index_rows(self) -> list[IndexRow]:
        return self._rows


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """The last record that was checked, and the last one that may have been there when rows were read."""

    upto: int
    until: int

    def meanwhile(self, position: int) -> bool:
        """Whether a position may be that of a record that others appended meanwhile."""
        return self.upto < position <= self.until


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """How the rows of a store differ from those that the records come to."""

    missing: int
    extra: int
    #: The first position whose record the rows tell differently.
    position: int


def difference(expected: Projection, stored: Projection, span: Span, *, indexed: bool = False) -> Difference | None:
    """Compare as of the last record that was checked; what others appended meanwhile is left out. None: equal.

    Indexes are compared when they are `indexed` in what is expected.
    """
    if not indexed:
        expected, stored = replace(expected, indexes=()), replace(stored, indexes=())
    wanted: set[Row] = {*expected.nodes, *expected.states, *expected.links, *expected.indexes}
    there = _as_of(stored, span)
    missing, extra = wanted.difference(there), set(there).difference(wanted)
    if not missing and not extra and len(there) == len(wanted):
        return None
    return Difference(
        missing=len(missing), extra=len(extra), position=min(map(_position, missing | extra), default=span.upto)
    )


def _as_of(projection: Projection, span: Span) -> Sequence[Row]:
    states = [
        replace(row, to_pos=None) if row.to_pos is not None and span.meanwhile(row.to_pos) else row
        for row in projection.states
    ]
    rows: Sequence[Row] = [*projection.nodes, *states, *projection.links, *projection.indexes]
    return [row for row in rows if not span.meanwhile(_position(row))]


def _position(row: Row) -> int:
    return row.from_pos if isinstance(row, StateRow) else row.position
