"""A conversation, as the program that runs an agent sees it, and the ways that lead from one view of it to another."""

from collections.abc import Sequence

from callsheet.errors import InvalidOption
from callsheet.graph.enums import ForkReason, Isolation, RunStatus
from callsheet.graph.ids import RecordId
from callsheet.runtime import children, ending, forking, spawning
from callsheet.runtime.children import Child
from callsheet.runtime.conversing.asking import DEFAULT_RESERVE, Asks
from callsheet.runtime.conversing.calls import PendingCall
from callsheet.runtime.conversing.checkpoints import Resumes
from callsheet.runtime.conversing.compacting import Compacts
from callsheet.runtime.conversing.evidence import Recalls
from callsheet.runtime.conversing.explaining import Explains
from callsheet.runtime.conversing.focus import Focuses
from callsheet.runtime.conversing.life import Lives
from callsheet.runtime.conversing.memories import Remembers
from callsheet.runtime.conversing.people import Instructs
from callsheet.runtime.conversing.personal import KnowsUser
from callsheet.runtime.conversing.reading import Reads
from callsheet.runtime.conversing.recording import Recorded, Records
from callsheet.runtime.conversing.sharing import Shares
from callsheet.runtime.conversing.skills import UsesSkills
from callsheet.runtime.conversing.tools import Executes
from callsheet.runtime.options import choice, label, line, texts
from callsheet.runtime.participating import Configuration, participate
from callsheet.runtime.session import Session, View
from callsheet.runtime.windows import DEFAULT_WINDOW

__all__ = ["DEFAULT_RESERVE", "DEFAULT_WINDOW", "Conversation", "PendingCall", "Recorded", "SubAgent"]


class Conversation(
    Records,
    Asks,
    Executes,
    Recalls,
    UsesSkills,
    Remembers,
    Instructs,
    Shares,
    Resumes,
    Reads,
    Explains,
    Lives,
    Compacts,
    KnowsUser,
    Focuses,
):
    """One conversation, seen on one branch and, where several take part, for one participant.

    Everything said and done goes in by `record`; every model request comes out by `assemble`. Views of other branches
    and participants are conversations too: ``talk.branch(at=...)``, ``talk.participant("critic")``. All methods may be
    called from any thread, and several processes may record at once: each call is one transaction.
    """

    def __repr__(self) -> str:
        return f"<Conversation {self.name!r} on {self.branch_id!r} for {self.participant_id!r}>"

    def branch(
        self,
        *,
        at: str | None = None,
        before: str | None = None,
        name: str | None = None,
        reason: ForkReason | str = ForkReason.FORK,
    ) -> "Conversation":
        """Begin a branch that inherits this one up to a message or result, and return the view of it.

        It inherits up to and including `at`, or up to but without `before` (to edit or regenerate that message);
        default: all there is now. A message is inherited together with its calls, which are open on the branch until
        they are answered there. Nothing is copied. Raises `NotFound` for a record that this branch does not see.
        """
        id = forking.fork(
            self._session,
            self._view,
            at=label(at, "at") if at is not None else None,
            before=label(before, "before") if before is not None else None,
            name=line(name, "name") if name is not None else None,
            reason=choice(ForkReason, reason, "reason"),
        )
        return Conversation(self._session, *self._view._replace(branch=id))

    def on(self, branch: str) -> "Conversation":
        """The view of a branch, by name or id. Raises `NotFound`."""
        return Conversation(self._session, *self._view._replace(branch=self._branch_named(branch)))

    def edit(self, message: str, value: object, *, name: str | None = None) -> "Conversation":
        """Say something else in place of a message: a branch without it and what followed, on which `value` is said.

        `value` is a message in a provider's shape, or the text of one in the same role. The old branch stays as it is.
        Raises `NotFound` for a message that this branch does not see; then no branch was begun.
        """
        return forking.edit(self, label(message, "message"), value, name)

    def regenerate(self, message: str, *, name: str | None = None) -> "Conversation":
        """Have an assistant's message generated once more: a branch that ends before it, to assemble and record on.

        Raises `NotFound`, and `InvalidOption` for what no assistant said: see `edit`.
        """
        return forking.regenerate(self, label(message, "message"), name)

    def send(self, value: object, *, parents: Sequence[str] = (), name: str | None = None) -> "Conversation":
        """Say something in answer to given messages, and return the view that it was said on.

        The first of `parents` is what it follows: where that is not the newest of this branch, a branch begins behind
        it. Of the others, which may stand on any branch that this one's participant may see, the text is brought here
        first, as `merge` does. Without parents it follows what is newest here. Raises `NotFound`, `InvalidMessage`.
        """
        return forking.send(self, texts(parents, "parents"), value, name)

    def participant(
        self,
        name: str,
        *,
        provider: str | None = None,
        model: str | None = None,
        persona: str | None = None,
        isolation: Isolation | str | None = None,
        shared_with: Sequence[str] = (),
    ) -> "Conversation":
        """The view of a participant, created at the first use of its name.

        What a participant's runs request and tools answer is its own; what it finally says is for everyone on the
        branch, under its name. `isolation` says who else sees the rest: nobody (``isolated``, the default), the
        participants in `shared_with` (``share_list``), or everyone on the branch (``open``). Its calls, instructions
        and runs are its own in any case. A name keeps the configuration that it was created with; another one is a
        `InvalidOption`. Raises `NotFound` for one to share with.
        """
        wanted = Configuration(
            provider=provider,
            model=model,
            persona=persona,
            isolation=choice(Isolation, isolation, "isolation") if isolation is not None else None,
            shared_with=(shared_with,) if isinstance(shared_with, str) else tuple(shared_with),
        )
        return Conversation(self._session, *participate(self._session, self._view, name, wanted))

    def spawn(
        self,
        goal: str,
        *,
        name: str | None = None,
        role: str | None = None,
        constraints: Sequence[str] = (),
        tools: Sequence[str] | None = None,
        context: Sequence[str] = (),
        call: str | PendingCall | None = None,
        batch: str | None = None,
        task: str | None = None,
        provider: str | None = None,
        model: str | None = None,
    ) -> "SubAgent":
        """Begin a sub-agent and return the view that it works on.

        It sees its goal, role and constraints, at most 200 characters of each released result that `context` refers
        to, and what it does itself; nothing of this conversation beside. Its requests offer no other tools than those
        named in `tools` (default: any). What it does is private; `SubAgent.complete` and `fail` put what it gives
        back here, as the result of `call` (a pending call, or its id) where one is given. Those that are waited for
        together share a `batch`. Raises `NotFound`, and `InvalidOption` for a name that is taken, or a call that a
        sub-agent works on already.
        """
        brief = spawning.Brief(
            goal=spawning.checked(goal),
            name=line(name, "name") if name is not None else None,
            role=spawning.told(role, "role") if role is not None else None,
            constraints=spawning.constrained(constraints),
            tools=texts(tools, "tools") if tools is not None else None,
            context=texts(context, "context"),
            call=call.id if isinstance(call, PendingCall) else label(call, "call") if call is not None else None,
            batch=label(batch, "batch") if batch is not None else None,
            task=label(task, "task") if task is not None else None,
            provider=label(provider, "provider") if provider is not None else None,
            model=label(model, "model") if model is not None else None,
        )
        return SubAgent(self._session, spawning.spawn(self._session, self._view, brief), parent=self._view)

    def children(self) -> list[Child]:
        """The sub-agents that were begun here, in the order of their beginning, as they stand now."""
        return children.children(self._session, self._view)

    def child(self, wanted: str) -> "SubAgent":
        """The view of a sub-agent by its name, its run, or the reference of what it gave back. Raises `NotFound`."""
        view = children.child_view(self._session, self._view, label(wanted, "child"))
        return SubAgent(self._session, view, parent=children.parent_of(self._session, view))


class SubAgent(Conversation):
    """A sub-agent: a conversation of its own that ends by giving something back to the one that began it.

    When it has ended it can be read, and nothing more is recorded, assembled or run: that raises `InvalidOption`. What
    a tool returns that was still running then is kept as late evidence.
    """

    def __init__(self, session: Session, view: View, parent: View) -> None:
        super().__init__(session, *view)
        self._parent = parent

    def __repr__(self) -> str:
        return f"<SubAgent {self.run_id!r} of {self.name!r}>"

    @property
    def run_id(self) -> RecordId:
        """The id of its run, by which its parent knows it."""
        run = self._view.carries.sub_agent
        assert run is not None
        return run

    def complete(self, report: str | None = None, *, release: Sequence[str] = ()) -> RecordId:
        """End with a report (default: the sub-agent's last answer), which the parent sees. Returns the result's id.

        `release` are references to own results that the parent may read from here on, such as generated files; all
        else stays private. Raises `InvalidOption` where it has ended already or has not answered yet, `NotFound`.
        """
        if report is not None and (not isinstance(report, str) or not report.strip()):
            raise InvalidOption("report must be text and not empty")
        return self._end(RunStatus.COMPLETED, report, None, release)

    def fail(self, error: str, *, status: RunStatus | str = RunStatus.FAILED) -> RecordId:
        """End without a report: ``failed``, ``timed_out`` or ``cancelled``. The parent sees that and `error` alone."""
        chosen = choice(RunStatus, status, "status")
        if chosen is RunStatus.COMPLETED or chosen not in ending.ENDED:
            raise InvalidOption(f"status is {chosen.value!r}; it must be one of: failed, timed_out, cancelled")
        return self._end(chosen, None, ending.error_text(error), ())

    def _end(self, status: RunStatus, report: str | None, error: str | None, release: Sequence[str]) -> RecordId:
        files = (release,) if isinstance(release, str) else tuple(release)
        given = ending.Ending(status=status, report=report, error=error, files=files, policy_set=self._policy_hash())
        return ending.end(self._session, self._parent, self._view, given)
