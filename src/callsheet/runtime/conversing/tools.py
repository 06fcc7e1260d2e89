"""Running the calls that models make, and what people decide about them."""

import threading
from collections.abc import Sequence
from typing import TypeAlias

from callsheet.graph.enums import ArtifactStatus
from callsheet.graph.ids import RecordId
from callsheet.recall.tool import NAME as RECALL
from callsheet.runtime.admitting import policy_of
from callsheet.runtime.conversing.calls import PendingCall, call_id
from callsheet.runtime.conversing.evidence import Recalls
from callsheet.runtime.conversing.skills import UsesSkills
from callsheet.runtime.executing import approving, auditing, executing
from callsheet.runtime.executing.approving import ApprovalRequest, Word
from callsheet.runtime.executing.auditing import CallRecord
from callsheet.runtime.executing.everywhere import approvals_everywhere
from callsheet.runtime.executing.executing import PARALLEL, Execution
from callsheet.runtime.executing.job import Executed
from callsheet.runtime.executing.pace import Pace
from callsheet.runtime.executing.tool import AnyTool
from callsheet.runtime.options import choice, label
from callsheet.runtime.session import View
from callsheet.runtime.skills import USE_SKILL

AnyCall: TypeAlias = str | PendingCall | ApprovalRequest
"""A call: its id, ours or the provider's, or itself as it was listed."""


class Executes(Recalls, UsesSkills):
    """Runs open calls, under approval where it is needed."""

    def execute(
        self,
        tools: Sequence[AnyTool],
        *,
        calls: Sequence[str | PendingCall] | None = None,
        parallel: int = PARALLEL,
        cancel: threading.Event | None = None,
        pace: Pace | None = None,
    ) -> Executed:
        """Run the open calls of this view, at most `parallel` at once, and record what comes of each, whole.

        Each start is recorded before the function is called, and its result together with its end; so after a crash
        it is known which calls may have taken effect, and none of these is run again unless its contract says that
        this does no harm, its reconcile function finds that nothing happened, or a person says so (`settle`,
        `repeat`). A call that the conversation went on without is run only if it is repeatable, approved, or among
        `calls`. A call of a tool that the request it answers did not offer, whatever earlier ones did, or whose
        arguments do not fit, is answered so and not run; one that needs a person waits for it. Left open, with the
        reason in their outcomes, are calls that a sub-agent works on, and those of a tool that was offered and is not
        among `tools`. Calls of the recall tool and of skills are answered. Setting `cancel` ends the execution. `pace`
        is for tests.

        Raises `CallTaken` where another execution runs one of the calls; then nothing was started.
        """
        wanted = None if calls is None else tuple(call_id(call) for call in calls)
        return self._execute(Execution(tools=tools, calls=wanted, parallel=parallel, cancel=cancel, pace=pace))

    def _execute(self, execution: Execution) -> Executed:
        policy = policy_of(self._session, self._policy_hash())
        own = {RECALL: self.answer_recall, USE_SKILL: self.answer_skill}
        return executing.execute(self._session, self._view, execution, policy, own)

    def executions(self) -> tuple[CallRecord, ...]:
        """The calls of this view with every attempt and what every person said, settled ones first, then by age."""
        return auditing.executions(self._session, self._view)

    def approvals(self, *, everywhere: bool = False) -> tuple[ApprovalRequest, ...]:
        """The calls that wait for a person's approval here, oldest first; also those from before a restart.

        `everywhere`: those of all participants, sub-agents and branches of the conversation, each with the names of
        its owner, sub-agent and branch. Any of them can be given to `approve` and its like, here as well.
        """
        if everywhere:
            return approvals_everywhere(self._session)
        return approving.approvals(self._session, self._view)

    def approve(self, call: AnyCall, *, by: str, arguments: str | None = None) -> RecordId:
        """Let a call run, with exactly its arguments; the next `execute` runs it. Returns the approval's id.

        `arguments` are those that the person saw: others than the call's are refused with `InvalidOption`. Like the
        next four it raises `NotFound`, for a call of somebody else with the name of whose it is, and `CallDecided` for
        one that was decided on, answered or begun before.
        """
        return approving.approve(self._session, self._at(call), _word(call, by, arguments=arguments))

    def refuse(self, call: AnyCall, *, by: str, reason: str = "", arguments: str | None = None) -> RecordId:
        """Refuse a call: it is never run, and its result tells the model so, with the reason. Returns its id."""
        return approving.refuse(self._session, self._at(call), _word(call, by, reason, arguments))

    def settle(
        self,
        call: AnyCall,
        result: object,
        *,
        by: str,
        status: ArtifactStatus | str = ArtifactStatus.OK,
        reason: str = "",
    ) -> RecordId:
        """Record what became of an open call, such as one that a crash left unknown, as its result. Returns its id."""
        ended = choice(ArtifactStatus, status, "status")
        return approving.settle(self._session, self._at(call), _word(call, by, reason), result, ended)

    def repeat(self, call: AnyCall, *, by: str) -> RecordId:
        """Let a call whose outcome is unknown run once more, though it may have taken effect."""
        return approving.repeat(self._session, self._at(call), _word(call, by))

    def give_up(self, call: AnyCall, *, by: str, reason: str = "") -> RecordId:
        """Stop waiting for a call: its result says who gave up on it, and why. What comes of it later is late."""
        return approving.give_up(self._session, self._at(call), _word(call, by, reason))

    def _at(self, call: AnyCall) -> View:
        """Where a word about a call is recorded: where it waits, as far as the call tells, else here."""
        return call.view if isinstance(call, ApprovalRequest) and call.view is not None else self._view


def _word(call: AnyCall, by: str, reason: str = "", arguments: str | None = None) -> Word:
    said = label(reason, "reason") if reason else ""
    known = call.call if isinstance(call, ApprovalRequest) else call_id(call)
    return Word(call=known, by=label(by, "by"), reason=said, arguments=arguments)
