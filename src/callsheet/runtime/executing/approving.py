"""What a person says to a call: that it may run, that it may not, what became of it, or that nobody waits for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypedDict

import msgspec

from callsheet.assemble.contents import text_of
from callsheet.errors import CallDecided, InvalidOption
from callsheet.graph.canonical import content_digest
from callsheet.graph.changes import Approval, CallAttempt, CallResolved
from callsheet.graph.effects import UNSETTLED
from callsheet.graph.enums import ArtifactStatus, AttemptPhase, CallStatus
from callsheet.graph.ids import RecordId
from callsheet.graph.times import to_datetime
from callsheet.graph.values import Digest
from callsheet.runtime.drafting import Drafting, Ran, text_bytes
from callsheet.runtime.executing import results
from callsheet.runtime.executing.claiming import note, refuse_taken
from callsheet.runtime.executing.finding import name_of, open_call, spawned
from callsheet.runtime.executing.standing import CallState, Standing, read_standings
from callsheet.runtime.session import Session, View
from callsheet.runtime.tail import KnownCall


@dataclass(frozen=True, kw_only=True, slots=True)
class ApprovalRequest:
    """A call that waits for a person's word."""

    call: RecordId
    #: The provider's id of the call.
    provider_id: str | None
    tool: str
    #: Exactly as the model wrote them, and their hash: an answer is bound to it.
    arguments: str = field(repr=False)
    digest: Digest
    #: When it was asked for.
    asked: datetime
    #: The assistant's message that asks.
    message: RecordId
    #: The name of the branch on which it waits; a sub-agent's has the sub-agent's name.
    branch: str = "main"
    #: The name of the participant whose call it is; None: nobody's in particular, or a sub-agent's.
    owner: str | None = None
    #: The name of the sub-agent whose call it is.
    child: str | None = None
    #: Where a word about it is recorded.
    view: View | None = field(default=None, repr=False)


def approvals(session: Session, view: View) -> tuple[ApprovalRequest, ...]:
    """The calls that wait for approval here, oldest first."""
    tail = session.tail(view, fresh=True)
    calls = tuple(tail.open.values())
    standings = read_standings(session.ledger, session.conversation.key, tail.lineage, calls)
    return tuple(
        ApprovalRequest(
            call=call.id,
            provider_id=call.body.provider_id,
            tool=call.body.tool,
            arguments=text_of(session.read(call.body.arguments)),
            digest=_digest(call),
            asked=to_datetime(standing.waiting.header.at),
            message=call.body.message,
            view=view,
            **_whose(session, view, call),
        )
        for call in calls
        for standing in (standings[call.id],)
        if standing.said is ArtifactStatus.AWAITING_APPROVAL
        and standing.approval is None
        and not standing.ran_elsewhere
        if standing.waiting is not None
    )


class _Whose(TypedDict):
    branch: str
    owner: str | None
    child: str | None


def _whose(session: Session, view: View, call: KnownCall) -> _Whose:
    branch, owner = name_of(session, view.branch), call.scope.owner
    if call.scope.sub_agent is not None:
        return _Whose(branch=branch, owner=None, child=name_of(session, spawned(session, view.branch)))
    return _Whose(branch=branch, owner=name_of(session, owner) if owner is not None else None, child=None)


def _digest(call: KnownCall) -> Digest:
    return call.body.arguments.digest or ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Word:
    """What somebody says to a call."""

    call: str
    by: str
    #: The arguments that the person saw, as text; None: they were not shown again.
    arguments: str | None = None
    reason: str = ""


def approve(session: Session, view: View, word: Word) -> RecordId:
    """Record that a call may run with exactly its arguments. Raises `CallDecided` for a second word."""
    return _decide(session, view, word, approved=True)


def refuse(session: Session, view: View, word: Word) -> RecordId:
    """Record that a call may not run, and the result that says so, as one. Raises `CallDecided` for a second word."""
    return _decide(session, view, word, approved=False)


def _decide(session: Session, view: View, word: Word, *, approved: bool) -> RecordId:
    made: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        call, standing, state = _standing(session, view, drafting, word)
        if standing.approval is not None:
            said = "approved" if standing.approval.approved else "refused"
            raise CallDecided(f"call {call.id} was {said} by {standing.approval.by} before; nothing was changed")
        if state not in (CallState.OPEN, CallState.ASKED):
            raise CallDecided(f"call {call.id} is {state.value}, so it is too late to decide on it; see `settle`")
        made[:] = [_approval(drafting, call, word, approved=approved)]
        if not approved:
            answer = results.refused(call.body, word.reason)
            drafting.answered(answer, ArtifactStatus.CANCELLED, _told(call, word, "refused"))

    session.tail(view, fresh=True)
    session.append(view, draft)
    return made[0]


def _standing(session: Session, view: View, drafting: Drafting, word: Word) -> tuple[KnownCall, Standing, CallState]:
    call = open_call(session, view, drafting.tail, word.call)
    if word.arguments is not None and content_digest(text_bytes(word.arguments)) != call.body.arguments.digest:
        raise InvalidOption(f"call {call.id} has other arguments than these; nothing was decided")
    standings = read_standings(drafting.ledger, drafting.stream, drafting.tail.lineage, (call,))
    standing = standings[call.id]
    return call, standing, standing.state(drafting.at)


def _approval(drafting: Drafting, call: KnownCall, word: Word, *, approved: bool) -> RecordId:
    body = Approval(call=call.id, approved=approved, arguments=_digest(call), by=word.by)
    scope = msgspec.structs.replace(call.scope, branch=drafting.tail.branch)
    return drafting.add(body, kind="approval", scope=scope)


def _told(call: KnownCall, word: Word, how: str) -> Ran:
    said: Mapping[str, str] = {how: word.by} | ({"reason": word.reason} if word.reason else {})
    return Ran(call=call, metadata=msgspec.json.encode(said))


# --------------------------------------------------------------------------- what became of it


def settle(session: Session, view: View, word: Word, result: object, status: ArtifactStatus) -> RecordId:
    """Record what somebody found out about a call as its result. Returns the artifact's id."""
    if status in UNSETTLED:
        raise InvalidOption(f"status is {status.value!r}; what settles a call is final")
    made: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        call, standing, state = _standing(session, view, drafting, word)
        refuse_taken([standing] if state is CallState.TAKEN else [])
        answer, written = results.returned(call.body, result)
        if written is not ArtifactStatus.OK:
            raise InvalidOption(f"result is a {type(result).__name__} that cannot be written as JSON")
        if standing.attempt is not None and standing.attempt.phase is AttemptPhase.STARTED:
            _close(drafting, call, standing.attempt, status)
        made[:] = [drafting.answered(answer, status, _told(call, word, "settled"))]

    session.tail(view, fresh=True)
    session.append(view, draft)
    return made[0]


def repeat(session: Session, view: View, word: Word) -> RecordId:
    """Record that a call whose outcome is unknown may run once more. Returns the approval's id."""
    made: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        call, standing, state = _standing(session, view, drafting, word)
        if state is not CallState.UNKNOWN:
            raise CallDecided(f"call {call.id} is {state.value}; only one whose outcome is unknown can be repeated")
        if standing.attempt is not None and standing.attempt.phase is AttemptPhase.STARTED:
            _close(drafting, call, standing.attempt, ArtifactStatus.UNKNOWN)
        made[:] = [_approval(drafting, call, word, approved=True)]

    session.tail(view, fresh=True)
    session.append(view, draft)
    return made[0]


def give_up(session: Session, view: View, word: Word) -> RecordId:
    """Record that nobody waits for a call any more, and the result that says so, as one. Returns the record's id."""
    made: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        call, standing, state = _standing(session, view, drafting, word)
        refuse_taken([standing] if state is CallState.TAKEN else [])
        reason = f"given up by {word.by}{': ' if word.reason else ''}{word.reason}"
        answer = results.given_up(
            call.body, word.by, word.reason, run=state not in (CallState.ASKED, CallState.APPROVED)
        )
        drafting.answered(answer, ArtifactStatus.CANCELLED, _told(call, word, "given_up"))
        body = CallResolved(call=call.id, status=CallStatus.ABANDONED, reason=reason)
        scope = msgspec.structs.replace(call.scope, branch=drafting.tail.branch)
        made[:] = [drafting.add(body, kind="call_resolved", scope=scope)]

    session.tail(view, fresh=True)
    session.append(view, draft)
    return made[0]


def _close(drafting: Drafting, call: KnownCall, attempt: CallAttempt, outcome: ArtifactStatus) -> None:
    ended = msgspec.structs.replace(
        attempt, phase=AttemptPhase.ENDED, outcome=outcome, finished=drafting.at, until=None
    )
    note(drafting, call, ended)
