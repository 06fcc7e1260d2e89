"""What a conversation has come to: turns, messages, tokens, measured from its records."""

from dataclasses import dataclass
from datetime import datetime

from callsheet.graph.changes import Counted
from callsheet.graph.enums import Lifecycle
from callsheet.graph.times import Instant, to_datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Counters:
    """Figures of one branch of a conversation, its inherited part included."""

    status: Lifecycle
    created_at: datetime
    #: When the newest turn began; None: nothing was said yet.
    last_turn_at: datetime | None
    #: User messages, and assistant messages each with the results of its calls.
    turns: int
    messages: int
    calls: int
    artifacts: int
    runs: int
    #: As providers reported; for runs without a report, the o200k_base count of what was recorded.
    tokens_out: int
    #: As providers reported; for runs without a report, what their sheet took. Those without a sheet add nothing, since
    #: what they were sent is not known.
    tokens_in: int
    cached_in: int


def counters(counted: Counted, status: Lifecycle, created: Instant) -> Counters:
    """The figures as they are told."""
    return Counters(
        status=status,
        created_at=to_datetime(created),
        last_turn_at=to_datetime(counted.last_turn) if counted.last_turn is not None else None,
        turns=counted.turns,
        messages=counted.messages,
        calls=counted.calls,
        artifacts=counted.artifacts,
        runs=counted.runs,
        tokens_out=counted.tokens_out,
        tokens_in=counted.tokens_in,
        cached_in=counted.cached_in,
    )
