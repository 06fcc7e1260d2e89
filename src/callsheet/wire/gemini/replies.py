"""Whole responses of generateContent as neutral replies."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from callsheet.assemble.blocks import Call, Reply, Said
from callsheet.errors import InvalidMessage
from callsheet.graph.enums import Role, RunStatus
from callsheet.graph.values import Usage
from callsheet.wire import content, defects
from callsheet.wire.gemini.marks import is_reply
from callsheet.wire.gemini.parse import parse_message
from callsheet.wire.gemini.spelling import as_json, said, snake, spelled
from callsheet.wire.jsontext import extras
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields, fields, items, refuse, take_count, take_text

_STATUS: Final = {
    "MAX_TOKENS": RunStatus.TRUNCATED,
    **dict.fromkeys(
        (
            "SAFETY",
            "RECITATION",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "IMAGE_SAFETY",
            "IMAGE_PROHIBITED_CONTENT",
            "IMAGE_RECITATION",
            "MODEL_ARMOR",
        ),
        RunStatus.REFUSED,
    ),
    # What the model wrote could not be read; what came of it is no answer that counts.
    **dict.fromkeys(
        (
            "MALFORMED_FUNCTION_CALL",
            "UNEXPECTED_TOOL_CALL",
            "TOO_MANY_TOOL_CALLS",
            "MISSING_THOUGHT_SIGNATURE",
            "MALFORMED_RESPONSE",
            "LANGUAGE",
            "OTHER",
            "IMAGE_OTHER",
            "NO_IMAGE",
        ),
        RunStatus.FAILED,
    ),
}

_OF_SDK: Final = ("sdkHttpResponse", "automaticFunctionCallingHistory", "parsed")
"""What the SDK puts beside a response: headers, and what it sent."""


def parse_reply(value: object, where: str) -> Reply:
    """Read a whole response: its first candidate. Raises `InvalidMessage` for what is not of this shape."""
    found = {key: as_json(item, where) for key, item in fields(value, where).items() if not _is_of_sdk(key)}
    if not is_reply(found):
        refuse("must be a response with candidates", value, where)
    feedback = fields(said(found, "promptFeedback") or {}, f"{where}.promptFeedback")
    candidates = _take_candidates(found, where)
    candidate = fields(candidates[0], f"{where}.candidates[0]") if candidates else {}
    message = _said(candidate.pop("content", None), f"{where}.candidates[0].content")
    key = spelled(candidate, "finishReason")
    finish = take_text(candidate, key, f"{where}.candidates[0]") or _blocked(feedback, where)
    left = {"candidates": [candidate, *candidates[1:]]} if candidate.keys() - {"index"} or candidates[1:] else {}
    status = _STATUS.get(finish or "", RunStatus.COMPLETED)
    if not candidates:
        status = RunStatus.REFUSED
    return Reply(
        said=_cut_off(message) if status is RunStatus.TRUNCATED else message,
        status=status,
        model=take_text(found, spelled(found, "modelVersion"), where),
        usage=_usage(said(found, "usageMetadata"), f"{where}.usageMetadata"),
        finish=finish,
        response=take_text(found, spelled(found, "responseId"), where),
        extras=extras({**found, **left}, where),
    )


def _is_of_sdk(key: str) -> bool:
    return any(key in (name, snake(name)) for name in _OF_SDK)


def _take_candidates(found: Fields, where: str) -> list[object]:
    candidates = found.pop("candidates", None)
    return items(candidates, f"{where}.candidates") if candidates is not None else []


def _said(message: object, where: str) -> Said:
    """What the model said; a candidate without content said nothing."""
    if message is None:
        nothing = defects.of_content((), empty=True)
        return Said(role=Role.ASSISTANT, form=content.ABSENT, wire=Wire.GEMINI, defects=nothing)
    found = fields(message, where)
    if not found.get("role"):
        found["role"] = "model"
    *_, read = parse_message(found, where)
    if not isinstance(read, Said) or read.role is not Role.ASSISTANT:
        raise InvalidMessage("must be 'model'", where=f"{where}.role")
    return read


def _blocked(feedback: Mapping[str, object], where: str) -> str | None:
    """Why a prompt was not answered at all."""
    reason = said(feedback, "blockReason")
    if reason is not None and not isinstance(reason, str):
        refuse("must be text", reason, f"{where}.promptFeedback.blockReason")
    return reason


def _cut_off(message: Said) -> Said:
    """The output ended at the token limit: a call at its end is cut off, even where the service closed its object."""
    if not message.parts or not isinstance(message.parts[-1], Call):
        return message
    return replace(message, parts=(*message.parts[:-1], defects.cut_off(message.parts[-1])))


def _usage(value: object, where: str) -> Usage | None:
    if value is None:
        return None
    found = fields(value, where)

    def count(key: str) -> int:
        return take_count(found, spelled(found, key), where)

    thoughts = count("thoughtsTokenCount")
    return Usage(
        # What tools of the service read is reported beside the prompt, thoughts beside the answer.
        input=count("promptTokenCount") + count("toolUsePromptTokenCount"),
        output=count("candidatesTokenCount") + thoughts,
        cached_input=count("cachedContentTokenCount"),
        cache_write=0,
        reasoning=thoughts,
    )
