"""How much providers read from their caches of what these could hold, as they report it."""

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock

from callsheet.serve.proxy.pricing import Tokens

_MODELS = 4_096
"""Models that are remembered; their names come from clients."""


_SURELY = 4_096
"""Tokens of a beginning from which on all models cache one. The least is 1,024 for most and more for some, and what is
counted here is not what the provider counts: where nothing was read of less, nobody can tell a miss from its least.
"""

STEP = 128
"""Tokens in steps of which some providers read; the last one that is not full is no miss."""


def hit(held: int, sent: int, tokens: Tokens) -> float | None:
    """The share of what a cache could hold of a request that was read from it; None: it says nothing of others.

    `held` and `sent` are counted here; `tokens` are the provider's.
    """
    could = held * tokens.input / sent if sent else 0.0
    if not could or (not tokens.cached and could < _SURELY):
        return None
    full = could - could % STEP if tokens.cached % STEP == 0 else could
    return min(1.0, tokens.cached / full) if full else 1.0


def missed(held: int, sent: int, tokens: Tokens) -> int | None:
    """Tokens of what a cache could hold of a request that were not read though some were; None: none were read.

    They are as many in a larger request that goes on in the same way: what is read ends at a step, or at a mark.
    """
    if not tokens.cached or not sent:
        return None
    return max(0, round(held * tokens.input / sent) - tokens.cached)


@dataclass(kw_only=True, slots=True)
class Hits:
    """The shares of all requests so far, by model. Lost with the process, as what was sent is. Thread-safe."""

    _sums: OrderedDict[tuple[str, str], tuple[float, int]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def add(self, model: tuple[str, str], share: float) -> None:
        """One request of a provider's model had this share."""
        with self._lock:
            total, count = self._sums.pop(model, (0.0, 0))
            self._sums[model] = (total + share, count + 1)
            if len(self._sums) > _MODELS:
                self._sums.popitem(last=False)

    def mean(self, model: tuple[str, str]) -> float | None:
        """The mean of its shares; None: there is none yet."""
        with self._lock:
            total, count = self._sums.get(model, (0.0, 0))
        return total / count if count else None
