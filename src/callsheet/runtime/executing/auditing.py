"""What was done for each call, read back: every attempt with its times and outcome, and who said what."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from callsheet.assemble.contents import text_of
from callsheet.graph.changes import Approval, CallAttempt, CallResolved
from callsheet.graph.enums import ArtifactStatus, AttemptPhase, CallStatus, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolArtifact, ToolCall
from callsheet.graph.query import NodeQuery, StateQuery
from callsheet.graph.record import Record
from callsheet.graph.times import Instant, to_datetime
from callsheet.policy.visibility import hidden_from
from callsheet.runtime.executing.standing import CallState, read_standings
from callsheet.runtime.session import Session, View
from callsheet.runtime.tail import KnownCall, Tail


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One step of an execution, as it was recorded."""

    #: From 1; 0 for what was decided before any began.
    number: int
    phase: AttemptPhase
    at: datetime
    started: datetime | None
    finished: datetime | None
    #: How it ended; None: it did not, or not yet.
    outcome: ArtifactStatus | None
    #: The class of the error.
    error: str
    #: The process, and the execution within it.
    holder: str
    lease: RecordId
    idempotency_key: str | None
    #: It does not run the tool: its reconcile function is asked what became of an earlier attempt. Until that is known
    #: the call stays ``started``, so this stands twice: when the call was taken on, and when the function was called.
    lookup: bool = False


class How(StrEnum):
    """What a person said of a call."""

    APPROVED = "approved"
    REFUSED = "refused"
    #: It may run once more, though it may have taken effect.
    REPEATED = "repeated"
    #: What became of it.
    SETTLED = "settled"
    #: Nobody waits for it.
    GIVEN_UP = "given_up"


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """A person's word about a call."""

    how: How
    by: str
    at: datetime
    #: Why, where that was said.
    reason: str = field(default="", repr=False)

    @property
    def approved(self) -> bool:
        """Whether it let the call run."""
        return self.how in (How.APPROVED, How.REPEATED)


@dataclass(frozen=True, kw_only=True, slots=True)
class CallRecord:
    """A call and all that was done for it."""

    call: RecordId
    #: The provider's id of the call.
    provider_id: str | None
    tool: str
    #: As the model wrote them.
    arguments: str = field(repr=False)
    state: CallState
    attempts: tuple[Attempt, ...]
    decisions: tuple[Decision, ...]


def executions(session: Session, view: View) -> tuple[CallRecord, ...]:
    """Every call of a view that was run, decided on, or is open: those that are settled first, then by age."""
    tail = session.tail(view, fresh=True)
    query = NodeQuery(kinds=("call_attempt", "approval", "call_resolved", "artifact"), lineage=tail.lineage)
    records = [
        record
        for record in session.ledger.nodes(session.conversation.key, query)
        if hidden_from(record.header.scope, view.participant, view.carries.sub_agent) is None
    ]
    told: dict[RecordId, list[Record]] = {}
    for record in records:
        call = _concerns(record)
        if call is not None:
            told.setdefault(call, []).append(record)
    past = [id for id in told if id not in tail.open]
    asked = session.ledger.get(session.conversation.key, past) if past else []
    calls = [
        KnownCall(id=record.id, body=record.body, scope=record.header.scope)
        for record in sorted(asked, key=lambda record: record.position)
        if isinstance(record.body, ToolCall)
    ] + list(tail.open.values())
    states = _states(session, tail, calls)
    return tuple(_call(session, call, told.get(call.id, ()), states[call.id]) for call in calls)


def _states(session: Session, tail: Tail, calls: Sequence[KnownCall]) -> dict[RecordId, CallState]:
    ids = tuple(call.id for call in calls)
    query = StateQuery(field=StateField.STATUS, targets=ids, lineage=tail.lineage)
    rows = session.ledger.states(session.conversation.key, query) if ids else []
    settled = {row.target: row.value for row in rows if row.value != CallStatus.OPEN}
    still = [call for call in calls if call.id not in settled]
    standings = read_standings(session.ledger, session.conversation.key, tail.lineage, still)
    now = session.clock.now()
    return {call.id: standings[call.id].state(now) for call in still} | {
        RecordId(id): CallState.ABANDONED if value == CallStatus.ABANDONED else CallState.ANSWERED
        for id, value in settled.items()
    }


def _call(session: Session, call: KnownCall, told: Sequence[Record], state: CallState) -> CallRecord:
    return CallRecord(
        call=call.id,
        provider_id=call.body.provider_id,
        tool=call.body.tool,
        arguments=text_of(session.read(call.body.arguments)),
        state=state,
        attempts=tuple(_attempt(record, record.body) for record in told if isinstance(record.body, CallAttempt)),
        decisions=tuple(_decisions(told)),
    )


def _concerns(record: Record) -> RecordId | None:
    """The call that a record says something of; a result counts where it tells what a person said."""
    body = record.body
    if isinstance(body, CallAttempt | Approval | CallResolved):
        return body.call
    return body.call if isinstance(body, ToolArtifact) and _word(body) is not None else None


def _word(body: ToolArtifact) -> tuple[str, str, str] | None:
    """What a person said, by whom and why, of a result that a person's word made."""
    if not body.metadata:
        return None
    said = json.loads(body.metadata)
    for how in (How.REFUSED, How.SETTLED, How.GIVEN_UP):
        if isinstance(said, dict) and isinstance(by := said.get(how.value), str):
            return how.value, by, str(said.get("reason", ""))
    return None


def _decisions(told: Sequence[Record]) -> Iterator[Decision]:
    """What people said of one call, in order. A refusal is recorded with its result, which has the reason."""
    begun = False
    for record in told:
        body, at = record.body, to_datetime(record.header.at)
        if isinstance(body, CallAttempt):
            begun = begun or body.phase is AttemptPhase.STARTED
        elif isinstance(body, Approval) and body.approved:
            yield Decision(how=How.REPEATED if begun else How.APPROVED, by=body.by, at=at)
        elif isinstance(body, ToolArtifact) and (word := _word(body)) is not None:
            how, by, reason = word
            yield Decision(how=How(how), by=by, at=at, reason=reason)


def _attempt(record: Record, body: CallAttempt) -> Attempt:
    return Attempt(
        number=body.attempt,
        phase=body.phase,
        at=to_datetime(record.header.at),
        started=_time(body.started),
        finished=_time(body.finished),
        outcome=body.outcome,
        error=body.error,
        holder=body.holder,
        lease=body.lease,
        idempotency_key=body.idempotency_key,
        lookup=body.phase is AttemptPhase.STARTED and body.started is None,
    )


def _time(moment: Instant | None) -> datetime | None:
    return to_datetime(moment) if moment is not None else None
