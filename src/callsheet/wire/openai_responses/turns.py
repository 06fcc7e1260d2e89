"""The items of one turn of a model: its messages, its calls, and the reasoning that goes with them.

The service takes a reasoning item only with what followed it, and what followed it under its own id only with the
reasoning. So reasoning stands directly before what it came before, or not at all; ids of items are sent behind
reasoning only, and items that the service itself made go where their reasoning cannot be sent.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from callsheet.assemble.blocks import Call, Opaque, Part, Reasoning, Said, Text
from callsheet.assemble.standins import EMPTY
from callsheet.wire.cleaning import clean
from callsheet.wire.content import shown_texts
from callsheet.wire.jsontext import own_extras
from callsheet.wire.names import Wire
from callsheet.wire.openai_responses import native, shapes
from callsheet.wire.openai_responses.parse import MESSAGE
from callsheet.wire.openai_responses.parts import as_recorded, reasoning, tool_call
from callsheet.wire.openai_responses.shapes import (
    AsRecorded,
    InputMessage,
    Item,
    OutputMessage,
    OutputPart,
    OutputRefusal,
    OutputText,
)
from callsheet.wire.reading import Fields
from callsheet.wire.refusals import is_refusal


class _Backing(Enum):
    """Whether reasoning stands before an item."""

    #: There was none.
    NONE = auto()
    SENT = auto()
    #: There was some, and it is not sent.
    LOST = auto()


@dataclass(kw_only=True, slots=True)
class Turn:
    """Renders one turn."""

    said: Said
    #: The ids of its calls as this request has them.
    ids: Mapping[str | None, str]
    #: The calls that are sent as items of their own kind, by the id they were composed with.
    native: Mapping[str | None, AsRecorded]
    #: Ids of items that the request holds already: the service refuses one that stands twice.
    used: set[str]
    _items: list[Item] = field(default_factory=list)
    _backing: _Backing = _Backing.NONE
    #: The message that the next text may go on in, and what the service calls its phase.
    _open: OutputMessage | None = None
    _plain: InputMessage | None = None
    _phase: str | None = None

    def items(self) -> list[Item]:
        """The items; never none."""
        recorded = list(self._recorded())
        kept = self._kept(recorded)
        self.used.update(id for item in recorded if item is not None and isinstance(id := item.get("id"), str))
        for part, item in zip(self.said.parts, kept, strict=True):
            if not isinstance(part, Text):
                self._open = self._plain = None
            if isinstance(part, Reasoning):
                self._backing = _Backing.SENT if item is not None else _Backing.LOST
            if isinstance(part, Reasoning | Opaque):
                if item is not None and self._backing is not _Backing.LOST:
                    self._items.append(item)
            elif isinstance(part, Text):
                self._text(part)
            elif isinstance(part, Call):
                self._call(part)
            else:
                self._items += [InputMessage(role="assistant", content=text) for text in shown_texts([part])]
        return self._items or [InputMessage(role="assistant", content=EMPTY)]

    def _recorded(self) -> Iterator[AsRecorded | None]:
        """For each part the item that it could be sent as it came; None for one whose id the request holds already."""
        ids: set[str] = set()
        for part in self.said.parts:
            item = None
            if isinstance(part, Reasoning):
                item = reasoning(part)
            elif isinstance(part, Opaque):
                item = as_recorded(part)
            id = item.get("id") if item is not None else None
            yield None if isinstance(id, str) and (id in ids or id in self.used) else item
            if isinstance(id, str):
                ids.add(id)

    def _kept(self, recorded: list[AsRecorded | None]) -> list[AsRecorded | None]:
        """The same without the reasoning behind which nothing would stand that it came before."""
        kept: list[AsRecorded | None] = []
        follows = False
        for part, item in zip(reversed(self.said.parts), reversed(recorded), strict=True):
            kept.append(None if isinstance(part, Reasoning) and not follows else item)
            follows = kept[-1] is not None or self._is_sent(part)
        return kept[::-1]

    def _is_sent(self, part: Part) -> bool:
        """Whether a message or a call is sent for a part as what it was."""
        if isinstance(part, Call):
            return native.kind_of(part) is None or part.id in self.native
        return isinstance(part, Text) and bool(part.text.strip())

    def _call(self, call: Call) -> None:
        own = self.native.get(call.id)
        if own is not None and self._backing is not _Backing.LOST and own.get("id") not in self.used:
            self._append(own)
            return
        keys = own_extras(call.extras, call.wire, Wire.OPENAI_RESPONSES)
        as_it_was = native.kind_of(call) is None
        self._append(tool_call(call, self.ids[call.id], self._own_id(keys) if as_it_was else None))

    def _append(self, item: Item) -> None:
        id = item.get("id")
        if isinstance(id, str):
            self.used.add(id)
        self._items.append(item)

    def _own_id(self, keys: Fields) -> str | None:
        """The id of an item, where it may be sent: behind its reasoning, once."""
        id = keys.get("id")
        if self._backing is not _Backing.SENT or not isinstance(id, str) or not id or clean(id) != id:
            return None
        return id if id not in self.used else None

    def _text(self, part: Text) -> None:
        own = own_extras(part.extras, self.said.wire, Wire.OPENAI_RESPONSES)
        found = own.get(MESSAGE)
        keys = found if isinstance(found, dict) else {}
        if not self._goes_on(part, own):
            self._open = self._plain = None
            self._phase = _one_of(shapes.PHASES, keys.get("phase"))
        shown = _output(part)
        if shown is None:
            return
        if self._open is not None:
            self._open["content"].append(shown)
        elif self._plain is not None:
            self._plain["content"] = f"{self._plain['content']}{clean(part.text)}"
        else:
            self._append(self._begun(part, shown, keys))

    def _begun(self, part: Text, shown: OutputPart, keys: Fields) -> InputMessage | OutputMessage:
        """A message that begins with this text."""
        id = self._own_id(keys)
        message: InputMessage | OutputMessage
        if id is None:
            message = self._plain = InputMessage(role="assistant", content=clean(part.text))
        else:
            state = _one_of(shapes.STATUSES, keys.get("status")) or "completed"
            message = self._open = OutputMessage(type="message", role="assistant", id=id, status=state, content=[shown])
        if self._phase is not None:
            message["phase"] = self._phase
        return message

    def _goes_on(self, part: Text, own: Fields) -> bool:
        """Whether a text goes on in the message before it. Other formats cut one message into texts, at citations."""
        if self.said.wire == Wire.OPENAI_RESPONSES:
            return MESSAGE in own and own[MESSAGE] is None
        return not is_refusal(part)


def _one_of(known: frozenset[str], value: object) -> str | None:
    return value if isinstance(value, str) and value in known else None


def _output(part: Text) -> OutputPart | None:
    if not part.text.strip():
        return None
    if is_refusal(part):
        return OutputRefusal(type="refusal", refusal=clean(part.text))
    return OutputText(type="output_text", text=clean(part.text), annotations=[])
