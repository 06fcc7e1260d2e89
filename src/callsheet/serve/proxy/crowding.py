"""What one request may take of the proxy, so that others are answered beside it."""

from callsheet.serve.proxy.turned import Turned
from callsheet.wire.failure import Failure

LARGE = 1024 * 1024
"""Bytes of a body from which on its request leaves one of the threads to others. Few conversations are so long."""

_LISTS = ("messages", "input", "contents")
"""Where the formats have what is said."""


def too_many(body: object, limit: int) -> Turned | None:
    """Why a request of more than `limit` messages, items or contents is not worked on; None: it is."""
    found = [body.get(name) for name in _LISTS] if isinstance(body, dict) else []
    most = max((len(one) for one in found if isinstance(one, list)), default=0)
    if most <= limit:
        return None
    said = (
        f"callsheet: the request has {most:,} messages; {limit:,} are taken here (limits.messages in its configuration)"
    )
    return Turned(413, Failure.TOO_LARGE, said)
