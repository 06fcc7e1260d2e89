"""From Anthropic Messages to neutral blocks. Exact: `export` gives every message back."""

from dataclasses import replace

from callsheet.assemble.blocks import Answer, Block, Call, Media, Opaque, Reasoning, Reply, Said, Text
from callsheet.errors import InvalidMessage
from callsheet.graph.enums import Defect, Role, RunStatus
from callsheet.graph.values import Usage
from callsheet.wire import content, defects, media
from callsheet.wire.anthropic.shapes import THINKING
from callsheet.wire.arguments import is_object
from callsheet.wire.jsontext import encode, encode_bytes, extras
from callsheet.wire.names import Wire
from callsheet.wire.reading import MISSING, Fields, fields, refuse, require_text, take_count, take_text

_ROLES = {role.value: role for role in (Role.USER, Role.ASSISTANT, Role.SYSTEM)}

_STATUS = {
    "max_tokens": RunStatus.TRUNCATED,
    "model_context_window_exceeded": RunStatus.TRUNCATED,
    "refusal": RunStatus.REFUSED,
}


def parse_message(value: object, where: str) -> tuple[Block, ...]:
    """Read one message; the tool results in it come first, as blocks of their own, since no request may hold anything
    between calls and their results. Where they stood in the message, the form of the block behind them keeps.

    Raises `InvalidMessage` for what is not of this shape.
    """
    found = fields(value, where)
    named = require_text(found, "role", where)
    role = _ROLES.get(named)
    if role is None:
        refuse(f"must be one of {', '.join(sorted(_ROLES))}", named, f"{where}.role")
    form, parts = content.take_content(found, _part, where)
    answers = [part for part in parts if isinstance(part, Answer)]
    rest = tuple(part for part in parts if not isinstance(part, Answer))
    _check_place(role, answers, rest, f"{where}.content")
    return content.results_first(role, form, parts, found, where, wire=Wire.ANTHROPIC)


def parse_reply(value: object, where: str) -> Reply:
    """Read a whole response. Raises `InvalidMessage` for what is not of this shape."""
    found = fields(value, where)
    message = {key: found.pop(key) for key in ("role", "content") if key in found}
    *_, said = parse_message(message, where)
    if not isinstance(said, Said) or said.role is not Role.ASSISTANT:
        raise InvalidMessage("must be 'assistant'", where=f"{where}.role")
    finish = take_text(found, "stop_reason", where)
    status = _STATUS.get(finish or "", RunStatus.COMPLETED)
    return Reply(
        said=_cut_off(said) if status is RunStatus.TRUNCATED else said,
        status=status,
        model=take_text(found, "model", where),
        usage=_usage(found.get("usage"), f"{where}.usage"),
        finish=finish,
        response=take_text(found, "id", where),
        extras=extras(found, where),
    )


def _check_place(role: Role, answers: list[Answer], rest: tuple[object, ...], where: str) -> None:
    if answers and role is not Role.USER:
        raise InvalidMessage(f"tool_result blocks stand in user messages, not in one of {role}", where=where)
    if role is not Role.ASSISTANT and any(isinstance(part, Call) for part in rest):
        raise InvalidMessage(f"tool_use blocks stand in assistant messages, not in one of {role}", where=where)


def _part(found: Fields, type: str, where: str) -> Text | Reasoning | Call | Media | Opaque | Answer:
    if type == "tool_use":
        return _call(found, where)
    if type == "tool_result":
        return _answer(found, where)
    if type in THINKING:
        return Reasoning(wire=Wire.ANTHROPIC, raw=encode_bytes(found, where))
    return _result_part(found, type, where)


def _result_part(found: Fields, type: str, where: str) -> Text | Media | Opaque:
    if type == "text":
        del found["type"]
        return Text(text=require_text(found, "text", where), extras=extras(found, where))
    return media.read(found, Wire.ANTHROPIC, where) or Opaque(wire=Wire.ANTHROPIC, raw=encode_bytes(found, where))


def _call(found: Fields, where: str) -> Call:
    del found["type"]
    id, tool = take_text(found, "id", where), take_text(found, "name", where) or ""
    given = found.pop("input", MISSING)
    if isinstance(given, str) and given.strip() and not is_object(given):
        arguments = given  # of a stream that broke off inside it: the text as it came
    else:
        arguments = "" if given is MISSING else encode(given, f"{where}.input")
    return Call(
        id=id,
        tool=tool,
        arguments=arguments,
        wire=Wire.ANTHROPIC,
        extras=extras(found, where),
        defects=defects.of_call(id, tool, arguments),
    )


def _answer(found: Fields, where: str) -> Answer:
    del found["type"]
    call = take_text(found, "tool_use_id", where)
    form, parts, odd = content.take_result(found, _result_part, where)
    failed = found.get("is_error")
    if failed is not None and not isinstance(failed, bool):
        refuse("must be true or false", failed, f"{where}.is_error")
    if failed:
        del found["is_error"]
    return Answer(
        call=call,
        content=parts,
        form=form,
        failed=failed,
        wire=Wire.ANTHROPIC,
        extras=extras(found, where),
        defects=odd if call is not None else (Defect.MISSING_ID, *odd),
    )


def _cut_off(said: Said) -> Said:
    """The output ended at the token limit: a call at its end is cut off, even where the service closed its object."""
    if not said.parts or not isinstance(said.parts[-1], Call):
        return said
    return replace(said, parts=(*said.parts[:-1], defects.cut_off(said.parts[-1])))


def _usage(value: object, where: str) -> Usage | None:
    if value is None:
        return None
    found = fields(value, where)
    details = fields(found.get("output_tokens_details") or {}, f"{where}.output_tokens_details")
    cached = take_count(found, "cache_read_input_tokens", where)
    written = take_count(found, "cache_creation_input_tokens", where)
    return Usage(
        # Reported without what was read from or written to the cache.
        input=take_count(found, "input_tokens", where) + cached + written,
        output=take_count(found, "output_tokens", where),
        cached_input=cached,
        cache_write=written,
        reasoning=take_count(details, "thinking_tokens", where),
    )
