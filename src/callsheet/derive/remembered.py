"""What was worked out of words before: most words of a text are words of earlier ones."""

from collections.abc import Callable
from typing import Generic, TypeVar

_T = TypeVar("_T")

_MOST = 1 << 14
_LONGEST = 32


class Remembered(dict[str, _T], Generic[_T]):
    """What `work_out` makes of each word. Of short words it is remembered, as long as there is room.

    Looking up what is remembered calls no function of Python. Safe to use from any thread.
    """

    def __init__(self, work_out: Callable[[str], _T]) -> None:
        super().__init__()
        self._work_out = work_out

    def __missing__(self, word: str) -> _T:
        found = self._work_out(word)
        if len(word) <= _LONGEST:
            if len(self) >= _MOST:
                self.clear()
            self[word] = found
        return found
