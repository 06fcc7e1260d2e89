"""How large a request may be: by the operator's budget, or by what the model's window leaves beside the reply."""

from callsheet.assemble.blocks import Said, Text
from callsheet.graph.enums import Role
from callsheet.runtime.windows import window_of
from callsheet.serve.proxy.settings import Handling
from callsheet.wire.asked import Asked
from callsheet.wire.tokens import counter_for

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


def cannot_fit(handling: Handling, provider: str, asked: Asked) -> int | None:
    """The tokens that a request may take, where a text that is shown whole surely has more; else None.

    Such are its newest question and its instructions. Nothing is counted for that, which takes half a second of
    processor time for each megabyte.
    """
    newest = asked.blocks[-1] if asked.blocks else None
    whole = [*asked.instructions]
    if isinstance(newest, Said) and newest.role is Role.USER:
        whole.append(newest)
    budget = handling.budget
    if budget is None:
        budget = window_of(provider, asked.model)[0] - reserve_of(handling, provider, asked)
    counter = counter_for(provider, asked.model)
    texts = [part.text for said in whole for part in said.parts if isinstance(part, Text)]
    return budget if any(counter.surely_over(text, budget) for text in texts) else None


_SHARE = 4
"""The part of the limit that what is read again may take where a request is small because it must be: the rest is for
what it is read for."""

_LEAST_BYTES = 2
"""Bytes of a token, at the least, but for text that nobody reads."""


def readable_within(limit: int) -> int:
    """Bytes that may be read for calls of one request that had to be made smaller."""
    return limit // _SHARE * _LEAST_BYTES
