"""The message of a replay: the part of an OpenAI chat message that is sent and counted, as an immutable value."""

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum

from msgspec import Struct


class Role(StrEnum):
    """Who speaks in a normalised conversation."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Call(Struct, frozen=True, kw_only=True):
    """One tool call of an assistant message."""

    id: str | None
    name: str
    #: JSON text as the model wrote it.
    arguments: str


class Message(Struct, frozen=True, kw_only=True, cache_hash=True):
    """One message of a request or of a recording. Its hash is computed once, so it serves as a key of caches."""

    #: One of `Role` in a normalised conversation; a candidate's request may hold anything.
    role: str
    content: str | None = None
    calls: tuple[Call, ...] = ()
    #: The call that a tool message answers.
    answers: str | None = None
    #: The tool that answered.
    name: str | None = None
    #: It also holds images or other parts that are not text; they are not counted, but the message is not empty.
    media: bool = False

    @property
    def text(self) -> str:
        """The content; no content is the empty text."""
        return self.content or ""

    @property
    def is_blank(self) -> bool:
        """It holds nothing but white space (calls apart)."""
        return not self.media and not self.text.strip()


def from_openai(raw: Mapping[str, object]) -> Message:
    """Read one message of an OpenAI chat request as it stands, without repairing anything.

    What has the wrong type is left out (arguments that are no text become empty), so that `problems` finds it.
    """
    content = raw.get("content")
    calls = raw.get("tool_calls")
    return Message(
        role=str(raw.get("role")),
        content=content_text(content),
        calls=tuple(_call(call) for call in calls) if isinstance(calls, list | tuple) else (),
        answers=text_or_none(raw.get("tool_call_id")),
        name=text_or_none(raw.get("name")),
        media=isinstance(content, list | tuple) and any(_is_media(part) for part in content),
    )


def to_openai(message: Message) -> dict[str, object]:
    """The message in the OpenAI chat shape; `media` is lost."""
    raw: dict[str, object] = {"role": message.role, "content": message.content}
    if message.calls:
        raw["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    if message.role == Role.TOOL:
        raw["tool_call_id"] = message.answers
        if message.name:
            raw["name"] = message.name
    return raw


def content_text(content: object) -> str | None:
    """The text of a content field: of a list its text parts, each on lines of its own; of other JSON its JSON text."""
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        return "\n".join(text for part in content if (text := _part_text(part)) is not None)
    return json.dumps(content, ensure_ascii=False)


def text_or_none(value: object) -> str | None:
    """The value if it is a text."""
    return value if isinstance(value, str) else None


def parsed(text: str) -> object:
    """The JSON value that the text holds; None where it holds none (or only null)."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def leaves(value: object) -> Iterator[object]:
    """The values of a JSON document that are neither object nor array, in document order, however deep it is."""
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict):
            waiting.extend(reversed(current.values()))
        elif isinstance(current, list):
            waiting.extend(reversed(current))
        else:
            yield current


def copyable_text(message: Message) -> str:
    """Everything in a message that a model could copy a value from, each piece on lines of its own.

    Arguments with escapes stand there twice: as written, and decoded.
    """
    if not message.calls:
        return message.text
    pieces = [message.text]
    for call in message.calls:
        pieces.append(call.arguments)
        if "\\" in call.arguments:
            document = parsed(call.arguments)
            if document is not None:
                pieces.extend(str(leaf) for leaf in leaves(document))
    return "\n".join(pieces)


def _call(raw: object) -> Call:
    outer = raw if isinstance(raw, Mapping) else {}
    function = outer.get("function")
    inner = function if isinstance(function, Mapping) else {}
    return Call(
        id=text_or_none(outer.get("id")),
        name=text_or_none(inner.get("name")) or "",
        arguments=text_or_none(inner.get("arguments")) or "",
    )


def _part_text(part: object) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return None
    text = part.get("text")
    if isinstance(text, str):
        return text
    if part.get("type") in ("tool_result", "output_text"):
        return content_text(part.get("content")) or ""
    return None


def _is_media(part: object) -> bool:
    return isinstance(part, Mapping) and _part_text(part) is None
