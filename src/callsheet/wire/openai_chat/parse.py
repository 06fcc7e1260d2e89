"""From OpenAI Chat Completions to neutral blocks. Exact: `export` gives every message back."""

from callsheet.assemble.blocks import Answer, Block, Call, Media, Opaque, Reply, Said, Text
from callsheet.errors import InvalidMessage
from callsheet.graph.enums import Defect, Role, RunStatus
from callsheet.graph.values import Usage
from callsheet.wire import content, defects, media
from callsheet.wire.jsontext import encode_bytes, extras
from callsheet.wire.names import CUSTOM, Wire
from callsheet.wire.reading import (
    Fields,
    fields,
    items,
    refuse,
    require_text,
    take_count,
    take_text,
)
from callsheet.wire.refusals import REFUSAL, is_refusal

_ROLES = {role.value: role for role in Role}
_RESULT_ROLES = frozenset({"tool", "function"})

LEGACY_CALL = "function_call"
"""The kind of a call in the older shape, which has neither ids nor several calls."""

_STATUS = {
    "length": RunStatus.TRUNCATED,
    "content_filter": RunStatus.REFUSED,
}


def parse_message(value: object, where: str) -> tuple[Block, ...]:
    """Read one message. Raises `InvalidMessage` for what is not of this shape."""
    found = fields(value, where)
    role = require_text(found, "role", where)
    if role in _RESULT_ROLES:
        return (_answer(found, role, where),)
    if role not in _ROLES:
        known = ", ".join(sorted({*_ROLES, *_RESULT_ROLES}))
        refuse(f"must be one of {known}", role, f"{where}.role")
    return (_said(found, _ROLES[role], where),)


def parse_reply(value: object, where: str) -> Reply:
    """Read a whole response: its first choice. Raises `InvalidMessage` for what is not of this shape."""
    found = fields(value, where)
    choices = items(found.pop("choices", None), f"{where}.choices")
    if not choices:
        raise InvalidMessage("must hold a choice", where=f"{where}.choices")
    choice = fields(choices[0], f"{where}.choices[0]")
    (said,) = parse_message(choice.pop("message", None), f"{where}.choices[0].message")
    if not isinstance(said, Said) or said.role is not Role.ASSISTANT:
        raise InvalidMessage("must be 'assistant'", where=f"{where}.choices[0].message.role")
    finish = take_text(choice, "finish_reason", f"{where}.choices[0]")
    status = _status(finish, said)
    left = {"choices": [choice, *choices[1:]]} if choice.keys() - {"index"} or len(choices) > 1 else {}
    return Reply(
        said=defects.last_cut_off(said) if status is RunStatus.TRUNCATED else said,
        status=status,
        model=take_text(found, "model", where),
        usage=_usage(found.get("usage"), f"{where}.usage"),
        finish=finish,
        response=take_text(found, "id", where),
        extras=extras({**found, **left}, where),
    )


def _said(found: Fields, role: Role, where: str) -> Said:
    form, parts = content.take_content(found, _part, where)
    if form != content.PARTS and (refusal := take_text(found, REFUSAL, where)) is not None:
        parts.append(Text(text=refusal, extras=extras({"type": REFUSAL}, where)))
    calls = _calls(found, where)
    if calls and role is not Role.ASSISTANT:
        raise InvalidMessage(f"calls stand in assistant messages, not in one of {role}", where=f"{where}.tool_calls")
    name = take_text(found, "name", where)
    return Said(
        role=role,
        parts=(*parts, *calls),
        form=form,
        wire=Wire.OPENAI,
        name=name,
        extras=extras(found, where),
        defects=defects.of_content(parts, empty=not calls),
    )


def _answer(found: Fields, role: str, where: str) -> Answer:
    form, parts, odd = content.take_result(found, _part, where)
    call = take_text(found, "tool_call_id", where)
    if role == "function":
        # The older shape has no ids, so none is missing.
        found["role"] = role
    elif call is None:
        odd = (Defect.MISSING_ID, *odd)
    tool = take_text(found, "name", where)
    if tool is not None:
        # Stays among the extras too, since a result with the name of its tool is as usual as one without.
        found["name"] = tool
    return Answer(
        call=call,
        tool=tool,
        content=parts,
        form=form,
        wire=Wire.OPENAI,
        extras=extras(found, where),
        defects=odd,
    )


def _part(found: Fields, type: str, where: str) -> Text | Media | Opaque:
    if type == "text":
        del found["type"]
        return Text(text=require_text(found, "text", where), extras=extras(found, where))
    if type == REFUSAL:
        return Text(text=require_text(found, REFUSAL, where), extras=extras(found, where))
    return media.read(found, Wire.OPENAI, where) or Opaque(wire=Wire.OPENAI, raw=encode_bytes(found, where))


def _calls(found: Fields, where: str) -> list[Call]:
    listed, legacy = found.get("tool_calls"), found.get(LEGACY_CALL)
    if listed is not None:
        place = f"{where}.tool_calls"
        calls = [_call(call, f"{place}[{at}]") for at, call in enumerate(items(listed, place))]
        if calls:
            del found["tool_calls"]
            return calls
    if legacy is None:
        return []
    del found[LEGACY_CALL]
    return [_legacy_call(legacy, f"{where}.{LEGACY_CALL}")]


def _call(value: object, where: str) -> Call:
    found = fields(value, where)
    id, kind = take_text(found, "id", where), take_text(found, "type", where) or ""
    inside, text = (CUSTOM, "input") if kind == CUSTOM else ("function", "arguments")
    inner = fields(found.pop(inside, None), f"{where}.{inside}")
    tool = take_text(inner, "name", f"{where}.{inside}") or ""
    arguments = take_text(inner, text, f"{where}.{inside}") or ""
    if inner:
        found[inside] = inner
    return Call(
        id=id,
        tool=tool,
        arguments=arguments,
        kind=kind,
        wire=Wire.OPENAI,
        extras=extras(found, where),
        defects=defects.of_call(id, tool, arguments, free_text=kind == CUSTOM),
    )


def _legacy_call(value: object, where: str) -> Call:
    found = fields(value, where)
    tool, arguments = take_text(found, "name", where) or "", take_text(found, "arguments", where) or ""
    odd = defects.of_call(None, tool, arguments)
    return Call(
        id=None,
        tool=tool,
        arguments=arguments,
        kind=LEGACY_CALL,
        wire=Wire.OPENAI,
        extras=extras(found, where),
        # The older shape has no ids, so none is missing.
        defects=tuple(defect for defect in odd if defect is not Defect.MISSING_ID),
    )


def _status(finish: str | None, said: Said) -> RunStatus:
    if any(isinstance(part, Text) and is_refusal(part) for part in said.parts):
        return RunStatus.REFUSED
    return _STATUS.get(finish or "", RunStatus.COMPLETED)


def _usage(value: object, where: str) -> Usage | None:
    if value is None:
        return None
    found = fields(value, where)
    prompt = fields(found.get("prompt_tokens_details") or {}, f"{where}.prompt_tokens_details")
    completion = fields(found.get("completion_tokens_details") or {}, f"{where}.completion_tokens_details")
    return Usage(
        input=take_count(found, "prompt_tokens", where),
        output=take_count(found, "completion_tokens", where),
        cached_input=take_count(prompt, "cached_tokens", where),
        cache_write=take_count(prompt, "cache_write_tokens", where),
        reasoning=take_count(completion, "reasoning_tokens", where),
    )
