"""The records by which one record changes the standing of others, and those that are kept beside what is said."""

from collections.abc import Sequence
from typing import NamedTuple

from callsheet.graph.canonical import content_digest
from callsheet.graph.changes import (
    CallResolved,
    Compacted,
    Conflicted,
    Feedback,
    LifecycleChanged,
    MarkedStale,
    Pinned,
    Promoted,
    Reclassified,
    Released,
    RetentionApplied,
    Shared,
    Superseded,
    ToolsOffered,
    Withdrawn,
)
from callsheet.graph.enums import CallStatus, Lifecycle, Privacy
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ContinuationCheckpoint, Episode, Fact, Milestone, SkillState
from callsheet.graph.record import Body, Record
from callsheet.graph.times import Instant
from callsheet.graph.values import Payload
from tests.proofs.steps import Kind, Step

CLASSES = (Privacy.SECRET, Privacy.PERSONAL, Privacy.CONNECTED_ACCOUNT, Privacy.INTERNAL)
ACTIONS = ("keep", "truncate", "archive", "redact", "hash_only")


class About(NamedTuple):
    """What a change may be about."""

    #: Messages and results.
    records: Sequence[Record]
    results: Sequence[Record]
    calls: Sequence[Record]
    #: Results that only the one who records the change sees.
    own: Sequence[Record]
    people: Sequence[RecordId]


def bodies(step: Step, about: About, now: Instant) -> list[tuple[str, Body]]:
    """What a step records, each with its kind; nothing where there is nothing that it could be about."""
    made = _marked(step, about) or _related(step, about) or _kept(step, about, now)
    return [made] if made is not None else []


def _pick(pool: Sequence[Record], number: int) -> RecordId | None:
    return pool[number % len(pool)].id if pool else None


def _marked(step: Step, about: About) -> tuple[str, Body] | None:
    """What is said of one record."""
    one, result = _pick(about.records, step.number), _pick(about.results, step.number)
    if one is None:
        return None
    match step.kind:
        case Kind.STALE:
            return "marked_stale", MarkedStale(records=(one,))
        case Kind.PINS | Kind.UNPINS:
            return "pinned", Pinned(records=(one,), pinned=step.kind is Kind.PINS)
        case Kind.RECLASSIFIES:
            return "reclassified", Reclassified(records=(one,), privacy=CLASSES[step.size % len(CLASSES)])
        case Kind.RETAINS:
            return "retention_applied", RetentionApplied(records=(one,), action=ACTIONS[step.size % len(ACTIONS)])
        case Kind.JUDGES:
            return "feedback", Feedback(record=one, score=0.5)
        case Kind.DEMOTES if result is not None:
            return "promoted", Promoted(artifact=result)
        case _:
            return None


def _related(step: Step, about: About) -> tuple[str, Body] | None:
    """What is said of two records, or of a record and those who may see it."""
    one = _pick(about.results, step.number)
    other = _pick(about.own or about.results, step.number // 2 + step.size)
    if one is None or other is None:
        return None
    match step.kind:
        case Kind.SUPERSEDES if one != other:
            return "superseded", Superseded(current=other, replaced=(one,))
        case Kind.CONFLICTS if one != other:
            return "conflicted", Conflicted(one=one, other=other)
        case Kind.RELEASES:
            return "released", Released(records=(one,), to=tuple(about.people))
        case Kind.WITHDRAWS:
            return "withdrawn", Withdrawn(records=(one,), from_=tuple(about.people))
        case Kind.SHARES:
            return "shared", Shared(records=(one,), participants=tuple(about.people))
        case _:
            return None


def _kept(step: Step, about: About, now: Instant) -> tuple[str, Body] | None:
    """What is kept beside what was said."""
    one, waiting = _pick(about.records, step.number), _pick(about.calls, step.number)
    if one is None:
        return None
    text = f"BT-{step.number:03d} is afloat.".encode()
    payload = Payload(size=len(text), inline=text)
    match step.kind:
        case Kind.RESOLVES if waiting is not None:
            status = (CallStatus.ABANDONED, CallStatus.OPEN, CallStatus.ANSWERED)[step.size % 3]
            return "call_resolved", CallResolved(call=waiting, status=status)
        case Kind.REMEMBERS if step.size > 1:
            return "fact", Fact(subject="BT", predicate="lies", value=payload, sources=(one,), observed=now)
        case Kind.REMEMBERS:
            return "milestone", Milestone(kind="order", value=payload, sources=(one,), observed=now)
        case Kind.COMPACTS if step.size > 1:
            sources = (one,)
            return "episode", Episode(summary=payload, method="extractive", first=1, last=4, sources=sources)
        case Kind.COMPACTS:
            return "compacted", Compacted(episode=one, first=1, last=4)
        case Kind.CHECKPOINTS:
            calls = (waiting,) if waiting is not None else ()
            return "checkpoint", ContinuationCheckpoint(open_calls=calls, references=(one,))
        case Kind.OFFERS if step.size > 1:
            return "tools_offered", ToolsOffered(names=("survey",), hash=content_digest(text))
        case Kind.OFFERS:
            return "skill_state", SkillState(tools=("survey",))
        case Kind.ENDS:
            stage = Lifecycle.ARCHIVED if step.size > 1 else Lifecycle.ACTIVE
            return "lifecycle_changed", LifecycleChanged(status=stage)
        case _:
            return None
