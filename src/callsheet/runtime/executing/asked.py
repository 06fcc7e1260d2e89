"""Whether a request offered the tool of a call: then an execution without the tool leaves the call open."""

from callsheet.graph.changes import ToolsOffered
from callsheet.graph.cut import Lineage
from callsheet.graph.nodes import ContextAssembly, ModelRun
from callsheet.graph.query import NodeQuery
from callsheet.runtime.session import Session
from callsheet.runtime.tail import KnownCall


def offered(session: Session, seen: Lineage, call: KnownCall) -> bool:
    """Whether the request that a call answers offered its tool; where that is not known, whether any before it did."""
    asked = _asked(session, call)
    if asked is not None:
        return call.body.tool in asked
    told = session.ledger.nodes(session.conversation.key, NodeQuery(kinds=("tools_offered",), lineage=seen))
    return any(call.body.tool in record.body.names for record in told if isinstance(record.body, ToolsOffered))


def _asked(session: Session, call: KnownCall) -> tuple[str, ...] | None:
    """The tools of the request that a call answers; None: no sheet is known."""
    key = session.conversation.key
    for message in session.ledger.get(key, (call.body.message,)):
        run = message.header.scope.run
        for record in session.ledger.get(key, (run,)) if run is not None else ():
            sheet = record.body.sheet if isinstance(record.body, ModelRun) else None
            for found in session.ledger.get(session.sheets.key, (sheet,)) if sheet is not None else ():
                if isinstance(found.body, ContextAssembly):
                    return found.body.boundary.tools
    return None
