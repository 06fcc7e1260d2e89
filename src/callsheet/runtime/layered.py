"""A mapping whose copies share what they have in common, so that a copy costs little however much it holds."""

from collections.abc import Iterable, Iterator, Mapping
from math import isqrt
from typing import Final, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class _Gone:
    """Stands for a key that the shared part has and this mapping does not."""


_GONE: Final = _Gone()

_FEW = 16
"""Changes that are kept beside the shared part at least, before a new one is made of both."""


class Layered(Mapping[K, V], Generic[K, V]):
    """Keys in the order of a dict's: a shared part that never changes, and what was changed since.

    What was changed is at most about the root of how much there is, so n changes with a copy before each take some
    n times the root of n steps, where n copies of a dict would take n times n.
    """

    __slots__ = ("_changed", "_held", "_shared")

    def __init__(self, items: Iterable[tuple[K, V]] = ()) -> None:
        self._shared: Mapping[K, V] = dict(items)
        self._changed: dict[K, V | _Gone] = {}
        self._held = len(self._shared)

    def copy(self) -> "Layered[K, V]":
        """A mapping with the same keys and values; changes of either do not touch the other."""
        made: Layered[K, V] = Layered()
        made._shared, made._changed, made._held = self._shared, dict(self._changed), self._held
        return made

    def put(self, key: K, value: V) -> None:
        """Set the value of a key."""
        if self._changed.get(key) is _GONE:
            self._join()  # it comes last now, as in a dict, and not where it stood
        self._held += key not in self
        self._changed[key] = value
        self._settle()

    def drop(self, key: K) -> V | None:
        """Take a key out and return its value; None: it was not there."""
        found = self.get(key)
        if key in self:
            self._held -= 1
            if key in self._shared:
                self._changed[key] = _GONE
            else:
                del self._changed[key]
            self._settle()
        return found

    def clear(self) -> None:
        """Take all keys out."""
        self._shared, self._changed, self._held = {}, {}, 0

    def _settle(self) -> None:
        if len(self._changed) > _FEW + isqrt(len(self._shared)):
            self._join()

    def _join(self) -> None:
        self._shared, self._changed = dict(self.items()), {}

    def __getitem__(self, key: K) -> V:
        found = self._changed[key] if key in self._changed else self._shared[key]
        if isinstance(found, _Gone):
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        if key in self._changed:
            return self._changed[key] is not _GONE
        return key in self._shared

    def __iter__(self) -> Iterator[K]:
        yield from (key for key in self._shared if self._changed.get(key) is not _GONE)
        yield from (key for key in self._changed if key not in self._shared)

    def __len__(self) -> int:
        return self._held

    def __repr__(self) -> str:
        return f"Layered({dict(self)!r})"
