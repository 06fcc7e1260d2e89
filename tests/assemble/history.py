"""Small histories of records, written as one line per message or result, and what composing them needs."""

from callsheet.assemble.contents import result_text, text_of
from callsheet.assemble.forms import Forms
from callsheet.assemble.material import Material
from callsheet.derive.derived import Derived, index_result, unpack
from callsheet.graph import codec
from callsheet.graph.enums import ArtifactStatus, Defect, Level, Reason, Role
from callsheet.graph.ids import ROOT_BRANCH, RecordId, StreamId, TenantId
from callsheet.graph.nodes import Message, Selection, ToolArtifact, ToolCall
from callsheet.graph.record import Body, Header, Record
from callsheet.graph.times import Instant
from callsheet.graph.values import CallRef, Part, Payload, Scope, Text

NO_HASH = "sha256:" + "0" * 64


def payload(text: str) -> Payload:
    content = text.encode("utf-8", "surrogatepass")
    return Payload(size=len(content), inline=content)


def read(given: Payload) -> bytes:
    assert given.inline is not None
    return given.inline


class History:
    """Records in order, with the calls that they refer to."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.calls: dict[RecordId, ToolCall] = {}

    def _add(self, body: Body, scope: Scope | None = None) -> RecordId:
        position = len(self.records) + 1
        id = RecordId(f"r{position}")
        header = Header(
            tenant=TenantId("t"),
            stream=StreamId("s"),
            position=position,
            id=id,
            kind=codec.kind_of(body),
            version=1,
            at=Instant(position),
            scope=scope or Scope(branch=ROOT_BRANCH),
            commitment=NO_HASH,
        )
        self.records.append(Record(header=header, body=body))
        return id

    def said(
        self, role: Role, text: str | None = None, *calls: tuple[str | None, str], scope: Scope | None = None
    ) -> list[RecordId]:
        """A message with calls, each a provider id and a tool; returns the ids of the calls."""
        message = RecordId(f"r{len(self.records) + 1}")
        ids = [RecordId(f"{message}c{index}") for index in range(len(calls))]
        for index, (id, (provider_id, tool)) in enumerate(zip(ids, calls, strict=True)):
            self.calls[id] = ToolCall(
                message=message, index=index, tool=tool, arguments=payload("{}"), provider_id=provider_id
            )
        parts: tuple[Part, ...] = (Text(text=payload(text)),) if text is not None else ()
        self._add(Message(role=role, parts=(*parts, *(CallRef(call=id) for id in ids))), scope)
        return ids

    def result(
        self, call: RecordId | None, text: str, status: ArtifactStatus = ArtifactStatus.OK, tool: str | None = None
    ) -> RecordId:
        content = (Text(text=payload(text)),) if text else ()
        defects = (Defect.ORPHAN_RESULT,) if call is None else ()
        return self._add(ToolArtifact(call=call, tool=tool, content=content, status=status, defects=defects))


def raw(record: RecordId) -> Selection:
    """A record in its place, verbatim."""
    return Selection(record=record, level=Level.RAW)


def stands(
    record: RecordId,
    level: Level,
    *,
    note: int = 0,
    reason: Reason = Reason.INCLUDED,
    segments: tuple[int, ...] = (),
) -> Selection:
    """A record at a level, in its place or in a note."""
    return Selection(record=record, level=level, note=note, reason=reason, segments=segments)


def material(history: History, *, references: bool = True, unlisted: int = 0) -> Material:
    """What composing draws on, with what is derived from each result."""
    return Material(
        records={record.id: record for record in history.records},
        calls=history.calls,
        read=read,
        forms=Forms(derived=derived(history), references=references),
        unlisted=unlisted,
    )


def derived(history: History) -> dict[RecordId, Derived]:
    """What is derived from each result of a history. Tokens are words here."""
    found: dict[RecordId, Derived] = {}
    for record in history.records:
        body = record.body
        if not isinstance(body, ToolArtifact):
            continue
        call = history.calls.get(body.call) if body.call is not None else None
        index = index_result(
            result_text(body, read),
            tool=call.tool if call is not None else "",
            arguments=text_of(read(call.arguments)) if call is not None else "",
            count=lambda text: len(text.split()),
        )
        known = unpack(index.derived)
        if known is not None:
            found[record.id] = known
    return found
