"""How open calls stand: what was asked, decided and begun so far, read from the records of one branch.

open ── needs approval ──> asked ──> approved        refused: answered, never run
  └──────────────┬──────────────────────┘
              claimed ──> started ──> ended: answered, or begun again where that does no harm
                 │           └── its process is gone ──> unknown ── looked up, told, approved again, given up
                 └── its process is gone, or it let go: open as before
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from callsheet.graph.changes import Approval, CallAttempt
from callsheet.graph.cut import Lineage, Segment, alone
from callsheet.graph.enums import ArtifactStatus, AttemptPhase, Relation, StateField
from callsheet.graph.ids import ROOT_BRANCH, RecordId
from callsheet.graph.nodes import ToolArtifact
from callsheet.graph.ports import Ledger
from callsheet.graph.query import LinkQuery, StateQuery
from callsheet.graph.record import Record, StreamKey
from callsheet.graph.times import Instant
from callsheet.runtime.executing import holding
from callsheet.runtime.tail import KnownCall, branches


class CallState(StrEnum):
    """Where a call stands."""

    #: Nothing was done, or whoever took it on let it go before it began.
    OPEN = "open"
    #: A person is asked.
    ASKED = "asked"
    APPROVED = "approved"
    #: A living process has it.
    TAKEN = "taken"
    #: It began, and its process is gone: it may or may not have taken effect.
    UNKNOWN = "unknown"
    #: An attempt failed, and its process is gone before it tried again.
    FAILED = "failed"
    #: Someone else works on it: a result that is not final says so.
    ELSEWHERE = "elsewhere"
    ANSWERED = "answered"
    ABANDONED = "abandoned"


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """What the records say of one open call."""

    #: The newest word about its execution.
    attempt: CallAttempt | None = None
    #: Position of the newest record about its execution; 0: there is none.
    attempted: int = 0
    #: Bound to exactly its arguments; one for others does not count.
    approval: Approval | None = None
    decided: int = 0
    #: The newest result that is not final.
    waiting: Record | None = None
    #: Whether `attempt` stands on a branch of which nothing else is seen here: see `_begun_elsewhere`.
    elsewhere: bool = False

    @property
    def ran_elsewhere(self) -> bool:
        """Whether it was begun on a branch of which nothing else is seen here."""
        return self.elsewhere and self.attempt is not None and self.attempt.phase is not AttemptPhase.CLAIMED

    @property
    def approved(self) -> bool:
        """Whether a person said that it may run, or run again, and it has not begun since."""
        began = self.attempt is not None and self.attempt.phase in (AttemptPhase.STARTED, AttemptPhase.ENDED)
        granted = self.approval is not None and self.approval.approved
        return granted and (not began or self.decided > self.attempted)

    @property
    def said(self) -> ArtifactStatus | None:
        """The status of the newest result that is not final."""
        body = self.waiting.body if self.waiting is not None else None
        return body.status if isinstance(body, ToolArtifact) else None

    def state(self, now: Instant, lease: RecordId | None = None) -> CallState:
        """Where the call stands at this time, for the holder of a lease."""
        attempt = self.attempt
        if attempt is not None and attempt.phase is not AttemptPhase.RELEASED:
            if _alive(attempt, now) and attempt.lease != lease:
                return CallState.TAKEN
            if not self.approved and attempt.phase is AttemptPhase.STARTED:
                return CallState.UNKNOWN
            if not self.approved and self.ran_elsewhere:
                return CallState.UNKNOWN
            if not self.approved and attempt.phase is AttemptPhase.ENDED:
                return CallState.UNKNOWN if attempt.outcome is ArtifactStatus.UNKNOWN else CallState.FAILED
        if self.approved:
            return CallState.APPROVED
        match self.said:
            case ArtifactStatus.UNKNOWN:
                return CallState.UNKNOWN
            case ArtifactStatus.AWAITING_APPROVAL:
                return CallState.ASKED
            case None:
                return CallState.OPEN
            case _:
                return CallState.ELSEWHERE


def _alive(attempt: CallAttempt, now: Instant) -> bool:
    """Whether an execution is going on: its holder is not known to be gone, and its time is not over."""
    return attempt.until is not None and now <= attempt.until and not holding.gone(attempt.holder)


def read_standings(
    ledger: Ledger, key: StreamKey, lineage: Lineage, calls: Sequence[KnownCall]
) -> Mapping[RecordId, Standing]:
    """The standing of each of these calls along a lineage."""
    if not calls:
        return {}
    ids = tuple(call.id for call in calls)
    attempts = _attempts(ledger, key, lineage, ids)
    others = _begun_elsewhere(ledger, key, lineage, [id for id in ids if not _begun(attempts.get(id))])
    approvals = ledger.states(key, StateQuery(field=StateField.APPROVAL, targets=ids, lineage=lineage))
    decided = {row.target: _at(ledger, key, row.from_pos) for row in approvals}
    waiting = _waiting(ledger, key, lineage, ids)
    return {
        call.id: _standing(
            call,
            others.get(call.id, attempts.get(call.id)),
            decided.get(call.id),
            waiting.get(call.id),
            elsewhere=call.id in others,
        )
        for call in calls
    }


def _attempts(ledger: Ledger, key: StreamKey, lineage: Lineage, ids: Sequence[RecordId]) -> dict[RecordId, Record]:
    """By call: the newest record about its execution along a lineage."""
    query = StateQuery(field=StateField.EXECUTION, targets=tuple(ids), lineage=lineage)
    newest = {RecordId(row.target): RecordId(row.value) for row in ledger.states(key, query) if row.value}
    records = {record.id: record for record in ledger.get(key, tuple(newest.values()))} if newest else {}
    return {call: records[id] for call, id in newest.items() if id in records}


def _begun(attempt: Record | None) -> bool:
    body = attempt.body if attempt is not None else None
    return isinstance(body, CallAttempt) and body.phase in (AttemptPhase.STARTED, AttemptPhase.ENDED)


def _begun_elsewhere(
    ledger: Ledger, key: StreamKey, lineage: Lineage, ids: Sequence[RecordId]
) -> dict[RecordId, Record]:
    """By call: a record beyond this lineage by which it was begun, or else taken on, where that has effects.

    A branch sees nothing of what its siblings do. But what a call does outside is done once for all of them, and a
    person's word that it may run is for one run.
    """
    known = {ROOT_BRANCH, *branches(ledger, key)} if ids else set()
    if len(known) < 2:
        return {}
    head = ledger.head(key)
    upto = head.position if head is not None else 0
    everywhere = Lineage(segments=tuple(Segment(branch=one, upto=upto) for one in sorted(known)), upto=upto)
    touched = _attempts(ledger, key, everywhere, ids)
    found: dict[RecordId, Record] = {}
    for branch in sorted(known) if touched else ():
        for id, record in _attempts(ledger, key, alone(branch, upto), tuple(touched)).items():
            if lineage.sees(record.branch, record.position) or not _affects(record):
                continue
            if id not in found or _weight(found[id]) < _weight(record):
                found[id] = record
    return found


def _weight(attempt: Record) -> tuple[bool, int]:
    return _begun(attempt), attempt.position


def _affects(attempt: Record) -> bool:
    """Whether it may have done something outside, or is about to, that must not be done twice."""
    body = attempt.body
    if not isinstance(body, CallAttempt) or body.repeatable or not body.side_effects:
        return False
    return body.started is not None or body.phase in (AttemptPhase.CLAIMED, AttemptPhase.STARTED)


def _standing(
    call: KnownCall, attempt: Record | None, approval: Record | None, waiting: Record | None, *, elsewhere: bool
) -> Standing:
    begun = attempt.body if attempt is not None else None
    said = approval.body if approval is not None else None
    bound = isinstance(said, Approval) and said.arguments == call.body.arguments.digest
    return Standing(
        attempt=begun if isinstance(begun, CallAttempt) else None,
        attempted=attempt.position if attempt is not None else 0,
        approval=said if bound and isinstance(said, Approval) else None,
        decided=approval.position if approval is not None else 0,
        waiting=waiting,
        elsewhere=elsewhere,
    )


def _at(ledger: Ledger, key: StreamKey, position: int) -> Record:
    (record,) = ledger.records(key, after=position - 1, upto=position)
    return record


def _waiting(ledger: Ledger, key: StreamKey, lineage: Lineage, calls: tuple[RecordId, ...]) -> dict[str, Record]:
    links = ledger.links(key, LinkQuery(relation=Relation.ANSWERS, targets=calls, lineage=lineage))
    records = {record.id: record for record in ledger.get(key, tuple(link.source for link in links))} if links else {}
    return {link.target: records[link.source] for link in links if link.source in records}  # the newest comes last
