"""Small histories of records, written as one line per message or result."""

from callsheet.graph import codec
from callsheet.graph.enums import ArtifactStatus, Role
from callsheet.graph.ids import ROOT_BRANCH, RecordId, StreamId, TenantId
from callsheet.graph.nodes import Message, ToolArtifact, ToolCall
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
        return self._add(ToolArtifact(call=call, tool=tool, content=content, status=status))
