"""Which part of history counts on a branch: its lineage up to a position."""

from collections.abc import Mapping

from callsheet.errors import NotFound
from callsheet.graph.ids import ROOT_BRANCH, RecordId
from callsheet.graph.nodes import Branch
from callsheet.graph.values import Value


class Segment(Value):
    """The records of one branch up to a position."""

    branch: RecordId
    upto: int


class Lineage(Value):
    """What a branch sees: its own records and, up to each fork, those of its ancestors; root first.

    Records that belong to no branch belong to the whole conversation and count up to `upto`.
    """

    segments: tuple[Segment, ...]
    upto: int

    def sees(self, branch: RecordId | None, position: int) -> bool:
        """Whether a record that stands on `branch` at `position` counts."""
        if branch is None:
            return position <= self.upto
        return any(segment.branch == branch and position <= segment.upto for segment in self.segments)


def earlier_than(seen: Lineage, position: int) -> Lineage:
    """What of a lineage stands before a position."""
    upto = position - 1
    segments = tuple(Segment(branch=one.branch, upto=min(one.upto, upto)) for one in seen.segments)
    return Lineage(segments=segments, upto=min(seen.upto, upto))


def alone(branch: RecordId, upto: int) -> Lineage:
    """The branch's own records up to a position, without what it inherits."""
    return Lineage(segments=(Segment(branch=branch, upto=upto),), upto=upto)


def lineage(branches: Mapping[RecordId, Branch], branch: RecordId, upto: int) -> Lineage:
    """The lineage of `branch` as of position `upto`. Raises `NotFound` for a branch that is not among `branches`."""
    segments: list[Segment] = []
    current, limit = branch, upto
    while True:
        known = branches.get(current)
        if known is None and current != ROOT_BRANCH:
            raise NotFound(f"no branch {current!r} in this conversation")
        segments.append(Segment(branch=current, upto=limit))
        if known is None or known.parent is None:
            break
        limit = min(limit, known.fork)
        current = known.parent
    return Lineage(segments=tuple(reversed(segments)), upto=upto)
