"""Which format a value from outside is in."""

import re
from collections.abc import Mapping
from typing import Final

from callsheet.errors import InvalidMessage
from callsheet.wire.gemini.marks import is_content
from callsheet.wire.gemini.marks import is_reply as is_gemini_reply
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields, fields, items

_OPENAI_ROLES: Final = frozenset({"tool", "developer", "function"})
_OPENAI_KEYS: Final = frozenset({"tool_calls", "tool_call_id", "function_call", "refusal", "audio", "choices"})
_OPENAI_PARTS: Final = frozenset({"image_url", "input_audio", "file", "refusal"})
_ANTHROPIC_PARTS: Final = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document", "search_result"}
)
_RESPONSES_PARTS: Final = frozenset({"input_text", "output_text", "input_image", "input_file"})
_RESPONSES_ITEM: Final = re.compile(
    r"message|reasoning|item_reference|compaction(_trigger)?|additional_tools|configuration_update|program(_output)?"
    r"|mcp_(list_tools|approval_request|approval_response)|tool_search_output|\w+_call(_output)?"
)
"""The types of items of OpenAI Responses."""
_ANTHROPIC_TEXT_KEYS: Final = frozenset({"cache_control", "citations"})

_RESPONSES_MODULE: Final = "openai.types.responses."
_GEMINI_MODULE: Final = "google.genai."


def detect(value: object) -> Wire:
    """The format of a message, a response, or a list of messages; OpenAI's where nothing in it tells.

    A list is of the format of the first message that tells.
    """
    if isinstance(value, list | tuple):
        return next((found for found in map(mark, _parts(value)) if found is not None), Wire.OPENAI)
    return mark(value) or Wire.OPENAI


def mark(value: object) -> Wire | None:
    """The format that a message or response shows by itself; None where it could be of any."""
    module = _module(value)
    package = module.partition(".")[0]
    if module.startswith(_RESPONSES_MODULE):
        return Wire.OPENAI_RESPONSES
    if package in ("openai", "anthropic"):
        return Wire(package)
    found = _looked_into(value)
    if module.startswith(_GEMINI_MODULE) or is_gemini_reply(found) or is_content(found):
        return Wire.GEMINI
    role = found.get("role")
    if not _OPENAI_KEYS.isdisjoint(found):
        return Wire.OPENAI
    if _is_anthropic_reply(found):
        return Wire.ANTHROPIC
    if _is_responses_reply(found) or (_is_item(found) and not _holds_anthropic_parts(found)):
        return Wire.OPENAI_RESPONSES
    shown = next((wire for wire in map(_part_mark, _parts(found.get("content"))) if wire is not None), None)
    if isinstance(role, str) and role in _OPENAI_ROLES and shown is not Wire.OPENAI_RESPONSES:
        return Wire.OPENAI
    return shown


def is_reply(value: object) -> bool:
    """Whether the value is a whole response of a provider, not a message."""
    found = _looked_into(value)
    if "choices" in found or _is_anthropic_reply(found) or _is_responses_reply(found):
        return True
    return is_gemini_reply(found)


def _module(value: object) -> str:
    module: object = type(value).__module__
    return module if isinstance(module, str) else ""


def _looked_into(value: object) -> Fields:
    """The fields of an object; of what cannot be read as one, none: whoever parses it refuses it with its place."""
    try:
        return fields(value, "")
    except InvalidMessage:
        return {}


def _parts(content: object) -> list[object]:
    try:
        return items(content, "")
    except InvalidMessage:
        return []


_OTHERS: Final[Mapping[str, str]] = {
    "chat.completion.chunk": "is one chunk of a stream: put the stream together and record the whole response",
    "error": "is an error, not a message: there is nothing to record",
}


def refuse_others(value: object, where: str) -> None:
    """Refuse what providers send that is neither a message nor a whole response, and say what it is."""
    found = _looked_into(value)
    if "role" in found:
        return
    kind = found.get("object", found.get("type"))
    said = _OTHERS.get(kind) if isinstance(kind, str) else None
    if isinstance(kind, str) and kind.startswith("response."):
        said = "is one event of a stream: put the stream together and record the whole response"
    if said is None and "error" in found and not is_reply(found):
        said = _OTHERS["error"]
    if said is not None:
        raise InvalidMessage(said, where=where)


def _is_responses_reply(found: Fields) -> bool:
    return found.get("object") == "response" and "output" in found


def _is_item(found: Fields) -> bool:
    kind = found.get("type")
    return isinstance(kind, str) and _RESPONSES_ITEM.fullmatch(kind) is not None


def _holds_anthropic_parts(found: Fields) -> bool:
    """Whether it is a message of Anthropic's that says its type, as a response does."""
    return any(_part_mark(part) is Wire.ANTHROPIC for part in _parts(found.get("content")))


def _is_anthropic_reply(found: Fields) -> bool:
    return found.get("type") == "message" and "model" in found and "content" in found


def _part_mark(part: object) -> Wire | None:
    if _module(part).startswith("anthropic."):
        return Wire.ANTHROPIC
    found = _looked_into(part)
    kind = found.get("type")
    if not isinstance(kind, str):
        return None
    if kind in _OPENAI_PARTS:
        return Wire.OPENAI
    if kind in _RESPONSES_PARTS:
        return Wire.OPENAI_RESPONSES
    known = kind in _ANTHROPIC_PARTS or kind == "server_tool_use" or kind.endswith("_tool_result")
    return Wire.ANTHROPIC if known or not _ANTHROPIC_TEXT_KEYS.isdisjoint(found) else None
