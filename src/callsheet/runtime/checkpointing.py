"""Checkpoints: the runtime state to go on from, as a record. They restore state, not messages."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from callsheet.errors import NotFound
from callsheet.graph.effects import UNSETTLED
from callsheet.graph.enums import ArtifactStatus, CallStatus, RunStatus
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ContinuationCheckpoint, PolicyDecision, ToolArtifact
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.graph.times import Instant
from callsheet.graph.values import Digest, RetryContract
from callsheet.policy.candidate import Candidate
from callsheet.policy.recovery import RetryVerdict, retry
from callsheet.runtime.children import Child, children
from callsheet.runtime.deciding import settled
from callsheet.runtime.drafting import Drafting
from callsheet.runtime.options import label
from callsheet.runtime.resolving import resolve
from callsheet.runtime.seeing import Sight, newest_sheet, sight
from callsheet.runtime.session import Session, View
from callsheet.runtime.tail import unanswered

_LOOKED_AT = 256
"""Results, the newest of the view, among which those that failed and were not made good are looked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Failed:
    """A result that is no success and that nothing has made good."""

    artifact: RecordId
    call: RecordId | None
    tool: str | None
    status: ArtifactStatus
    retry: RetryContract | None
    #: What may be done about it as of now, by these terms.
    may: RetryVerdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """What a checkpoint restores, and what has become of it since."""

    id: RecordId
    reason: str = field(repr=False)
    #: The run that was on.
    run: RecordId | None
    #: Calls that were open then: those that still are, and those that have their result or were given up since.
    open_calls: tuple[RecordId, ...]
    settled_calls: tuple[RecordId, ...]
    #: Failed and deferred results that are still to be dealt with.
    failed: tuple[Failed, ...]
    skill_state: RecordId | None
    batch: RecordId | None
    #: The sub-agents that were waited for, as they stand now.
    children: tuple[Child, ...]
    #: The sheet to go on from.
    sheet: RecordId | None
    references: tuple[RecordId, ...]

    @property
    def waits(self) -> bool:
        """Whether something is still open: a call, or a sub-agent."""
        return bool(self.open_calls) or any(child.status is RunStatus.STARTED for child in self.children)


def checkpoint(session: Session, view: View, *, reason: str, references: Sequence[str], batch: str | None) -> RecordId:
    """Record what there is to go on from, and return its id. Raises `NotFound` for a reference that is not there."""
    seen = sight(session, view)
    wanted = tuple(resolve(seen, label(one, "a reference")).id for one in references)
    sheet = newest_sheet(session, view)
    ids: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        waited = [child for child in children(session, view) if batch is None or child.batch == batch]
        failed = _failed(seen)
        body = ContinuationCheckpoint(
            run=_newest(seen, "run"),
            open_calls=tuple(drafting.tail.open),
            retries=tuple((one.call or one.artifact, one.retry) for one in failed if one.retry is not None),
            skill_state=_newest(seen, "skill_state"),
            batch=RecordId(batch) if batch is not None else None,
            children=tuple(child.id for child in waited),
            sheets=(sheet.id,) if sheet is not None else (),
            references=wanted,
            reason=reason,
        )
        ids[:] = [drafting.add(body, kind="checkpoint", scope=drafting.private(None))]

    session.append(view, draft)
    return ids[0]


def resume(session: Session, view: View, id: str, policy_set: Digest) -> Checkpoint:
    """What a checkpoint restores as of now; that it was taken up again is recorded as a decision of recovery."""
    found = read(session, view, id)
    verdict = "waits" if found.waits else "continues"

    def draft(drafting: Drafting) -> None:
        governs = (found.id, *found.open_calls, *(one.artifact for one in found.failed))
        decision = PolicyDecision(kind="recovery", verdict=verdict, policy_set=policy_set, governs=governs)
        drafting.add(decision, kind="decision")

    session.append(view, draft)
    return found


def read(session: Session, view: View, id: str) -> Checkpoint:
    """A checkpoint of this view and what has become of what it waits for. Raises `NotFound`."""
    seen = sight(session, view)
    record = seen.get(RecordId(label(id, "checkpoint")))
    body = record.body if record is not None else None
    if record is None or not isinstance(body, ContinuationCheckpoint):
        raise NotFound(f"no checkpoint {id!r} on this branch of conversation {session.conversation.name!r}")
    still = _still_open(seen, body.open_calls)
    known = {child.id: child for child in children(session, view)}
    return Checkpoint(
        id=record.id,
        reason=body.reason,
        run=body.run,
        open_calls=tuple(call for call in body.open_calls if call in still),
        settled_calls=tuple(call for call in body.open_calls if call not in still),
        failed=_failed(seen),
        skill_state=body.skill_state,
        batch=body.batch,
        children=tuple(known[child] for child in body.children if child in known),
        sheet=body.sheets[-1] if body.sheets else None,
        references=body.references,
    )


def checkpoints(session: Session, view: View) -> list[RecordId]:
    """The checkpoints that this view may go on from, oldest first."""
    seen = sight(session, view)
    query = NodeQuery(kinds=("checkpoint",), lineage=seen.lineage)
    return [record.id for record in session.ledger.nodes(session.conversation.key, query) if seen.shows(record)]


def _still_open(seen: Sight, calls: Sequence[RecordId]) -> frozenset[str]:
    session = seen.session
    waiting = unanswered(session.ledger, session.conversation.key, seen.lineage, seen.shows) if calls else ()
    return frozenset(calls).intersection(waiting)


def _newest(seen: Sight, kind: str) -> RecordId | None:
    query = NodeQuery(kinds=(kind,), lineage=seen.lineage, newest=True, limit=8)
    session = seen.session
    for record in reversed(session.ledger.nodes(session.conversation.key, query)):
        if seen.shows(record):
            return record.id
    return None


def _failed(seen: Sight) -> tuple[Failed, ...]:
    query = NodeQuery(kinds=("artifact",), lineage=seen.lineage, newest=True, limit=_LOOKED_AT)
    session = seen.session
    shown = [one for one in session.ledger.nodes(session.conversation.key, query) if seen.shows(one)]
    good = settled(shown)
    return tuple(
        _failure(record, record.body, session.clock.now())
        for record in shown
        if isinstance(record.body, ToolArtifact)
        and record.body.status not in (ArtifactStatus.OK, ArtifactStatus.PARTIAL)
        and record.id not in good
    )


def _failure(record: Record, body: ToolArtifact, now: Instant) -> Failed:
    call = CallStatus.OPEN if body.status in UNSETTLED else CallStatus.ANSWERED
    stands = Candidate(record=record.id, kind="artifact", call=call, outcome=body.status, retry=body.retry)
    return Failed(
        artifact=record.id,
        call=body.call,
        tool=body.tool,
        status=body.status,
        retry=body.retry,
        may=retry(stands, body.finished or record.header.at, now),
    )
