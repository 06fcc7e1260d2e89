"""The sheet of one request: what is sent, how large it is, and the record of how it came about."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from callsheet.assemble.compose import Composed
from callsheet.errors import InvalidOption
from callsheet.graph.enums import Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ContextAssembly, Selection
from callsheet.wire import formats


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
    #: The exact bytes of the request: the envelope without its messages, then each message.
    blocks: tuple[bytes, ...] = field(repr=False)
    _composed: Sequence[Composed] | None = field(default=None, repr=False)

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
        """The request's arguments for the provider's SDK: ``create(**sheet.request())``. A new value at each call."""
        return {**_object(self.blocks[0]), "messages": self.messages()}

    def messages(self, provider: str | None = None) -> list[dict[str, object]]:
        """The messages alone, in this or another provider's format.

        Raises `InvalidOption` for a format that is not known, and for another format than the request's own on a sheet
        that was read back from the store.
        """
        wire = self.wire if provider is None else formats.wire_named(provider)
        if wire == self.wire:
            return [_object(block) for block in self.blocks[1:]]
        if self._composed is None:
            raise InvalidOption(f"sheet {self.id} was read back from the store, which keeps its {self.wire} form alone")
        return formats.render_messages([item.block for item in self._composed], wire)

    def tools(self) -> list[dict[str, object]]:
        """The tool schemas that the request offers."""
        tools = _object(self.blocks[0]).get("tools")
        return tools if isinstance(tools, list) else []

    def explain(self) -> str:
        """What the request holds and what was left out, in a few sentences."""
        record, boundary = self.record, self.record.boundary
        counted = "texts counted exactly" if record.exact else "estimated"
        lines = [
            f"Sheet {self.id} for {boundary.model} ({boundary.provider}) on branch {boundary.branch}.",
            f"It takes {self.tokens:,} of {boundary.budget:,} tokens ({counted}): "
            f"{record.tokens.instructions:,} instructions, {record.tokens.tools:,} tools, "
            f"{record.tokens.window:,} history; plain replay takes {record.tokens_replayed:,}.",
            f"{record.messages_assembled} messages from {record.messages_replayed} records of the history, "
            f"{record.artifacts} of them raw tool results.",
        ]
        lines += [f"Left out: {count} ({_because(reason)})." for reason, count in record.omitted]
        return "\n".join(lines)


def _object(block: bytes) -> dict[str, object]:
    return msgspec.json.decode(block, type=dict[str, object])


def _because(reason: Reason) -> str:
    return reason.value.replace("_", " ")
