"""Remembers how many tokens a text has, so that no text is tokenized twice; keeps no text."""

import hashlib
import threading
from collections import OrderedDict

#: What one remembered count takes in memory, with its key and its place in the order.
_ENTRY_BYTES = 256


class Memo:
    """Counts by the hash of their text, the least recently used forgotten first. Safe to use from any thread."""

    def __init__(self, *, limit_bytes: int) -> None:
        self._limit = limit_bytes // _ENTRY_BYTES
        self._counts: OrderedDict[bytes, int] = OrderedDict()
        self._lock = threading.Lock()

    @staticmethod
    def key(encoding: str, text: str) -> bytes:
        """Stands for a text under an encoding; lone surrogates are hashed like any other character."""
        state = hashlib.sha256(encoding.encode() + b"\0")
        state.update(text.encode("utf-8", "surrogatepass"))
        return state.digest()

    def get(self, key: bytes) -> int | None:
        with self._lock:
            tokens = self._counts.get(key)
            if tokens is not None:
                self._counts.move_to_end(key)
            return tokens

    def put(self, key: bytes, tokens: int) -> None:
        with self._lock:
            self._counts[key] = tokens
            self._counts.move_to_end(key)
            while len(self._counts) > self._limit:
                self._counts.popitem(last=False)

    def __len__(self) -> int:
        return len(self._counts)
