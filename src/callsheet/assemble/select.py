"""Which candidates stand in a request, in which detail, and why the others do not."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from callsheet.graph.enums import Level, Reason
from callsheet.graph.nodes import Boundary, Selection
from callsheet.graph.record import Record
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.visibility import refusal


@dataclass(frozen=True, kw_only=True, slots=True)
class Selected:
    """Every candidate is in exactly one of the two."""

    records: tuple[Record, ...]
    selections: tuple[Selection, ...]
    omitted: Mapping[Reason, int]


def select(candidates: Sequence[Record], boundary: Boundary, policy: PolicySetDocument) -> Selected:
    """Decide on each candidate, in order of position."""
    records: list[Record] = []
    omitted: Counter[Reason] = Counter()
    for record in candidates:
        reason = Reason.ERASED if record.body is None else refusal(record.header, boundary)
        if reason is None:
            records.append(record)
        else:
            omitted[reason] += 1
    return Selected(
        records=tuple(records),
        selections=tuple(Selection(record=record.id, level=policy.history) for record in records),
        omitted=dict(omitted),
    )


def raw_artifacts(selected: Selected) -> int:
    """How many artifacts stand in the request with their exact bytes."""
    shown = {selection.record for selection in selected.selections if selection.level is Level.RAW}
    return sum(record.header.kind == "artifact" and record.id in shown for record in selected.records)
