"""From records back to messages as they were recorded: nothing repaired, nothing made unique, nothing left out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from callsheet.assemble import blocks
from callsheet.assemble.contents import text_of
from callsheet.audit.exchange.grouping import Group, message_extras
from callsheet.audit.exchange.lines import AT, ITEMS, STATUS
from callsheet.graph import values
from callsheet.graph.enums import ArtifactStatus
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, ToolArtifact, ToolCall
from callsheet.graph.record import Record
from callsheet.graph.times import isoformat
from callsheet.graph.values import Payload
from callsheet.wire import formats
from callsheet.wire.names import Wire

Fields = dict[str, object]


@dataclass(frozen=True, kw_only=True, slots=True)
class Restorer:
    """Restores the messages of one branch."""

    calls: Mapping[RecordId, ToolCall]
    #: Gives the bytes of a payload.
    read: Callable[[Payload], bytes]

    def message(self, group: Group, wire: Wire) -> Fields:
        """A message in a format, with when it was said and how a tool execution ended where the format cannot tell."""
        written = formats.export([self._block(record, wire) for record in group], wire)
        # Of items nothing may be kept but what they are: what is told of them stands beside them.
        beside = len(written) > 1 or (wire is Wire.OPENAI_RESPONSES and "type" in written[0])
        message: Fields = {ITEMS: written} if beside else written[0]
        times = [extras[AT] for record in group if AT in (extras := message_extras(record))]
        message[AT] = times[0] if times else isoformat(group[0].header.at)
        message[STATUS] = next(filter(None, (_stated_status(record, wire) for record in group)), None)
        if message[STATUS] is None:
            message[STATUS] = _untold_status(group, written, wire)
        return {key: value for key, value in message.items() if value is not None or key not in (AT, STATUS)}

    def _block(self, record: Record, wire: Wire) -> blocks.Block:
        body = record.body
        if isinstance(body, Message):
            return self._said(body)
        assert isinstance(body, ToolArtifact), "a group holds messages and results"
        stated = _stated_status(record, wire) is not None
        return self._answer(body, failed=body.status is ArtifactStatus.FAILED and not stated)

    def _said(self, body: Message) -> blocks.Said:
        return blocks.Said(
            role=body.role,
            parts=tuple(part for found in body.parts if (part := self._part(found)) is not None),
            form=body.form,
            wire=body.wire,
            name=body.name,
            extras=body.extras,
        )

    def _answer(self, body: ToolArtifact, *, failed: bool) -> blocks.Answer:
        return blocks.Answer(
            call=body.provider_id,
            tool=body.tool,
            content=tuple(map(self._content, body.content)),
            form=body.form,
            failed=True if failed else None,
            wire=body.wire,
            extras=body.extras,
        )

    def _part(self, part: values.Part) -> blocks.Part | None:
        if isinstance(part, values.CallRef):
            call = self.calls.get(part.call)  # None: erased
            return self._call(call) if call is not None else None
        if isinstance(part, values.Reasoning):
            return blocks.Reasoning(wire=part.wire, raw=self.read(part.raw))
        return self._content(part)

    def _call(self, call: ToolCall) -> blocks.Call:
        return blocks.Call(
            id=call.provider_id,
            tool=call.tool,
            arguments=text_of(self.read(call.arguments)),
            kind=call.kind,
            wire=call.wire,
            extras=call.extras,
        )

    def _content(self, part: values.Content) -> blocks.Content:
        if isinstance(part, values.Text):
            return blocks.Text(text=text_of(self.read(part.text)), extras=part.extras)
        if isinstance(part, values.Opaque):
            return blocks.Opaque(wire=part.wire, raw=self.read(part.raw))
        return blocks.Media(
            mime=part.mime,
            data=self.read(part.data) if part.data is not None else None,
            url=part.url,
            width=part.width,
            height=part.height,
            wire=part.wire,
            extras=part.extras,
        )


def _all_failed(written: Sequence[Fields]) -> bool:
    """Whether every result in these messages says that it failed."""
    read = formats.parse_messages(written, Wire.GEMINI)
    return all(answer.failed for answer in read if isinstance(answer, blocks.Answer))


def _stated_status(record: Record, wire: Wire) -> object:
    """The status that the message stated when it was recorded in this format; None: it stated none."""
    body = record.body
    own = isinstance(body, ToolArtifact | Message) and body.wire == wire
    return message_extras(record).get(STATUS) if own else None


def _untold_status(group: Group, written: Sequence[Fields], wire: Wire) -> str | None:
    """How the tool executions ended, where the message itself does not tell."""
    statuses = {record.body.status for record in group if isinstance(record.body, ToolArtifact)}
    told = {ArtifactStatus.OK}
    if wire is Wire.ANTHROPIC or (wire is Wire.GEMINI and _all_failed(written)):
        told.add(ArtifactStatus.FAILED)
    untold = statuses - told
    return untold.pop().value if len(untold) == 1 and len(statuses) == 1 else None
