"""The shapes of a Messages request, as far as Callsheet produces them."""

import re
from typing import Final, Literal, NotRequired, TypeAlias, TypedDict

from callsheet.wire.names import Wire

WIRE: Final = Wire.ANTHROPIC

CALL_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
LONGEST_NAME: Final = 128

THINKING: Final = {"thinking": "signature", "redacted_thinking": "data"}
"""The types of thinking blocks, and the field without which each is refused."""

_SERVER_RESULTS = frozenset(
    {
        "web_search_tool_result",
        "web_fetch_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
    }
)
OPAQUE_BLOCKS: Final = {
    "assistant": frozenset({"server_tool_use", "container_upload"}) | _SERVER_RESULTS,
    "user": frozenset({"search_result", "container_upload", "document"}),
    "tool_result": frozenset({"search_result", "tool_reference", "document"}),
}
"""By place, the types of the blocks that are sent back as they came. The service knows no others without a beta."""


class TextBlock(TypedDict):
    type: Literal["text"]
    text: str


class Base64Source(TypedDict):
    type: Literal["base64"]
    media_type: str
    data: str


class TextSource(TypedDict):
    type: Literal["text"]
    media_type: Literal["text/plain"]
    data: str


class UrlSource(TypedDict):
    type: Literal["url"]
    url: str


class FileSource(TypedDict):
    type: Literal["file"]
    file_id: str


Source: TypeAlias = Base64Source | TextSource | UrlSource | FileSource


class ImageBlock(TypedDict):
    type: Literal["image"]
    source: Source


class DocumentBlock(TypedDict):
    type: Literal["document"]
    source: Source
    title: NotRequired[str]
    context: NotRequired[str]


class ToolUseBlock(TypedDict):
    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, object]


AsRecorded: TypeAlias = dict[str, object]
"""A thinking block, or one of `OPAQUE_BLOCKS`."""

ResultPart: TypeAlias = TextBlock | ImageBlock | DocumentBlock | AsRecorded


class ToolResultBlock(TypedDict):
    type: Literal["tool_result"]
    tool_use_id: str
    content: str | list[ResultPart]
    is_error: NotRequired[bool]


Block: TypeAlias = TextBlock | ImageBlock | DocumentBlock | ToolUseBlock | ToolResultBlock | AsRecorded


class Message(TypedDict):
    role: Literal["user", "assistant"]
    content: list[Block]
