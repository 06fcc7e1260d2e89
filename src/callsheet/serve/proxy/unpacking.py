"""What the body of a request says, unpacked and decoded within limits."""

from collections.abc import Mapping

from callsheet.serve.proxy.bodies import decoded
from callsheet.serve.proxy.packing import unpacked
from callsheet.serve.proxy.settings import Limits
from callsheet.serve.proxy.turned import Turned
from callsheet.wire.failure import Failure


def read(raw: bytes, headers: Mapping[str, str], limits: Limits, *, passes: bool) -> tuple[bytes, object]:
    """The unpacked body, and what it says; None: nothing that is understood here, and its provider may judge it.

    With `passes` that is so for what is no JSON or has too many values; else it raises `Turned`, as it does in any case
    for what is too large.
    """
    content = raw
    try:
        content = unpacked(raw, headers.get("content-encoding", ""), limits.body)
    except Turned as problem:
        if problem.kind is not Failure.INVALID or not passes:
            raise
        return content, None
    try:
        return content, decoded(content, limits.values)
    except Turned:
        if not passes:
            raise
        return content, None
