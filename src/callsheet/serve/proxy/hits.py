"""How much providers read from their caches of what these could hold, as they report it."""

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock

from callsheet.serve.proxy.pricing import Tokens

_MODELS = 4_096
"""Models that are remembered; their names come from clients."""


def hit(held: int, sent: int, tokens: Tokens) -> float | None:
    """The share of what a cache could hold of a request that was read from it; None: it could hold nothing of it.

    `held` and `sent` are counted here; `tokens` are the provider's.
    """
    could = held * tokens.input / sent if sent else 0.0
    return min(1.0, tokens.cached / could) if could else None


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
