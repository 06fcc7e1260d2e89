"""Errors as OpenAI writes them; Chat Completions and Responses have one shape."""

from typing import Final

from callsheet.wire.failure import Failure
from callsheet.wire.reading import Fields
from callsheet.wire.sse import event

_INVALID = "invalid_request_error"
_SERVER = "server_error"

_KINDS: Final[dict[Failure, tuple[str, str | None]]] = {
    Failure.INVALID: (_INVALID, None),
    Failure.AUTHENTICATION: (_INVALID, "invalid_api_key"),
    Failure.PERMISSION: (_INVALID, "insufficient_permissions"),
    Failure.NOT_FOUND: (_INVALID, "not_found"),
    Failure.METHOD: (_INVALID, "method_not_supported"),
    Failure.TOO_LARGE: (_INVALID, "request_too_large"),
    Failure.RATE: ("requests", "rate_limit_exceeded"),
    Failure.SPENT: ("insufficient_quota", "insufficient_quota"),
    Failure.INTERNAL: (_SERVER, None),
    Failure.UPSTREAM: (_SERVER, "bad_gateway"),
    Failure.UNAVAILABLE: (_SERVER, "service_unavailable"),
    Failure.TIMEOUT: (_SERVER, "timeout"),
}
"""The type and the code of each."""


def error_body(status: int, kind: Failure, message: str, where: str = "", code: str = "") -> Fields:
    """The body of an error. The status is not in it."""
    type, usual = _KINDS[kind]
    return {"error": {"message": message, "type": type, "param": where or None, "code": code or usual}}


def error_event(status: int, kind: Failure, message: str) -> bytes:
    """The same in a stream of Chat Completions."""
    return event(error_body(status, kind, message))
