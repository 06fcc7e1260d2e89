"""The shapes of a generateContent request, as far as Callsheet produces them."""

import re
from typing import Final, Literal, NotRequired, TypeAlias, TypedDict

from callsheet.wire.names import Wire

WIRE: Final = Wire.GEMINI

CALL_ID: Final = re.compile(r"[!-~]{1,128}")
"""What a call id may be. The service documents no limits; these hold every id that is known of it and of others."""

CALL, RESULT, TEXT = "functionCall", "functionResponse", "text"
DATA, FILE = "inlineData", "fileData"
SIGNATURE: Final = "thoughtSignature"

OPAQUE: Final = frozenset({"executableCode", "codeExecutionResult", "toolCall", "toolResponse"})
"""Parts of the model's turns that are sent back as they came: tools that run at the service."""

KINDS: Final = (TEXT, CALL, RESULT, DATA, FILE, *sorted(OPAQUE))
"""What a part may be: it says something under one of these keys."""

BYPASS: Final = "skip_thought_signature_validator"
"""The signature that Google documents for a call that another model made: without any, its newer models refuse it."""

_UNSIGNED = re.compile(r"gemini-[12](\D|$)")

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_.:-]")
_LONGEST_NAME = 128


def wants_signatures(model: str) -> bool:
    """Whether a model refuses calls without a signature: all since Gemini 3; also one that is not known."""
    return _UNSIGNED.match(model.strip().lower().rpartition("/")[2]) is None


def is_name(name: str) -> bool:
    """Whether the service takes the name of a function."""
    return _NAME.fullmatch(name) is not None


def function_name(name: str) -> str:
    """The name with ``_`` for each character that the service refuses; empty where nothing of it is left."""
    if not re.search("[a-zA-Z0-9]", name):
        return ""
    written = _NOT_IN_NAMES.sub("_", name)
    return (written if re.match("[a-zA-Z_]", written) else "_" + written)[:_LONGEST_NAME]


class Blob(TypedDict):
    mimeType: str
    data: str


class FileData(TypedDict):
    fileUri: str
    mimeType: NotRequired[str]


class FunctionCall(TypedDict):
    id: NotRequired[str]
    name: str
    args: dict[str, object]


class FunctionResponse(TypedDict):
    id: NotRequired[str]
    name: str
    response: dict[str, object]
    parts: NotRequired[list["Part"]]


class TextPart(TypedDict):
    text: str
    thoughtSignature: NotRequired[str]


class DataPart(TypedDict):
    inlineData: Blob


class FilePart(TypedDict):
    fileData: FileData


class CallPart(TypedDict):
    functionCall: FunctionCall
    thoughtSignature: NotRequired[str]


class ResultPart(TypedDict):
    functionResponse: FunctionResponse


AsRecorded: TypeAlias = dict[str, object]
"""A thought, or one of `OPAQUE`."""

Part: TypeAlias = TextPart | DataPart | FilePart | CallPart | ResultPart | AsRecorded


class Content(TypedDict):
    role: Literal["user", "model"]
    parts: list[Part]
