"""Carrying an execution out: starts attempts, at most so many at once, and records what comes of each.

Runs in the thread of the caller, which alone decides; the threads of tools only land. What was given up on and lands
later is recorded as late evidence by the thread that it ran in.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from callsheet.assemble import blocks
from callsheet.errors import NotApplied, StoreError
from callsheet.graph.changes import CallAttempt
from callsheet.graph.enums import ArtifactStatus, AttemptPhase, Defect, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.query import StateQuery
from callsheet.graph.times import Instant
from callsheet.graph.values import DEFAULT_PRIVACY
from callsheet.runtime.drafting import Drafting, Ran
from callsheet.runtime.executing import results
from callsheet.runtime.executing.claiming import GRACE, Claiming, Lease, note
from callsheet.runtime.executing.flight import Flight
from callsheet.runtime.executing.job import Job, Outcome
from callsheet.runtime.executing.pace import Pace
from callsheet.runtime.session import Session, View

POLL = 0.05
"""Seconds between two looks at whether the caller has cancelled."""

FOREVER = 3_600.0
"""Seconds that are waited at once where nothing limits the wait."""

_MICROSECONDS = 1_000_000


@dataclass(kw_only=True)
class Carrying:
    """One execution under way."""

    session: Session
    view: View
    lease: Lease
    pace: Pace
    parallel: int
    cancel: threading.Event | None = None
    #: Where async functions run; None: each on a loop of its own.
    loop: asyncio.AbstractEventLoop | None = None
    outcomes: dict[RecordId, Outcome] = field(default_factory=dict)
    _ready: deque[Job] = field(default_factory=deque)
    _waiting: list[tuple[float, Job]] = field(default_factory=list)
    _flights: list[Flight] = field(default_factory=list)

    def run(self, claiming: Claiming) -> Mapping[RecordId, Outcome]:
        """Take calls on and run them. Raises `CallTaken`; then nothing was started."""
        self.session.tail(self.view, fresh=True)
        self.session.append(self.view, claiming.draft)
        self.outcomes.update(claiming.outcomes)
        self._ready.extend(claiming.jobs)
        try:
            while self._ready or self._waiting or self._flights:
                if self.cancel is not None and self.cancel.is_set():
                    self._cancel()
                    break
                self._step()
        finally:
            self._let_go()
        return self.outcomes

    # ------------------------------------------------------------------ one step

    def _step(self) -> None:
        now = self.pace.now()
        due = [job for at, job in self._waiting if at <= now]
        self._waiting = [(at, job) for at, job in self._waiting if at > now]
        self._ready.extend(due)
        while self._ready and len(self._flights) < self.parallel:
            self._start(self._ready[0])  # stays among those to be let go of until it has begun
            self._ready.popleft()
        if self._ready and not self._flights:
            return
        until = min([flight.deadline for flight in self._flights] + [at for at, _ in self._waiting], default=now)
        seconds = min(max(0.0, until - self.pace.now()), FOREVER)
        if not self._flights:
            if self._waiting:
                self.pace.pause(seconds if self.cancel is None else min(seconds, POLL))
            return
        landed = self.pace.next(seconds if self.cancel is None else min(seconds, POLL))
        if landed is None:
            self._expire()
        elif isinstance(landed, Flight) and landed in self._flights:
            self._landed(landed)
            self._flights.remove(landed)

    def _start(self, job: Job) -> None:
        """Record that an attempt begins, then begin it; not where the call was settled or taken since."""
        begun: list[Instant] = []

        def draft(drafting: Drafting) -> None:
            begun.clear()
            if job.call.id not in drafting.tail.open or not self._holds(drafting, job):
                return
            until = Instant(drafting.at + round((job.limit + GRACE) * _MICROSECONDS))
            attempt = self.lease.attempt(job, AttemptPhase.STARTED, until)
            if not job.lookup:
                attempt = replace(attempt, attempt=job.attempts + 1, started=drafting.at)
            note(drafting, job.call, attempt)
            begun.append(drafting.at)

        self.session.append(self.view, draft)
        if not begun:
            self.outcomes[job.call.id] = _outcome(job, ArtifactStatus.PENDING, None)
            return
        if not job.lookup:
            job.attempts, job.started = job.attempts + 1, begun[0]
        reconcile = job.tool.reconcile if job.lookup else None
        flight = Flight(
            job=job,
            function=reconcile or job.tool.function,
            arguments=job.given(),
            landed=self.pace.landed,
            late=self._late,
            deadline=self.pace.now() + job.limit,
            started=begun[0],
            attempt=job.attempts,
            loop=self.loop,
            lookup=job.lookup,
        )
        self._flights.append(flight)
        flight.start()

    def _holds(self, drafting: Drafting, job: Job) -> bool:
        """Whether the newest word about the call's execution is still this lease's."""
        query = StateQuery(field=StateField.EXECUTION, targets=(job.call.id,), lineage=drafting.tail.lineage)
        rows = drafting.ledger.states(drafting.stream, query)
        found = drafting.ledger.get(drafting.stream, tuple(RecordId(row.value) for row in rows if row.value))
        return any(isinstance(record.body, CallAttempt) and record.body.lease == self.lease.id for record in found)

    # ------------------------------------------------------------------ what comes of it

    def _landed(self, flight: Flight) -> None:
        job, error = flight.job, flight.error
        if flight.lookup:
            self._looked_up(flight)
        elif error is None:
            answer, status = results.returned(job.call.body, flight.value)
            self._end(job, answer, status)
        else:
            job.failures += 1
            if job.again:
                self._again(job, ArtifactStatus.FAILED, type(error).__name__)
            else:
                answer = results.raised(job.call.body, error)
                self._end(job, answer, ArtifactStatus.FAILED, error=type(error).__name__)

    def _looked_up(self, flight: Flight) -> None:
        """What a reconcile function found: the result, that there was no effect, or nothing that helps."""
        job, error = flight.job, flight.error
        job.lookup = False
        if error is None:
            answer, status = results.returned(job.call.body, flight.value)
            if status is ArtifactStatus.OK:
                self._end(job, answer, status, metadata=b'{"reconciled":"looked up"}')
            else:
                # What cannot be read says nothing of what became of the call.
                kind = type(flight.value).__name__
                self._still_unknown(job, "NotJSON", f"its reconcile function returned a {kind} that is no JSON")
        elif isinstance(error, NotApplied):
            self._append(lambda drafting: self._free(drafting, job))
            self._ready.append(job)
        else:
            name = type(error).__name__
            self._still_unknown(job, name, f"its reconcile function raised {name}")

    def _free(self, drafting: Drafting, job: Job) -> None:
        if job.call.id in drafting.tail.open:
            until = Instant(drafting.at + round((job.limit + GRACE) * _MICROSECONDS))
            note(drafting, job.call, self.lease.attempt(job, AttemptPhase.CLAIMED, until))

    def _still_unknown(self, job: Job, error: str, reason: str) -> None:
        """It is asked about again by the next execution; that nobody knows is said once."""
        if job.unknown is None:
            answer = results.unknown(job.call.body, job.contract.recheck or ())
            self._end(job, answer, ArtifactStatus.UNKNOWN, error=error, reason=reason)
            return

        def draft(drafting: Drafting) -> None:
            if job.call.id in drafting.tail.open:
                ended = self.lease.attempt(job, AttemptPhase.ENDED)
                note(drafting, job.call, replace(ended, outcome=ArtifactStatus.UNKNOWN, error=error))

        self._append(draft)
        self.outcomes[job.call.id] = _outcome(job, ArtifactStatus.UNKNOWN, job.unknown, reason)

    def _expire(self) -> None:
        now = self.pace.now()
        for flight in [flight for flight in self._flights if flight.deadline <= now]:
            if not flight.give_up():
                continue  # it has just landed, and is told next
            self._flights.remove(flight)
            job = flight.job
            job.failures += 1
            if flight.lookup:
                job.lookup = False
                self._still_unknown(job, "TimedOut", f"its reconcile function took over {job.limit:g} seconds")
            elif job.again:
                self._again(job, ArtifactStatus.TIMED_OUT, "TimedOut")
            else:
                answer = results.timed_out(job.call.body, job.limit, effectful=job.contract.effectful)
                self._end(job, answer, ArtifactStatus.TIMED_OUT, error="TimedOut")

    def _again(self, job: Job, outcome: ArtifactStatus, error: str) -> None:
        seconds = job.pause

        def draft(drafting: Drafting) -> None:
            # The lease goes on until the next attempt.
            until = Instant(drafting.at + round((seconds + job.limit + GRACE) * _MICROSECONDS))
            ended = self.lease.attempt(job, AttemptPhase.ENDED, until)
            note(drafting, job.call, replace(ended, finished=drafting.at, outcome=outcome, error=error))

        self._append(draft)
        self._waiting.append((self.pace.now() + seconds, job))

    def _end(
        self,
        job: Job,
        answer: blocks.Answer,
        status: ArtifactStatus,
        *,
        error: str = "",
        metadata: bytes = b"",
        reason: str = "",
    ) -> None:
        """Record the result and the end of the attempt as one."""
        made: list[RecordId] = []

        def draft(drafting: Drafting) -> None:
            made[:] = [self._result(drafting, job, answer, status, error=error, metadata=metadata)]

        self._append(draft)
        self.outcomes[job.call.id] = _outcome(job, status, made[0], reason)

    def _result(
        self,
        drafting: Drafting,
        job: Job,
        answer: blocks.Answer,
        status: ArtifactStatus,
        *,
        error: str = "",
        metadata: bytes = b"",
        late: Flight | None = None,
    ) -> RecordId:
        settled = job.call.id not in drafting.tail.open
        ended = replace(self.lease.attempt(job, AttemptPhase.ENDED), finished=drafting.at, outcome=status, error=error)
        if late is not None:
            ended = replace(ended, attempt=late.attempt, started=late.started)
        note(drafting, job.call, ended)
        defects = (Defect.LATE_RESULT,) if late is not None or self.session.ended(self.view) else ()
        ran = Ran(
            call=job.call,
            started=job.started,
            retry=job.retry(),
            privacy=job.contract.privacy or DEFAULT_PRIVACY,
            metadata=metadata,
            defects=(*defects, Defect.REPEATED_RESULT) if settled else defects,
        )
        return drafting.answered(answer, status, ran)

    def _append(self, draft: Callable[[Drafting], object]) -> None:
        """Record what came of what was begun, also where the sub-agent that began it has ended since."""
        self.session.append(self.view, draft, late=True)

    # ------------------------------------------------------------------ ends that are no results

    def _late(self, flight: Flight) -> None:
        """Record what came after it was given up on. Where the store is closed by then, nobody can be told."""
        job, error = flight.job, flight.error
        if flight.lookup:
            return
        if error is None:
            answer, status = results.returned(job.call.body, flight.value)
        else:
            answer, status = results.raised(job.call.body, error), ArtifactStatus.FAILED

        def draft(drafting: Drafting) -> None:
            # While another attempt goes on, a failure of this one settles nothing.
            if error is None or job.let_go or job.call.id not in drafting.tail.open:
                name = type(error).__name__ if error is not None else ""
                self._result(drafting, job, answer, status, error=name, late=flight)

        try:
            self._append(draft)
        except StoreError:
            return

    def _cancel(self) -> None:
        """Answer what has not finished: what has not begun was not run, what runs is given up on."""
        for job in [*self._ready, *(job for _, job in self._waiting)]:
            self._cancelled(job, begun=job.attempts > 0)
        self._ready.clear()
        self._waiting.clear()
        for flight in tuple(self._flights):
            self._flights.remove(flight)
            if flight.give_up():
                self._cancelled(flight.job, begun=True)
            else:
                self._landed(flight)
        if self._ready or self._waiting:
            self._cancel()

    def _cancelled(self, job: Job, *, begun: bool) -> None:
        if job.lookup:
            self._still_unknown(job, "Cancelled", "the execution was cancelled while it was looked up")
            return
        answer = results.cancelled(job.call.body, begun=begun, effectful=job.contract.effectful)
        self._end(job, answer, ArtifactStatus.CANCELLED, error="Cancelled")

    def _let_go(self) -> None:
        """When the execution breaks off: what has not begun is free again; what runs records itself when it lands."""
        jobs = [*self._ready, *(job for _, job in self._waiting)]
        for flight in self._flights:
            flight.job.let_go = True
            if not flight.give_up():
                self._late(flight)
        self._flights = []
        if not jobs:
            return

        def draft(drafting: Drafting) -> None:
            for job in jobs:
                if job.call.id in drafting.tail.open and self._holds(drafting, job):
                    phase = AttemptPhase.STARTED if job.lookup else AttemptPhase.RELEASED
                    note(drafting, job.call, self.lease.attempt(job, phase))

        try:
            self._append(draft)
        except StoreError:
            return  # the lease runs out


def _outcome(job: Job, status: ArtifactStatus, artifact: RecordId | None, reason: str = "") -> Outcome:
    call = job.call
    return Outcome(
        call=call.id,
        provider_id=call.body.provider_id,
        tool=call.body.tool,
        status=status,
        artifact=artifact,
        attempts=job.attempts,
        reason=reason,
    )
