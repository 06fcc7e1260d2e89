"""Whether a request offered the tool of a call: a tool that was not offered never runs, one that was may wait."""

from callsheet.graph.changes import ToolsOffered
from callsheet.graph.cut import Lineage
from callsheet.graph.nodes import ContextAssembly, ModelRun
from callsheet.graph.query import NodeQuery
from callsheet.recall.tool import NAME as RECALL
from callsheet.runtime.session import Session, View
from callsheet.runtime.tail import KnownCall
from callsheet.runtime.whole_sheets import last_shown


def offered(session: Session, seen: Lineage, call: KnownCall) -> bool:
    """Whether the request that a call answers offered its tool; where that is not known, whether any before it did."""
    asked = _asked(session, call)
    if asked is not None:
        return call.body.tool in asked.boundary.tools
    told = session.ledger.nodes(session.conversation.key, NodeQuery(kinds=("tools_offered",), lineage=seen))
    return any(call.body.tool in record.body.names for record in told if isinstance(record.body, ToolsOffered))


def withdrawn(session: Session, view: View, seen: Lineage, call: KnownCall) -> bool:
    """Whether the request that a call answers did not offer its tool, whatever earlier ones did.

    Where that request is not known it is the newest one of the view before the call; without one, nothing is known.
    """
    asked = _asked_at_last(session, view, seen, call)
    return asked is not None and call.body.tool not in asked.boundary.tools


def of_the_caller(session: Session, view: View, seen: Lineage, call: KnownCall) -> bool:
    """Whether a call of a tool that is named as the recall tool is of the caller's own, which is not ours to answer.

    It is where the request offered a tool of this name and did not serve ours.
    """
    if call.body.tool != RECALL:
        return False
    asked = _asked_at_last(session, view, seen, call)
    return asked is not None and RECALL in asked.boundary.tools and not asked.recall


def _asked_at_last(session: Session, view: View, seen: Lineage, call: KnownCall) -> ContextAssembly | None:
    """The request that a call answers; where it is not known, the newest one of the view before the call."""
    asked = _asked(session, call)
    if asked is not None:
        return asked
    for message in session.ledger.get(session.conversation.key, (call.body.message,)):
        desk = session.desk(view)
        with desk.lock:
            before = last_shown(session.place, seen, view.participant, message.position, desk)
        return before.sheet if before is not None else None
    return None


def _asked(session: Session, call: KnownCall) -> ContextAssembly | None:
    """The request that a call answers; None: no sheet is known."""
    key = session.conversation.key
    for message in session.ledger.get(key, (call.body.message,)):
        run = message.header.scope.run
        for record in session.ledger.get(key, (run,)) if run is not None else ():
            sheet = record.body.sheet if isinstance(record.body, ModelRun) else None
            for found in session.ledger.get(session.sheets.key, (sheet,)) if sheet is not None else ():
                if isinstance(found.body, ContextAssembly):
                    return found.body
    return None
