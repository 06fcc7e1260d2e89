"""Playing a scenario: its steps happen in a store in memory, with a clock that stands still and ids that repeat."""

import base64
import hashlib

from callsheet.errors import CallsheetError, InputError
from callsheet.evaluate.scenarios import steps as st
from callsheet.evaluate.scenarios.document import Scenario
from callsheet.evaluate.scenarios.happening import happen
from callsheet.evaluate.scenarios.marking import Marking
from callsheet.evaluate.scenarios.stage import MAIN, Played, pass_time
from callsheet.graph.ids import RecordId
from callsheet.runtime.opening import MEMORY, open
from callsheet.runtime.sources import RandomIds
from callsheet.testing import FixedClock, SequenceIds

A_TURN = 60.0
"""Seconds before what user or assistant say, where a step does not tell."""


class LongIds(SequenceIds):
    """Ids as long as real ones, and the same at each run: requests show their beginnings, which cost tokens."""

    def record(self, kind: str) -> RecordId:
        """The next id of a kind."""
        prefix = RandomIds().record(kind).rpartition("_")[0]
        number = super().record(kind)
        digest = hashlib.sha256(number.encode()).digest()[:15]
        return RecordId(f"{prefix}_{base64.b32encode(digest).decode('ascii').lower()}")


def played(scenario: Scenario, provider: str, model: str) -> Played:
    """Play a scenario for one model. Raises `InputError` that names the step that cannot happen."""
    clock, ids = FixedClock(), LongIds()
    runtime = open(MEMORY, ids=ids, clock=clock)
    talk = runtime.conversation("scenario")
    made = Played(
        scenario=scenario,
        provider=provider,
        model=model,
        clock=clock,
        runtime=runtime,
        talk=talk,
        marking=Marking(runtime, ids, clock),
        views={MAIN: talk},
    )
    for place, step in zip(scenario.step_places, scenario.steps, strict=True):
        try:
            _play(made, step)
        except (CallsheetError, ValueError) as problem:
            raise InputError(f"{place}: this step cannot happen: {problem}") from problem
    return made


def _play(play: Played, step: st.Step) -> None:
    turn = A_TURN if isinstance(step, st.User | st.Assistant | st.Send | st.Edit) else 0.0
    pass_time(play.clock, turn if step.after is None else step.after)
    made = happen(step, play, play.view(step.on, step.by))
    if step.named is not None:
        if made is None:
            raise InputError(f"nothing is recorded that could be called {step.named!r}")
        play.known[step.named] = made
