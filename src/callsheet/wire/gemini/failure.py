"""Errors as Gemini writes them."""

from typing import Final

from callsheet.wire.failure import Failure
from callsheet.wire.reading import Fields
from callsheet.wire.sse import event

_STATUS: Final[dict[Failure, str]] = {
    Failure.INVALID: "INVALID_ARGUMENT",
    Failure.AUTHENTICATION: "UNAUTHENTICATED",
    Failure.PERMISSION: "PERMISSION_DENIED",
    Failure.NOT_FOUND: "NOT_FOUND",
    Failure.METHOD: "UNIMPLEMENTED",
    Failure.TOO_LARGE: "INVALID_ARGUMENT",
    Failure.RATE: "RESOURCE_EXHAUSTED",
    Failure.SPENT: "RESOURCE_EXHAUSTED",
    Failure.INTERNAL: "INTERNAL",
    Failure.UPSTREAM: "UNAVAILABLE",
    Failure.UNAVAILABLE: "UNAVAILABLE",
    Failure.TIMEOUT: "DEADLINE_EXCEEDED",
}
"""The status of each, by the names of google.rpc."""


def error_body(status: int, kind: Failure, message: str, where: str = "", code: str = "") -> Fields:
    """The body of an error. The HTTP status is its code; there is no other."""
    said: Fields = {"code": status, "message": message, "status": _STATUS[kind]}
    if where:
        violation = {"field": where, "description": message}
        said["details"] = [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [violation]}]
    return {"error": said}


def error_event(status: int, kind: Failure, message: str) -> bytes:
    """The same in a stream."""
    return event(error_body(status, kind, message))
