"""System messages in the middle of a conversation, which newer models take: those of the client stay what they are.

In a rendered request they stand before everything else, or as notes of the user, which every model takes. Where the
client sent one in the middle its model takes it there, where it breaks no beginning that the provider keeps; and it may
say more than a text can: which tools come and go. The provider wants it behind a turn of the user and before one of the
model, and never two in a row.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from callsheet.assemble.blocks import Block, Opaque, Said
from callsheet.graph.enums import Role
from callsheet.wire.anthropic.aligning import Aligning, Place, content_of, without
from callsheet.wire.anthropic.export import export
from callsheet.wire.body import Passes
from callsheet.wire.content import shown_texts
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields

_MARK = "cache_control"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """A system message of the client's."""

    said: Said
    #: Where it stands as a note, and of how many blocks.
    note: Place | None
    length: int
    #: The message of the user that it stood behind, as far as that is shown.
    behind: int | None


def restored(
    blocks: Sequence[Block], system: Sequence[str], messages: Sequence[Fields], passes: Passes
) -> tuple[list[str], list[Fields]]:
    """The texts of the system and the messages of a rendered request, with the client's system messages in their place.

    One that is shown nowhere, or whose place is not shown, stays as it is; so does one with tools that do not pass.
    """
    left, made = list(system), list(messages)
    if not any(map(_is_own, blocks)):
        return left, made
    behind: dict[int, Said] = {}
    for found in _found(blocks, messages):
        at = found.behind if found.behind is not None else found.note[0] if found.note is not None else None
        if at is None or at in behind or messages[at]["role"] != "user":
            continue
        if not all(passes(part.raw.decode()) for part in found.said.parts if isinstance(part, Opaque)):
            continue
        if found.note is not None:
            noted = made[found.note[0]]
            if found.length == len(content_of(noted)):
                continue
            begin = found.note[1] - (len(content_of(messages[found.note[0]])) - len(content_of(noted)))
            made[found.note[0]] = without(noted, begin, found.length)
        elif not _taken_out(left, list(shown_texts(found.said.parts))):
            continue
        behind[at] = found.said
    return left, [each for at, message in enumerate(made) for each in (message, *_exported(behind.get(at)))]


def _found(blocks: Sequence[Block], messages: Sequence[Fields]) -> Iterator[_Found]:
    aligning = Aligning(messages)
    behind: int | None = None
    for block in blocks:
        plain = aligning.plain(block)
        if isinstance(block, Said) and _is_own(block):
            place = aligning.find(block, plain, within=behind)
            yield _Found(said=block, note=place, length=len(plain), behind=behind)
        else:
            before = aligning.find(block, plain)
            behind = before[0] if before is not None else None


def _is_own(block: Block) -> bool:
    return isinstance(block, Said) and block.role is Role.SYSTEM and block.wire == Wire.ANTHROPIC


def _taken_out(system: list[str], texts: Sequence[str]) -> bool:
    """Take the texts out of those of the system, the last of each. False, and nothing taken: they are not all there."""
    left = list(system)
    for text in reversed(texts):
        if text not in left:
            return False
        del left[len(left) - 1 - left[::-1].index(text)]
    system[:] = left
    return True


def _exported(said: Said | None) -> list[Fields]:
    """The client's own message without its marks, since ours stand elsewhere."""
    if said is None:
        return []
    (message,) = export([said])
    content = message["content"]
    if isinstance(content, list):
        message["content"] = [{key: value for key, value in each.items() if key != _MARK} for each in content]
    return [message]
