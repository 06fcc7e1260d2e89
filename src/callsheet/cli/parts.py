"""What ``show`` lists of one conversation: branches, participants, sub-agents, checkpoints, calls, skills, memories."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from callsheet.cli.listing import Part, Row
from callsheet.errors import InvalidOption, NotFound

if TYPE_CHECKING:
    from callsheet.graph.record import Body, Record
    from callsheet.runtime.conversation import Conversation
    from callsheet.runtime.runtime import Runtime


def _branches(runtime: "Runtime", talk: "Conversation") -> Iterator[Row]:
    from callsheet.graph.nodes import Branch

    known = talk.branches()
    names = {id: name for name, id in known.items()}
    for name, id in known.items():
        body = _body(runtime, talk, id)
        begun = body if isinstance(body, Branch) else None
        counters = talk.on(id).counters()
        yield {
            "branch": name,
            "id": id,
            "reason": begun.reason.value if begun is not None and begun.parent is not None else None,
            "from": names.get(begun.parent, begun.parent) if begun is not None and begun.parent is not None else None,
            "after": begun.fork_record if begun is not None else None,
            "turns": counters.turns,
            "messages": counters.messages,
            "results": counters.artifacts,
            "last_turn": counters.last_turn_at,
        }


def _participants(runtime: "Runtime", talk: "Conversation") -> Iterator[Row]:
    from callsheet.graph.nodes import Participant

    names = {id: name for name, id in talk.participants().items()}
    for id, name in names.items():
        record = _record(runtime, talk, id)
        body, scope = record.body, record.header.scope
        config = body if isinstance(body, Participant) else None
        yield {
            "participant": name,
            "id": id,
            "provider": config.provider if config is not None else None,
            "model": config.model if config is not None else None,
            "persona": config is not None and config.persona is not None,
            "isolation": scope.isolation.value,
            "shared_with": [names.get(one, one) for one in scope.shared_with],
        }


def _children(runtime: "Runtime", talk: "Conversation") -> Iterator[Row]:
    yield from _below(talk, 0)


def _below(view: "Conversation", depth: int) -> Iterator[Row]:
    """The sub-agents of a view, each followed by its own."""
    for child in view.children():
        yield {
            "sub_agent": "  " * depth + child.name,
            "run": child.id,
            "status": child.status.value,
            "batch": child.batch,
            "call": child.call,
            "branch": child.branch,
            "depth": depth,
            "error": child.error,
        }
        yield from _below(view.child(child.id), depth + 1)


def _checkpoints(runtime: "Runtime", talk: "Conversation") -> Iterator[Row]:
    from callsheet.graph.nodes import ContinuationCheckpoint
    from callsheet.graph.times import to_datetime

    for id in talk.checkpoints():
        record = _record(runtime, talk, id)
        body = record.body
        if not isinstance(body, ContinuationCheckpoint):
            continue
        yield {
            "checkpoint": id,
            "at": to_datetime(record.header.at),
            "reason": body.reason,
            "open_calls": list(body.open_calls),
            "retries": len(body.retries),
            "sub_agents": list(body.children),
            "sheet": body.sheets[-1] if body.sheets else None,
            "references": list(body.references),
        }


def _executions(runtime: "Runtime", talk: "Conversation") -> Iterator[Row]:
    for call in talk.executions():
        last = call.attempts[-1] if call.attempts else None
        decided = call.decisions[-1] if call.decisions else None
        yield {
            "call": call.call,
            "tool": call.tool,
            "state": call.state.value,
            "attempts": max((attempt.number for attempt in call.attempts), default=0),
            "outcome": last.outcome.value if last is not None and last.outcome is not None else None,
            "error": last.error if last is not None else "",
            "decided": decided.how.value if decided is not None else None,
            "by": decided.by if decided is not None else None,
            "started": last.started if last is not None else None,
            "finished": last.finished if last is not None else None,
        }


def _skills(runtime: "Runtime", talk: "Conversation") -> Iterator[Row]:
    used = talk.skills()
    active = {skill.name: skill for skill in used.active}
    for name in dict.fromkeys((*active, *used.offered)):
        skill = active.get(name)
        yield {
            "skill": name,
            "active": skill is not None,
            "offered": name in used.offered,
            "version": skill.version if skill is not None else None,
            "id": skill.id if skill is not None else None,
            "tools": len(skill.tools) if skill is not None else 0,
        }


def _memories(runtime: "Runtime", talk: "Conversation") -> Iterator[Row]:
    names = {id: name for name, id in talk.participants().items()}
    for one in talk.memories():
        yield {
            "memory": one.id,
            "from": list(one.sources),
            "tools": list(one.tools),
            "owner": names.get(one.owner, one.owner) if one.owner is not None else None,
            "class": one.privacy.value,
            "freshness": one.freshness.value,
            "observed": one.observed,
            "stale_after": one.stale_after,
            "stale": one.marked_stale,
            "replaced_by": list(one.replaced_by),
            "conflicts_with": list(one.conflicts_with),
            "confidence": one.confidence,
            "confidence_source": one.confidence_source.value,
            "tainted": one.tainted,
            "erased": one.erased,
            "in_sheet": one.level.value,
        }


def _sheets(runtime: "Runtime", talk: "Conversation") -> Iterator[Row]:
    from callsheet.graph.times import to_datetime

    for sheet in talk.sheets():
        body, boundary = sheet.record, sheet.record.boundary
        yield {
            "sheet": sheet.id,
            "at": to_datetime(boundary.now),
            "model": boundary.model,
            "mode": boundary.mode.value,
            "branch": boundary.branch,
            "participant": boundary.participant,
            "tokens": body.tokens.total,
            "replayed": body.tokens_replayed,
            "billed": body.tokens_billed,
            "written_anew": body.rewritten,
        }


def _gauge(runtime: "Runtime", talk: "Conversation") -> Iterator[Row]:
    try:
        gauge = talk.gauge()
    except InvalidOption:  # no request was assembled here yet
        return
    parts, left = gauge.parts, gauge.compaction
    yield {
        "model": gauge.model,
        "provider": gauge.provider,
        "window": gauge.window,
        "used": f"{gauge.used:.1%}",
        "tokens": gauge.tokens,
        "since": gauge.since,
        "instructions": parts.instructions,
        "tools": parts.tools,
        "history": parts.total - parts.instructions - parts.tools - parts.memories,
        "memories": parts.memories,
        "replay": gauge.replay_tokens,
        "replay_used": f"{gauge.replay_used:.1%}",
        "exact": gauge.exact,
        "sheet": gauge.sheet,
        "not_compacted": left.tokens,
        "turns_not_compacted": left.turns,
        "compaction": "due" if left.due else "",
    }


def _body(runtime: "Runtime", talk: "Conversation", id: str) -> "Body | None":
    from callsheet.graph.ids import ROOT_BRANCH

    # The root branch has the same id in every conversation, and begins nowhere.
    return None if id == ROOT_BRANCH else _record(runtime, talk, id).body


def _record(runtime: "Runtime", talk: "Conversation", id: str) -> "Record":
    from callsheet.graph.ids import RecordId, TenantId

    found = runtime.ledger.find(TenantId(runtime.tenant), RecordId(id))
    if found is None or found[0].name != talk.name:
        raise NotFound(f"no record {id!r} in conversation {talk.name!r}")
    return found[1]


PARTS: tuple[Part, ...] = (
    Part(
        name="branches",
        what="its branches, and where each began",
        rows=_branches,
        columns=("branch", "reason", "from", "after", "turns", "messages", "results", "last_turn"),
    ),
    Part(
        name="participants",
        what="who takes part, and who sees their work",
        rows=_participants,
        columns=("participant", "id", "provider", "model", "persona", "isolation", "shared_with"),
    ),
    Part(
        name="children",
        what="the sub-agents, each with its own below it",
        rows=_children,
        columns=("sub_agent", "run", "status", "batch", "call", "error"),
    ),
    Part(
        name="checkpoints",
        what="what may be resumed from",
        rows=_checkpoints,
        columns=("checkpoint", "at", "reason", "open_calls", "retries", "sub_agents", "sheet"),
    ),
    Part(
        name="executions",
        what="the calls that were run or decided on, or are open",
        rows=_executions,
        columns=("call", "tool", "state", "attempts", "outcome", "error", "decided", "by", "finished"),
    ),
    Part(
        name="skills",
        what="the skills on offer and in use",
        rows=_skills,
        columns=("skill", "active", "offered", "version", "tools"),
    ),
    Part(
        name="memories",
        what="the tool memories, and how each stands",
        rows=_memories,
        columns=("memory", "from", "owner", "class", "freshness", "stale", "replaced_by", "conflicts_with", "in_sheet"),
    ),
    Part(
        name="sheets",
        what="the requests that were assembled",
        rows=_sheets,
        columns=("sheet", "at", "model", "mode", "tokens", "replayed", "billed", "written_anew"),
    ),
    Part(
        name="gauge",
        what="how full its context is, as of the newest request",
        rows=_gauge,
        columns=(
            "model",
            "window",
            "used",
            "tokens",
            "instructions",
            "tools",
            "history",
            "memories",
            "replay",
            "since",
        ),
    ),
)
"""What can be listed."""
