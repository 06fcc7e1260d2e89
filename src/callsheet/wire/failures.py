"""Errors in the provider's own shape, so that its SDK raises what it raises for the provider's own."""

from collections.abc import Mapping
from typing import Final, Protocol

from callsheet.wire.anthropic import failure as anthropic_failure
from callsheet.wire.failure import Failure
from callsheet.wire.gemini import failure as gemini_failure
from callsheet.wire.names import Wire
from callsheet.wire.openai_chat import failure as openai_failure
from callsheet.wire.openai_responses import failure as responses_failure
from callsheet.wire.reading import Fields

__all__ = ["Failure", "error_body", "error_event"]


class _Body(Protocol):
    def __call__(self, status: int, kind: Failure, message: str, where: str, code: str) -> Fields: ...


class _Event(Protocol):
    def __call__(self, status: int, kind: Failure, message: str) -> bytes: ...


_BODY: Final[Mapping[Wire, _Body]] = {
    Wire.OPENAI: openai_failure.error_body,
    Wire.OPENAI_RESPONSES: responses_failure.error_body,
    Wire.ANTHROPIC: anthropic_failure.error_body,
    Wire.GEMINI: gemini_failure.error_body,
}
_EVENT: Final[Mapping[Wire, _Event]] = {
    Wire.OPENAI: openai_failure.error_event,
    Wire.OPENAI_RESPONSES: responses_failure.error_event,
    Wire.ANTHROPIC: anthropic_failure.error_event,
    Wire.GEMINI: gemini_failure.error_event,
}


def error_body(wire: Wire, status: int, kind: Failure, message: str, *, where: str = "", code: str = "") -> Fields:
    """The JSON body that answers a request with this HTTP status.

    `message` is for the person who reads the log. `where` is the place in the request that it is about, as
    `InvalidMessage.where` has it; `code` is what the provider's clients know this very error by, and how they go on
    from it. Formats without a field for one of them do not say it.
    """
    return _BODY[wire](status, kind, message, where, code)


def error_event(wire: Wire, status: int, kind: Failure, message: str) -> bytes:
    """The same inside a stream that has begun: the bytes of one server-sent event. Nothing may follow it."""
    return _EVENT[wire](status, kind, message)
