"""The sheet of one request: what is sent, how large it is, and the record of how it came about."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from callsheet.assemble.compose import Composed
from callsheet.assemble.forms import reference
from callsheet.errors import BodyErased, InvalidOption
from callsheet.explain.sheet import explain, text
from callsheet.graph.enums import Level
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ContextAssembly, Episode, Message, Selection, ToolArtifact
from callsheet.graph.record import Record
from callsheet.wire import formats


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference:
    """A record that stands shortened in a request and can be fetched with `Conversation.recall`."""

    #: As the request shows it: the first characters of the id behind the prefix of its kind.
    reference: str
    id: RecordId
    #: ``message`` or ``artifact``.
    kind: str
    #: Of an artifact.
    tool: str | None
    level: Level
    #: The turn it belongs to, counted from 1.
    turn: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Sheet:
    """One assembled request.

    Send ``sheet.request()``; record the reply with ``talk.record(reply, sheet=sheet)``. The record of the assembly is
    already stored under `id`.
    """

    id: RecordId
    #: The stored record: boundary, pins, omissions, sizes; its selections and blocks extend those of its base.
    record: ContextAssembly
    #: Every record that stands in the request, with its level and reason, in order.
    selections: tuple[Selection, ...] = field(repr=False)
    #: The exact bytes of the request: the envelope without its messages, then each message. Empty: erased since.
    blocks: tuple[bytes, ...] = field(repr=False)
    _composed: Sequence[Composed] | None = field(default=None, repr=False)
    _get: Callable[[Sequence[RecordId]], Sequence[Record]] | None = field(default=None, repr=False, compare=False)

    @property
    def wire(self) -> formats.Wire:
        """The provider format of the request."""
        return formats.wire_of(self.record.boundary.provider)

    @property
    def tokens(self) -> int:
        """Input tokens of the request: instructions, tools, messages and their framing. Estimated unless `exact`."""
        return self.record.tokens.total

    @property
    def exact(self) -> bool:
        """Whether the model's own tokenizer counted the texts; framing and tools are estimates for every provider."""
        return self.record.exact

    @property
    def billed_tokens(self) -> int:
        """Billed-equivalent tokens: what the previous request of this branch began with counts a tenth."""
        return self.record.tokens_billed

    @property
    def replay_tokens(self) -> int:
        """Tokens that plain replay of the whole history would take."""
        return self.record.tokens_replayed

    def request(self) -> dict[str, object]:
        """The request's arguments for the provider's SDK: ``create(**sheet.request())``. A new value at each call.

        Raises `BodyErased` for a sheet read back from the store of which a part was erased, as the next two do.
        """
        return {**_object(self.blocks[0]), formats.history_key(self.wire): self.messages()}

    def arguments(self) -> dict[str, object]:
        """The request as the method of the provider's SDK takes it, where that divides it otherwise than its body does.

        So for Gemini: ``client.models.generate_content(**sheet.arguments())``; for every other the request as it is.
        """
        return formats.arguments(self.request(), self.wire)

    def messages(self, provider: str | None = None) -> list[dict[str, object]]:
        """The messages alone, in this or another provider's format.

        Raises `InvalidOption` for a format that is not known, and for another format than the request's own on a sheet
        that was read back from the store.
        """
        wire = self.wire if provider is None else formats.wire_named(provider)
        if wire == self.wire:
            return _objects(self.blocks[1:])
        if self._composed is None:
            raise InvalidOption(f"sheet {self.id} was read back from the store, which keeps its {self.wire} form alone")
        return formats.render_messages([item.block for item in self._composed], wire)

    def tools(self) -> list[dict[str, object]]:
        """The tool schemas that the request offers, each by itself, also where the request has several in one."""
        tools = _object(self.blocks[0]).get("tools")
        return formats.each_tool(tools) if isinstance(tools, list) else []

    def references(self) -> tuple[Reference, ...]:
        """Every record that stands shortened or in a note, in the order of the request: what can be fetched in full.

        Complete with recall on and off. What is not even listed in a note is found with `Conversation.search`. Reads
        the records from the store: raises `StoreClosed` once that is closed.
        """
        shortened = {
            selection.record: selection
            for selection in self.selections
            if selection.note or selection.level not in (Level.RAW, Level.DENSE)
        }
        found = self._get(tuple(shortened)) if self._get is not None else ()
        return tuple(
            Reference(
                reference=reference(record.id),
                id=record.id,
                kind=record.header.kind,
                tool=record.body.tool if isinstance(record.body, ToolArtifact) else None,
                level=shortened[record.id].level,
                turn=shortened[record.id].turn,
            )
            for record in found
            if isinstance(record.body, Message | ToolArtifact | Episode)
        )

    def explain(self) -> str:
        """What the request holds and what was left out, in a few sentences.

        `Conversation.explain` tells of each record.
        """
        return text(explain(self.id, self.record, self.selections))


def _object(block: bytes) -> dict[str, object]:
    return _objects((block,))[0]


def _objects(blocks: Sequence[bytes]) -> list[dict[str, object]]:
    if not all(blocks):
        raise BodyErased("a part of this request was erased; its selections and explanation remain")
    return _ARRAY.decode(b"[" + b",".join(blocks) + b"]")


_ARRAY = msgspec.json.Decoder(list[dict[str, object]])
