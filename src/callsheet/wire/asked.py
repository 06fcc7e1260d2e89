"""Whole request bodies in, and the same bodies out with another history, by format."""

from collections.abc import Callable, Mapping
from typing import Final, Protocol

from callsheet.wire.anthropic import request as anthropic_request
from callsheet.wire.body import Asked, Passes, Remember, ToolChoice, anew, nothing
from callsheet.wire.gemini import request as gemini_request
from callsheet.wire.names import Wire
from callsheet.wire.openai_chat import request as openai_request
from callsheet.wire.openai_responses import request as responses_request
from callsheet.wire.reading import Fields

__all__ = ["Asked", "Passes", "ToolChoice", "nothing", "read_request", "write_request"]


class _Read(Protocol):
    def __call__(self, body: object, *, model: str | None, stream: bool | None, remember: Remember) -> Asked: ...


_READ: Final[Mapping[Wire, _Read]] = {
    Wire.OPENAI: openai_request.read_request,
    Wire.OPENAI_RESPONSES: responses_request.read_request,
    Wire.ANTHROPIC: anthropic_request.read_request,
    Wire.GEMINI: gemini_request.read_request,
}
_WRITE: Final[Mapping[Wire, Callable[[Asked, Fields, Passes], Fields]]] = {
    Wire.OPENAI: openai_request.write_request,
    Wire.OPENAI_RESPONSES: lambda asked, rendered, _: responses_request.write_request(asked, rendered),
    Wire.ANTHROPIC: anthropic_request.write_request,
    Wire.GEMINI: lambda asked, rendered, _: gemini_request.write_request(asked, rendered),
}


def read_request(
    body: object, wire: Wire, *, model: str | None = None, stream: bool | None = None, remember: Remember = anew
) -> Asked:
    """Read the decoded body of a request.

    `model` and `stream` are what the address says where the body does not (Gemini's); where the body says it too, the
    body's count. Raises `InvalidMessage` with the place in the provider's syntax (``messages[2].content[0].text``) for
    what is not of the format's shape. With `remember` messages need not be read again, where each is read by itself.
    """
    return _READ[wire](body, model=model, stream=stream, remember=remember)


def write_request(asked: Asked, rendered: Fields, *, passes: Passes = nothing) -> Fields:
    """The client's own body with another history, instructions and tools, and everything else as it was.

    `rendered` is what `formats.Rendering.request()` gives of the history that shall be sent. The client's tools stay
    byte for byte and in their order; those of `rendered` that the client does not name are appended. Nothing that was
    given is changed.

    What rendering leaves out of a message because not every service takes it goes back where the message is shown
    unchanged and `passes` says so, since the client sent it to a service that takes it. With everything passing,
    writing what was read with a rendering of its own blocks gives an equivalent request.
    """
    return _WRITE[asked.wire](asked, rendered, passes)
