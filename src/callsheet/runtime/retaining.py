"""What retention is due for the records of a view. A verdict alone: nothing here carries it out."""

from collections.abc import Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from callsheet.graph.effects import UNSETTLED
from callsheet.graph.enums import ArtifactStatus, CallStatus, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolArtifact
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.graph.times import Instant
from callsheet.policy.candidate import Candidate
from callsheet.policy.retention import due
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.settings import Retention
from callsheet.runtime.admitting import Admitting
from callsheet.runtime.deciding import settled
from callsheet.runtime.seeing import Sight, sight
from callsheet.runtime.session import Session, View
from callsheet.runtime.unseen import Visible, unseen

_KINDS = ("message", "artifact", "tool_memory")

_AT_A_TIME = 512
"""Records judged at once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DueRecord:
    """One record for which retention is due."""

    record: RecordId
    #: The tag of its body, such as ``artifact``.
    kind: str
    #: What was done with it so far, and what is to be done.
    held: Retention
    action: Retention
    #: Which rule says so.
    rule: str
    #: Since when it is there.
    recorded: Instant


def retention(session: Session, view: View, policy: PolicySetDocument, now: Instant) -> tuple[DueRecord, ...]:
    """See `Conversation.retention`. What is held already in the form that is due is not listed."""
    return tuple(_due(sight(session, view), policy, now))


def _due(seen: Sight, policy: PolicySetDocument, now: Instant) -> Iterator[DueRecord]:
    session, key = seen.session, seen.session.conversation.key
    hidden = unseen(session.ledger, key, seen.lineage, seen.shows)
    visible = Visible(ledger=session.ledger, key=key, lineage=seen.lineage, shows=seen.shows, hidden=hidden)
    pinned = visible.states((StateField.PINNED,))[StateField.PINNED]
    query = NodeQuery(kinds=_KINDS, lineage=seen.lineage)
    records = [record for record in session.ledger.nodes(key, query) if seen.shows(record)]
    good = settled(record for record in records if record.header.kind == "artifact")
    for first in range(0, len(records), _AT_A_TIME):
        some = records[first : first + _AT_A_TIME]
        admitting = Admitting(seen=seen, policy=policy)
        admitting.look(some)
        for record in some:
            candidate = admitting.judged(record).candidate
            candidate = replace(_standing(candidate, record), pinned=record.id in pinned, resolved=record.id in good)
            found = due(candidate, record.header.at, now, policy)
            if found.action is not candidate.retention and not candidate.erased:
                yield DueRecord(
                    record=record.id,
                    kind=record.header.kind,
                    held=candidate.retention,
                    action=found.action,
                    rule=found.rule,
                    recorded=record.header.at,
                )


def _standing(candidate: Candidate, record: Record) -> Candidate:
    """The candidate with how its execution ended: what is not settled is kept."""
    body = record.body
    if not isinstance(body, ToolArtifact):
        return candidate
    call = CallStatus.OPEN if body.status in UNSETTLED else CallStatus.ANSWERED
    return replace(candidate, outcome=ArtifactStatus(body.status), call=call)
