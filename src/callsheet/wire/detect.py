"""Which format a value from outside is in."""

from collections.abc import Mapping
from typing import Final

from callsheet.errors import InvalidMessage
from callsheet.wire.names import Wire
from callsheet.wire.reading import plain

_OPENAI_ROLES: Final = frozenset({"tool", "developer", "function"})
_OPENAI_KEYS: Final = frozenset({"tool_calls", "tool_call_id", "function_call", "refusal", "audio", "choices"})
_OPENAI_PARTS: Final = frozenset({"image_url", "input_audio", "file", "refusal"})
_ANTHROPIC_PARTS: Final = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document", "search_result"}
)
_ANTHROPIC_TEXT_KEYS: Final = frozenset({"cache_control", "citations"})


def detect(value: object) -> Wire:
    """The format of a message, a response, or a list of messages; OpenAI's where nothing in it tells.

    A list is of the format of the first message that tells.
    """
    if isinstance(value, list | tuple):
        return next((found for found in map(mark, value) if found is not None), Wire.OPENAI)
    return mark(value) or Wire.OPENAI


def mark(value: object) -> Wire | None:
    """The format that a message or response shows by itself; None where it could be of any."""
    package = type(value).__module__.partition(".")[0]
    if package in ("openai", "anthropic"):
        return Wire(package)
    found = plain(value)
    if not isinstance(found, Mapping):
        return None
    if found.get("role") in _OPENAI_ROLES or not _OPENAI_KEYS.isdisjoint(found):
        return Wire.OPENAI
    if _is_anthropic_reply(found):
        return Wire.ANTHROPIC
    content = found.get("content")
    if not isinstance(content, list | tuple):
        return None
    return next((wire for wire in map(_part_mark, content) if wire is not None), None)


def is_reply(value: object) -> bool:
    """Whether the value is a whole response of a provider, not a message."""
    found = plain(value)
    return isinstance(found, Mapping) and ("choices" in found or _is_anthropic_reply(found))


_OTHERS: Final[Mapping[str, str]] = {
    "chat.completion.chunk": "is one chunk of a stream: put the stream together and record the whole response",
    "response": "is a response of OpenAI's Responses API, which is not read yet",
    "error": "is an error, not a message: there is nothing to record",
}


def refuse_others(value: object, where: str) -> None:
    """Refuse what providers send that is neither a message nor a whole response, and say what it is."""
    if not isinstance(value, Mapping) or "role" in value:
        return
    kind = value.get("object", value.get("type"))
    said = _OTHERS.get(kind) if isinstance(kind, str) else None
    if said is None and "error" in value and not is_reply(value):
        said = _OTHERS["error"]
    if said is not None:
        raise InvalidMessage(said, where=where)


def _is_anthropic_reply(found: Mapping[object, object]) -> bool:
    return found.get("type") == "message" and "model" in found and "content" in found


def _part_mark(part: object) -> Wire | None:
    if type(part).__module__.startswith("anthropic."):
        return Wire.ANTHROPIC
    found = plain(part)
    type_ = found.get("type") if isinstance(found, Mapping) else None
    if not isinstance(type_, str) or not isinstance(found, Mapping):
        return None
    if type_ in _OPENAI_PARTS:
        return Wire.OPENAI
    known = type_ in _ANTHROPIC_PARTS or type_ == "server_tool_use" or type_.endswith("_tool_result")
    return Wire.ANTHROPIC if known or not _ANTHROPIC_TEXT_KEYS.isdisjoint(found) else None
