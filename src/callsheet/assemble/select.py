"""Which candidates stand in a request, in which detail, and why the others do not."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from callsheet.assemble.pairing import pair, shown_calls
from callsheet.graph.enums import Level, Reason
from callsheet.graph.ids import RecordId
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


def select(
    candidates: Sequence[Record], calls: Container[RecordId], boundary: Boundary, policy: PolicySetDocument
) -> Selected:
    """Decide on each candidate, in order of position; `calls` are those that may be seen."""
    visible: list[Record] = []
    omitted: Counter[Reason] = Counter()
    for record in candidates:
        reason = Reason.ERASED if record.body is None else refusal(record.header, boundary)
        if reason is None:
            visible.append(record)
        else:
            omitted[reason] += 1
    replaced = pair(visible, shown_calls(visible, calls)).replaced
    if replaced:
        omitted[Reason.SUPERSEDED] += len(replaced)
    records = [record for record in visible if record.id not in replaced]
    return Selected(
        records=tuple(records),
        selections=tuple(Selection(record=record.id, level=policy.history) for record in records),
        omitted=dict(omitted),
    )


def raw_artifacts(selected: Selected) -> int:
    """How many artifacts stand in the request with their exact bytes."""
    shown = {selection.record for selection in selected.selections if selection.level is Level.RAW}
    return sum(record.header.kind == "artifact" and record.id in shown for record in selected.records)
