"""Which result answers which call, so that every request pairs whatever was recorded.

A call has at most one answer: its first final result along the lineage, wherever that came. A result that was not final
gives way to it, and to a later one that is not final either: that a call waits for approval is no longer true once it
was begun. Results that answer nothing (their call was never seen, or had its answer) stay where they are and are shown
as quoted text. No call is invented.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from callsheet.graph.effects import UNSETTLED
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, ToolArtifact
from callsheet.graph.record import Record
from callsheet.graph.values import CallRef


@dataclass(frozen=True, kw_only=True, slots=True)
class Pairing:
    """The answer of each call that has one, and every artifact that answers a call."""

    answers: Mapping[RecordId, Record]
    used: frozenset[RecordId]
    #: Results that were not final and have since been followed by the one that answers the call.
    replaced: frozenset[RecordId]


def pair(records: Iterable[Record], calls: frozenset[RecordId]) -> Pairing:
    """Pair the artifacts among `records`, in order of position, with the visible `calls`.

    The first final result counts; where there is none, the newest.
    """
    answers: dict[RecordId, Record] = {}
    settled: set[RecordId] = set()
    open_results: list[Record] = []
    for record in records:
        body = record.body
        if not isinstance(body, ToolArtifact) or body.call is None or body.call not in calls:
            continue
        final = body.status not in UNSETTLED
        if not final:
            open_results.append(record)
        if body.call in settled:
            continue
        answers[body.call] = record
        if final:
            settled.add(body.call)
    used = frozenset(record.id for record in answers.values())
    return Pairing(
        answers=answers, used=used, replaced=frozenset(record.id for record in open_results if record.id not in used)
    )


def shown_calls(records: Iterable[Record], calls: Container[RecordId]) -> frozenset[RecordId]:
    """The calls that stand in the messages among `records` and may be seen."""
    return frozenset(
        part.call
        for record in records
        if isinstance(record.body, Message)
        for part in record.body.parts
        if isinstance(part, CallRef) and part.call in calls
    )
