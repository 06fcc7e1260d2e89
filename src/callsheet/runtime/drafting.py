"""From blocks to drafts of records. Large content is put into the blob store on the way, before any record names it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from callsheet.assemble import blocks
from callsheet.assemble.sizes import RECORDED_IN
from callsheet.derive.derived import class_in, unpack
from callsheet.derive.redaction import Redaction
from callsheet.errors import InvalidOption, NotFound
from callsheet.graph import values
from callsheet.graph.canonical import content_digest
from callsheet.graph.enums import (
    ArtifactStatus,
    Defect,
    InstructionScope,
    Isolation,
    Privacy,
    Role,
    RunStatus,
    StateField,
    Visibility,
)
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import (
    Boundary,
    ContextAssembly,
    Episode,
    KnowledgeDocument,
    Message,
    ModelRun,
    ToolArtifact,
    ToolCall,
)
from callsheet.graph.ports import Ids, Ledger, Owner
from callsheet.graph.query import StateQuery
from callsheet.graph.record import Body, Draft, Record, StreamKey
from callsheet.graph.times import Instant
from callsheet.graph.values import DEFAULT_PRIVACY, Scope
from callsheet.policy.visibility import hidden_from
from callsheet.recall.tool import NAME as RECALL
from callsheet.recall.tool import parse
from callsheet.runtime.documenting.shelf import KINDS as KNOWLEDGE
from callsheet.runtime.indexing import Indexing
from callsheet.runtime.labels import of_sheet, strictest
from callsheet.runtime.matching import Match, match
from callsheet.runtime.naming import AROUND, TOLD, found_in, means, named, turns_of
from callsheet.runtime.redacting import redaction_of
from callsheet.runtime.releasing import Reader, opened
from callsheet.runtime.tail import KnownCall, Tail
from callsheet.runtime.turns import Turns
from callsheet.wire.cleaning import clean, storable
from callsheet.wire.tokens import count


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """The sheet that a run was shown."""

    sheet: RecordId
    record: ContextAssembly

    @property
    def boundary(self) -> Boundary:
        """Who was about to generate."""
        return self.record.boundary


@dataclass(frozen=True, kw_only=True, slots=True)
class Ran:
    """An execution by Callsheet: its call, and what is known beside what came of it."""

    call: KnownCall
    started: Instant | None = None
    retry: values.RetryContract | None = None
    #: The class that the tool's contract declares.
    privacy: Privacy = DEFAULT_PRIVACY
    #: A JSON object.
    metadata: bytes = b""
    defects: tuple[Defect, ...] = ()


NOBODYS = Scope()
"""What the records of a view carry that is no sub-agent's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """What a sub-agent or another branch gives to this one."""

    #: What it comes from, as a request names it.
    source: str
    text: str
    status: ArtifactStatus = ArtifactStatus.OK
    #: The strictest class of what it rests on.
    privacy: Privacy = DEFAULT_PRIVACY
    retry: values.RetryContract | None = None
    #: A JSON object.
    metadata: bytes = b""
    #: The records whose words it gives again.
    copies: tuple[RecordId, ...] = ()


@dataclass(kw_only=True, slots=True)
class Drafting:
    """Collects the drafts of one transaction on one branch."""

    ledger: Ledger
    stream: StreamKey
    ids: Ids
    owner: Owner
    tail: Tail
    #: When what is recorded happened, and when the transaction is made.
    at: Instant
    now: Instant
    participant: RecordId | None = None
    #: What each record carries of ownership beside branch and owner.
    carries: Scope = NOBODYS
    event: str | None = None
    #: The classes of data that contracts declare, by tool: what a recall shows keeps the class of its tool.
    declared: Mapping[str, Privacy] = field(default_factory=dict)
    drafts: list[Draft] = field(default_factory=list)
    _counted: dict[str, int] = field(default_factory=dict)
    #: What was counted last.
    _last: str = ""
    _large: dict[str, bytes] = field(default_factory=dict)

    def add(
        self,
        body: Body,
        *,
        kind: str,
        scope: Scope | None = None,
        id: RecordId | None = None,
        call: ToolCall | None = None,
        privacy: Privacy = DEFAULT_PRIVACY,
        at: Instant | None = None,
    ) -> RecordId:
        """Draft one record, with what it is found by, and let the tail see it. `call` is the call of an artifact."""
        index = Indexing(read=self._read, count=self._count, redaction=self._redaction).of(body, call)
        if index is not None and isinstance(body, ToolArtifact):
            # So the header alone tells, without its content, that a result is of a stricter class.
            privacy = strictest((privacy, class_in(index.derived)))
        made = Draft(
            id=id or self.ids.record(kind),
            at=self.at if at is None else at,
            body=body,
            nonce=self.ids.nonce(),
            scope=scope or self.shared(),
            privacy=privacy,
            index=index,
        )
        self.drafts.append(made)
        self.tail.see(made)
        return made.id

    @property
    def _redaction(self) -> Redaction:
        return redaction_of(self.stream)

    def shared(self) -> Scope:
        """The ownership of what everyone on the branch may see."""
        return replace(
            self.carries,
            branch=self.tail.branch,
            owner=self.participant,
            isolation=Isolation.ISOLATED,
            shared_with=(),
        )

    def private(self, run: RecordId | None) -> Scope:
        """Runtime state belongs to its participant; without participants it belongs to the branch."""
        own = Visibility.PARTICIPANT if self.participant is not None else Visibility.BRANCH
        return replace(self.shared(), run=run, visibility=own)

    def worked(self, scope: Scope) -> Scope:
        """The same for a message that asks for tools, or a result: as isolated as its participant's work is."""
        if scope.visibility is not Visibility.PARTICIPANT:
            return scope
        return replace(scope, isolation=self.carries.isolation, shared_with=self.carries.shared_with)

    def scope_of(self, id: RecordId) -> Scope:
        """The ownership of a record that was drafted here."""
        return next(draft.scope for draft in self.drafts if draft.id == id)

    def join(self, other: "Drafting") -> None:
        """Take over what was drafted beside this on another branch; this one goes on behind it."""
        self.drafts.extend(other.drafts)
        self.tail.position = other.tail.position

    # ------------------------------------------------------------------ messages

    def said(self, said: blocks.Said, instruction: InstructionScope | None = None) -> RecordId:
        """Draft a message that no request of ours produced; an assistant's gets a run all the same."""
        if said.role is Role.ASSISTANT:
            return self.replied(blocks.Reply(said=said, status=RunStatus.COMPLETED), None)
        if instruction is None and said.role in (Role.SYSTEM, Role.DEVELOPER):
            instruction = InstructionScope.CONVERSATION
        return self.message(said, self.shared(), instruction)

    def replied(self, reply: blocks.Reply, shown: Shown | None) -> RecordId:
        """Draft a run and the message that it produced. Returns the message's id."""
        run = ModelRun(
            status=reply.status,
            requested_provider=shown.boundary.provider if shown else None,
            requested_model=shown.boundary.model if shown else None,
            answered_model=_storable(reply.model),
            sheet=shown.sheet if shown else None,
            trigger=shown.boundary.trigger if shown else None,
            usage=reply.usage,
            finish=_storable(reply.finish),
            response=_storable(reply.response),
            metadata=reply.extras,
        )
        if shown is not None:
            self.carries = replace(self.carries, mode=shown.boundary.mode, task=shown.boundary.task)
        # What a model says of data is as private as the data: its answer is of the class of what it was shown.
        label = of_sheet(shown.record) if shown is not None else DEFAULT_PRIVACY
        made = self.add(run, kind="run", scope=self.private(None), privacy=label)
        # A finished answer is for everyone on the branch; a message that only asks for tools is the run's own work.
        shared = replace(self.shared(), run=made)
        scope = self.worked(self.private(made)) if reply.said.calls else shared
        return self.message(reply.said, scope, None, label)

    def message(
        self,
        said: blocks.Said,
        scope: Scope,
        instruction: InstructionScope | None,
        privacy: Privacy = DEFAULT_PRIVACY,
        cites: tuple[RecordId, ...] = (),
    ) -> RecordId:
        """Draft a message with its calls, in the ownership that is given. Returns the message's id."""
        id = self.ids.record("message")
        call_ids = [self.ids.record("call") for _ in said.calls]
        references = iter(call_ids)
        parts = tuple(
            values.CallRef(call=next(references)) if isinstance(part, blocks.Call) else self._part(part)
            for part in said.parts
        )
        body = Message(
            role=said.role,
            parts=parts,
            form=said.form,
            wire=said.wire,
            name=self._named(said.name),
            instruction=instruction,
            cites=cites,
            event=self.event,
            extras=said.extras,
            defects=said.defects,
        )
        self.add(body, kind="message", scope=scope, id=id, privacy=privacy)
        for index, (call_id, call) in enumerate(zip(call_ids, said.calls, strict=True)):
            self.add(
                self._call(call, id, index), kind="call", scope=self.private(scope.run), id=call_id, privacy=privacy
            )
        return id

    def _call(self, call: blocks.Call, message: RecordId, index: int) -> ToolCall:
        defects = call.defects
        id, tool = _storable(call.id), self._redaction.name(storable(call.tool))
        if id and self._in_use(id):
            defects = (*defects, Defect.REPEATED_ID)
        return ToolCall(
            message=message,
            index=index,
            tool=tool,
            arguments=self.payload(call.arguments, digest=True),
            o200k=count(tool, RECORDED_IN) + count(call.arguments, RECORDED_IN),
            provider_id=id,
            kind=storable(call.kind),
            wire=call.wire,
            extras=call.extras,
            defects=defects,
        )

    def _in_use(self, id: str) -> bool:
        """Whether a call with this provider's id is open, or was answered in the newest turn."""
        answered = self.tail.answered.values()
        return bool(self.tail.named(id)) or any(known.body.provider_id == id for known in answered)

    # ------------------------------------------------------------------ results

    def answered(self, answer: blocks.Answer, status: ArtifactStatus | None, ran: Ran | None = None) -> RecordId:
        """Draft the artifact of a tool execution, paired with the call that ran, or else by position."""
        id, tool = _storable(answer.call), self._named(answer.tool)
        found = match(id, tool, self.tail) if ran is None else Match(call=ran.call, defects=ran.defects)
        call = found.call
        recalled = _text_of_recall(call.body, answer) if call else ""
        original = self._original(call.body, recalled) if call and recalled else None
        raw = [_content_bytes(part) for part in answer.content]
        body = ToolArtifact(
            call=call.id if call else None,
            provider_id=id,
            tool=call.body.tool if call else tool,
            arguments_digest=call.body.arguments.digest if call else None,
            arguments_size=call.body.arguments.size if call else 0,
            content=tuple(self._content(part) for part in answer.content),
            form=answer.form,
            digest=content_digest(raw[0] if len(raw) == 1 else b"".join(raw)),
            size=sum(map(len, raw)),
            status=status or (ArtifactStatus.FAILED if answer.failed else ArtifactStatus.OK),
            started=ran.started if ran else None,
            finished=self.at,
            message=call.body.message if call else None,
            retry=ran.retry if ran else None,
            recalls=original.id if original else None,
            wire=answer.wire,
            event=self.event,
            extras=answer.extras,
            metadata=ran.metadata if ran else b"",
            defects=(*answer.defects, *found.defects),
        )
        # A result belongs to whoever the call belongs to: else answering another's call would hide its answer.
        scope = self.worked(replace(call.scope, branch=self.tail.branch) if call else self.private(None))
        given = self._turns(call.body) if call and recalled.startswith(TOLD) else self._visible(found_in(recalled))
        privacy = self.class_of([original] if original else given)
        if ran is not None:
            privacy = strictest([privacy, ran.privacy])
        return self.add(body, kind="artifact", scope=scope, call=call.body if call else None, privacy=privacy)

    def released(self, release: "Release", call: KnownCall | None) -> RecordId:
        """Draft the artifact that shows here what was done elsewhere: as the result of its call where it has one."""
        raw = text_bytes(release.text)
        body = ToolArtifact(
            call=call.id if call else None,
            provider_id=call.body.provider_id if call else None,
            tool=call.body.tool if call else release.source,
            arguments_digest=call.body.arguments.digest if call else None,
            arguments_size=call.body.arguments.size if call else 0,
            content=(values.Text(text=self.payload(release.text), o200k=self._count(release.text)),),
            digest=content_digest(raw),
            size=len(raw),
            status=release.status,
            finished=self.at,
            message=call.body.message if call else None,
            retry=release.retry,
            copies=release.copies,
            metadata=release.metadata,
        )
        # What a participant is given is its own, with a call and without.
        scope = self.worked(replace(call.scope, branch=self.tail.branch) if call else self.private(None))
        return self.add(body, kind="artifact", scope=scope, call=call.body if call else None, privacy=release.privacy)

    def _original(self, call: ToolCall, text: str) -> Record | None:
        """What the answer of a recall shows: the visible record that it names, if that is what the call asked for."""
        id = named(text)
        if id is None:
            return None
        asked = self._asked(call)
        found = self._visible((id,)) if asked is not None else []
        return found[0] if found and asked is not None and _names(found[0], asked.strip(AROUND)) else None

    def _asked(self, call: ToolCall) -> str | None:
        """The reference that a call of the recall tool asks for."""
        try:
            return parse(self._read(call.arguments).decode("utf-8", "replace")).reference
        except InvalidOption:
            return None

    def _turns(self, call: ToolCall) -> list[Record]:
        """The visible messages and results of the turns that a recall asks for, whichever part of them it was given."""
        asked = self._asked(call)
        turns = turns_of(asked.strip(AROUND)) if asked is not None else None
        if turns is None:
            return []
        opened = self._opened()
        history = Turns(
            ledger=self.ledger,
            stream=self.stream,
            lineage=self.tail.lineage,
            shows=lambda record: self._sees(record) or record.id in opened,
        )
        try:
            return [record for _, record in history.between(*turns)]
        except NotFound:
            return []

    def _visible(self, ids: tuple[RecordId, ...]) -> list[Record]:
        """The messages and results among these records that may be seen here, and documents of the workspace."""
        own = self.ledger.get(self.stream, ids) if ids else []
        seen = [
            record
            for record in own
            if isinstance(record.body, Message | ToolArtifact | Episode)
            and (self._sees(record) or record.id in self._opened())
        ]
        known = {record.id for record in own}
        others = (self.ledger.find(self.stream.tenant, id) for id in ids if id not in known)
        return [*seen, *(one[1] for one in others if one is not None and one[1].header.kind in KNOWLEDGE)]

    def _sees(self, record: Record) -> bool:
        on_lineage = self.tail.lineage.sees(record.branch, record.position)
        return on_lineage and hidden_from(record.header.scope, self.participant, self.carries.sub_agent) is None

    def _opened(self) -> frozenset[RecordId]:
        """What was released to this view or shared with it."""
        reader = Reader(self.participant, self.carries.sub_agent)
        return opened(self.ledger, self.stream, self.tail.lineage, reader).records

    def class_of(self, records: Sequence[Record]) -> Privacy:
        """The strictest class of what an answer shows: what changes and the tools' contracts made of each record."""
        spans = [id for record in records if isinstance(record.body, Episode) for id in record.body.sources]
        records = [*records, *(self.ledger.get(self.stream, spans) if spans else ())]
        ids = tuple(record.id for record in records)
        query = StateQuery(field=StateField.PRIVACY, targets=ids, lineage=self.tail.lineage)
        rows = self.ledger.states(self.stream, query) if ids else []
        changed = {row.target: Privacy(row.value) for row in rows if row.value}
        found = [changed.get(record.id, record.header.privacy) for record in records]
        tools = [record.body.tool or "" for record in records if isinstance(record.body, ToolArtifact)]
        own = [record.position for record in records if record.header.stream == self.stream.stream]
        indexes = self.ledger.indexed(self.stream, own) if own else {}
        told = [derived.privacy for index in indexes.values() if (derived := unpack(index.derived)) is not None]
        told += [self.declared[tool] for tool in tools if tool in self.declared]
        return strictest([DEFAULT_PRIVACY, *found, *told])

    # ------------------------------------------------------------------ content

    def _named(self, name: str | None) -> str | None:
        """A name as it is kept: it stands in requests, errors and explanations, so a secret in it is a marker."""
        return self._redaction.name(storable(name)) if name is not None else None

    def _part(self, part: blocks.Text | blocks.Reasoning | blocks.Media | blocks.Opaque) -> values.Part:
        if isinstance(part, blocks.Reasoning):
            return values.Reasoning(wire=part.wire, raw=self._bytes(part.raw), o200k=_count_raw(part.raw))
        return self._content(part)

    def _content(self, part: blocks.Content) -> values.Content:
        if isinstance(part, blocks.Text):
            counted = self._count(part.text)  # as it will be shown
            return values.Text(text=self.payload(part.text), o200k=counted, extras=part.extras)
        if isinstance(part, blocks.Opaque):
            return values.Opaque(wire=part.wire, raw=self._bytes(part.raw), o200k=_count_raw(part.raw))
        return values.Media(
            mime=storable(part.mime),
            data=self._bytes(part.data) if part.data is not None else None,
            url=_storable(part.url),
            width=part.width,
            height=part.height,
            wire=part.wire,
            extras=part.extras,
        )

    def _read(self, payload: values.Payload) -> bytes:
        """The bytes of a payload; those that this transaction brings are at hand, wherever they will lie."""
        if payload.inline is not None:
            return payload.inline
        assert payload.blob is not None
        return self._large.get(payload.blob.address) or self.ledger.fetch(self.owner, payload)

    def _count(self, text: str) -> int:
        """Tokens of a text; of what was counted in this transaction, without counting again."""
        known = self._counted.get(text)
        if known is None:
            # What a result is told as is often much like it.
            cleaned = clean(text)
            known = self._counted[text] = count(cleaned, RECORDED_IN, like=self._last)
            self._last = cleaned
        return known

    def payload(self, text: str, *, digest: bool = False) -> values.Payload:
        """The text as it is stored: inline, or put into the blob store."""
        return self._bytes(text_bytes(text), digest=digest)

    def _bytes(self, content: bytes, *, digest: bool = False) -> values.Payload:
        payload = self.ledger.stash(self.owner, content, digest=digest)
        if payload.blob is not None:
            self._large[payload.blob.address] = content
        return payload


def _storable(name: str | None) -> str | None:
    return storable(name) if name is not None else None


def _names(record: Record, asked: str) -> bool:
    """Whether a reference means a record: by its id, or by the name of the document that it is."""
    body = record.body
    return means(record.id, asked) or (isinstance(body, KnowledgeDocument) and body.document == asked)


def _text_of_recall(call: ToolCall, answer: blocks.Answer) -> str:
    """The text that answers a call of the recall tool; empty for any other."""
    part = answer.content[0] if call.tool == RECALL and len(answer.content) == 1 else None
    return part.text if isinstance(part, blocks.Text) else ""


def text_bytes(text: str) -> bytes:
    """Text as it is kept: UTF-8, lone surrogates included."""
    return text.encode("utf-8", "surrogatepass")


def _content_bytes(part: blocks.Content) -> bytes:
    if isinstance(part, blocks.Text):
        return text_bytes(part.text)
    return part.raw if isinstance(part, blocks.Opaque) else part.data or b""


def _count_raw(raw: bytes) -> int:
    return count(raw.decode("utf-8", "replace"), RECORDED_IN)
