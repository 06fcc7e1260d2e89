"""From neutral blocks back to contents as they were recorded: nothing cleaned, nothing repaired.

Results in a row stand in one content of the user's, together with the parts of the user that follow them, and among
those where they stood when the content was read.
"""

import json
from collections.abc import Sequence

from callsheet.assemble.blocks import Answer, Block, Call, Content, Media, Opaque, Part, Reasoning, Said, Text
from callsheet.graph.enums import Role
from callsheet.wire import content, media
from callsheet.wire.gemini.parse import NO_ROLE, ONE, PLAIN_ROLES
from callsheet.wire.gemini.results import converted, put_result
from callsheet.wire.gemini.shapes import CALL
from callsheet.wire.gemini.spelling import spelled
from callsheet.wire.jsontext import decode_object, own_extras
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields


def export(blocks: Sequence[Block]) -> list[Fields]:
    """The contents of the blocks. Of blocks of other formats only what is neutral is kept."""
    contents: list[Fields] = []
    results: list[Fields] | None = None
    for block in blocks:
        if isinstance(block, Answer):
            if results is None:
                results = []
                contents.append({"role": "user", "parts": results})
            results.append(put_result(block))
            extras = own_extras(block.extras, block.wire, Wire.GEMINI).get(content.MESSAGE)
            _put_extras(contents[-1], extras if isinstance(extras, dict) else {})
        elif results is not None and block.role is Role.USER and content.is_parts(block.form):
            results[:] = content.mixed(results, _written(block.parts, block.wire), content.places_of(block.form))
            _put_extras(contents[-1], own_extras(block.extras, block.wire, Wire.GEMINI))
            results = None
        else:
            contents.append(_said(block))
            results = None
    return contents


def _said(said: Said) -> Fields:
    message: Fields = {"role": PLAIN_ROLES[said.role], "parts": _written(said.parts, said.wire)}
    if said.wire == Wire.GEMINI and not said.parts:
        match said.form:
            case content.ABSENT:
                del message["parts"]
            case content.NULL:
                message["parts"] = None
    extras = own_extras(said.extras, said.wire, Wire.GEMINI)
    _put_extras(message, extras | {"parts": ONE} if said.form == ONE and len(said.parts) == 1 else extras)
    return message


def _put_extras(message: Fields, extras: Fields) -> None:
    """Put back the keys without neutral meaning, a role that was none, and a part that stood alone."""
    left = dict(extras)
    alone = left.pop("parts", None) == ONE
    parts = message.get("parts")
    if alone and isinstance(parts, list) and len(parts) == 1:
        message["parts"] = parts[0]
    if left.get("role") is NO_ROLE:
        del left["role"]
        message.pop("role", None)
    message.update(left)


def _written(parts: Sequence[Part | Content], wire: str) -> list[Fields]:
    written: list[Fields] = []
    for part in parts:
        if isinstance(part, Text):
            written.append({"text": part.text} | own_extras(part.extras, wire, Wire.GEMINI))
        elif isinstance(part, Call):
            written.append(_call(part))
        elif isinstance(part, Media):
            written.append(media.as_recorded(part) if part.extras and part.wire == Wire.GEMINI else converted(part))
        elif isinstance(part, Opaque | Reasoning) and part.wire == Wire.GEMINI:
            written.append(decode_object(part.raw))
    return written


def _call(call: Call) -> Fields:
    part = own_extras(call.extras, call.wire, Wire.GEMINI)
    inner = part.get(spelled(part, CALL))
    own = isinstance(inner, dict)
    filled: Fields = dict(inner) if isinstance(inner, dict) else {}
    if not own and call.id is not None:
        filled["id"] = call.id
    if call.tool:
        filled["name"] = call.tool
    if not own or call.arguments != "{}":
        filled["args"] = _arguments(call.arguments)
    return {**part, spelled(part, CALL): filled}


def _arguments(text: str) -> object:
    try:
        found: object = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return text
    return found
