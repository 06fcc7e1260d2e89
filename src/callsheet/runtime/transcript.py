"""The transcript: what people read. Messages and tool cards along a branch; no runs, no sheets, no bookkeeping."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from callsheet.assemble.contents import text_of
from callsheet.derive.text import binary_standin, readable
from callsheet.graph.enums import ArtifactStatus, InstructionScope, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, ToolArtifact, ToolCall
from callsheet.graph.record import Record
from callsheet.graph.times import to_datetime
from callsheet.graph.values import CallRef, Media, Opaque, Payload, Text


@dataclass(frozen=True, kw_only=True, slots=True)
class Spoken:
    """A message."""

    id: RecordId
    role: Role
    text: str
    at: datetime
    #: The speaker's name, where the message gave one.
    name: str | None = None
    #: The participant who spoke; None: nobody in particular.
    participant: RecordId | None = None
    #: MIME types or addresses of what is attached.
    attachments: tuple[str, ...] = ()
    #: Of its text, in o200k_base, as counted when it was recorded.
    tokens: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCard:
    """A tool call with what became of it."""

    #: The call; for a result without a call, the artifact.
    id: RecordId
    tool: str
    #: As the model wrote them.
    arguments: str
    #: None: not answered.
    status: ArtifactStatus | None
    #: The result's artifact and size in bytes.
    artifact: RecordId | None
    size: int
    at: datetime
    #: The participant whose call it is; None: nobody in particular.
    participant: RecordId | None = None
    #: Of the call and its result, in o200k_base, as counted when they were recorded.
    tokens: int = 0


Item = Spoken | ToolCard

BOOKKEEPING = frozenset({InstructionScope.CATALOGUE, InstructionScope.SKILL})
"""Instructions that the runtime puts together; nobody said them."""

Read = Callable[[Payload], bytes]


def transcript(records: Sequence[Record], calls: Mapping[RecordId, ToolCall], read: Read) -> list[Item]:
    """The items of a branch from its messages and artifacts in order of position."""
    answers: dict[RecordId, Record] = {}
    for record in records:
        if isinstance(record.body, ToolArtifact) and record.body.call is not None:
            answers[record.body.call] = record
    items: list[Item] = []
    for record in records:
        body = record.body
        if isinstance(body, Message) and body.instruction not in BOOKKEEPING:
            items.extend(_message(record, body, calls, answers, read))
        elif isinstance(body, ToolArtifact) and body.call not in calls:
            items.append(_card(record.id, body.tool or "", "", record, record))
    return items


def _message(
    record: Record, body: Message, calls: Mapping[RecordId, ToolCall], answers: Mapping[RecordId, Record], read: Read
) -> list[Item]:
    text = "\n".join(text_of(read(part.text)) for part in body.parts if isinstance(part, Text))
    attached = tuple(part.url or part.mime for part in body.parts if isinstance(part, Media))
    items: list[Item] = []
    if text or attached or not any(isinstance(part, CallRef) for part in body.parts):
        items.append(
            Spoken(
                id=record.id,
                role=body.role,
                text=text,
                at=to_datetime(record.header.at),
                name=body.name,
                participant=record.header.scope.owner,
                attachments=attached,
                tokens=sum(part.o200k for part in body.parts if isinstance(part, Text)),
            )
        )
    for part in body.parts:
        if isinstance(part, CallRef) and (call := calls.get(part.call)) is not None:
            arguments = text_of(read(call.arguments))
            items.append(_card(part.call, call.tool, arguments, record, answers.get(part.call), tokens=call.o200k))
    return items


def _card(
    id: RecordId, tool: str, arguments: str, asked: Record, answer: Record | None, *, tokens: int = 0
) -> ToolCard:
    body = answer.body if answer is not None else None
    result = body if isinstance(body, ToolArtifact) else None
    return ToolCard(
        id=id,
        tool=tool,
        arguments=arguments,
        status=result.status if result else None,
        artifact=answer.id if answer else None,
        size=result.size if result else 0,
        at=to_datetime(asked.header.at),
        participant=asked.header.scope.owner,
        tokens=tokens + (_counted(result) if result else 0),
    )


def _counted(body: ToolArtifact) -> int:
    return sum(part.o200k for part in body.content if not isinstance(part, Media))


def result_text(body: ToolArtifact, read: Read) -> str:
    """The content of an artifact as text for a person."""
    shown: list[str] = []
    for part in body.content:
        if isinstance(part, Text):
            shown.append(text_of(read(part.text)))
        elif isinstance(part, Opaque):
            shown.append(text_of(read(part.raw)))
        elif part.data is not None:
            data = read(part.data)
            shown.append(readable(data) or binary_standin(part.mime, len(data)))
        else:
            shown.append(part.url or part.mime)
    return "\n".join(shown)
