"""Bring one recorded conversation to a form that every provider accepts, and count what had to be repaired.

Afterwards each result stands directly behind its call, call ids are unique, system messages stand at the start only,
and no message is empty. Only a call at the very end may be unanswered.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import count

from msgspec.structs import replace

from callsheet.evaluate.messages import Call, Message, Role, content_text, parsed, text_or_none
from callsheet.evaluate.trajectory import Trajectory

EMPTY = "(empty)"
NO_RESULT = "(no result was recorded)"

_ROLES = {
    **{role.value: role for role in Role},
    "developer": Role.SYSTEM,
    "function": Role.TOOL,
    "human": Role.USER,
    "ai": Role.ASSISTANT,
}


class Repair(StrEnum):
    """What normalising had to change."""

    NOT_A_MESSAGE_DROPPED = "not_a_message_dropped"
    UNKNOWN_ROLE_DROPPED = "unknown_role_dropped"
    #: Arguments that are no JSON object became ``{"raw": text}``.
    ARGUMENTS_WRAPPED = "arguments_wrapped"
    #: A system message after the start became user text.
    SYSTEM_AS_USER = "system_as_user"
    #: A result without a matching id answers the first call left open before it.
    RESULT_PAIRED_BY_ORDER = "result_paired_by_order"
    MISSING_RESULT_FILLED = "missing_result_filled"
    #: A result without a call became user text.
    ORPHAN_RESULT_AS_USER = "orphan_result_as_user"
    EMPTY_CONTENT_FILLED = "empty_content_filled"


def normalise(raw: Mapping[str, object], *, default_id: str = "?") -> Trajectory:
    """Normalise one recording: ``messages`` (or ``traj``) in the OpenAI chat shape, ``tools``, ``id`` and ``source``.

    The same recording always gives the same trajectory. Nothing is refused: what is no message is dropped and counted.
    """
    repairs: Counter[Repair] = Counter()
    recorded = raw.get("messages") or raw.get("traj")
    messages = list(_read(recorded if isinstance(recorded, list) else [], repairs))
    body = next((at for at, message in enumerate(messages) if message.role != Role.SYSTEM), len(messages))
    paired = _pair([_demoted(message, repairs) for message in messages[body:]], repairs)
    tools = raw.get("tools")
    return Trajectory(
        id=str(raw.get("id", default_id)),
        source=str(raw.get("source", "?")),
        tools=tuple(tools) if isinstance(tools, list) else (),
        system=tuple(message for message in messages[:body] if message.text),
        messages=tuple(_filled(message, repairs) for message in paired),
        repairs={repair.value: times for repair, times in repairs.items()},
    )


def _read(recorded: Sequence[object], repairs: Counter[Repair]) -> Iterator[Message]:
    for raw in recorded:
        if not isinstance(raw, Mapping):
            repairs[Repair.NOT_A_MESSAGE_DROPPED] += 1
            continue
        named = raw.get("role")
        role = _ROLES.get(named) if isinstance(named, str) else None
        if role is None:
            repairs[Repair.UNKNOWN_ROLE_DROPPED] += 1
            continue
        yield Message(
            role=role,
            content=content_text(raw.get("content")),
            calls=tuple(_read_calls(raw, repairs)) if role is Role.ASSISTANT else (),
            answers=text_or_none(raw.get("tool_call_id")) if role is Role.TOOL else None,
        )


def _read_calls(raw: Mapping[str, object], repairs: Counter[Repair]) -> Iterator[Call]:
    calls = raw.get("tool_calls") or ([{"function": raw["function_call"]}] if raw.get("function_call") else [])
    for call in calls if isinstance(calls, list) else []:
        outer: Mapping[str, object] = call if isinstance(call, Mapping) else {}
        function = outer.get("function")
        inner = function if isinstance(function, Mapping) and function else outer
        yield Call(
            id=text_or_none(outer.get("id")),
            name=text_or_none(inner.get("name")) or "tool",
            arguments=_arguments(inner.get("arguments"), repairs),
        )


def _arguments(raw: object, repairs: Counter[Repair]) -> str:
    text = raw if isinstance(raw, str) else json.dumps({} if raw is None else raw, ensure_ascii=False)
    if isinstance(parsed(text), dict):
        return text
    repairs[Repair.ARGUMENTS_WRAPPED] += 1
    return json.dumps({"raw": text}, ensure_ascii=False)


def _demoted(message: Message, repairs: Counter[Repair]) -> Message:
    if message.role != Role.SYSTEM:
        return message
    repairs[Repair.SYSTEM_AS_USER] += 1
    return replace(message, role=Role.USER)


def _pair(messages: Sequence[Message], repairs: Counter[Repair]) -> Iterator[Message]:
    """Put each result directly behind its call, and number the calls."""
    ids = (f"call_{number:05d}" for number in count(1))
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        if message.role == Role.TOOL:
            yield _orphan(message, repairs)
        elif not message.calls:
            yield message
        else:
            end = at
            while end < len(messages) and messages[end].role == Role.TOOL:
                end += 1
            yield from _group(message, messages[at:end], ids, repairs, may_stay_open=end == len(messages))
            at = end


def _group(
    asking: Message, results: Sequence[Message], ids: Iterator[str], repairs: Counter[Repair], *, may_stay_open: bool
) -> Iterator[Message]:
    by_id: dict[str, Message] = {}
    spare: list[Message] = []
    for result in results:
        if result.answers and result.answers not in by_id:
            by_id[result.answers] = result
        else:
            spare.append(result)
    calls: list[Call] = []
    answers: list[Message] = []
    for call in asking.calls:
        found = by_id.pop(call.id, None) if call.id else None
        if found is None and (spare or by_id):
            found = spare.pop(0) if spare else by_id.pop(next(iter(by_id)))
            repairs[Repair.RESULT_PAIRED_BY_ORDER] += 1
        if found is None and not may_stay_open:
            found = Message(role=Role.TOOL, content=NO_RESULT)
            repairs[Repair.MISSING_RESULT_FILLED] += 1
        numbered = replace(call, id=next(ids))
        calls.append(numbered)
        if found is not None:
            answers.append(replace(found, answers=numbered.id, name=numbered.name))
    yield replace(asking, calls=tuple(calls), content=asking.content or None)
    yield from answers
    for orphan in [*by_id.values(), *spare]:
        yield _orphan(orphan, repairs)


def _orphan(result: Message, repairs: Counter[Repair]) -> Message:
    repairs[Repair.ORPHAN_RESULT_AS_USER] += 1
    return Message(role=Role.USER, content=result.text or EMPTY)


def _filled(message: Message, repairs: Counter[Repair]) -> Message:
    if message.calls or not message.is_blank:
        return message
    repairs[Repair.EMPTY_CONTENT_FILLED] += 1
    return replace(message, content=EMPTY)
