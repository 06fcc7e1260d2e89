"""Finding an open call by what a program knows of it, and saying why there is none."""

from callsheet.errors import CallDecided, InvalidOption, NotFound
from callsheet.graph.enums import ForkReason
from callsheet.graph.ids import ROOT_BRANCH, RecordId
from callsheet.graph.nodes import Branch, Participant, ToolCall
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.policy.visibility import hidden_from
from callsheet.runtime.session import Session, View
from callsheet.runtime.tail import KnownCall, Tail, branches

_LOOKED_THROUGH = 10_000
"""Calls, the newest, among which one with a provider's id is looked for to say what became of it."""


def open_call(session: Session, view: View, tail: Tail, id: str) -> KnownCall:
    """The open call of a view with this id, ours or the provider's.

    Raises `NotFound`, also for a call of another participant, branch or sub-agent, whose it is then said to be,
    `CallDecided` for one that has its answer, and `InvalidOption` for a provider's id that several open calls have.
    """
    known = tail.open.get(RecordId(id))
    if known is not None:
        return known
    named = tail.named(id)
    if len(named) > 1:
        raise InvalidOption(f"{len(named)} open calls have the id {id!r}: name one by its own, such as {named[0].id}")
    if named:
        return named[0]
    for record in session.ledger.get(session.conversation.key, (RecordId(id),)):
        if isinstance(record.body, ToolCall):
            raise _not_open(session, view, tail, record)
    if (answered := _by_provider(session, view, tail, id)) is not None:
        raise _not_open(session, view, tail, answered)
    raise NotFound(f"no open call {id!r} on this branch of conversation {session.conversation.name!r}")


def _not_open(session: Session, view: View, tail: Tail, call: Record) -> CallDecided | NotFound:
    scope = call.header.scope
    if not tail.lineage.sees(call.branch, call.position):
        where = name_of(session, call.branch or ROOT_BRANCH)
        if scope.sub_agent is not None:
            return NotFound(f"call {call.id} is sub-agent {where!r}'s: decide on it there, talk.child({where!r})")
        return NotFound(f"call {call.id} stands on branch {where!r}: decide on it there, talk.on({where!r})")
    if scope.owner not in (None, view.participant) and scope.owner is not None:
        whose = name_of(session, scope.owner)
        return NotFound(f"call {call.id} is participant {whose!r}'s: decide on it there, talk.participant({whose!r})")
    return CallDecided(f"call {call.id} was answered or given up on before; nothing was changed")


def _by_provider(session: Session, view: View, tail: Tail, id: str) -> Record | None:
    """The newest call of this view with a provider's id, which is not open."""
    query = NodeQuery(kinds=("call",), lineage=tail.lineage, newest=True, limit=_LOOKED_THROUGH)
    for record in reversed(session.ledger.nodes(session.conversation.key, query)):
        scope = record.header.scope
        own = scope.owner in (None, view.participant)
        if not isinstance(record.body, ToolCall) or record.body.provider_id != id or not own:
            continue
        if hidden_from(scope, view.participant, view.carries.sub_agent) is None:
            return record
    return None


def name_of(session: Session, id: RecordId) -> str:
    """The name of a branch, sub-agent or participant."""
    if id == ROOT_BRANCH:
        return "main"
    found = session.ledger.get(session.conversation.key, (id,))
    body = found[0].body if found else None
    return body.name if isinstance(body, Branch | Participant) else id


def spawned(session: Session, branch: RecordId) -> RecordId:
    """The branch that a sub-agent began on, by its own or one that comes from it."""
    known = branches(session.ledger, session.conversation.key)
    while (body := known[branch]).reason is not ForkReason.SPAWN and body.parent is not None:
        branch = body.parent
    return branch
