"""Where a Messages request asks the provider to keep its beginning for the next one: marks of `cache_control`.

What stands once stands again in the next request, so the newest block is the end of what is the same next time. It is
marked, and so is the end of the user's turn before it: the provider looks back 20 blocks from a mark for a beginning
that it keeps, and one turn may be longer. A mark that finds its beginning kept costs nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from callsheet.assemble.blocks import Answer, Block, Call, Content, Media, Opaque, Part, Reasoning, Said, Text
from callsheet.assemble.standins import BEGINNING
from callsheet.graph.enums import Role
from callsheet.wire import standins
from callsheet.wire.body import Asked, Passes
from callsheet.wire.jsontext import decode_object
from callsheet.wire.marking import MARK, may_stand
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields

MOST_MARKS: Final = 4
"""The provider's limit for a request."""

_OURS = 2
_SHORT: Final[Fields] = {"type": "ephemeral"}
"""Kept for five minutes, which is the default and costs a quarter more to write than to read fresh."""

_NEVER = frozenset({"thinking", "redacted_thinking"})
_OWN_WORDS = ([{"type": "text", "text": standins.CONTINUE}], [{"type": "text", "text": BEGINNING}])
"""Content of rendering's own that the next request need not have."""


def mark(asked: Asked, written: Fields, passes: Passes) -> Fields:
    """The request with marks on its newest messages, beside those that tools and system text have; the same request
    where no mark is free, or none would pay.

    A mark pays where the conversation has gone on before, since it will again; and the client knows whether it does
    where it set marks itself. Marks that the provider sets itself (`cache_control` of the request) need no others.
    """
    messages, used = written["messages"], list(_marks(written))
    assert isinstance(messages, list), "rendering writes a list"
    wanted = _newest_of_client(asked.blocks)
    has_gone_on = any(isinstance(block, Said) and block.role is Role.ASSISTANT for block in asked.blocks)
    free = min(_OURS, MOST_MARKS - len(used))
    if free <= 0 or written.get(MARK) is not None or not (has_gone_on or used or wanted):
        return written
    # A beginning that is kept for longer may not stand behind one that is kept for less.
    is_short = any(found.get("ttl", "5m") == "5m" for found in used)
    ours = _SHORT if wanted is None or is_short or not may_stand(wanted, passes) else wanted
    places = list(islice(_places(messages), free))
    return written | {"messages": _marked(messages, places, ours)} if places else written


def _marks(written: Mapping[str, object]) -> Iterator[Fields]:
    """The marks on tools and system text."""
    for key in "tools", "system":
        found = written.get(key)
        for each in found if isinstance(found, list) else ():
            given = each.get(MARK) if isinstance(each, dict) else None
            if isinstance(given, dict):
                yield given


def _places(messages: Sequence[Mapping[str, object]]) -> Iterator[tuple[int, int]]:
    """The last block of each turn of the user, from the newest: message and block."""
    for at in range(len(messages) - 1, -1, -1):
        content = messages[at]["content"]
        if messages[at]["role"] != "user" or not isinstance(content, list) or content in _OWN_WORDS:
            continue
        last = content[-1] if content else {}
        if last.get("type") not in _NEVER:
            yield at, len(content) - 1


def _marked(messages: Sequence[Fields], places: Sequence[tuple[int, int]], ours: Fields) -> list[Fields]:
    marked = list(messages)
    for at, block in places:
        content = marked[at]["content"]
        assert isinstance(content, list), "found by _places"
        changed = [*content[:block], {**content[block], MARK: dict(ours)}, *content[block + 1 :]]
        marked[at] = {**marked[at], "content": changed}
    return marked


def _newest_of_client(blocks: Sequence[Block]) -> Fields | None:
    """The mark that stands last in the client's messages."""
    for block in reversed(blocks):
        parts: Sequence[Part | Content] = block.content if isinstance(block, Answer) else block.parts
        own = [_mark_of(block.extras)] if isinstance(block, Answer) and block.wire == Wire.ANTHROPIC else []
        found = next((given for given in (*own, *map(_mark_on, reversed(parts))) if given is not None), None)
        if found is not None:
            return found
    return None


def _mark_on(part: Part | Content) -> Fields | None:
    match part:
        case Text() | Media() | Call():
            return _mark_of(part.extras)
        case Opaque() | Reasoning():
            return _mark_of(part.raw)


def _mark_of(raw: bytes) -> Fields | None:
    if MARK.encode() not in raw:
        return None
    found = decode_object(raw).get(MARK)
    return found if isinstance(found, dict) else None
