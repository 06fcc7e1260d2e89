"""The calls of a whole conversation that wait for a person, whoever's they are."""

from collections.abc import Iterator

from msgspec.structs import replace

from callsheet.graph.cut import lineage
from callsheet.graph.enums import CallStatus, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolCall
from callsheet.graph.query import StateQuery
from callsheet.graph.values import Scope
from callsheet.runtime.drafting import NOBODYS
from callsheet.runtime.executing.approving import ApprovalRequest, approvals
from callsheet.runtime.executing.finding import spawned
from callsheet.runtime.session import Session, View
from callsheet.runtime.tail import branches


def approvals_everywhere(session: Session) -> tuple[ApprovalRequest, ...]:
    """The calls that wait for approval anywhere in a conversation: by branch, then by age.

    A call that a branch inherits waits there too, and what is said of it on one branch holds on that one. Those of a
    sub-agent that has ended wait for nobody.
    """
    return tuple(
        request
        for view in _views(session)
        if not session.ended(view)
        for request in approvals(session, view)
        if session.tail(view).open[request.call].scope.owner == view.participant
    )


def _views(session: Session) -> Iterator[View]:
    """The views whose own calls are open."""
    key = session.conversation.key
    known = branches(session.ledger, key)
    head = session.ledger.head(key)
    for branch in known:
        seen = lineage(known, branch, head.position if head is not None else 0)
        rows = session.ledger.states(key, StateQuery(field=StateField.STATUS, value=CallStatus.OPEN, lineage=seen))
        waiting = session.ledger.get(key, tuple(RecordId(row.target) for row in rows)) if rows else []
        calls = [record.header.scope for record in waiting if isinstance(record.body, ToolCall)]
        for owner, scope in {scope.owner: scope for scope in calls}.items():
            yield View(branch, owner, _carries(session, branch, owner, scope))


def _carries(session: Session, branch: RecordId, owner: RecordId | None, scope: Scope) -> Scope:
    """What the records of the view carry: a sub-agent's run and parents, how open a participant's work is."""
    if scope.sub_agent is not None:
        (begun,) = session.ledger.get(session.conversation.key, (spawned(session, branch),))
        return replace(begun.header.scope, branch=None, owner=None)
    for record in session.ledger.get(session.conversation.key, (owner,)) if owner is not None else ():
        return replace(NOBODYS, isolation=record.header.scope.isolation, shared_with=record.header.scope.shared_with)
    return NOBODYS
