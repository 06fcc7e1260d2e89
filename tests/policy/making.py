"""Candidates, boundaries and sets for the policy tests. The domain is a ferry line."""

from callsheet.graph.enums import Freshness
from callsheet.graph.ids import ROOT_BRANCH, RecordId, StreamId
from callsheet.graph.nodes import Boundary
from callsheet.graph.times import Instant
from callsheet.policy.candidate import Candidate

PURSER, PILOT, RUN, CHILD = (RecordId(name) for name in ("purser", "pilot", "run", "child"))
NOW = Instant(1_900_000_000_000_000)
MINUTE = 60_000_000
#: Older than the window of every built-in set.
OLD = 20


def boundary(*, provider: str = "openai", participant: RecordId | None = PURSER) -> Boundary:
    return Boundary(
        conversation=StreamId("crossing"),
        branch=ROOT_BRANCH,
        participant=participant,
        run=RUN,
        provider=provider,
        model="m",
        budget=10_000,
        now=NOW,
    )


def ago(minutes: float) -> Instant:
    return Instant(NOW - int(minutes * MINUTE))


#: A settled result from long ago that nothing speaks against.
RESULT = Candidate(record=RecordId("tide"), kind="artifact", turn_age=OLD, bytes=900, tokens=300)
MESSAGE = Candidate(record=RecordId("word"), kind="message", turn_age=OLD)
VOLATILE = Candidate(
    record=RecordId("berths"), kind="artifact", turn_age=OLD, freshness=Freshness.VOLATILE, observed=ago(16)
)
MEMORY = Candidate(record=RecordId("note"), kind="tool_memory", turn_age=OLD, promoted=True)
