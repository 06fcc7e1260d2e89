"""What running a command line comes to."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

PROGRAM = (sys.executable, "-m", "callsheet")
"""The program in a process of its own."""

RECORDS = 942
"""Records of the store that the demonstration leaves, those of its sheets included."""


@dataclass(frozen=True, kw_only=True)
class Ran:
    """A finished command."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, object]:
        """The one JSON document that was printed."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    @property
    def lines(self) -> list[dict[str, object]]:
        """The JSON Lines that were printed."""
        return [json.loads(line) for line in self.out.splitlines()]


Run: TypeAlias = Callable[..., Ran]
