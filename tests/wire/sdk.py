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
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming as AnthropicRequest

    return cast("TypeAdapter[object]", TypeAdapter(AnthropicRequest))


def accept(request: Mapping[str, object], wire: Wire) -> None:
    """Raise pydantic's `ValidationError` for a request that is not of the SDK's type."""
    _exhaust(_adapter(wire).validate_python(request))


def _exhaust(value: object) -> None:
    """Validate what the types declare as iterable: pydantic looks at such items only when they are asked for."""
    if isinstance(value, Mapping):
        for item in value.values():
            _exhaust(item)
    elif not isinstance(value, str | bytes) and hasattr(value, "__iter__"):
        for item in value:
            _exhaust(item)
