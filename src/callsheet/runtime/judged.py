"""What was said of how useful records are, and which are pinned, as far as one reader may see it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from callsheet.assemble.signal import mean
from callsheet.graph.changes import Feedback, Pinned
from callsheet.graph.cut import Lineage
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary
from callsheet.graph.ports import Ledger
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record, StreamKey
from callsheet.policy.visibility import refusal


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """The feedback along a lineage that one reader may see, up to a position."""

    upto: int = 0
    #: By record, the newest score of each who judged.
    scores: Mapping[RecordId, Mapping[str, float]] = field(default_factory=dict)

    def of(self, id: RecordId) -> float | None:
        """The feedback on a record, from -1 to 1; None: there is none."""
        scores = self.scores.get(id)
        return mean(scores.values()) if scores else None

    def after(self, changes: Iterable[Record], upto: int) -> "Judged":
        """With what was said since, in order."""
        told = [record.body for record in changes if isinstance(record.body, Feedback) and record.position > self.upto]
        scores = self.scores
        for body in told:
            scores = {**scores, body.record: {**scores.get(body.record, {}), body.by: body.score}}
        return Judged(upto=upto, scores=scores)


NOBODY = Judged()
"""Nobody judged anything."""


def judged(ledger: Ledger, key: StreamKey, lineage: Lineage, boundary: Boundary, known: Judged = NOBODY) -> Judged:
    """Go on from what is known of the same reader: only later feedback is read."""
    query = NodeQuery(kinds=("feedback",), lineage=lineage, after=known.upto)
    found = (record for record in ledger.nodes(key, query) if refusal(record.header, boundary) is None)
    return known.after(found, lineage.upto)


def newly_pinned(changed: Iterable[Record]) -> tuple[RecordId, ...]:
    """What these changes pin and do not let go again, in order."""
    found: dict[RecordId, None] = {}
    for record in changed:
        if isinstance(record.body, Pinned):
            for id in record.body.records:
                found.pop(id, None)
            found |= dict.fromkeys(record.body.records) if record.body.pinned else {}
    return tuple(found)
