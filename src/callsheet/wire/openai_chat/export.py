"""From neutral blocks back to Chat Completions messages as they were recorded: nothing cleaned, nothing repaired."""

from collections.abc import Sequence

from callsheet.assemble.blocks import Answer, Block, Call, Content, Media, Opaque, Part, Said, Text
from callsheet.wire import content, media
from callsheet.wire.jsontext import decode_object, own_extras
from callsheet.wire.names import CUSTOM, Wire
from callsheet.wire.openai_chat.parse import LEGACY_CALL
from callsheet.wire.reading import Fields
from callsheet.wire.refusals import REFUSAL, is_refusal


def export(blocks: Sequence[Block]) -> list[Fields]:
    """One message for each block. Of blocks of other formats only what is neutral is kept."""
    return [_answer(block) if isinstance(block, Answer) else _said(block) for block in blocks]


def _said(said: Said) -> Fields:
    message: Fields = {"role": said.role.value}
    if said.name is not None:
        message["name"] = said.name
    parts = [part for part in said.parts if not isinstance(part, Call)]
    if not content.is_parts(said.form) and parts:
        last = parts[-1]
        if isinstance(last, Text) and is_refusal(last):
            message[REFUSAL] = last.text
            parts.pop()
    content.put_content(message, said.form, parts, _written(parts, said.wire))
    _put_calls(message, said.calls)
    return message | own_extras(said.extras, said.wire, Wire.OPENAI)


def _answer(answer: Answer) -> Fields:
    message: Fields = {"role": "tool"}
    if answer.call is not None:
        message["tool_call_id"] = answer.call
    content.put_content(message, answer.form, answer.content, _written(answer.content, answer.wire))
    return message | own_extras(answer.extras, answer.wire, Wire.OPENAI)


def _written(parts: Sequence[Part | Content], wire: str) -> list[Fields]:
    written: list[Fields] = []
    for part in parts:
        if isinstance(part, Text):
            key = REFUSAL if is_refusal(part) else "text"
            written.append({"type": key, key: part.text, **own_extras(part.extras, wire, Wire.OPENAI)})
        elif isinstance(part, Media):
            written.append(media.as_recorded(part) if part.extras and part.wire == Wire.OPENAI else _converted(part))
        elif isinstance(part, Opaque) and part.wire == Wire.OPENAI:
            written.append(decode_object(part.raw))
    return written


def _converted(found: Media) -> Fields:
    url = media.data_url(found.mime, found.data) if found.data is not None else found.url or ""
    if media.kind(found) is media.Kind.IMAGE:
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"file_data": url}}


def _put_calls(message: Fields, calls: Sequence[Call]) -> None:
    if len(calls) == 1 and calls[0].kind == LEGACY_CALL:
        message[LEGACY_CALL] = _function(calls[0], "arguments") | own_extras(
            calls[0].extras, calls[0].wire, Wire.OPENAI
        )
    elif calls:
        message["tool_calls"] = [_call(call) for call in calls]


def _call(call: Call) -> Fields:
    written: Fields = {} if call.id is None else {"id": call.id}
    if call.kind:
        written["type"] = call.kind
    inside, text = (CUSTOM, "input") if call.kind == CUSTOM else ("function", "arguments")
    own = own_extras(call.extras, call.wire, Wire.OPENAI)
    inner = own.pop(inside, None)
    written[inside] = _function(call, text) | (inner if isinstance(inner, dict) else {})
    return written | own


def _function(call: Call, text: str) -> Fields:
    # What is empty was null, empty or absent; the extras know which.
    function: Fields = {"name": call.tool} if call.tool else {}
    if call.arguments:
        function[text] = call.arguments
    return function
