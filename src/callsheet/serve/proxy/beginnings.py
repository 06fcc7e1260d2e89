"""What a provider's cache would hold had requests been sent that were not: the clients' own, where assembled ones went
out in their place, and the assembled ones in observe-only mode.

A provider caches the beginnings of all requests of an account, not only those of one conversation: scripts that begin
alike, and the same script run once more, read what the others wrote. Only what is reported rests on this.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Lock

from callsheet.serve.proxy.weighing import LEAST_CACHED, Weight

_REMEMBERED = 131_072
"""Beginnings that are remembered over all accounts: those of some hundred long conversations."""

_DIGEST = 16
"""Bytes: enough that no two beginnings have the same by chance."""


@dataclass(kw_only=True, slots=True)
class Beginnings:
    """Beginnings of requests by digest, with when they were used last. Lost with the process. Thread-safe."""

    #: Microseconds since 1970.
    _used: OrderedDict[bytes, int] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def held(self, cache: str, weight: Weight, now: int, life: float) -> int:
        """Tokens of the longest beginning that a request had within `life` seconds. `cache` names whose it is."""
        found = 0
        with self._lock:
            for digest, tokens in _of(cache, weight):
                used = self._used.get(digest)
                if used is not None and now - used <= life * 1_000_000:
                    found = tokens
        return found if found >= LEAST_CACHED else 0

    def add(self, cache: str, weight: Weight, now: int, *, kept: int | None = None) -> None:
        """A request was, or would have been, sent, of which so many pieces are kept; None: all."""
        found = [digest for digest, _ in _of(cache, weight)][:kept]
        with self._lock:
            # The shortest are forgotten last, for most requests share them.
            for digest in reversed(found):
                self._used[digest] = max(now, self._used.pop(digest, now))
            while len(self._used) > _REMEMBERED:
                self._used.popitem(last=False)


def _of(cache: str, weight: Weight) -> Iterator[tuple[bytes, int]]:
    """Each beginning, from the shortest on, with its tokens; none where the provider would cache none."""
    if not weight.caches:
        return
    digest, tokens = cache.encode("utf-8", "surrogatepass"), 0
    for piece, size in weight.pieces:
        digest = hashlib.sha256(len(digest).to_bytes(4, "big") + digest + piece).digest()[:_DIGEST]
        tokens += size
        yield digest, tokens
