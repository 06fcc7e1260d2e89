"""The sub-agents of a view: how they stand, and the views that they work on."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from callsheet.errors import NotFound
from callsheet.graph.enums import (
    ForkReason,
    RunStatus,
    StateField,
)
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Branch, SkillState, ToolArtifact
from callsheet.graph.query import NodeQuery, StateQuery
from callsheet.graph.values import Scope
from callsheet.runtime.options import shown
from callsheet.runtime.resolving import resolve
from callsheet.runtime.seeing import sight
from callsheet.runtime.session import Session, View
from callsheet.runtime.tail import Tail


@dataclass(frozen=True, kw_only=True, slots=True)
class Child:
    """A sub-agent as its parent sees it."""

    #: The id of its run.
    id: RecordId
    name: str
    #: ``started`` until it ends.
    status: RunStatus
    batch: RecordId | None
    #: The call of the parent that it answers.
    call: RecordId | None
    branch: RecordId
    participant: RecordId | None
    error: str | None = None


def children(session: Session, parent: View) -> list[Child]:
    """The sub-agents that this view began, nested ones of a child not among them, in the order of their beginning."""
    tail = session.tail(parent, fresh=True)
    upto = {segment.branch: segment.upto for segment in tail.lineage.segments}
    begun = [
        record
        for record in session.ledger.nodes(session.conversation.key, NodeQuery(kinds=("branch",)))
        if isinstance(record.body, Branch)
        and record.body.reason is ForkReason.SPAWN
        and record.body.parent is not None
        and record.position <= upto.get(record.body.parent, 0)
        and record.header.scope.owner == parent.participant
    ]
    runs = [record.header.scope.sub_agent for record in begun]
    statuses = _statuses(session, tail, [run for run in runs if run is not None])
    people = _people(session, [record.id for record in begun])
    return [
        Child(
            id=run,
            name=record.body.name,
            status=statuses.get(run, RunStatus.STARTED),
            batch=record.header.scope.batch,
            call=record.header.scope.parent_call,
            branch=record.id,
            participant=people.get(record.id),
        )
        for record, run in zip(begun, runs, strict=True)
        if run is not None and isinstance(record.body, Branch)
    ]


def at_work(session: Session, parent: View) -> Mapping[RecordId, str]:
    """The calls that sub-agents of this view are working on, with the name of each sub-agent.

    One that ended on another branch, which inherited the call as this one did, works on it no more.
    """
    return {
        child.call: child.name
        for child in children(session, parent)
        if child.call is not None and child.status is RunStatus.STARTED and not session.has_ended(child.id)
    }


def child_view(session: Session, parent: View, wanted: str) -> View:
    """The view of a sub-agent of this view, by name, by its run, or by the reference of what it gave back."""
    known = children(session, parent)
    found = next((one for one in known if wanted in (one.name, one.id, one.branch)), None)
    if found is None:
        found = _giver(session, parent, known, wanted)
    (record,) = session.ledger.get(session.conversation.key, (found.branch,))
    return View(found.branch, found.participant, replace(record.header.scope, branch=None, owner=None))


def parent_of(session: Session, child: View) -> View:
    """The view that began a sub-agent, wherever it is asked for: what it gives back goes there."""
    (record,) = session.ledger.get(session.conversation.key, (child.branch,))
    assert isinstance(record.body, Branch)
    assert record.body.parent is not None
    (home,) = session.ledger.get(session.conversation.key, (record.body.parent,))
    above = home.header.scope if isinstance(home.body, Branch) and home.body.reason is ForkReason.SPAWN else Scope()
    return View(record.body.parent, record.header.scope.owner, replace(above, branch=None, owner=None))


def _giver(session: Session, parent: View, known: Sequence[Child], reference: str) -> Child:
    try:
        body = resolve(sight(session, parent), reference).body
    except NotFound:
        body = None
    given = json.loads(body.metadata or b"{}") if isinstance(body, ToolArtifact) else {}
    run = given.get("sub_agent") if isinstance(given, dict) else None
    for one in known:
        if one.id == run:
            return one
    raise NotFound(f"no sub-agent {shown(reference)} here; there are: {', '.join(one.name for one in known)}")


def tools_of(session: Session, view: View) -> frozenset[str] | None:
    """The tools that a sub-agent's requests may offer; None: any."""
    if view.carries.sub_agent is None:
        return None
    lineage = session.tail(view).lineage
    query = NodeQuery(kinds=("skill_state",), lineage=lineage, limit=1)
    for record in session.ledger.nodes(session.conversation.key, query):
        # A brief names no skills: a first state that does is the sub-agent's own, whose brief names no tools.
        if isinstance(record.body, SkillState) and not record.body.skills:
            return frozenset(record.body.tools)
    return None


def _people(session: Session, of: Sequence[RecordId]) -> Mapping[RecordId, RecordId]:
    records = session.ledger.nodes(session.conversation.key, NodeQuery(kinds=("participant",))) if of else []
    return {record.branch: record.id for record in records if record.branch is not None}


def name_of(session: Session, branch: RecordId) -> str:
    """The name of a sub-agent, by its branch."""
    (record,) = session.ledger.get(session.conversation.key, (branch,))
    return record.body.name if isinstance(record.body, Branch) else branch


def _statuses(session: Session, tail: Tail, runs: Sequence[RecordId]) -> Mapping[RecordId, RunStatus]:
    query = StateQuery(field=StateField.STATUS, targets=tuple(runs), lineage=tail.lineage)
    rows = session.ledger.states(session.conversation.key, query) if runs else []
    return {RecordId(row.target): RunStatus(row.value) for row in rows if row.value}


def status_of(session: Session, tail: Tail, run: RecordId) -> RunStatus:
    """How a sub-agent stands, by its run."""
    return _statuses(session, tail, (run,)).get(run, RunStatus.STARTED)
