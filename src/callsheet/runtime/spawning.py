"""Sub-agents: a branch of their own that inherits nothing, private until they end and give back a report.

A child sees its brief and what it does itself. What it gives back stands on the branch of its parent as the result of
the call that asked for it, or as a result of its own; its arguments, results and notes stay where they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from callsheet.assemble import blocks
from callsheet.errors import InvalidOption, NotFound
from callsheet.graph.cut import Segment
from callsheet.graph.enums import (
    ForkReason,
    InstructionScope,
    Role,
    RunStatus,
    RuntimeMode,
)
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Branch, ModelRun, Participant, SkillState, ToolArtifact
from callsheet.graph.record import Record
from callsheet.graph.values import Scope
from callsheet.runtime.children import at_work
from callsheet.runtime.drafting import Drafting, Release
from callsheet.runtime.options import shown
from callsheet.runtime.originals import source
from callsheet.runtime.resolving import resolve
from callsheet.runtime.seeing import Sight, sight
from callsheet.runtime.session import Session, View
from callsheet.runtime.tail import KnownCall, Tail, free_name

PARTIAL = 200
"""Characters of each released partial result that a brief holds: what was found, not how."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Brief:
    """All that a sub-agent is told."""

    goal: str
    name: str | None
    role: str | None
    constraints: tuple[str, ...]
    #: Names of the tools that its requests may offer; None: any.
    tools: tuple[str, ...] | None
    #: References of released results of others, of which it is told the beginning.
    context: tuple[str, ...]
    #: The call of the parent that it answers: its id, or the provider's.
    call: str | None
    batch: str | None
    task: str | None
    provider: str | None
    model: str | None


def checked(goal: object) -> str:
    """The goal of a sub-agent. Raises `InvalidOption`."""
    if not isinstance(goal, str) or not goal.strip():
        raise InvalidOption(f"goal is {shown(goal)}; it must be text and not empty")
    return goal


def told(value: object, name: str) -> str:
    """A text that a sub-agent is told. Raises `InvalidOption`."""
    if not isinstance(value, str):
        raise InvalidOption(f"{name} is {shown(value)}; it must be text")
    return value


def constrained(value: object) -> tuple[str, ...]:
    """The constraints of a sub-agent; one given as text alone is one. Raises `InvalidOption`."""
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Sequence) or isinstance(value, bytes):
        raise InvalidOption(f"constraints is {shown(value)}; it must be a list of texts")
    return tuple(told(one, "a constraint") for one in value)


def spawn(session: Session, parent: View, brief: Brief) -> View:
    """Begin a sub-agent in one transaction and return the view of it.

    Raises `NotFound` for a call that is not open or a partial result that may not be seen, and `InvalidOption`, also
    for a call that a sub-agent works on already.
    """
    seen = sight(session, parent)
    instruction = _instruction(brief)
    found = [resolve(seen, reference) for reference in brief.context]
    run, branch, participant = (session.ids.record(kind) for kind in ("run", "branch", "participant"))
    batch = RecordId(brief.batch) if brief.batch is not None else None
    views: list[View] = []

    def draft(drafting: Drafting) -> None:
        call = _free_call(session, parent, drafting.tail, brief.call) if brief.call is not None else None
        carries = Scope(
            mode=RuntimeMode.SUB_AGENT,
            task=brief.task,
            batch=batch,
            sub_agent=run,
            parent_message=call.body.message if call is not None else drafting.tail.last_message,
            parent_task=parent.carries.task,
            parent_call=call.id if call is not None else None,
        )
        started = ModelRun(
            status=RunStatus.STARTED,
            requested_provider=brief.provider,
            requested_model=brief.model,
            trigger=carries.parent_message,
            started=drafting.at,
        )
        drafting.add(started, kind="run", id=run)
        taken = session.branching.names()
        name = brief.name or free_name("sub-agent", taken)
        if name in taken:
            raise InvalidOption(f"this conversation has a branch or sub-agent {name!r} already")
        # Whose sub-agent it is: nobody else of the conversation reads it or ends it.
        own = replace(carries, branch=branch, owner=parent.participant)
        begun = Branch(name=name, parent=parent.branch, fork=0, reason=ForkReason.SPAWN)
        drafting.add(begun, kind="branch", scope=own, id=branch)
        persona = drafting.payload(brief.role) if brief.role else None
        body = Participant(name=name, provider=brief.provider, model=brief.model, persona=persona)
        drafting.add(body, kind="participant", scope=replace(own, owner=None), id=participant)
        views[:] = [View(branch, participant, carries)]
        inherited = (*(Segment(branch=one.branch, upto=0) for one in drafting.tail.lineage.segments),)
        child = session.beside(drafting, views[0], Tail(position=0, branch=branch, inherited=inherited))
        _brief(child, brief, instruction, [_partial(seen, record, drafting) for record in found])
        drafting.join(child)

    session.append(parent, draft)
    return views[0]


def _free_call(session: Session, parent: View, tail: Tail, wanted: str) -> KnownCall:
    """The open call with this id, which no sub-agent works on yet."""
    found = [known for known in tail.open.values() if wanted in (known.id, known.body.provider_id)]
    if not found:
        raise NotFound(f"no open call {wanted!r} on this branch; pending() lists those there are")
    call = found[-1]
    busy = at_work(session, parent).get(call.id)
    if busy is not None:
        raise InvalidOption(f"sub-agent {busy!r} works on call {wanted!r} already: wait for it, or end it with fail()")
    return call


def _brief(child: Drafting, brief: Brief, instruction: str, found: Sequence[Release]) -> None:
    if brief.tools is not None:
        child.add(SkillState(tools=brief.tools), kind="skill_state")
    if instruction:
        told = blocks.Said(role=Role.SYSTEM, parts=(blocks.Text(text=instruction),))
        child.said(told, InstructionScope.SUB_AGENT)
    for release in found:
        child.released(release, None)
    child.said(blocks.Said(role=Role.USER, parts=(blocks.Text(text=brief.goal),)))


def _instruction(brief: Brief) -> str:
    """Role and constraints."""
    parts = [brief.role] if brief.role else []
    if brief.constraints:
        parts.append("\n".join(f"- {constraint}" for constraint in brief.constraints))
    return "\n\n".join(parts)


def _partial(seen: Sight, record: Record, drafting: Drafting) -> Release:
    """The beginning of what others found, in the class that it has: what is withheld there is withheld here."""
    text = " ".join((source(seen, record).text or "").split())
    tool = record.body.tool if isinstance(record.body, ToolArtifact) else None
    return Release(
        source=tool or "earlier",
        text=text if len(text) <= PARTIAL else text[: PARTIAL - 1] + "…",
        privacy=drafting.class_of([record]),
        copies=(record.id,),
    )
