"""The official SDKs' own types, as a judge of requests."""

from collections.abc import Mapping
from functools import cache
from typing import cast

from pydantic import TypeAdapter

from callsheet.wire.names import Wire


@cache
def _adapter(wire: Wire) -> TypeAdapter[object]:
    if wire is Wire.OPENAI:
        from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming as OpenAIRequest

        return cast("TypeAdapter[object]", TypeAdapter(OpenAIRequest))
    if wire is Wire.OPENAI_RESPONSES:
        from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming as ResponsesRequest

        return cast("TypeAdapter[object]", TypeAdapter(ResponsesRequest))
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming as AnthropicRequest

    return cast("TypeAdapter[object]", TypeAdapter(AnthropicRequest))


def accept(request: Mapping[str, object], wire: Wire) -> None:
    """Raise pydantic's `ValidationError` for a request that is not of the SDK's type."""
    if wire is Wire.GEMINI:
        _accept_gemini(request)
        return
    _exhaust(_adapter(wire).validate_python(request))


def _accept_gemini(request: Mapping[str, object]) -> None:
    from google.genai.types import Content, GenerateContentConfig

    TypeAdapter(list[Content]).validate_python(request["contents"])
    GenerateContentConfig.model_validate({key: request[key] for key in request.keys() - {"model", "contents"}})


def _exhaust(value: object) -> None:
    """Validate what the types declare as iterable: pydantic looks at such items only when they are asked for."""
    if isinstance(value, Mapping):
        for item in value.values():
            _exhaust(item)
    elif not isinstance(value, str | bytes) and hasattr(value, "__iter__"):
        for item in value:
            _exhaust(item)
