"""What a provider's prompt cache costs and how long it remembers: what assembly weighs when it decides to rewrite."""

from dataclasses import dataclass

from callsheet.wire.catalogue import facts
from callsheet.wire.tokens.providers import Family, family

USUAL_SHARE = 0.1
"""What a cached input token costs of a fresh one where the catalogue does not say: the usual share."""

_LIFE = {Family.ANTHROPIC: 300}
"""Seconds. Anthropic documents five minutes, renewed at each use."""

_USUAL_LIFE = 600
"""Seconds. OpenAI documents five to ten minutes of inactivity, longer when it is quiet; others say nothing firm."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Caching:
    """How a provider caches the beginning of a request."""

    #: What a cached input token costs of a fresh one.
    share: float
    #: Seconds after the last request that it is remembered.
    life: int


def caching(provider: str, model: str) -> Caching:
    """How the cache of a provider's model is priced and how long it lasts."""
    known = facts(provider, model)
    share = USUAL_SHARE
    if known is not None and known.input and known.cached is not None:
        share = min(1.0, known.cached / known.input)
    return Caching(share=share, life=_LIFE.get(family(provider), _USUAL_LIFE))
