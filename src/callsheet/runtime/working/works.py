"""The works that there are, by name. A new one is a line here."""

from collections.abc import Callable, Mapping, Sequence

from callsheet.errors import InvalidOption
from callsheet.runtime.working.archiving import Archiving
from callsheet.runtime.working.episodes import Episodes
from callsheet.runtime.working.narrowing import Narrowing
from callsheet.runtime.working.questions import FailedQuestions
from callsheet.runtime.working.vectors import Vectors
from callsheet.runtime.working.work import Work
from callsheet.runtime.working.workshop import Workshop

WORKS: Mapping[str, Callable[[Workshop], Work | None]] = {
    "archiving": Archiving.of,
    "vectors": Vectors.of,
    "questions": FailedQuestions.of,
    "episodes": Episodes.of,
    "narrowing": Narrowing.of,
}
"""How each work is made, in the order in which they are done; None: the runtime was not given what it works with."""

_NEEDS: Mapping[str, str] = {
    "archiving": "idle=, on the command line --idle",
    "vectors": "embedder=, on the command line --embedder",
    "questions": "embedder=, on the command line --embedder",
    "episodes": "summariser=, which only a program can give",
    "narrowing": "summariser=, which only a program can give",
}
"""What each works with, and how it is given."""


class Works:
    """The works of one workshop, each made once: what it knows of its looks before, it goes by in the next."""

    def __init__(self, workshop: Workshop) -> None:
        made = {name: make(workshop) for name, make in WORKS.items()}
        self._made = {name: work for name, work in made.items() if work is not None}

    def named(self, names: Sequence[str] | None = None) -> tuple[Work, ...]:
        """The works of these names, or all for which there is what they work with, in their order.

        Raises `InvalidOption` for a name that no work goes by, and for a work that has nothing to work with.
        """
        for name in names or ():
            if name not in WORKS:
                raise InvalidOption(f"there is no work {name!r}; there are: {', '.join(WORKS)}")
            if name not in self._made:
                raise InvalidOption(f"the store was opened without what work {name!r} works with: {_NEEDS[name]}")
        return tuple(work for name, work in self._made.items() if names is None or name in names)
