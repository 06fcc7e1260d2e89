"""Errors of Responses: in answers as in Chat Completions, in streams as an event of their own."""

from callsheet.wire.failure import Failure
from callsheet.wire.openai_chat.failure import error_body
from callsheet.wire.sse import event

__all__ = ["error_body", "error_event"]


def error_event(status: int, kind: Failure, message: str) -> bytes:
    """The event that ends a stream. The SDK raises what stands under ``error``."""
    body = error_body(status, kind, message)
    error = body["error"]
    assert isinstance(error, dict), "written above"
    said = {key: error[key] for key in ("code", "message", "param")}
    return event({"type": "error", **said, **body, "sequence_number": 0}, "error")
