"""How large a request may be: by the operator's budget, or by what the model's window leaves beside the reply."""

from callsheet.runtime.windows import window_of
from callsheet.serve.proxy.settings import Handling
from callsheet.wire.asked import Asked

_ALLOWANCES = ("max_completion_tokens", "max_tokens", "max_output_tokens")


def reserve_of(handling: Handling, provider: str, asked: Asked) -> int:
    """Tokens kept free for the reply: what the client allows it where it says so, within half of the window."""
    window, _ = window_of(provider, asked.model)
    generation = asked.rest.get("generationConfig")
    given = [asked.rest.get(name) for name in _ALLOWANCES]
    given.append(generation.get("maxOutputTokens") if isinstance(generation, dict) else None)
    allowed = [one for one in given if isinstance(one, int) and not isinstance(one, bool) and one > 0]
    return max(1, min(max(allowed, default=handling.reserve), window // 2))


def limit_of(handling: Handling, provider: str, asked: Asked) -> int | None:
    """Tokens that a request may take; None: nobody knows, for the model is not in the catalogue."""
    if handling.budget is not None:
        return handling.budget
    window, known = window_of(provider, asked.model)
    return window - reserve_of(handling, provider, asked) if known else None


_SHARE = 4
"""The part of the limit that what is read again may take where a request is small because it must be: the rest is for
what it is read for."""

_LEAST_BYTES = 2
"""Bytes of a token, at the least, but for text that nobody reads."""


def readable_within(limit: int) -> int:
    """Bytes that may be read for calls of one request that had to be made smaller."""
    return limit // _SHARE * _LEAST_BYTES
