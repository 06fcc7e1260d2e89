"""The shapes of a Responses request, as far as Callsheet produces them."""

import re
from collections.abc import Mapping
from typing import Final, Literal, NotRequired, TypeAlias, TypedDict

from callsheet.wire.names import Wire

WIRE: Final = Wire.OPENAI_RESPONSES

CALL_ID: Final = re.compile(r"[!-~]{1,64}")
"""What a call id may be: the service refuses more than 64 characters."""

LONGEST_NAME: Final = 64
DETAILS: Final = frozenset({"auto", "low", "high", "original"})
"""In how much detail a picture may be asked to be seen."""

MESSAGE: Final = "message"
REASONING: Final = "reasoning"
REFERENCE: Final = "item_reference"
PHASES: Final = frozenset({"commentary", "final_answer"})
STATUSES: Final = frozenset({"in_progress", "completed", "incomplete"})

REASONING_KEYS: Final = frozenset({"id", "type", "summary", "content", "encrypted_content", "status"})
"""What may stand in a reasoning item that is sent. The service refuses null where it wants a list."""

SERVER_RUN: Final[Mapping[str, frozenset[str]]] = {
    "web_search_call": frozenset({"id", "action", "status"}),
    "file_search_call": frozenset({"id", "queries", "status"}),
    "code_interpreter_call": frozenset({"id", "code", "container_id", "outputs", "status"}),
    "image_generation_call": frozenset({"id", "result", "status"}),
    "mcp_call": frozenset({"id", "arguments", "name", "server_label"}),
    "mcp_list_tools": frozenset({"id", "server_label", "tools"}),
    "tool_search_call": frozenset({"arguments"}),
    "tool_search_output": frozenset({"tools"}),
    "additional_tools": frozenset({"role", "tools"}),
    "compaction": frozenset({"encrypted_content"}),
}
"""Items that the service makes and takes back as they are, and what it demands in each. It refuses unknown ones."""


class InputText(TypedDict):
    type: Literal["input_text"]
    text: str


class InputImage(TypedDict):
    type: Literal["input_image"]
    detail: str
    image_url: NotRequired[str]
    file_id: NotRequired[str]


class InputFile(TypedDict):
    type: Literal["input_file"]
    filename: NotRequired[str]
    file_data: NotRequired[str]
    file_url: NotRequired[str]
    file_id: NotRequired[str]


InputPart: TypeAlias = InputText | InputImage | InputFile


class OutputText(TypedDict):
    type: Literal["output_text"]
    text: str
    annotations: list[object]


class OutputRefusal(TypedDict):
    type: Literal["refusal"]
    refusal: str


OutputPart: TypeAlias = OutputText | OutputRefusal


class InputMessage(TypedDict):
    """What was said, without the ids of the service. Of an assistant it is text."""

    role: Literal["user", "assistant", "system", "developer"]
    content: str | list[InputPart]
    phase: NotRequired[str]


class OutputMessage(TypedDict):
    """What a model said, as the service gave it."""

    type: Literal["message"]
    role: Literal["assistant"]
    id: str
    status: str
    content: list[OutputPart]
    phase: NotRequired[str]


class FunctionCall(TypedDict):
    type: Literal["function_call"]
    call_id: str
    name: str
    arguments: str
    id: NotRequired[str]
    namespace: NotRequired[str]


class CustomCall(TypedDict):
    type: Literal["custom_tool_call"]
    call_id: str
    name: str
    input: str
    id: NotRequired[str]
    namespace: NotRequired[str]


class CallOutput(TypedDict):
    type: Literal["function_call_output", "custom_tool_call_output"]
    call_id: str
    output: str | list[InputPart]


AsRecorded: TypeAlias = dict[str, object]
"""A reasoning item, one of `SERVER_RUN`, or a call or output of a tool that the service defines."""

Item: TypeAlias = InputMessage | OutputMessage | FunctionCall | CustomCall | CallOutput | AsRecorded
