"""What the client's blocks say that rendering leaves out, put back where they are shown unchanged.

Rendering writes what every model of this provider takes, whatever the request asks for. A client that sends more — the
blocks of a beta, citations that it got, who made a call, that a document shall be cited — sends it to a model that
takes it, and with the settings that it needs, which stand in the same request.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from callsheet.assemble.blocks import Answer, Block, Call, Content, Media, Opaque, Part, Reasoning, Text
from callsheet.graph.enums import Role
from callsheet.wire.anthropic import render, shapes
from callsheet.wire.anthropic.aligning import Aligning, Place, without
from callsheet.wire.anthropic.parts import as_recorded, cleaned, media_block, thinking, tool_use
from callsheet.wire.arguments import exact_object
from callsheet.wire.body import Passes
from callsheet.wire.content import shown_texts
from callsheet.wire.jsontext import decode_object, encode, own_extras
from callsheet.wire.names import CallIds, Wire
from callsheet.wire.reading import Fields

_OF_CALLS: Final = ("caller", "toolset_name")

_CALLERS: Final = re.compile(r"direct|code_execution_\d{8}")
"""The callers that there are; those to come pass as any text does."""

_SELF_CONTAINED: Final = "web_search_result_location"
"""The citations that name what they cite; the others count documents, of which a request may have others."""

_TO_BE_CITED: Final = {"enabled": True}
_ASSISTANT: Final = Role.ASSISTANT.value
_MARK: Final = "cache_control"


def restored(blocks: Sequence[Block], messages: Sequence[Fields], passes: Passes) -> list[Fields]:
    """The rendered messages, in which the client's blocks that stand unchanged say all that they said and that passes.

    That a document shall be cited says nothing that anyone could keep back.
    """
    if not any(map(_says_more, blocks)):
        return list(messages)
    aligning = Aligning(messages)
    exchanges: list[tuple[Place, int, Sequence[object]]] = []
    for block in blocks:
        plain = aligning.plain(block)
        place = aligning.find(block, plain)
        full = _full(block, plain, aligning.ids, passes) if place is not None and _says_more(block) else plain
        if place is not None and full != plain:
            exchanges.append((place, len(plain), full))
    made = list(messages)
    for (at, begin), length, full in reversed(exchanges):
        made[at] = without(made[at], begin, length, full)
    return made


def _says_more(block: Block) -> bool:
    parts: Sequence[Part | Content] = block.content if isinstance(block, Answer) else block.parts
    place = "tool_result" if isinstance(block, Answer) else block.role.value
    return any(_part_says_more(part, place) for part in parts)


def _part_says_more(part: Part | Content, place: str) -> bool:
    match part:
        case Text() | Media():
            return b"citations" in part.extras
        case Call():
            return any(key.encode() in part.extras for key in _OF_CALLS)
        case Opaque():
            return decode_object(part.raw).get("type") not in shapes.OPAQUE_BLOCKS.get(place, ())
    return False


def _full(block: Block, plain: Sequence[object], ids: CallIds, passes: Passes) -> Sequence[object]:
    if isinstance(block, Answer):
        shown = [each for part in block.content for each in _of_part(part, "tool_result", ids, passes)]
        if block.failed or not shown or all(isinstance(part, Text) for part in block.content):
            return plain
        return [{**render.result(block, ids), "content": shown}]
    if block.role not in (Role.ASSISTANT, Role.USER):
        return plain
    full = [each for part in block.parts for each in _of_part(part, block.role.value, ids, passes)]
    while full and full[-1]["type"] in shapes.THINKING:
        full.pop()
    return full or plain


def _of_part(part: Part | Content, place: str, ids: CallIds, passes: Passes) -> Iterator[Fields]:
    match part:
        case Text():
            # All blocks of a request are of its format, and a text does not say of which it is.
            cited = _cited(decode_object(part.extras).get("citations"), passes) if place == _ASSISTANT else {}
            for text in shown_texts([part]):
                yield {"type": "text", "text": text} | cited
        case Call():
            own = own_extras(part.extras, part.wire, Wire.ANTHROPIC)
            yield {**tool_use(part, ids.of(part.id)), **_called_by(own, passes)}
        case Media():
            own = own_extras(part.extras, part.wire, Wire.ANTHROPIC)
            block: Fields = {**media_block(part)}
            is_cited = own.get("citations") == _TO_BE_CITED and block["type"] == "document"
            yield block | {"citations": dict(_TO_BE_CITED)} if is_cited else block
        case Reasoning():
            yield from (dict(block) for block in thinking(part))
        case Opaque():
            yield from as_recorded(part, place) or _kept(part, passes)


def _kept(part: Opaque, passes: Passes) -> list[Fields]:
    """A block that rendering never shows, without its mark."""
    raw = part.raw.decode()
    block = exact_object(raw) if part.wire == Wire.ANTHROPIC and passes(raw) else None
    shown = cleaned({key: value for key, value in block.items() if key != _MARK}) if block is not None else None
    return [shown] if shown is not None else []


def _called_by(own: Fields, passes: Passes) -> Fields:
    """Who made a call: ids and names of the service's."""
    caller, toolset = own.get("caller"), own.get("toolset_name")
    found: Fields = {"toolset_name": toolset} if isinstance(toolset, str) and toolset else {}
    if isinstance(caller, dict) and caller.keys() <= {"type", "tool_id"}:
        found["caller"] = caller
        if found.keys() == {"caller"} and _CALLERS.fullmatch(str(caller.get("type"))):
            return found
    return found if found and passes(encode(found, "caller")) else {}


def _cited(citations: object, passes: Passes) -> Fields:
    listed = citations if isinstance(citations, list) else []
    kept = [each for each in listed if isinstance(each, dict) and each.get("type") == _SELF_CONTAINED]
    return {"citations": kept} if kept and passes(encode(kept, "citations")) else {}
