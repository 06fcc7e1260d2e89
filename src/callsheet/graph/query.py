"""What can be asked of a stream's graph, and the rows that answer; every store answers as the in-memory fold does."""

from typing import NamedTuple

from callsheet.graph.cut import Lineage
from callsheet.graph.enums import Relation, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.index import IndexRow
from callsheet.graph.values import Count, Value


class NodeQuery(Value):
    """Records by kind, visible along a lineage, in order of position."""

    kinds: tuple[str, ...]
    #: None: every branch.
    lineage: Lineage | None = None
    #: Only positions above this one.
    after: int = 0
    #: Only positions below this one.
    before: int | None = None
    #: At most so many, from the newest end when `newest` is set. The answer is in ascending order all the same.
    limit: int | None = None
    newest: bool = False


class AroundQuery(Value):
    """The nearest records of one kind on both sides of some positions, visible along a lineage."""

    kind: str
    positions: tuple[int, ...]
    lineage: Lineage
    #: At most so many on each side.
    limit: Count


class Sides(NamedTuple):
    """The positions of what stands nearest to another, the nearest first on each side."""

    before: tuple[int, ...]
    after: tuple[int, ...]


class StateQuery(Value):
    """The current values of one field, visible along a lineage."""

    field: StateField
    #: None: of every target.
    targets: tuple[str, ...] | None = None
    #: None: any value.
    value: str | None = None
    lineage: Lineage


class LinkQuery(Value):
    """Links from or to records, visible along a lineage."""

    relation: Relation
    #: Exactly one of the two is given.
    sources: tuple[RecordId, ...] | None = None
    targets: tuple[RecordId, ...] | None = None
    lineage: Lineage


class NodeRow(Value):
    """A record's place."""

    position: int
    id: RecordId
    kind: str
    branch: RecordId | None = None


class StateRow(Value):
    """A value that a field of a target had from one position on, on the branch where its cause stands."""

    target: str
    field: StateField
    #: None: unset.
    value: str | None
    branch: RecordId | None = None
    from_pos: int
    #: The position from which the next value on the same branch holds; None: this is the newest there.
    to_pos: int | None = None


class LinkRow(Value):
    """A link and the branch and position of the record that made it."""

    relation: Relation
    source: RecordId
    target: RecordId
    branch: RecordId | None = None
    position: int


class Projection(Value):
    """All rows of one stream in a fixed order: what two stores, or a store and its own history, must agree on."""

    nodes: tuple[NodeRow, ...]
    states: tuple[StateRow, ...]
    links: tuple[LinkRow, ...]
    #: Of the records that are indexed, by position.
    indexes: tuple[IndexRow, ...] = ()


def current(rows: list[StateRow], lineage: Lineage) -> dict[str, StateRow]:
    """Of the rows of one field, the one that holds for each target along a lineage: the latest visible cause."""
    holding: dict[str, StateRow] = {}
    for row in rows:
        if not _holds(row, lineage):
            continue
        before = holding.get(row.target)
        if before is None or before.from_pos < row.from_pos:
            holding[row.target] = row
    return holding


def _holds(row: StateRow, lineage: Lineage) -> bool:
    limits = [lineage.upto] if row.branch is None else [s.upto for s in lineage.segments if s.branch == row.branch]
    return any(row.from_pos <= upto and (row.to_pos is None or row.to_pos > upto) for upto in limits)
