"""How many tokens a request takes, by part, before it is sent."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from callsheet.assemble import blocks
from callsheet.assemble.compose import Composed
from callsheet.errors import BudgetTooSmall
from callsheet.graph.enums import INSTRUCTING
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, ToolArtifact, ToolCall
from callsheet.graph.ports import TokenCounter
from callsheet.graph.record import Record
from callsheet.graph.values import CallRef, Content, Media, TokenParts

RECORDED_IN: Literal["o200k_base"] = "o200k_base"
"""The encoding that every text is counted in when it is recorded."""


WITHHELD = 16
"""Tokens of the words that stand for content that may not be shown, about."""


def recorded_tokens(record: Record, calls: Mapping[RecordId, ToolCall]) -> int | None:
    """The o200k_base tokens of a message or artifact as counted when it was recorded.

    None where a part is shown in another form than it was counted in, so that the shown text must be counted.
    """
    body = record.body
    total = 0
    if isinstance(body, Message):
        for part in body.parts:
            if isinstance(part, CallRef):
                call = calls.get(part.call)
                total += call.o200k if call is not None else 0
            elif isinstance(part, Media):
                return None
            else:
                total += part.o200k
        return total or None
    return _result_tokens(body.content) if isinstance(body, ToolArtifact) and body.call is not None else None


def _result_tokens(content: tuple[Content, ...]) -> int | None:
    total = 0
    for part in content:
        if isinstance(part, Media):
            return None
        total += part.o200k
    return total or None


def estimated_tokens(record: Record, calls: Mapping[RecordId, ToolCall]) -> int:
    """The o200k_base tokens of a record without its pictures, for one that `recorded_tokens` cannot tell."""
    body = record.body
    parts = body.parts if isinstance(body, Message) else body.content if isinstance(body, ToolArtifact) else ()
    total = 0
    for part in parts:
        if isinstance(part, CallRef):
            call = calls.get(part.call)
            total += call.o200k if call is not None else 0
        elif not isinstance(part, Media):
            total += part.o200k
    return total


def block_tokens(block: blocks.Block, counter: TokenCounter, counting: Callable[[str], int] | None = None) -> int:
    """Tokens of one block's content, names and arguments; framing apart. `counting` counts texts in its stead."""
    parts = block.parts if isinstance(block, blocks.Said) else block.content
    return sum(_part_tokens(part, counter, counting or counter.count) for part in parts)


def _part_tokens(part: blocks.Part, counter: TokenCounter, count: Callable[[str], int]) -> int:
    match part:
        case blocks.Text():
            return count(part.text)
        case blocks.Call():
            return count(part.tool) + count(part.arguments)
        case blocks.Media():
            return counter.count_picture(width=part.width, height=part.height)
        case blocks.Reasoning() | blocks.Opaque():
            return count(part.raw.decode("utf-8", "replace"))


def count(
    composed: Sequence[Composed],
    recorded: Mapping[RecordId, int | None],
    counter: TokenCounter,
    counting: Callable[[str], int] | None = None,
) -> list[int]:
    """Tokens of each block. `recorded` spares counting again what was counted when it was recorded."""
    sizes: list[int] = []
    for item in composed:
        known = recorded.get(item.source) if item.source is not None and counter.encoding == RECORDED_IN else None
        sizes.append(counter.converted(known) if known is not None else block_tokens(item.block, counter, counting))
    return sizes


def by_part(composed: Sequence[Composed], sizes: Sequence[int], *, framing: int, tools: int) -> TokenParts:
    """Sum the sizes by part of the request. Framing counts with the window, notes with the memories."""
    instructions = sum(
        size
        for item, size in zip(composed, sizes, strict=True)
        if isinstance(item.block, blocks.Said) and item.block.role in INSTRUCTING
    )
    memories = sum(size for item, size in zip(composed, sizes, strict=True) if item.noted)
    window = sum(sizes) - instructions - memories + framing
    return TokenParts(instructions=instructions, tools=tools, memories=memories, window=window)


def room(budget: int, counter: TokenCounter) -> int:
    """The tokens as counted that, with the margin of their estimate, take a budget."""
    return budget * budget // max(budget, counter.bounded(budget))


def excess(parts: TokenParts, budget: int, counter: TokenCounter) -> int:
    """By how much the request, with the margin of its estimate, is over the budget; not above 0: it fits."""
    return sum(bounded(parts, counter).values()) - budget


def bounded(parts: TokenParts, counter: TokenCounter) -> dict[str, int]:
    """The tokens of a request by part, as refusals name them, with the margin of their estimate."""
    return {
        "system": counter.bounded(parts.instructions),
        "tools": counter.bounded(parts.tools),
        "history": counter.bounded(parts.total - parts.instructions - parts.tools),
    }


def check_budget(
    parts: TokenParts, budget: int, counter: TokenCounter, policy: str, pins: Callable[[], Mapping[str, int]]
) -> None:
    """Raise `BudgetTooSmall` when the request, with the margin of its estimate, is over the budget.

    `pins` gives the tokens of what stands because it is pinned; asked for then alone.
    """
    sizes = bounded(parts, counter)
    if sum(sizes.values()) > budget:
        raise BudgetTooSmall(budget=budget, sizes=sizes, policy=policy, exact=counter.exact, pins=pins())
