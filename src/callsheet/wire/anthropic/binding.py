"""Thoughts that a model of Anthropic's takes back only where all that stood before them is as it was.

Such a model signs its thoughts together with tools, system text and messages before them. In a request that was written
anew they are refused, together with all that follow, and whoever rewrites a history leaves them out; thoughts that come
after it are good again, as long as what is left out stays so.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from callsheet.assemble.standins import EMPTY
from callsheet.wire.anthropic import shapes
from callsheet.wire.reading import Fields

_NAME: Final = re.compile(r"claude-(?:([a-z]+)-(\d+)[-.](\d{1,2})|(\d+)[-.](\d{1,2})-([a-z]+))(?![\d.])")
"""The family and the version, in either order; a date is no version."""

_FIRST: Final = {"fable": (5, 1), "mythos": (5, 1)}
_OTHERS: Final = (5, 5)
"""The first version of each family that does, as the documentation of the service lists them."""

_NEXT: Final = re.compile(r"claude-(?:[a-z]+-([6-9]|\d\d)|([6-9]|\d\d)-[a-z]+)(?![\d.])")
"""A version without a second number, behind those."""


def binds(model: str) -> bool:
    """Whether a model takes its thoughts back only behind what it had them behind."""
    found = _NAME.search(model)
    if found is None:
        return _NEXT.search(model) is not None
    family = found[1] or found[6]
    version = int(found[2] or found[4]), int(found[3] or found[5])
    return version >= _FIRST.get(family, _OTHERS)


def has_thoughts(messages: object) -> bool:
    """Whether any message holds thoughts."""
    listed = messages if isinstance(messages, list) else []
    return any(_is_thought(block) for message in listed for block in _blocks(message))


def without_thoughts(messages: Sequence[Fields], before: int) -> list[Fields]:
    """The messages, those before an index without their thoughts."""
    return [_plain(message) if at < before else message for at, message in enumerate(messages)]


def _plain(message: Fields) -> Fields:
    blocks = _blocks(message)
    kept = [block for block in blocks if not _is_thought(block)]
    if len(kept) == len(blocks):
        return message
    return message | {"content": kept or [{"type": "text", "text": EMPTY}]}


def _blocks(message: object) -> Sequence[object]:
    content = message.get("content") if isinstance(message, Mapping) else None
    return content if isinstance(content, list) else ()


def _is_thought(block: object) -> bool:
    return isinstance(block, Mapping) and block.get("type") in shapes.THINKING
