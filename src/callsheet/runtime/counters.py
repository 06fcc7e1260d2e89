"""What a conversation has come to: turns, messages, tokens, measured from its records."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from callsheet.assemble.sizes import recorded_tokens
from callsheet.graph.enums import Lifecycle, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, ModelRun, ToolArtifact, ToolCall
from callsheet.graph.record import Record
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
    #: As providers reported; runs without a report add nothing, since what they were sent is not known.
    tokens_in: int
    cached_in: int


def count_up(records: Iterable[Record], status: Lifecycle, created: Instant) -> Counters:
    """Fold the records of a branch into figures."""
    bodies = list(records)
    runs = {record.id: record.body for record in bodies if isinstance(record.body, ModelRun)}
    calls = {record.id: record.body for record in bodies if isinstance(record.body, ToolCall)}
    spoken = [record for record in bodies if isinstance(record.body, Message)]
    turns = [record for record in spoken if _role(record) in (Role.USER, Role.ASSISTANT)]
    usages = [run.usage for run in runs.values() if run.usage is not None]
    return Counters(
        status=status,
        created_at=to_datetime(created),
        last_turn_at=to_datetime(turns[-1].header.at) if turns else None,
        turns=len(turns),
        messages=len(spoken),
        calls=len(calls),
        artifacts=sum(isinstance(record.body, ToolArtifact) for record in bodies),
        runs=len(runs),
        tokens_out=sum(usage.output for usage in usages) + sum(_unreported(record, runs, calls) for record in spoken),
        tokens_in=sum(usage.input for usage in usages),
        cached_in=sum(usage.cached_input for usage in usages),
    )


def _role(record: Record) -> Role | None:
    return record.body.role if isinstance(record.body, Message) else None


def _unreported(record: Record, runs: dict[RecordId, ModelRun], calls: dict[RecordId, ToolCall]) -> int:
    run = runs.get(record.header.scope.run) if record.header.scope.run is not None else None
    if _role(record) is not Role.ASSISTANT or (run is not None and run.usage is not None):
        return 0
    return recorded_tokens(record, calls) or 0
