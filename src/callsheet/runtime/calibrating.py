"""Token estimates that learn from the usage reported in their own conversation, and from nothing else.

What was learned is a record, on the branch and for the participant whose request taught it, so a request depends only
on what its branch and participant may see.
"""

from callsheet.graph.changes import Calibrated
from callsheet.graph.cut import Lineage
from callsheet.graph.enums import StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary
from callsheet.graph.ports import Ledger
from callsheet.graph.query import StateQuery
from callsheet.graph.record import StreamKey
from callsheet.wire.tokens import Calibration, TokenCounter, counter_for, learn, uncalibrated


def _target(counter: str, participant: RecordId | None) -> str:
    return f"{counter} {participant}" if participant is not None else counter


def _newest(
    ledger: Ledger, key: StreamKey, lineage: Lineage, boundary: Boundary
) -> tuple[Calibration, RecordId | None]:
    first = uncalibrated(boundary.provider, boundary.model)
    target = _target(first.counter, boundary.participant)
    rows = ledger.states(key, StateQuery(field=StateField.CALIBRATION, targets=(target,), lineage=lineage))
    found = ledger.get(key, (RecordId(rows[0].value),)) if rows and rows[0].value else []
    if not found or not isinstance(found[0].body, Calibrated):
        return first, None
    body = found[0].body
    learned = Calibration(
        counter=first.counter,
        first_factor=body.first_factor,
        first_margin=body.first_margin,
        recent=body.recent,
        observations=body.observations,
    )
    return learned, found[0].id


def calibrated_counter(
    ledger: Ledger, key: StreamKey, lineage: Lineage, boundary: Boundary
) -> tuple[TokenCounter, RecordId | None]:
    """The counter for a boundary and the record of what it learned, if it did; exact counters need none."""
    counter = counter_for(boundary.provider, boundary.model)
    if counter.exact:
        return counter, None
    calibration, record = _newest(ledger, key, lineage, boundary)
    return counter_for(boundary.provider, boundary.model, calibration), record


def lesson(
    ledger: Ledger, key: StreamKey, lineage: Lineage, boundary: Boundary, *, estimated: int, reported: int
) -> Calibrated | None:
    """What a reported usage teaches; None: nothing, because the counter is exact or the report is unusable."""
    if counter_for(boundary.provider, boundary.model).exact:
        return None
    before, _ = _newest(ledger, key, lineage, boundary)
    after = learn(before, estimated=estimated, reported=reported)
    if after == before:
        return None
    return Calibrated(
        counter=_target(before.counter, boundary.participant),
        first_factor=after.first_factor,
        first_margin=after.first_margin,
        recent=after.recent,
        observations=after.observations,
    )
