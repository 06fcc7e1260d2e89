"""Errors as Anthropic writes them."""

from typing import Final

from callsheet.wire.failure import Failure
from callsheet.wire.reading import Fields
from callsheet.wire.sse import event

_KINDS: Final[dict[Failure, str]] = {
    Failure.INVALID: "invalid_request_error",
    Failure.AUTHENTICATION: "authentication_error",
    Failure.PERMISSION: "permission_error",
    Failure.NOT_FOUND: "not_found_error",
    Failure.METHOD: "invalid_request_error",
    Failure.TOO_LARGE: "request_too_large",
    Failure.RATE: "rate_limit_error",
    Failure.SPENT: "rate_limit_error",
    Failure.INTERNAL: "api_error",
    Failure.UPSTREAM: "api_error",
    Failure.UNAVAILABLE: "overloaded_error",
    Failure.TIMEOUT: "timeout_error",
}


def error_body(status: int, kind: Failure, message: str, where: str = "", code: str = "") -> Fields:
    """The body of an error. Status and place are not in it."""
    error: Fields = {"type": _KINDS[kind], "message": message}
    if code:
        error["details"] = {"error_code": code}
    return {"type": "error", "error": error}


def error_event(status: int, kind: Failure, message: str) -> bytes:
    """The same in a stream."""
    return event(error_body(status, kind, message), "error")
