"""From the items of OpenAI Responses to neutral blocks. Exact: `export` gives every item back.

What a model gave in a row (reasoning, messages, calls, items of tools that the service runs) is one turn, so one block.
A text that opens a message of such a turn has the message's own keys among its extras, under `MESSAGE`; null there says
that it goes on in the message before it, and a text without is a message of this text alone.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from callsheet.assemble.blocks import Answer, Block, Call, Content, Opaque, Part, Reasoning, Reply, Said, Text
from callsheet.errors import InvalidMessage
from callsheet.graph.enums import Defect, Role, RunStatus
from callsheet.graph.values import Usage
from callsheet.wire import content, defects, media
from callsheet.wire.jsontext import decode_object, encode_bytes, extras
from callsheet.wire.names import CUSTOM, Wire
from callsheet.wire.openai_responses import native, shapes
from callsheet.wire.reading import MISSING, Fields, fields, items, refuse, require_text, take_count, take_text
from callsheet.wire.refusals import REFUSAL, is_refusal

_ROLES = {role.value: role for role in Role}

MESSAGE: Final = "message"
OUTPUT_TEXT: Final = "output_text"
INPUT_TEXT: Final = "input_text"
ALONE: Final = "content"
"""Among the keys of a message: it is kept here that its content stood as text, not as parts."""

FUNCTION_CALL, CUSTOM_CALL = "function_call", "custom_tool_call"
FUNCTION_OUTPUT, CUSTOM_OUTPUT = "function_call_output", "custom_tool_call_output"

_ECHOED = ("instructions", "tools", "input", "prompt")
"""What a response repeats of its request, which is recorded already."""

_WAITING = frozenset({"queued", "in_progress"})
_STATUS = {"failed": RunStatus.FAILED, "cancelled": RunStatus.CANCELLED}
_REASONS = {"max_output_tokens": RunStatus.TRUNCATED, "content_filter": RunStatus.REFUSED}


def parse_items(values: Sequence[tuple[object, str]]) -> tuple[Block, ...]:
    """Read items, each with its place. Raises `InvalidMessage` for what is not of this shape."""
    blocks: list[Block] = []
    turn: list[Part] = []
    for value, where in values:
        read = _item(value, where)
        if isinstance(read, list):
            turn += read
            continue
        if turn:
            blocks.append(_turn(turn))
            turn = []
        blocks.append(read)
    return (*blocks, _turn(turn)) if turn else tuple(blocks)


def parse_message(value: object, where: str) -> tuple[Block, ...]:
    """Read one item."""
    return parse_items([(value, where)])


def parse_reply(value: object, where: str) -> Reply:
    """Read a whole response. Raises `InvalidMessage` for what is not of this shape, or has not ended."""
    found = fields(value, where)
    place = f"{where}.output"
    turn: list[Part] = []
    for at, item in enumerate(items(found.pop("output", None), place)):
        read = _item(item, f"{place}[{at}]")
        turn += read if isinstance(read, list) else [_opaque(fields(item, place), f"{place}[{at}]")]
    state = take_text(found, "status", where)
    if state in _WAITING:
        raise InvalidMessage(f"has not ended ({state}): record it when it has", where=f"{where}.status")
    said = _turn(turn)
    reason = _reason(found, where)
    status = _status(state, reason, said)
    for key in _ECHOED:
        found.pop(key, None)
    return Reply(
        said=defects.last_cut_off(said) if status is RunStatus.TRUNCATED else said,
        status=status,
        model=take_text(found, "model", where),
        usage=_usage(found.get("usage"), f"{where}.usage"),
        finish=reason or state,
        response=take_text(found, "id", where),
        extras=extras(found, where),
    )


# --------------------------------------------------------------------------- items


def item_type(found: Fields, where: str) -> str:
    """The type of an item; one that names none is a message, or refers to another item."""
    type = found.get("type")
    if type is None:
        if "role" in found:
            return shapes.MESSAGE
        if "id" in found:
            return shapes.REFERENCE
        raise InvalidMessage("has neither a type nor a role", where=where)
    if not isinstance(type, str) or not type:
        refuse("must be a text that is not empty", type, f"{where}.type")
    return type


def _item(value: object, where: str) -> Block | list[Part]:
    """An item: what belongs to the model's turn as parts of it, everything else as a block."""
    found = fields(value, where)
    type = item_type(found, where)
    if type == shapes.MESSAGE:
        return _message(found, where)
    if type == shapes.REASONING:
        return [Reasoning(wire=Wire.OPENAI_RESPONSES, raw=encode_bytes(found, where))]
    if type in (FUNCTION_CALL, CUSTOM_CALL):
        return [_call(found, type, where)]
    if type in (FUNCTION_OUTPUT, CUSTOM_OUTPUT):
        return _answer(found, type, where)
    if native.is_run_by_client(found, type):
        read = native.parse(found, type, where)
        return [read] if isinstance(read, Call) else read
    return [_opaque(found, where)]


def _opaque(found: Fields, where: str) -> Opaque:
    return Opaque(wire=Wire.OPENAI_RESPONSES, raw=encode_bytes(found, where))


def _message(found: Fields, where: str) -> Block | list[Part]:
    named = found.get("role", MISSING)
    role = _ROLES.get(named) if isinstance(named, str) else None
    if role is None:
        refuse(f"must be one of {', '.join(sorted(_ROLES))}", None if named is MISSING else named, f"{where}.role")
    if role is Role.ASSISTANT:
        return _spoken(found, where)
    del found["role"]
    form, parts = content.take_content(found, _input_part, where)
    return Said(
        role=role,
        parts=tuple(parts),
        form=form,
        wire=Wire.OPENAI_RESPONSES,
        extras=extras(found, where),
        defects=defects.of_content(parts, empty=True),
    )


def _spoken(found: Fields, where: str) -> list[Part]:
    """A message of the model. One that is not made of texts alone is kept whole."""
    whole = dict(found)
    del found["role"]
    form, parts = content.take_content(found, _output_part, where)
    texts = [part for part in parts if isinstance(part, Text)]
    if not texts or len(texts) < len(parts):
        return [_opaque(whole, where)]
    if form == content.STRING:
        return [*texts] if not found else [_opening(texts[0], found | {ALONE: content.STRING}, where)]
    return [_opening(texts[0], found, where), *(_opening(text, None, where) for text in texts[1:])]


def _opening(text: Text, keys: Fields | None, where: str) -> Text:
    return replace(text, extras=extras({MESSAGE: keys} | decode_object(text.extras), where))


def _text(found: Fields, usual: str, where: str) -> Text:
    if found["type"] == usual:
        del found["type"]
    return Text(text=require_text(found, "text", where), extras=extras(found, where))


def _input_part(found: Fields, type: str, where: str) -> Content:
    if isinstance(found.get("text"), str):
        return _text(found, INPUT_TEXT, where)
    if type == INPUT_TEXT:
        require_text(found, "text", where)
    return media.read(found, Wire.OPENAI_RESPONSES, where) or _opaque(found, where)


def _output_part(found: Fields, type: str, where: str) -> Content:
    if MESSAGE in found:
        return _opaque(found, where)
    if type == REFUSAL:
        return Text(text=require_text(found, REFUSAL, where), extras=extras(found, where))
    if type in (OUTPUT_TEXT, INPUT_TEXT, "text"):
        return _text(found, OUTPUT_TEXT, where)
    return _opaque(found, where)


def _call(found: Fields, type: str, where: str) -> Call:
    del found["type"]
    custom = type == CUSTOM_CALL
    id, tool = take_text(found, "call_id", where), take_text(found, "name", where) or ""
    arguments = take_text(found, "input" if custom else "arguments", where) or ""
    return Call(
        id=id,
        tool=tool,
        arguments=arguments,
        kind=CUSTOM if custom else "function",
        wire=Wire.OPENAI_RESPONSES,
        extras=extras(found, where),
        defects=defects.of_call(id, tool, arguments, free_text=custom),
    )


def _answer(found: Fields, type: str, where: str) -> Answer:
    call = take_text(found, "call_id", where)
    if type == FUNCTION_OUTPUT:
        del found["type"]
    form, parts, odd = content.take_result(found, _input_part, where, "output")
    return Answer(
        call=call,
        content=parts,
        form=form,
        wire=Wire.OPENAI_RESPONSES,
        extras=extras(found, where),
        defects=odd if call is not None else (Defect.MISSING_ID, *odd),
    )


# --------------------------------------------------------------------------- turns


def _turn(parts: list[Part]) -> Said:
    texts = [part for part in parts if isinstance(part, Text)]
    calls = any(isinstance(part, Call) for part in parts)
    return Said(
        role=Role.ASSISTANT,
        parts=tuple(parts),
        form=content.STRING if texts else content.NULL,
        wire=Wire.OPENAI_RESPONSES,
        defects=defects.of_content(texts, empty=not calls and not any(map(_shows, parts))),
    )


def _shows(part: Part) -> bool:
    """Whether an item of the service's own tools is more than an empty message."""
    return isinstance(part, Opaque) and decode_object(part.raw).get("type") not in (None, shapes.MESSAGE)


def _reason(found: Fields, where: str) -> str | None:
    details = found.get("incomplete_details")
    return take_text(fields(details, f"{where}.incomplete_details"), "reason", where) if details is not None else None


def _status(state: str | None, reason: str | None, said: Said) -> RunStatus:
    if any(isinstance(part, Text) and is_refusal(part) for part in said.parts):
        return RunStatus.REFUSED
    if state == "incomplete":
        return _REASONS.get(reason or "", RunStatus.TRUNCATED)
    return _STATUS.get(state or "", RunStatus.COMPLETED)


def _usage(value: object, where: str) -> Usage | None:
    if value is None:
        return None
    found = fields(value, where)
    given = fields(found.get("input_tokens_details") or {}, f"{where}.input_tokens_details")
    made = fields(found.get("output_tokens_details") or {}, f"{where}.output_tokens_details")
    return Usage(
        input=take_count(found, "input_tokens", where),
        output=take_count(found, "output_tokens", where),
        cached_input=take_count(given, "cached_tokens", where),
        cache_write=take_count(given, "cache_write_tokens", where),
        reasoning=take_count(made, "reasoning_tokens", where),
    )
