"""The stage of a scenario: its store, its clock, and what the document's names stand for."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from callsheet.errors import InputError
from callsheet.evaluate.scenarios.document import Request, Scenario
from callsheet.evaluate.scenarios.marking import Marking
from callsheet.runtime.conversation import Conversation
from callsheet.runtime.runtime import Runtime
from callsheet.runtime.sheet import Sheet
from callsheet.testing import FixedClock

MAIN = "main"

LONGEST = 10**9
"""Seconds that pass in one step."""


@dataclass(kw_only=True)
class Played:
    """One scenario as it was played for one model."""

    scenario: Scenario
    provider: str
    model: str
    clock: FixedClock
    runtime: Runtime
    talk: Conversation
    marking: Marking
    #: All that was said, called and given back, on all branches and by everybody, in the shape of an OpenAI request.
    said: list[dict[str, object]] = field(default_factory=list)
    #: Records by the name that the document gives them.
    known: dict[str, str] = field(default_factory=dict)
    #: Branches and sub-agents by name.
    views: dict[str, Conversation] = field(default_factory=dict)
    sheet: Sheet | None = None

    # ------------------------------------------------------------------ looking up

    def view(self, on: str | None, by: str | None) -> Conversation:
        """The view of a branch or sub-agent, for a participant. Raises `InputError` for one that there is not."""
        name = on or MAIN
        if name not in self.views:
            raise InputError(f"there is no branch or sub-agent {name!r} yet; there are: {', '.join(self.views)}")
        view = self.views[name]
        return view.participant(by) if by is not None else view

    def id(self, name: str) -> str:
        """The record with this name. Raises `InputError`."""
        if name not in self.known:
            raise InputError(f"no record is called {name!r} yet; there are: {', '.join(self.known) or 'none'}")
        return self.known[name]

    def ids(self, names: str | Sequence[str]) -> tuple[str, ...]:
        """Those with these names."""
        return tuple(map(self.id, (names,) if isinstance(names, str) else names))

    # ------------------------------------------------------------------ doing

    def assemble(self, request: Request) -> tuple[Conversation, Sheet]:
        """The request of a boundary, and the view that it was assembled on."""
        view = self.view(request.on, request.by)
        return view, view.assemble(
            provider=self.provider,
            model=self.model,
            policy=self.scenario.policy,
            budget=request.budget,
            tools=request.tools,
            mode=request.mode,
            checkpoint=self.id(request.checkpoint) if request.checkpoint is not None else None,
            recall=request.recall,
        )

    def record(self, view: Conversation, message: dict[str, object], status: str | None = None) -> str:
        """Record a message, and keep it for the size of plain replay."""
        self.said.append(message)
        return view.record(message, status=status).ids[0]


def pass_time(clock: FixedClock, seconds: float) -> None:
    """Move the clock. Raises `InputError` for more than thirty years."""
    if not abs(seconds) <= LONGEST:
        raise InputError(f"{seconds} seconds cannot pass; at most {LONGEST:,} can")
    clock.advance(seconds)
