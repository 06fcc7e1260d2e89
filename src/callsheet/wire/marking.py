"""Marks of `cache_control` that a client has set: may they stand in a request that is written anew?"""

from typing import Final

from callsheet.wire.body import Passes
from callsheet.wire.jsontext import encode

MARK: Final = "cache_control"
"""Anthropic's mark of a beginning that shall be kept; others that offer its models take it too."""

_PLAIN: Final = ({"type": "ephemeral"}, {"type": "ephemeral", "ttl": "5m"}, {"type": "ephemeral", "ttl": "1h"})


def may_stand(mark: object, passes: Passes) -> bool:
    """Whether a mark is one of those that there are, or passes as any text does: a client may write what it likes."""
    return mark in _PLAIN or passes(encode(mark, MARK))
