"""A conversation, as the program that runs an agent sees it: record what happens, assemble what the model sees."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from callsheet.assemble import blocks
from callsheet.assemble.compose import content_payload, text_of
from callsheet.assemble.needed import Needed, shipped
from callsheet.errors import InvalidOption, NotFound
from callsheet.explain.absence import WhyNot
from callsheet.explain.difference import Difference
from callsheet.explain.sheet import Explained
from callsheet.graph.enums import ArtifactStatus, ForkReason, Privacy, RuntimeMode
from callsheet.graph.ids import ROOT_BRANCH, RecordId
from callsheet.graph.nodes import Boundary, ContextAssembly, Message, ModelRun, ToolArtifact, ToolCall
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.graph.times import instant
from callsheet.graph.values import Digest
from callsheet.policy.sets import DEFAULT, PolicySetDocument, policy_set
from callsheet.recall.request import DEFAULT_LIMIT, Range, RecallRequest
from callsheet.recall.tool import NAME as RECALL
from callsheet.runtime import explaining, forking, promoting, recalling
from callsheet.runtime.admitting import policy_of
from callsheet.runtime.assembling import Assembling, Order, gone_on_from, last_shown, read_sheet
from callsheet.runtime.calling import arguments_of
from callsheet.runtime.counters import Counters, count_up
from callsheet.runtime.drafting import Shown
from callsheet.runtime.explaining import Rebuilt
from callsheet.runtime.options import Time, choice, label, positive
from callsheet.runtime.participating import Configuration, participants, participate
from callsheet.runtime.policies import keep_policy
from callsheet.runtime.promoting import Checked, Promotion
from callsheet.runtime.recalling import Recalled
from callsheet.runtime.recording import Item as Recordable
from callsheet.runtime.recording import Recording, check_sheet, waiting_sheet
from callsheet.runtime.searching import MOST_FOUND, Finding
from callsheet.runtime.seeing import newest_sheet
from callsheet.runtime.session import Session, View
from callsheet.runtime.sheet import Sheet
from callsheet.runtime.tail import Tail, branches
from callsheet.runtime.transcript import Item, transcript
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
    arguments: str


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

    def __init__(self, session: Session, branch: RecordId = ROOT_BRANCH, participant: RecordId | None = None) -> None:
        self._session = session
        self._view = View(branch, participant)

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
        items = formats.parse(value, formats.wire_named(wire) if wire is not None else None)
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
        tools: Sequence[Mapping[str, object]] = (),
        policy: str | PolicySetDocument | None = None,
        now: Time | None = None,
        mode: RuntimeMode | str = RuntimeMode.CHAT,
        reserve: int = DEFAULT_RESERVE,
        recall: bool = True,
        needed: Needed | None = None,
    ) -> Sheet:
        """Assemble the next request of this branch and participant under a policy set, and store how it came about.

        `budget` is what the request may take in tokens, tool schemas included; default: the model's window (128,000
        for a model that is not in the catalogue) less `reserve`, which is kept free for the reply. `tools` are
        schemas in OpenAI's or Anthropic's shape and render in this order. `policy` names a policy set; default:
        ``balanced``. `now` is the time that the policies go by; default: the clock's.

        `provider` decides the format: Anthropic's for ``anthropic``, OpenAI's Chat Completions for every other.

        Raises `BudgetTooSmall` with the sizes of the parts when what must appear does not fit, `EmptyRequest` when
        there is nothing to answer, `PolicyError` for an unknown policy set. Nothing but the sheet is stored.
        """
        label(provider, "provider")
        label(model, "model")
        kept = positive(reserve, "reserve")
        offered = formats.check_tools(tools)
        limit = positive(budget, "budget") if budget is not None else _room(provider, model, kept)
        chosen = policy if isinstance(policy, PolicySetDocument) else _named(policy)
        session = self._session
        keep_policy(session.ledger, session.owner.tenant, session.ids, session.clock, chosen)
        tail = session.tail(self._view, fresh=True)
        boundary = Boundary(
            conversation=session.conversation.id,
            branch=self._view.branch,
            trigger=tail.last_message,
            participant=self._view.participant,
            mode=choice(RuntimeMode, mode, "mode"),
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
            base = gone_on_from(shown, chosen)
            order = Order(boundary=boundary, policy=chosen, tools=offered, recall=recall, needed=needed or shipped())
            assembling = Assembling(
                place=session.place, lineage=tail.lineage, order=order, desk=desk, base=base, open=frozenset(tail.open)
            )
            sheet, full = assembling.assemble()
            desk.put(full)
        return replace(sheet, _get=self._get)

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
        rendered = self._session.ledger.blocks(self._session.owner, full.blocks)
        return Sheet(id=record.id, record=body, selections=full.selected, blocks=tuple(rendered), _get=self._get)

    # ------------------------------------------------------------------ exact evidence

    def recall(
        self,
        reference: str,
        *,
        lines: Range | None = None,
        rows: Range | None = None,
        bytes: Range | None = None,
        pointer: str | None = None,
        search: str | None = None,
        limit: int = DEFAULT_LIMIT,
    ) -> Recalled:
        """Fetch a message or tool result as it was recorded, whole or one part of it, for the caller itself.

        `reference` is an id, the beginning of one, or the short form that requests show. A range is (from, to),
        counted from 0, without `to`, which may be None for the end; rows of a table do not count its header; `bytes`
        are those of the content as recorded. `pointer` is a JSON Pointer, `search` a text to find in the content. At
        most one of them is given. `limit` is in bytes of content; `more` of the answer reads on. What this view may
        see decides, and no policy set: for a model, use `answer_recall`.

        Raises `NotFound` for a reference or part that is not there or may not be seen, `InvalidOption`, `BodyErased`.
        """
        request = RecallRequest(
            reference=reference,
            lines=lines,
            rows=rows,
            bytes=bytes,
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
        return Conversation(self._session, id, self._view.participant)

    def on(self, branch: str) -> "Conversation":
        """The view of a branch, by name or id. Raises `NotFound`."""
        label(branch, "branch")
        known = branches(self._session.ledger, self._session.conversation.key)
        for id, body in known.items():
            if branch in (id, body.name):
                return Conversation(self._session, id, self._view.participant)
        names = ", ".join(sorted(body.name for body in known.values()))
        raise NotFound(f"no branch {branch!r} in conversation {self.name!r}; there are: {names}")

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
        return Conversation(self._session, self._view.branch, id)

    def participants(self) -> dict[str, RecordId]:
        """The participants of the conversation by name, in the order in which they came."""
        return participants(self._session)

    # ------------------------------------------------------------------ looking

    def transcript(self, branch: str | None = None) -> list[Item]:
        """What people read: messages and tool cards of a branch (default: this one), without bookkeeping."""
        view = self if branch is None else self.on(branch)
        records, calls = view.history()
        return transcript(records, calls, self._session.read)

    def history(self) -> tuple[list[Record], dict[RecordId, ToolCall]]:
        """The messages and artifacts of this branch in order, and the calls that they refer to."""
        session = self._session
        seen = session.tail(self._view, fresh=True).lineage
        records = session.ledger.nodes(session.conversation.key, NodeQuery(kinds=("message", "artifact"), lineage=seen))
        calls = session.ledger.nodes(session.conversation.key, NodeQuery(kinds=("call",), lineage=seen))
        return records, {record.id: record.body for record in calls if isinstance(record.body, ToolCall)}

    def raw(self, artifact: str) -> bytes:
        """The exact bytes of a tool result, its parts one after another. Raises `NotFound`, `BodyErased`, `Damaged`."""
        found = self._get((RecordId(label(artifact, "artifact")),))
        body = found[0].body if found else None
        if not isinstance(body, ToolArtifact):
            raise NotFound(f"no tool result {artifact!r} in conversation {self.name!r}")
        payloads = (content_payload(part) for part in body.content)
        return b"".join(self._session.read(payload) for payload in payloads if payload is not None)

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

    def _named_sheet(self, sheet: Sheet | str) -> RecordId:
        return sheet.id if isinstance(sheet, Sheet) else self._sheet_of(RecordId(label(sheet, "sheet")))

    def _get(self, ids: Sequence[RecordId]) -> list[Record]:
        return self._session.ledger.get(self._session.conversation.key, tuple(ids)) if ids else []


def _named(policy: str | None) -> PolicySetDocument:
    return policy_set(label(policy, "policy") if policy is not None else DEFAULT)


def _room(provider: str, model: str, reserve: int) -> int:
    """Tokens that a request may take in a model's window when room for the reply is kept free."""
    known = facts(provider, model)
    window = known.window if known is not None and known.window is not None else DEFAULT_WINDOW
    if reserve >= window:
        raise InvalidOption(f"reserve is {reserve:,}; it must be below the window of {model}, {window:,} tokens")
    return window - reserve
