"""From neutral blocks back to Messages as they were recorded: nothing cleaned, nothing repaired.

Tool results in a row stand in one user message, together with the parts of the user that follow them, and among those
where they stood when the message was read.
"""

import json
from collections.abc import Sequence

from callsheet.assemble.blocks import Answer, Block, Call, Content, Media, Opaque, Part, Reasoning, Said, Text
from callsheet.graph.enums import Role
from callsheet.wire import content, media
from callsheet.wire.jsontext import decode_object, own_extras
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields


def export(blocks: Sequence[Block]) -> list[Fields]:
    """The messages of the blocks. Of blocks of other formats only what is neutral is kept."""
    messages: list[Fields] = []
    results: list[Fields] | None = None
    for block in blocks:
        if isinstance(block, Answer):
            own = own_extras(block.extras, block.wire, Wire.ANTHROPIC)
            extras = own.pop(content.MESSAGE, None)
            if results is None:
                results = []
                messages.append({"role": "user", "content": results})
            results.append(_result(block) | own)
            messages[-1].update(extras if isinstance(extras, dict) else {})
        elif results is not None and block.role is Role.USER and content.is_parts(block.form):
            results[:] = content.mixed(results, _written(block.parts, block.wire), content.places_of(block.form))
            messages[-1].update(own_extras(block.extras, block.wire, Wire.ANTHROPIC))
            results = None
        else:
            messages.append(_said(block))
            results = None
    return messages


def _said(said: Said) -> Fields:
    message: Fields = {"role": Role.SYSTEM.value if said.role is Role.DEVELOPER else said.role.value}
    content.put_content(message, said.form, said.parts, _written(said.parts, said.wire))
    return message | own_extras(said.extras, said.wire, Wire.ANTHROPIC)


def _result(answer: Answer) -> Fields:
    block: Fields = {"type": "tool_result"}
    if answer.call is not None:
        block["tool_use_id"] = answer.call
    content.put_content(block, answer.form, answer.content, _written(answer.content, answer.wire))
    if answer.failed is not None:
        block["is_error"] = answer.failed
    return block


def _written(parts: Sequence[Part | Content], wire: str) -> list[Fields]:
    written: list[Fields] = []
    for part in parts:
        if isinstance(part, Text):
            written.append({"type": "text", "text": part.text} | own_extras(part.extras, wire, Wire.ANTHROPIC))
        elif isinstance(part, Call):
            written.append(_tool_use(part))
        elif isinstance(part, Media):
            written.append(media.as_recorded(part) if part.extras and part.wire == Wire.ANTHROPIC else _converted(part))
        elif isinstance(part, Opaque | Reasoning) and part.wire == Wire.ANTHROPIC:
            written.append(decode_object(part.raw))
    return written


def _tool_use(call: Call) -> Fields:
    block: Fields = {"type": "tool_use"}
    if call.id is not None:
        block["id"] = call.id
    if call.tool:
        block["name"] = call.tool
    if call.arguments:
        try:
            block["input"] = json.loads(call.arguments)
        except (ValueError, RecursionError):
            block["input"] = call.arguments
    return block | own_extras(call.extras, call.wire, Wire.ANTHROPIC)


def _converted(found: Media) -> Fields:
    source: Fields = {"type": "url", "url": found.url or ""}
    if found.data is not None:
        source = {"type": "base64", "media_type": found.mime, "data": media.base64_of(found.data)}
    return {"type": "image" if media.kind(found) is media.Kind.IMAGE else "document", "source": source}
