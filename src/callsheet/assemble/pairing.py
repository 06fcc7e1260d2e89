"""Which result answers which call, so that every request pairs whatever was recorded.

A call has at most one answer: its first final result along the lineage, wherever that came. Results that answer nothing
(their call was never seen, or had its answer) stay where they are and are shown as quoted text. No call is invented.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from callsheet.graph.effects import UNSETTLED
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolArtifact
from callsheet.graph.record import Record


@dataclass(frozen=True, kw_only=True, slots=True)
class Pairing:
    """The answer of each call that has one, and every artifact that answers a call."""

    answers: Mapping[RecordId, Record]
    used: frozenset[RecordId]


def pair(records: Iterable[Record], calls: frozenset[RecordId]) -> Pairing:
    """Pair the artifacts among `records`, in order of position, with the visible `calls`.

    A final result is preferred to an unsettled one; among equals the first counts.
    """
    answers: dict[RecordId, Record] = {}
    settled: set[RecordId] = set()
    for record in records:
        body = record.body
        if not isinstance(body, ToolArtifact) or body.call is None or body.call not in calls:
            continue
        final = body.status not in UNSETTLED
        if body.call in settled or (body.call in answers and not final):
            continue
        answers[body.call] = record
        if final:
            settled.add(body.call)
    return Pairing(answers=answers, used=frozenset(record.id for record in answers.values()))
