"""Calls that an execution leaves alone: a sub-agent works on them, or the tool that a request offered is not at hand."""

from collections.abc import Mapping

from callsheet.graph.changes import ToolsOffered
from callsheet.graph.cut import Lineage
from callsheet.graph.enums import RunStatus
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ContextAssembly, ModelRun
from callsheet.graph.query import NodeQuery
from callsheet.runtime.children import children
from callsheet.runtime.session import Session, View
from callsheet.runtime.tail import KnownCall


def handed(session: Session, view: View) -> Mapping[RecordId, str]:
    """The calls that sub-agents of this view are working on, with the name of each sub-agent."""
    at_work = (child for child in children(session, view) if child.status is RunStatus.STARTED)
    return {child.call: child.name for child in at_work if child.call is not None}


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
