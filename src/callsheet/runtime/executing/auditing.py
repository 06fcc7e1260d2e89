"""What was done for each call, read back: every attempt with its times and outcome, and who decided."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from callsheet.assemble.compose import text_of
from callsheet.graph.changes import Approval, CallAttempt
from callsheet.graph.enums import ArtifactStatus, AttemptPhase, CallStatus, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolCall
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """A person's word about a call."""

    approved: bool
    by: str
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class CallRecord:
    """A call and all that was done for it."""

    call: RecordId
    #: The provider's id of the call.
    provider_id: str | None
    tool: str
    #: As the model wrote them.
    arguments: str
    state: CallState
    attempts: tuple[Attempt, ...]
    decisions: tuple[Decision, ...]


def executions(session: Session, view: View) -> tuple[CallRecord, ...]:
    """Every call of a view that was executed, decided on, or is open: those that are settled first, then by age."""
    tail = session.tail(view, fresh=True)
    query = NodeQuery(kinds=("call_attempt", "approval"), lineage=tail.lineage)
    records = [
        record
        for record in session.ledger.nodes(session.conversation.key, query)
        if hidden_from(record.header.scope, view.participant, view.carries.sub_agent) is None
    ]
    told: dict[RecordId, list[Record]] = {}
    for record in records:
        if isinstance(record.body, CallAttempt | Approval):
            told.setdefault(record.body.call, []).append(record)
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
        decisions=tuple(
            Decision(approved=record.body.approved, by=record.body.by, at=to_datetime(record.header.at))
            for record in told
            if isinstance(record.body, Approval)
        ),
    )


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
    )


def _time(moment: Instant | None) -> datetime | None:
    return to_datetime(moment) if moment is not None else None
