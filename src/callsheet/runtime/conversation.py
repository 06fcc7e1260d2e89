"""A conversation, as the program that runs an agent sees it: record what happens, assemble what the model sees."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from callsheet.assemble import blocks
from callsheet.assemble.compose import text_of
from callsheet.assemble.delta import Whole
from callsheet.assemble.needed import Needed, shipped
from callsheet.errors import InvalidMessage, InvalidOption, NotFound
from callsheet.explain.absence import WhyNot
from callsheet.explain.difference import Difference
from callsheet.explain.sheet import Explained
from callsheet.graph.enums import ArtifactStatus, ForkReason, InstructionScope, Privacy, Role, RunStatus, RuntimeMode
from callsheet.graph.ids import ROOT_BRANCH, RecordId
from callsheet.graph.nodes import Boundary, ContextAssembly, Message, ModelRun, ToolArtifact, ToolCall
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.graph.times import instant
from callsheet.graph.values import Digest, Scope
from callsheet.policy.sets import DEFAULT, PolicySetDocument, policy_set
from callsheet.recall.request import DEFAULT_LIMIT, Range, RecallRequest
from callsheet.recall.tool import NAME as RECALL
from callsheet.runtime import (
    checkpointing,
    comparing,
    explaining,
    forking,
    giving,
    instructing,
    promoting,
    recalling,
    routing,
    skilling,
    spawning,
)
from callsheet.runtime.admitting import policy_of
from callsheet.runtime.assembling import Assembling
from callsheet.runtime.calling import arguments_of
from callsheet.runtime.checkpointing import Checkpoint
from callsheet.runtime.comparing import Compared
from callsheet.runtime.counters import Counters, count_up
from callsheet.runtime.drafting import NOBODYS, Shown
from callsheet.runtime.executing import approving, auditing, executing
from callsheet.runtime.executing.approving import ApprovalRequest, Word
from callsheet.runtime.executing.auditing import CallRecord
from callsheet.runtime.executing.executing import PARALLEL, Execution
from callsheet.runtime.executing.job import Executed
from callsheet.runtime.executing.pace import Pace
from callsheet.runtime.executing.tool import AnyTool, schemas
from callsheet.runtime.explaining import Rebuilt
from callsheet.runtime.failing import Failure, failed
from callsheet.runtime.options import Time, choice, label, positive
from callsheet.runtime.participating import Configuration, participants, participate
from callsheet.runtime.policies import keep_policy
from callsheet.runtime.privileged import raw as read_raw
from callsheet.runtime.promoting import Checked, Promotion
from callsheet.runtime.recalling import Recalled
from callsheet.runtime.recording import Item as Recordable
from callsheet.runtime.recording import Recording, check_sheet, waiting_sheet
from callsheet.runtime.routing import Provider, Route
from callsheet.runtime.ruling import ready
from callsheet.runtime.searching import MOST_FOUND, Finding
from callsheet.runtime.seeing import newest_sheet
from callsheet.runtime.sent import sent
from callsheet.runtime.session import Session, View
from callsheet.runtime.sheet import Sheet
from callsheet.runtime.skilling import SkillsInUse
from callsheet.runtime.skills import Skill
from callsheet.runtime.spawning import Child
from callsheet.runtime.tail import Tail, branches
from callsheet.runtime.terms import Order
from callsheet.runtime.transcript import Item, transcript
from callsheet.runtime.whole_sheets import gone_on_from, last_shown, read_sheet
from callsheet.wire import formats
from callsheet.wire.catalogue import facts

DEFAULT_WINDOW = 128_000
"""Tokens that a model that is not in the catalogue is taken to read when no budget is given."""

DEFAULT_RESERVE = 4_096
"""Tokens kept free for the reply."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PendingCall:
    """A call that waits for its result."""

    id: RecordId
    #: The provider's id, to be given back with the result.
    provider_id: str | None
    tool: str
    #: As the model wrote them, parsed or not.
    arguments: str = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """What one `record` call put into the history."""

    #: Messages and artifacts, in order.
    ids: tuple[RecordId, ...]
    #: Calls that wait for a result on this branch, oldest first.
    pending: tuple[PendingCall, ...] = ()


class Conversation:
    """One conversation, seen on one branch and, where several take part, for one participant.

    Everything said and done goes in by `record`; every model request comes out by `assemble`. Views of other branches
    and participants are conversations too: ``talk.branch(at=...)``, ``talk.participant("critic")``. All methods may be
    called from any thread, and several processes may record at once: each call is one transaction.
    """

    def __init__(
        self,
        session: Session,
        branch: RecordId = ROOT_BRANCH,
        participant: RecordId | None = None,
        carries: Scope = NOBODYS,
    ) -> None:
        self._session = session
        self._view = View(branch, participant, carries)

    def __repr__(self) -> str:
        return f"<Conversation {self.name!r} on {self.branch_id!r} for {self.participant_id!r}>"

    # ------------------------------------------------------------------ what it is

    @property
    def name(self) -> str:
        """The name that it was opened by."""
        return self._session.conversation.name

    @property
    def id(self) -> str:
        """The id of its stream."""
        return self._session.conversation.id

    @property
    def user(self) -> str | None:
        """Who owns it."""
        return self._session.conversation.user

    @property
    def branch_id(self) -> RecordId:
        """The branch that this view records on and assembles from."""
        return self._view.branch

    @property
    def participant_id(self) -> RecordId | None:
        """The participant that this view acts for; None: nobody in particular."""
        return self._view.participant

    # ------------------------------------------------------------------ in

    def record(
        self,
        value: object,
        *,
        sheet: Sheet | str | None = None,
        at: Time | None = None,
        event: str | None = None,
        wire: str | None = None,
        status: ArtifactStatus | str | None = None,
    ) -> Recorded:
        """Record what was said or done: a message, a provider's response, or a list of them, as one transaction.

        Takes the provider's own shapes, as dict or SDK object; `wire` (``openai`` or ``anthropic``) is recognised by
        the shape where it is not given. A response records the run that produced it, with the usage it reports, and
        is joined to `sheet`; without one, to the sheet that this branch and participant have not answered yet. A tool
        result is paired with its call by id and position, and `status` says how the execution ended where the shape
        does not. Sending the same `event` again changes nothing and returns no ids. `at` is when it happened; default:
        now.

        Raises `InvalidMessage` for a shape that is wrong, with the place and the value, and `AmbiguousSheet`; then
        nothing was recorded. What is merely odd (no id, no call, cut-off arguments) is recorded with a defect mark.
        """
        try:
            items = formats.parse(value, formats.wire_named(wire) if wire is not None else None)
        except InvalidMessage as problem:
            # It shows the value that is wrong, which may be a secret.
            problem.args = (self._session.redacting.redaction.text(str(problem)),)
            raise
        if sheet is not None and not isinstance(sheet, Sheet):
            sheet = self.sheet(sheet)
        given = Shown(sheet=sheet.id, record=sheet.record) if sheet is not None else None
        shown = check_sheet(self._session, self._view, items, given)
        if shown is None and any(isinstance(item, blocks.Reply) for item in items):
            shown = waiting_sheet(self._session, self._view)
        recording = Recording(
            items=items,
            shown=shown,
            status=choice(ArtifactStatus, status, "status") if status is not None else None,
            at=instant(at) if at is not None else None,
            event=self._own_event(event) if event is not None else None,
            declared=self._declared(items),
        )
        tail, records = self._session.append(self._view, recording.draft)
        ids = tuple(record.id for record in records if isinstance(record.body, Message | ToolArtifact))
        return Recorded(ids=ids, pending=self._pending(tail))

    def _declared(self, items: Sequence[Recordable]) -> Mapping[str, Privacy]:
        """The classes that the contracts of the sheet's policy set declare, where an answer of a recall is recorded."""
        calls = self._session.tail(self._view).open.values()
        answers = any(isinstance(item, blocks.Answer) for item in items)
        shown = self._shown() if answers and any(call.body.tool == RECALL for call in calls) else None
        if shown is None:
            return {}
        tools = policy_of(self._session, shown.pins.policy_set).tools
        return {tool.name: tool.privacy for tool in tools if tool.privacy is not None}

    def _own_event(self, event: str) -> str:
        # Another participant's events must not keep this one's from being recorded.
        label(event, "event")
        return event if self.participant_id is None else f"{event} {self.participant_id}"

    def _pending(self, tail: Tail) -> tuple[PendingCall, ...]:
        return tuple(
            PendingCall(
                id=known.id,
                provider_id=known.body.provider_id,
                tool=known.body.tool,
                arguments=text_of(self._session.read(known.body.arguments)),
            )
            for known in tail.open.values()
        )

    def pending(self) -> tuple[PendingCall, ...]:
        """The calls that wait for a result here, oldest first; also those that a crash left open.

        A participant's calls are its own: ask the view of the participant for them.
        """
        return self._pending(self._session.tail(self._view, fresh=True))

    # ------------------------------------------------------------------ out

    def assemble(
        self,
        *,
        provider: str,
        model: str,
        budget: int | None = None,
        tools: Sequence[Mapping[str, object] | AnyTool] = (),
        policy: str | PolicySetDocument | None = None,
        now: Time | None = None,
        mode: RuntimeMode | str | None = None,
        checkpoint: str | None = None,
        exact: Sequence[str] = (),
        reserve: int = DEFAULT_RESERVE,
        recall: bool = True,
        needed: Needed | None = None,
    ) -> Sheet:
        """Assemble the next request of this branch and participant under a policy set, and store how it came about.

        `budget` is what the request may take in tokens, tool schemas included; default: the model's window (128,000
        for a model that is not in the catalogue) less `reserve`, which is kept free for the reply. `tools` are
        functions, or schemas in OpenAI's or Anthropic's shape; they render in this order. `policy` names a policy set;
        default: ``balanced``. `now` is the time that the policies go by; default: the clock's. `mode` says on what
        occasion; default: ``chat``, for a sub-agent ``sub_agent``. With a `checkpoint` the request goes on from the
        sheet that it names. The results that `exact` refers to stand with their exact bytes, where the policy set's
        byte budget and the classes of their data allow it. A sub-agent is offered those of the `tools` that its brief
        allows.

        `provider` decides the format: Anthropic's for ``anthropic``, OpenAI's Chat Completions for every other.

        Raises `BudgetTooSmall` with the sizes of the parts when what must appear does not fit, `EmptyRequest` when
        there is nothing to answer, `PolicyError` for an unknown policy set. Nothing but the sheet is stored.
        """
        label(provider, "provider")
        label(model, "model")
        kept = positive(reserve, "reserve")
        offered, skills = self._with_skills(self._allowed(formats.check_tools(schemas(tools))))
        limit = positive(budget, "budget") if budget is not None else _room(provider, model, kept)
        chosen = policy if isinstance(policy, PolicySetDocument) else _named(policy)
        ready(chosen)
        session = self._session
        keep_policy(session.ledger, session.owner.tenant, session.ids, session.clock, chosen)
        tail = session.tail(self._view, fresh=True)
        carries = self._view.carries
        resumed = checkpointing.read(session, self._view, checkpoint) if checkpoint is not None else None
        if mode is None:
            mode = carries.mode if resumed is None else RuntimeMode.CONTINUATION
        boundary = Boundary(
            conversation=session.conversation.id,
            branch=self._view.branch,
            trigger=tail.last_message,
            participant=self._view.participant,
            run=carries.sub_agent,
            mode=choice(RuntimeMode, mode, "mode"),
            checkpoint=resumed.id if resumed is not None else None,
            exact=recalling.results(session, self._view, exact),
            task=carries.task,
            skills=tuple(skills),
            provider=provider,
            model=model,
            tools=tuple(formats.tool_name(tool, f"tools[{index}]") for index, tool in enumerate(offered)),
            budget=limit,
            reserve=kept,
            now=instant(now) if now is not None else session.clock.now(),
        )
        desk = session.desk(self._view)
        with desk.lock:
            shown = last_shown(session.place, tail.lineage, self._view.participant, tail.last_said, desk)
            if resumed is not None and resumed.sheet is not None:
                shown = self._whole(resumed.sheet)
            base = gone_on_from(shown, chosen)
            order = Order(boundary=boundary, policy=chosen, tools=offered, recall=recall, needed=needed or shipped())
            assembling = Assembling(
                place=session.place, lineage=tail.lineage, order=order, desk=desk, base=base, open=frozenset(tail.open)
            )
            sheet, full = assembling.assemble()
            desk.put(full)
        return replace(sheet, _get=self._get)

    def _allowed(self, tools: Sequence[Mapping[str, object]]) -> Sequence[Mapping[str, object]]:
        """Those of the tools that this view may offer."""
        allowed = spawning.tools_of(self._session, self._view)
        if allowed is None:
            return tools
        return [tool for place, tool in enumerate(tools) if formats.tool_name(tool, f"tools[{place}]") in allowed]

    def _with_skills(self, tools: Sequence[Mapping[str, object]]) -> tuple[Sequence[Mapping[str, object]], list[str]]:
        """The tools, with those of the skills that are active behind them, and the names of these skills."""
        skills = self._session.skills
        if not skills.any:
            return tools, []
        used = skilling.in_use(self._session, self._view, skills)
        known = {formats.tool_name(tool, f"tools[{place}]") for place, tool in enumerate(tools)}
        own = [tool for tool in used.tools if formats.tool_name(tool, "a skill's tool") not in known]
        return [*tools, *own], [skill.name for skill in used.active]

    def _whole(self, sheet: RecordId) -> Whole | None:
        """A sheet in full; None: it is not there any more."""
        found = self._session.ledger.get(self._session.sheets.key, (sheet,))
        return read_sheet(self._session.place, found[0]) if found else None

    def sheet(self, id: str) -> Sheet:
        """A sheet that was assembled before, with the exact bytes that were sent.

        `id` is its own, or that of the message or run that answered it: what did the model see when it said this?
        Raises `NotFound`.
        """
        session = self._session
        found = session.ledger.get(session.sheets.key, (self._sheet_of(RecordId(label(id, "sheet"))),))
        if not found or not isinstance(found[0].body, ContextAssembly):
            raise NotFound(f"no sheet {id!r} in conversation {self.name!r}, nor one that it answers")
        return self._sheet(found[0])

    def _sheet_of(self, id: RecordId) -> RecordId:
        """The sheet that a message or run answers; the id itself where it is neither."""
        for record in self._get((id,)):
            if isinstance(record.body, ModelRun):
                return record.body.sheet or id
            if record.header.scope.run is not None:
                return self._sheet_of(record.header.scope.run)
        return id

    def sheets(self, *, newest: int | None = None) -> list[Sheet]:
        """The sheets of this conversation in the order of their assembly; with `newest`, the last so many."""
        session = self._session
        limit = positive(newest, "newest") if newest is not None else None
        query = NodeQuery(kinds=("assembly",), newest=limit is not None, limit=limit)
        return [self._sheet(record) for record in session.ledger.nodes(session.sheets.key, query)]

    def _sheet(self, record: Record) -> Sheet:
        body = record.body
        assert isinstance(body, ContextAssembly)
        full = read_sheet(self._session.place, record)
        rendered = sent(self._session, full.blocks)
        return Sheet(id=record.id, record=body, selections=full.selected, blocks=tuple(rendered), _get=self._get)

    def failed(
        self,
        sheet: Sheet | str | None = None,
        *,
        status: RunStatus | str = RunStatus.FAILED,
        error: str = "",
        reply: object = None,
    ) -> RecordId:
        """Record a model request that failed: how, and what it cost. Returns the run's id.

        `sheet` is what was sent; without one, the sheet that is not answered yet. `status` is ``failed``,
        ``timed_out``, ``cancelled`` or ``refused``. A `reply` that does not count, such as an empty one, gives the
        usage; its message is not recorded. The same sheet can be sent again; no request shows failed attempts.
        """
        if isinstance(sheet, str):
            sheet = self.sheet(sheet)
        shown = Shown(sheet=sheet.id, record=sheet.record) if sheet is not None else None
        failure = Failure(status=choice(RunStatus, status, "status"), error=error, reply=reply)
        return failed(self._session, self._view, shown or waiting_sheet(self._session, self._view), failure)

    # ------------------------------------------------------------------ tools

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
        `calls`. A call of a tool that is not among `tools`, or whose arguments do not fit, is answered so and not run;
        one that needs a person waits for it. Calls of the recall tool and of skills are answered. Setting `cancel` ends
        the execution. `pace` is for tests.

        Raises `CallTaken` where another execution runs one of the calls; then nothing was started.
        """
        wanted = None if calls is None else tuple(call_id(call) for call in calls)
        return self._execute(Execution(tools=tools, calls=wanted, parallel=parallel, cancel=cancel, pace=pace))

    def _execute(self, execution: Execution) -> Executed:
        policy = policy_of(self._session, self._policy_hash())
        own = {RECALL: self.answer_recall, skilling.TOOL: self.answer_skill}
        return executing.execute(self._session, self._view, execution, policy, own)

    def executions(self) -> tuple[CallRecord, ...]:
        """The calls of this view with every attempt and every decision, settled ones first, then by age."""
        return auditing.executions(self._session, self._view)

    def approvals(self) -> tuple[ApprovalRequest, ...]:
        """The calls that wait for a person's approval here, oldest first; also those from before a restart."""
        return approving.approvals(self._session, self._view)

    def approve(self, call: str | PendingCall, *, by: str, arguments: str | None = None) -> RecordId:
        """Let a call run, with exactly its arguments; the next `execute` runs it. Returns the approval's id.

        `arguments` are those that the person saw: others than the call's are refused with `InvalidOption`. Like the
        next four it raises `NotFound`, and `CallDecided` for a call that was decided on, answered or begun before.
        """
        return approving.approve(self._session, self._view, _word(call, by, arguments=arguments))

    def refuse(self, call: str | PendingCall, *, by: str, reason: str = "", arguments: str | None = None) -> RecordId:
        """Refuse a call: it is never run, and its result tells the model so, with the reason. Returns its id."""
        return approving.refuse(self._session, self._view, _word(call, by, reason, arguments))

    def settle(
        self,
        call: str | PendingCall,
        result: object,
        *,
        by: str,
        status: ArtifactStatus | str = ArtifactStatus.OK,
        reason: str = "",
    ) -> RecordId:
        """Record what became of an open call, such as one that a crash left unknown, as its result. Returns its id."""
        ended = choice(ArtifactStatus, status, "status")
        return approving.settle(self._session, self._view, _word(call, by, reason), result, ended)

    def repeat(self, call: str | PendingCall, *, by: str) -> RecordId:
        """Let a call whose outcome is unknown run once more, though it may have taken effect."""
        return approving.repeat(self._session, self._view, _word(call, by))

    def give_up(self, call: str | PendingCall, *, by: str, reason: str = "") -> RecordId:
        """Stop waiting for a call: it stays without a result, and a stand-in answers it in requests."""
        return approving.give_up(self._session, self._view, _word(call, by, reason))

    # ------------------------------------------------------------------ exact evidence

    def recall(
        self,
        reference: str,
        *,
        lines: Range | None = None,
        rows: Range | None = None,
        bytes: Range | None = None,
        characters: Range | None = None,
        pointer: str | None = None,
        search: str | None = None,
        limit: int = DEFAULT_LIMIT,
    ) -> Recalled:
        """Fetch a message or tool result as it was recorded, whole or one part of it, for the caller itself.

        `reference` is an id, the beginning of one, or the short form that requests show. A range is (from, to),
        counted from 0, without `to`, which may be None for the end; rows of a table do not count its header; `bytes`
        are those of the content as recorded, `characters` those of its text. `pointer` is a JSON Pointer, `search` a
        text to find in the content. At most one of them is given. `limit` is in bytes of content; `more` of the answer
        reads on. What this view may see decides, and no policy set: for a model, use `answer_recall`. Secrets are
        given as markers: see `raw`.

        Raises `NotFound` for a reference or part that is not there or may not be seen, `InvalidOption`, `BodyErased`.
        """
        request = RecallRequest(
            reference=reference,
            lines=lines,
            rows=rows,
            bytes=bytes,
            characters=characters,
            pointer=pointer,
            search=search,
            limit=limit,
        )
        return recalling.recall(self._session, self._view, request)

    def search(self, query: str, limit: int = MOST_FOUND) -> list[Finding]:
        """Find messages and tool results by identifiers and words, over everything that this view may see.

        Records that hold an identifier to the letter come first, then the best by BM25. Looked at are the newest 64
        records of each identifier and word. What a recall answered is not found again.
        """
        RecallRequest(query=query)  # refuses what is no query
        return recalling.search_all(self._session, self._view, query, limit=positive(limit, "limit"))

    def answer_recall(self, arguments: object) -> str:
        """Answer a model's call of the recall tool: the text to put into the tool message.

        Takes the call as `pending` gives it, the provider's call as dict or SDK object, or its arguments as text or
        object. It is answered under the boundary and the policy set of the sheet that the model was shown: a class of
        data that may not go to its provider is told by metadata alone, and the set's byte budget bounds what is given.
        Whatever the model wrote is answered; the text says what was wrong. Raises `InvalidMessage` for a value that is
        no call.
        """
        given = arguments.arguments if isinstance(arguments, PendingCall) else arguments_of(arguments)
        return recalling.answer_for(self._session, self._view, given, self._shown())

    def _shown(self) -> ContextAssembly | None:
        """The sheet that the newest message answers, else the newest sheet of this view."""
        session = self._session
        last = session.tail(self._view, fresh=True).last_message
        if last is not None:
            found = session.ledger.get(session.sheets.key, (self._sheet_of(last),))
            if found and isinstance(found[0].body, ContextAssembly):
                return found[0].body
        newest = newest_sheet(session, self._view)
        return newest.sheet if newest is not None else None

    # ------------------------------------------------------------------ memories

    def promote(
        self,
        *references: str,
        summary: str | None = None,
        payload: object = None,
        extractor: str = "rule",
        confidence: float | None = None,
        attributes: Mapping[str, str] | None = None,
    ) -> RecordId:
        """Make a tool memory of one or more tool results: a recorded decision, in one transaction. Returns its id.

        `summary` is given, or the stored gist of the results; `payload` is JSON data. For values of the payload, and
        identifiers of the summary, that stand in a source at exactly one place, the memory holds locators. It is as
        private as its strictest source and as short-lived as its shortest-lived one, and it is marked as resting on
        untrusted output. `confidence` is from 0 to 1; default: by where the content comes from. A summary that a
        model wrote says so with ``extractor="model:..."``.

        Raises `NotFound` for a reference that is no visible tool result, `InvalidOption`, `BodyErased`.
        """
        terms = Promotion(
            references=tuple(label(one, "a reference") for one in references),
            summary=summary,
            payload=payload,
            extractor=label(extractor, "extractor"),
            confidence=confidence,
            attributes=dict(attributes or {}),
            policy_set=self._policy_hash(),
        )
        return promoting.promote(self._session, self._view, terms)

    def demote(self, reference: str, reason: str) -> RecordId:
        """Record the decision that a tool result becomes no memory; it stays recallable. Returns the decision's id.

        `reason` is a short code such as ``superseded_report``. Raises `NotFound`, `InvalidOption`.
        """
        return promoting.demote(
            self._session, self._view, label(reference, "reference"), label(reason, "reason"), self._policy_hash()
        )

    def check(self, memory: str) -> Checked:
        """Look whether the locators of a tool memory still point at what stood there; repair those that do not.

        A broken locator is looked for in its own source, in at most three recorded attempts over the memory's life;
        what is not found again makes the memory stale. Raises `NotFound` for what is no visible tool memory.
        """
        return promoting.check(self._session, self._view, RecordId(label(memory, "memory")))

    def _policy_hash(self) -> Digest:
        shown = self._shown()
        return shown.pins.policy_set if shown is not None else policy_set(DEFAULT).hash

    # ------------------------------------------------------------------ other views

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
            name=label(name, "name") if name is not None else None,
            reason=choice(ForkReason, reason, "reason"),
        )
        return Conversation(self._session, *self._view._replace(branch=id))

    def on(self, branch: str) -> "Conversation":
        """The view of a branch, by name or id. Raises `NotFound`."""
        label(branch, "branch")
        known = branches(self._session.ledger, self._session.conversation.key)
        for id, body in known.items():
            if branch in (id, body.name):
                return Conversation(self._session, *self._view._replace(branch=id))
        names = ", ".join(sorted(body.name for body in known.values()))
        raise NotFound(f"no branch {branch!r} in conversation {self.name!r}; there are: {names}")

    def edit(self, message: str, value: object, *, name: str | None = None) -> "Conversation":
        """Say something else in place of a message: a branch without it and what followed, on which `value` is said.

        `value` is a message in a provider's shape, or the text of one in the same role. The old branch stays as it is.
        Raises `NotFound` for a message that this branch does not see; then no branch was begun.
        """
        return forking.edit(self, label(message, "message"), value, name)

    def regenerate(self, message: str, *, name: str | None = None) -> "Conversation":
        """Have an assistant's message generated once more: a branch that ends before it, to assemble and record on."""
        return self.branch(before=message, name=name, reason=ForkReason.REGENERATE)

    def send(self, value: object, *, parents: Sequence[str] = (), name: str | None = None) -> "Conversation":
        """Say something in answer to given messages, and return the view that it was said on.

        The first of `parents` is what it follows: where that is not the newest of this branch, a branch begins behind
        it. Of the others, which may stand on any branch that this one's participant may see, the text is brought here
        first, as `merge` does. Without parents it follows what is newest here. Raises `NotFound`, `InvalidMessage`.
        """
        return forking.send(self, tuple(label(one, "a parent") for one in parents), value, name)

    def merge(self, branch: str, *references: str) -> tuple[RecordId, ...]:
        """Bring results of another branch here: its newest finished answer, or the records that are named.

        They stand here as labelled data of their own, in the class of what they were. Returns the ids of the results.
        Raises `NotFound` for what may not be seen there.
        """
        return giving.merge(self._session, self._view, self.on(branch).branch_id, references)

    # ------------------------------------------------------------------ instructions

    def instruct(
        self,
        text: str,
        *,
        scope: InstructionScope | str = InstructionScope.CONVERSATION,
        role: Role | str = Role.SYSTEM,
    ) -> RecordId:
        """Record an instruction and whom it governs; it replaces the older one of its scope. Returns its id.

        ``conversation`` and ``moderator`` instructions are for everyone on the branch, a ``participant`` one is for
        the participant of this view alone, beside its persona's, which it replaces. `role` is ``system`` or
        ``developer``. Raises `InvalidOption`.
        """
        chosen = choice(InstructionScope, scope, "scope")
        return instructing.instruct(self._session, self._view, text, chosen, choice(Role, role, "role"))

    # ------------------------------------------------------------------ skills

    def offer_skills(self, *names: str) -> RecordId:
        """Put skills of `Runtime.skills` into the catalogue of this view: a line each in every request from here on.

        Without names all there are. A newer catalogue replaces the older one. With it requests offer the tool
        ``use_skill``, whose calls `answer_skill` answers. Returns the id of the catalogue. Raises `NotFound`.
        """
        return skilling.offer(self._session, self._view, self._session.skills, names)

    def activate(self, skill: str) -> Skill:
        """Load a skill: its instructions and tools are in the requests of this view until it is deactivated."""
        return skilling.activate(self._session, self._view, self._session.skills, label(skill, "skill"))

    def deactivate(self, skill: str) -> None:
        """Unload a skill. Raises `NotFound` where it is not active."""
        skilling.deactivate(self._session, self._view, self._session.skills, label(skill, "skill"))

    def skills(self) -> SkillsInUse:
        """The skills that this view is offered, those that are active, and the tools that come of them."""
        return skilling.in_use(self._session, self._view, self._session.skills)

    def answer_skill(self, arguments: object) -> str:
        """Answer a model's call of ``use_skill``: the skill is active then. Takes a call as `answer_recall` does."""
        given = arguments.arguments if isinstance(arguments, PendingCall) else arguments_of(arguments)
        return skilling.answer(self._session, self._view, self._session.skills, given)

    # ------------------------------------------------------------------ what is given to others

    def share(self, *references: str, to: Sequence[str], reason: str = "") -> RecordId:
        """Put own private records on the share list of participants, by name or id.

        Like the next two it returns the id of the record that says so, and raises `NotFound` for what or whom there is
        not, and `InvalidOption` for a record that belongs to somebody else; then nothing has changed.
        """
        return giving.share(self._session, self._view, self._gift(references, to, reason))

    def release(self, *references: str, to: Sequence[str], reason: str = "") -> RecordId:
        """Let participants, or whoever is on a branch, see own private records from here on."""
        return giving.release(self._session, self._view, self._gift(references, to, reason))

    def withdraw(self, *references: str, to: Sequence[str], reason: str = "") -> RecordId:
        """Take a release back. It leaves every later request at once, whatever that costs."""
        return giving.withdraw(self._session, self._view, self._gift(references, to, reason))

    def _gift(self, references: Sequence[str], to: Sequence[str], reason: str) -> giving.Gift:
        readers = (to,) if isinstance(to, str) else tuple(to)
        policy = self._policy_hash()
        return giving.Gift(references=tuple(references), to=readers, reason=reason, policy_set=policy)

    # ------------------------------------------------------------------ sub-agents

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
        together share a `batch`. Raises `NotFound`, and `InvalidOption` for a name that is taken.
        """
        brief = spawning.Brief(
            goal=spawning.checked(goal),
            name=label(name, "name") if name is not None else None,
            role=role,
            constraints=(constraints,) if isinstance(constraints, str) else tuple(constraints),
            tools=tuple(label(tool, "a tool") for tool in tools) if tools is not None else None,
            context=tuple(context),
            call=call.id if isinstance(call, PendingCall) else call,
            batch=label(batch, "batch") if batch is not None else None,
            task=label(task, "task") if task is not None else None,
            provider=label(provider, "provider") if provider is not None else None,
            model=label(model, "model") if model is not None else None,
        )
        return SubAgent(self._session, spawning.spawn(self._session, self._view, brief), parent=self._view)

    def children(self) -> list[Child]:
        """The sub-agents that were begun here, in the order of their beginning, as they stand now."""
        return spawning.children(self._session, self._view)

    def child(self, wanted: str) -> "SubAgent":
        """The view of a sub-agent by its name, its run, or the reference of what it gave back. Raises `NotFound`."""
        view = spawning.child_view(self._session, self._view, label(wanted, "child"))
        return SubAgent(self._session, view, parent=self._view)

    # ------------------------------------------------------------------ checkpoints

    def checkpoint(self, reason: str = "", *, references: Sequence[str] = (), batch: str | None = None) -> RecordId:
        """Record the runtime state to go on from, and return the checkpoint's id.

        It holds the run, open calls, failures with their terms of retry, the state of skills, the sub-agents that are
        waited for (of a `batch`, or all), the newest sheet, and `references` to keep in view; no messages.
        """
        wanted = (references,) if isinstance(references, str) else tuple(references)
        return checkpointing.checkpoint(self._session, self._view, reason=reason, references=wanted, batch=batch)

    def resume(self, checkpoint: str) -> Checkpoint:
        """What a checkpoint restores, as it stands now, also in another process; the resumption is recorded.

        Go on with ``assemble(mode="continuation", checkpoint=...)``. Raises `NotFound`.
        """
        return checkpointing.resume(self._session, self._view, checkpoint, self._policy_hash())

    def checkpoints(self) -> list[RecordId]:
        """The checkpoints that may be resumed here, oldest first."""
        return checkpointing.checkpoints(self._session, self._view)

    def branches(self) -> dict[str, RecordId]:
        """The branches of the conversation by name, in the order in which they began."""
        return {body.name: id for id, body in branches(self._session.ledger, self._session.conversation.key).items()}

    def participant(
        self, name: str, *, provider: str | None = None, model: str | None = None, persona: str | None = None
    ) -> "Conversation":
        """The view of a participant, created at the first use of its name.

        What a participant's runs request and tools answer is its own; what it finally says is for everyone on the
        branch. A name keeps the configuration that it was created with; another one is a `InvalidOption`.
        """
        wanted = Configuration(provider=provider, model=model, persona=persona)
        id = participate(self._session, self._view, name, wanted)
        return Conversation(self._session, *self._view._replace(participant=id))

    def participants(self) -> dict[str, RecordId]:
        """The participants of the conversation by name, in the order in which they came."""
        return participants(self._session)

    # ------------------------------------------------------------------ looking

    def transcript(self, branch: str | None = None) -> list[Item]:
        """What people read: messages and tool cards of a branch (default: this one), without bookkeeping."""
        view = self if branch is None else self.on(branch)
        records, calls = view.history()
        return transcript(records, calls, self._session.redacting)

    def history(self) -> tuple[list[Record], dict[RecordId, ToolCall]]:
        """The messages and artifacts of this branch in order, and the calls that they refer to."""
        session = self._session
        seen = session.tail(self._view, fresh=True).lineage
        records = session.ledger.nodes(session.conversation.key, NodeQuery(kinds=("message", "artifact"), lineage=seen))
        calls = session.ledger.nodes(session.conversation.key, NodeQuery(kinds=("call",), lineage=seen))
        return records, {record.id: record.body for record in calls if isinstance(record.body, ToolCall)}

    def raw(self, artifact: str, *, privileged: bool = False, reason: str | None = None) -> bytes:
        """The exact bytes of a tool result, its parts one after another.

        What holds secrets is given with `privileged` alone, and a `reason`: a short code such as ``incident_42``. Who
        read it and why is then recorded before it is given. Raises `InvalidOption` where it holds secrets and is not
        asked for so, `NotFound`, `BodyErased`, `Damaged`.
        """
        found = self._get((RecordId(label(artifact, "artifact")),))
        if not found:
            raise NotFound(f"no tool result {artifact!r} in conversation {self.name!r}")
        if privileged != (reason is not None):
            raise InvalidOption("a privileged read needs privileged=True and a reason")
        return read_raw(self._session, self._view, found[0], reason=reason, policy_set=self._policy_hash())

    def route(
        self, providers: Sequence[Provider], *, policy: str | PolicySetDocument | None = None
    ) -> tuple[Route, ...]:
        """Which of these providers may serve the next request here, and why; the best first.

        `providers` are pairs of a provider and a model in the order in which they are preferred. Judged are the
        classes of all messages and results that this view sees, without reading content: a provider is refused where
        the newest question or an instruction may not go to it, and allowed with omissions where something else may
        not. Each judgement is recorded as a decision, without content. `policy` is as in `assemble`. Takes time in
        proportion to the history. Raises `InvalidOption`, `PolicyError`.
        """
        chosen = policy if isinstance(policy, PolicySetDocument) else _named(policy)
        session = self._session
        keep_policy(session.ledger, session.owner.tenant, session.ids, session.clock, chosen)
        return routing.route(session, self._view, providers, chosen)

    def counters(self) -> Counters:
        """Turns, messages and tokens of this branch so far."""
        session = self._session
        tail = session.tail(self._view, fresh=True)
        kinds = ("message", "run", "call", "artifact")
        records = session.ledger.nodes(session.conversation.key, NodeQuery(kinds=kinds, lineage=tail.lineage))
        first = session.ledger.records(session.conversation.key, limit=1)
        return count_up(records, tail.status, first[0].header.at)

    # ------------------------------------------------------------------ why

    def explain(self, sheet: Sheet | str) -> Explained:
        """What a sheet holds and why, record by record: `callsheet.explain.sheet.text` has it in sentences.

        Here and in the next three `sheet` may also be the id of a message or run that answers one. Nothing is stored,
        and nothing that they tell holds content. Raises `NotFound`; the next and the last also `PolicyError` for a
        policy set that is not known any more.
        """
        return explaining.explain(self._session, self._named_sheet(sheet))

    def why_not(self, sheet: Sheet | str, record: str) -> WhyNot:
        """Why a record does not stand in a sheet, or not in full; `record` is its id or how a request refers to it."""
        return explaining.why_not(self._session, self._named_sheet(sheet), label(record, "record"))

    def difference(self, one: Sheet | str, other: Sheet | str) -> Difference:
        """What came in, went out and changed from one sheet to another."""
        return explaining.difference(self._session, self._named_sheet(one), self._named_sheet(other))

    def rebuild(self, sheet: Sheet | str) -> Rebuilt:
        """A sheet made again from the records as of its cut, and held against what was stored."""
        return explaining.rebuild(self._session, self._named_sheet(sheet))

    def compare(
        self, before: str | PolicySetDocument, after: str | PolicySetDocument, *, newest: int = 100
    ) -> Compared:
        """What the policy set `after` would change over the newest sheets of this conversation, against `before`.

        Each is made again as of its cut, under both sets; nothing is stored. Raises `PolicyError` for an unknown set.
        """
        one, other = (policy if isinstance(policy, PolicySetDocument) else _named(policy) for policy in (before, after))
        return comparing.compare(self._session, one, other, newest=positive(newest, "newest"))

    def _named_sheet(self, sheet: Sheet | str) -> RecordId:
        return sheet.id if isinstance(sheet, Sheet) else self._sheet_of(RecordId(label(sheet, "sheet")))

    def _get(self, ids: Sequence[RecordId]) -> list[Record]:
        return self._session.ledger.get(self._session.conversation.key, tuple(ids)) if ids else []


class SubAgent(Conversation):
    """A sub-agent: a conversation of its own that ends by giving something back to the one that began it."""

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
        if chosen is RunStatus.COMPLETED or chosen not in spawning.ENDED:
            raise InvalidOption(f"status is {chosen.value!r}; it must be one of: failed, timed_out, cancelled")
        return self._end(chosen, None, label(error, "error"), ())

    def _end(self, status: RunStatus, report: str | None, error: str | None, release: Sequence[str]) -> RecordId:
        files = (release,) if isinstance(release, str) else tuple(release)
        ending = spawning.Ending(status=status, report=report, error=error, files=files, policy_set=self._policy_hash())
        return spawning.end(self._session, self._parent, self._view, ending)


def call_id(call: str | PendingCall) -> str:
    """The id of a call that is given as itself or by its id, ours or the provider's."""
    return call.id if isinstance(call, PendingCall) else label(call, "call")


def _word(call: str | PendingCall, by: str, reason: str = "", arguments: str | None = None) -> Word:
    said = label(reason, "reason") if reason else ""
    return Word(call=call_id(call), by=label(by, "by"), reason=said, arguments=arguments)


def _named(policy: str | None) -> PolicySetDocument:
    return policy_set(label(policy, "policy") if policy is not None else DEFAULT)


def _room(provider: str, model: str, reserve: int) -> int:
    """Tokens that a request may take in a model's window when room for the reply is kept free."""
    known = facts(provider, model)
    window = known.window if known is not None and known.window is not None else DEFAULT_WINDOW
    if reserve >= window:
        raise InvalidOption(f"reserve is {reserve:,}; it must be below the window of {model}, {window:,} tokens")
    return window - reserve
