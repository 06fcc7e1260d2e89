"""Taking calls on: which may run, which need a person first, which cannot run; decided and recorded as one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from callsheet.assemble import blocks
from callsheet.assemble.contents import Read
from callsheet.errors import CallTaken
from callsheet.graph.changes import CallAttempt
from callsheet.graph.enums import ArtifactStatus, AttemptPhase, Defect, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message
from callsheet.graph.query import NodeQuery
from callsheet.graph.times import Instant, isoformat
from callsheet.policy.contracts import ToolContract
from callsheet.policy.visibility import hidden_from
from callsheet.runtime.drafting import Drafting, Ran
from callsheet.runtime.executing import holding, results
from callsheet.runtime.executing.arguments import read_arguments
from callsheet.runtime.executing.job import RESUMED, Job, Outcome
from callsheet.runtime.executing.results import Catching
from callsheet.runtime.executing.standing import CallState, Standing, read_standings
from callsheet.runtime.executing.tool import Tool
from callsheet.runtime.tail import KnownCall

GRACE = 60.0
"""Seconds beyond its longest run for which a lease holds."""

_MICROSECONDS = 1_000_000

_NOT_BEGUN = (CallState.OPEN, CallState.ASKED, CallState.APPROVED)

_ELSEWHERE = "a result that is not final says that it is worked on elsewhere"
_PASSED_OVER = "the conversation went on without it; it runs if it is approved, or named in calls="
_WAITS = "it waits for a person's approval"
_NOBODY_KNOWS = "it was begun and interrupted; settle it, repeat it or give it up"


@dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    """The right of one execution to run the calls that it took on."""

    id: RecordId
    holder: str

    def attempt(self, job: Job, phase: AttemptPhase, until: Instant | None = None) -> CallAttempt:
        """The record of how far an attempt has come."""
        keyed = job.contract.idempotency_key is not None
        return CallAttempt(
            call=job.call.id,
            phase=phase,
            attempt=job.attempts,
            lease=self.id,
            holder=self.holder,
            until=until,
            arguments=job.call.body.arguments.digest,
            side_effects=job.contract.effectful,
            repeatable=job.contract.repeatable,
            idempotency_key=job.key if keyed else None,
            started=job.started,
        )


def note(drafting: Drafting, call: KnownCall, attempt: CallAttempt) -> RecordId:
    """Draft what happened to an execution; it belongs to whoever the call belongs to."""
    return drafting.add(attempt, kind="call_attempt", scope=replace(call.scope, branch=drafting.tail.branch))


@dataclass(kw_only=True)
class Claiming:
    """Looks through the open calls of a branch."""

    tools: Mapping[str, Tool[..., object]]
    contracts: Mapping[str, ToolContract]
    lease: Lease
    read: Read
    #: The calls that sub-agents work on, with their names, as it is when the calls are taken on.
    handed: Callable[[], Mapping[RecordId, str]]
    #: Whether a request offered the tool of a call.
    offered: Callable[[KnownCall], bool]
    #: Whether the request that a call answers did not offer its tool.
    withdrawn: Callable[[KnownCall], bool]
    #: Whether a call is of a tool of our own: it is answered elsewhere.
    own: Callable[[KnownCall], bool]
    #: The tools that a sub-agent's brief allows; None: any.
    allowed: frozenset[str] | None = None
    #: None: all that may run by themselves.
    wanted: frozenset[RecordId] | None = None
    jobs: list[Job] = field(default_factory=list)
    outcomes: dict[RecordId, Outcome] = field(default_factory=dict)
    _claimed: list[tuple[Job, AttemptPhase]] = field(default_factory=list)

    def draft(self, drafting: Drafting) -> None:
        """Take on what may run and record what cannot; all or nothing.

        Raises `CallTaken` where another execution has one of the calls.
        """
        self.jobs, self.outcomes, self._claimed = [], {}, []
        calls = [call for call in drafting.tail.open.values() if self._concerns(call)]
        standings = read_standings(drafting.ledger, drafting.stream, drafting.tail.lineage, calls)
        states = {id: standing.state(drafting.at, self.lease.id) for id, standing in standings.items()}
        passed = _PassedOver(drafting=drafting)
        handed = self.handed() if calls else {}
        if self.wanted is None:
            calls = [call for call in calls if states[call.id] is not CallState.TAKEN or not passed(call)]
        refuse_taken([standings[call.id] for call in calls if states[call.id] is CallState.TAKEN])
        for call in calls:
            if call.id in handed:
                working = f"sub-agent {handed[call.id]!r} works on it"
                self._leave(call, standings[call.id].said or ArtifactStatus.PENDING, standings[call.id], working)
                continue
            named = self.wanted is not None or not passed(call)
            self._look(drafting, call, standings[call.id], states[call.id], named=named)
        seconds = sum(job.longest for job in self.jobs) + GRACE
        until = Instant(drafting.at + round(seconds * _MICROSECONDS))
        for job, phase in self._claimed:
            note(drafting, job.call, self.lease.attempt(job, phase, until))

    def _concerns(self, call: KnownCall) -> bool:
        if self.own(call):
            return False
        return self.wanted is None or call.id in self.wanted

    def _look(self, drafting: Drafting, call: KnownCall, standing: Standing, state: CallState, *, named: bool) -> None:
        tool = self.tools.get(call.body.tool)
        contract = self.contracts[tool.name] if tool is not None else None
        free = named or (contract is not None and (state is CallState.APPROVED or contract.repeatable))
        if state is CallState.ELSEWHERE or (state in _NOT_BEGUN and not free):
            why = _ELSEWHERE if state is CallState.ELSEWHERE else _PASSED_OVER
            self._leave(call, standing.said or ArtifactStatus.PENDING, standing, why)
        elif tool is None or contract is None:
            self._without_tool(drafting, call, standing, state)
        elif state is CallState.OPEN and standing.attempt is None and self.withdrawn(call):
            offered = tuple(name for name in sorted(self.tools) if name != call.body.tool)
            self._settle(drafting, call, results.unavailable(call.body, offered), "ToolNotAvailable")
        else:
            cut_off = Defect.CUT_OFF_ARGUMENTS in call.body.defects
            read = read_arguments(tool, self.read(call.body.arguments), cut_off=cut_off)
            if isinstance(read, str):
                self._settle(drafting, call, results.said(call.body, read), "InvalidArguments")
                return
            job = Job(call=call, tool=tool, contract=contract, arguments=read, attempts=_attempts(standing))
            self._decide(drafting, job, standing, state)

    def _without_tool(self, drafting: Drafting, call: KnownCall, standing: Standing, state: CallState) -> None:
        """A tool that no request offered, or no brief allows, never runs. One that is only not at hand leaves its call
        open.

        What it did before it was taken away stays unknown.
        """
        if state is CallState.UNKNOWN:
            self._unknown(drafting, call, standing, ())
        elif state is not CallState.OPEN or standing.attempt is not None or self._may(call):
            why = f"the tool {call.body.tool!r} is not among those given here; the call waits for one"
            self._leave(call, standing.said or ArtifactStatus.PENDING, standing, why)
        else:
            offered = tuple(sorted(self.tools))
            self._settle(drafting, call, results.unavailable(call.body, offered), "ToolNotAvailable")

    def _may(self, call: KnownCall) -> bool:
        """Whether the tool of a call, which is not at hand here, is one that the view may use."""
        return (self.allowed is None or call.body.tool in self.allowed) and self.offered(call)

    def _decide(self, drafting: Drafting, job: Job, standing: Standing, state: CallState) -> None:
        call, contract = job.call, job.contract
        if state is CallState.UNKNOWN and not contract.repeatable:
            if job.tool.reconcile is None:
                self._unknown(drafting, call, standing, contract.recheck or ())
                return
            job.lookup = True
            if standing.waiting is not None and standing.said is ArtifactStatus.UNKNOWN:
                job.unknown = standing.waiting.id
            # Until it has been looked up it stays what it is: begun, without an end.
            self._take(job, AttemptPhase.STARTED)
        elif state in (CallState.UNKNOWN, CallState.FAILED) and job.attempts >= (contract.attempts or RESUMED):
            self._settle(drafting, call, results.worn_out(call.body, job.attempts), "Interrupted", job)
        elif state is not CallState.APPROVED and _asks(job) and standing.approval is None:
            if state is CallState.ASKED and standing.waiting is not None:
                self._leave(call, ArtifactStatus.AWAITING_APPROVAL, standing, _WAITS)
            else:
                asked = blocks.Answer(call=call.body.provider_id, tool=call.body.tool, wire=call.body.wire)
                self._record(drafting, job.call, asked, ArtifactStatus.AWAITING_APPROVAL)
        else:
            self._take(job, AttemptPhase.CLAIMED)

    def _take(self, job: Job, phase: AttemptPhase) -> None:
        self.jobs.append(job)
        self._claimed.append((job, phase))

    def _leave(self, call: KnownCall, status: ArtifactStatus, standing: Standing, reason: str = "") -> None:
        self.outcomes[call.id] = Outcome(
            call=call.id,
            provider_id=call.body.provider_id,
            tool=call.body.tool,
            status=status,
            artifact=standing.waiting.id if standing.waiting is not None else None,
            attempts=_attempts(standing),
            reason=reason,
        )

    def _unknown(self, drafting: Drafting, call: KnownCall, standing: Standing, recheck: tuple[str, ...]) -> None:
        """Record once that nobody knows what became of it."""
        if standing.said is ArtifactStatus.UNKNOWN:
            self._leave(call, ArtifactStatus.UNKNOWN, standing, _NOBODY_KNOWS)
            return
        if (attempt := standing.attempt) is not None:
            ended = replace(attempt, phase=AttemptPhase.ENDED, outcome=ArtifactStatus.UNKNOWN, until=None)
            note(drafting, call, ended)
        answer = results.unknown(call.body, recheck, elsewhere=standing.ran_elsewhere)
        self._record(drafting, call, answer, ArtifactStatus.UNKNOWN, _attempts(standing))

    def _settle(
        self, drafting: Drafting, call: KnownCall, answer: blocks.Answer, error: str, job: Job | None = None
    ) -> None:
        """Answer a call that cannot run."""
        ended = CallAttempt(
            call=call.id,
            phase=AttemptPhase.ENDED,
            attempt=job.attempts if job is not None else 0,
            lease=self.lease.id,
            holder=self.lease.holder,
            arguments=call.body.arguments.digest,
            side_effects=False if job is None else job.contract.effectful,
            finished=drafting.at,
            outcome=ArtifactStatus.FAILED,
            error=error,
        )
        note(drafting, call, ended)
        self._record(drafting, call, answer, ArtifactStatus.FAILED, ended.attempt)

    def _record(
        self, drafting: Drafting, call: KnownCall, answer: blocks.Answer, status: ArtifactStatus, attempts: int = 0
    ) -> None:
        artifact = drafting.answered(answer, status, Ran(call=call))
        self.outcomes[call.id] = Outcome(
            call=call.id,
            provider_id=call.body.provider_id,
            tool=call.body.tool,
            status=status,
            artifact=artifact,
            attempts=attempts,
        )


def _attempts(standing: Standing) -> int:
    return standing.attempt.attempt if standing.attempt is not None else 0


def _asks(job: Job) -> bool:
    """Whether a person is to be asked; where the tool's own question fails, one is."""
    if job.contract.needs_approval:
        return True
    if job.tool.asks is None:
        return False
    caught = Catching()
    with caught:
        return bool(job.tool.asks(dict(job.arguments)))
    return True


def refuse_taken(taken: Sequence[Standing]) -> None:
    """Raise `CallTaken` if there are any: `taken` are the standings of calls that a living execution has."""
    attempts = [standing.attempt for standing in taken if standing.attempt is not None]
    if attempts:
        until = max(attempt.until or Instant(0) for attempt in attempts)
        host, _, rest = attempts[0].holder.partition(":")
        process = f"process {rest.partition(':')[0]} on {host.partition('/')[0]}"
        if attempts[0].holder == holding.holder():
            process = "another execution of this process"
        raise CallTaken(calls=tuple(attempt.call for attempt in attempts), holder=process, until=isoformat(until))


@dataclass(kw_only=True)
class _PassedOver:
    """Tells calls that the conversation went on without: later messages do not wait for them any more."""

    drafting: Drafting
    _known: dict[RecordId, bool] = field(default_factory=dict)

    def __call__(self, call: KnownCall) -> bool:
        asking = call.body.message
        if asking == self.drafting.tail.last_message:
            return False
        if asking not in self._known:
            self._known[asking] = self._followed(asking)
        return self._known[asking]

    def _followed(self, asking: RecordId) -> bool:
        """Whether the user, or whoever asked, has said something since."""
        drafting = self.drafting
        found = drafting.ledger.get(drafting.stream, (asking,))
        if not found:
            return True
        owner = found[0].header.scope.owner
        query = NodeQuery(kinds=("message",), lineage=drafting.tail.lineage, after=found[0].position)
        return any(
            isinstance(record.body, Message)
            and (record.body.role is Role.USER or record.header.scope.owner == owner)
            and hidden_from(record.header.scope, drafting.participant, drafting.carries.sub_agent) is None
            for record in drafting.ledger.nodes(drafting.stream, query)
        )
