"""The shapes of a Chat Completions request, as far as Callsheet produces them."""

import re
from typing import Final, Literal, NotRequired, TypeAlias, TypedDict

from callsheet.wire.names import Wire

WIRE: Final = Wire.OPENAI

CALL_ID: Final = re.compile(r"[!-~]{1,40}")
"""What a call id may be: the service refuses more than 40 characters."""

LONGEST_NAME: Final = 64
DETAILS: Final = frozenset({"auto", "low", "high", "original"})
"""In how much detail a picture may be asked to be seen."""


class TextPart(TypedDict):
    type: Literal["text"]
    text: str


class RefusalPart(TypedDict):
    type: Literal["refusal"]
    refusal: str


class ImageUrl(TypedDict):
    url: str
    detail: NotRequired[str]


class ImagePart(TypedDict):
    type: Literal["image_url"]
    image_url: ImageUrl


class InputAudio(TypedDict):
    data: str
    format: str


class AudioPart(TypedDict):
    type: Literal["input_audio"]
    input_audio: InputAudio


class FileData(TypedDict):
    file_data: NotRequired[str]
    filename: NotRequired[str]
    file_id: NotRequired[str]


class FilePart(TypedDict):
    type: Literal["file"]
    file: FileData


UserPart: TypeAlias = TextPart | ImagePart | AudioPart | FilePart
AssistantPart: TypeAlias = TextPart | RefusalPart


class Function(TypedDict):
    name: str
    arguments: str


class FunctionCall(TypedDict):
    id: str
    type: Literal["function"]
    function: Function


class Custom(TypedDict):
    name: str
    input: str


class CustomCall(TypedDict):
    id: str
    type: Literal["custom"]
    custom: Custom


class InstructionMessage(TypedDict):
    role: Literal["system", "developer"]
    content: str | list[TextPart]
    name: NotRequired[str]


class UserMessage(TypedDict):
    role: Literal["user"]
    content: str | list[UserPart]
    name: NotRequired[str]


class AssistantMessage(TypedDict):
    role: Literal["assistant"]
    content: str | list[AssistantPart] | None
    name: NotRequired[str]
    tool_calls: NotRequired[list[FunctionCall | CustomCall]]


class ToolMessage(TypedDict):
    role: Literal["tool"]
    tool_call_id: str
    content: str | list[TextPart]


Message: TypeAlias = InstructionMessage | UserMessage | AssistantMessage | ToolMessage
