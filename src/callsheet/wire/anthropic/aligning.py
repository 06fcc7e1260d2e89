"""Where the client's own blocks stand among the messages of a rendered request, if they stand there unchanged."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from callsheet.assemble.blocks import Answer, Block
from callsheet.graph.enums import Role
from callsheet.wire.anthropic import render, shapes
from callsheet.wire.names import CallIds
from callsheet.wire.reading import Fields

Place: TypeAlias = tuple[int, int]
"""A message, and the content block in it."""


class Aligning:
    """Looks for one block of the client's after another, each behind the last that was found."""

    def __init__(self, messages: Sequence[Fields]) -> None:
        self.messages = messages
        self.ids = CallIds(shapes.CALL_ID)
        self._places: dict[bytes, list[Place]] = {}
        for at, message in enumerate(messages):
            for begin, block in enumerate(content_of(message)):
                self._places.setdefault(msgspec.json.encode(block), []).append((at, begin))
        self._behind: Place = (0, 0)

    def find(self, block: Block, plain: Sequence[object], within: int | None = None) -> Place | None:
        """Where the content that rendering made of the block begins, in any message or `within` one; None: nowhere."""
        role = "assistant" if not isinstance(block, Answer) and block.role is Role.ASSISTANT else "user"
        places = self._places.get(msgspec.json.encode(plain[0]), [])
        for at, begin in places[bisect_left(places, self._behind) :]:
            if self.messages[at]["role"] != role or within not in (None, at):
                continue
            if content_of(self.messages[at])[begin : begin + len(plain)] == list(plain):
                self._behind = (at, begin + len(plain))
                return at, begin
        return None

    def plain(self, block: Block) -> Sequence[object]:
        """The content that rendering makes of a block. Blocks are asked for in their order."""
        if isinstance(block, Answer):
            return [render.result(block, self.ids)]
        match block.role:
            case Role.ASSISTANT:
                return render.assistant(block.parts, self.ids)
            case Role.USER:
                return render.user(block.parts)
        return render.note(block)


def content_of(message: Fields) -> list[object]:
    """The content blocks of a message; none where it is a text, as a system message's may be."""
    content = message["content"]
    return content if isinstance(content, list) else []


def without(message: Fields, begin: int, length: int, put: Sequence[object] = ()) -> Fields:
    """The message without some of its blocks, and with others in their place."""
    content = content_of(message)
    return {**message, "content": [*content[:begin], *put, *content[begin + length :]]}
