"""From neutral blocks back to Responses items as they were recorded: nothing cleaned, nothing repaired.

A turn of a model gives as many items as it was read from; of blocks of other formats each text and each call is one.
"""

from collections.abc import Sequence

from callsheet.assemble.blocks import Answer, Block, Call, Content, Media, Opaque, Part, Reasoning, Said, Text
from callsheet.graph.enums import Role
from callsheet.wire import content, media
from callsheet.wire.jsontext import decode_object, own_extras
from callsheet.wire.names import CUSTOM, Wire
from callsheet.wire.openai_responses import native
from callsheet.wire.openai_responses.parse import (
    ALONE,
    CUSTOM_CALL,
    FUNCTION_CALL,
    FUNCTION_OUTPUT,
    INPUT_TEXT,
    MESSAGE,
    OUTPUT_TEXT,
)
from callsheet.wire.reading import Fields
from callsheet.wire.refusals import REFUSAL, is_refusal


def export(blocks: Sequence[Block]) -> list[Fields]:
    """The items of the blocks. Of blocks of other formats only what is neutral is kept."""
    written: list[Fields] = []
    for block in blocks:
        if isinstance(block, Answer):
            written.append(_answer(block))
        elif block.role is Role.ASSISTANT:
            written += _turn(block)
        else:
            written.append(_said(block))
    return written


def _said(said: Said) -> Fields:
    message: Fields = {"role": said.role.value}
    content.put_content(message, said.form, said.parts, _shown(said.parts, said.wire))
    return message | own_extras(said.extras, said.wire, Wire.OPENAI_RESPONSES)


def _turn(said: Said) -> list[Fields]:
    written: list[Fields] = []
    #: Where the parts of the message go that is written at the moment.
    going_on: list[Fields] | None = None
    for part in said.parts:
        if isinstance(part, Text):
            own = own_extras(part.extras, said.wire, Wire.OPENAI_RESPONSES)
            keys = own.pop(MESSAGE, None)
            if going_on is not None and keys is None and part.extras:
                going_on.append(_output(part, own))
                continue
            going_on = None
            message: Fields = {"role": Role.ASSISTANT.value, "content": part.text}
            if isinstance(keys, dict):
                message |= keys
                message["content"] = going_on = [_output(part, own)]
                if keys.get(ALONE) == content.STRING:
                    message["content"], going_on = part.text, None
            written.append(message)
        else:
            going_on = None
            written += _item(part)
    return written or [{"role": Role.ASSISTANT.value, "content": ""}]


def _item(part: Part) -> list[Fields]:
    if isinstance(part, Call):
        return [_call(part)]
    if isinstance(part, Opaque | Reasoning) and part.wire == Wire.OPENAI_RESPONSES:
        return [decode_object(part.raw)]
    return []


def _output(part: Text, own: Fields) -> Fields:
    key = REFUSAL if is_refusal(part) else "text"
    return {"type": REFUSAL if key == REFUSAL else OUTPUT_TEXT, key: part.text} | own


def _call(call: Call) -> Fields:
    kind = native.kind_of(call)
    if kind is not None:
        return native.exported_call(call, kind)
    custom = call.kind == CUSTOM
    written: Fields = {"type": CUSTOM_CALL if custom else FUNCTION_CALL}
    if call.id is not None:
        written["call_id"] = call.id
    # What is empty was null, empty or absent; the extras know which.
    if call.tool:
        written["name"] = call.tool
    if call.arguments:
        written["input" if custom else "arguments"] = call.arguments
    return written | own_extras(call.extras, call.wire, Wire.OPENAI_RESPONSES)


def _answer(answer: Answer) -> Fields:
    kind = native.kind_answered(answer)
    if kind is not None:
        return native.exported_answer(answer, kind)
    written: Fields = {"type": FUNCTION_OUTPUT}
    if answer.call is not None:
        written["call_id"] = answer.call
    shown: Fields = {}
    content.put_content(shown, answer.form, answer.content, _shown(answer.content, answer.wire))
    if "content" in shown:
        written["output"] = shown["content"]
    return written | own_extras(answer.extras, answer.wire, Wire.OPENAI_RESPONSES)


def _shown(parts: Sequence[Part | Content], wire: str) -> list[Fields]:
    written: list[Fields] = []
    for part in parts:
        if isinstance(part, Text):
            own = own_extras(part.extras, wire, Wire.OPENAI_RESPONSES)
            written.append({"type": INPUT_TEXT, "text": part.text} | own)
        elif isinstance(part, Media):
            own_part = part.extras and part.wire == Wire.OPENAI_RESPONSES
            written.append(media.as_recorded(part) if own_part else _converted(part))
        elif isinstance(part, Opaque) and part.wire == Wire.OPENAI_RESPONSES:
            written.append(decode_object(part.raw))
    return written


def _converted(found: Media) -> Fields:
    if media.kind(found) is media.Kind.IMAGE:
        url = media.data_url(found.mime, found.data) if found.data is not None else found.url or ""
        return {"type": "input_image", "image_url": url, "detail": "auto"}
    if found.data is not None:
        return {"type": "input_file", "file_data": media.data_url(found.mime, found.data)}
    return {"type": "input_file", "file_url": found.url or ""}
