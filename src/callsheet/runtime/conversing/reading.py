"""A conversation to read: its branches, its history and its figures."""

from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolCall
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.runtime.conversing.view import Viewed
from callsheet.runtime.counters import Counters, counters
from callsheet.runtime.session import View
from callsheet.runtime.tail import own_branches
from callsheet.runtime.transcript import Item, transcript


class Reads(Viewed):
    """Reads back what stands on branches."""

    def branches(self) -> dict[str, RecordId]:
        """The branches of the conversation by name, in the order in which they began."""
        session = self._session
        own = own_branches(session.ledger, session.conversation.key, self._view.carries.sub_agent)
        return {body.name: id for id, body in own.items()}

    def transcript(self, branch: str | None = None) -> list[Item]:
        """What people read: messages and tool cards of a branch (default: this one), without bookkeeping."""
        view = self._view if branch is None else self._view._replace(branch=self._branch_named(branch))
        records, calls = self._history(view)
        return transcript(records, calls, self._session.redacting)

    def history(self) -> tuple[list[Record], dict[RecordId, ToolCall]]:
        """The messages and artifacts of this branch in order, and the calls that they refer to."""
        return self._history(self._view)

    def _history(self, view: View) -> tuple[list[Record], dict[RecordId, ToolCall]]:
        session = self._session
        seen = session.tail(view, fresh=True).lineage
        records = session.ledger.nodes(session.conversation.key, NodeQuery(kinds=("message", "artifact"), lineage=seen))
        calls = session.ledger.nodes(session.conversation.key, NodeQuery(kinds=("call",), lineage=seen))
        return records, {record.id: record.body for record in calls if isinstance(record.body, ToolCall)}

    def counters(self) -> Counters:
        """Turns, messages and tokens of this branch so far, whoever's they are; what was erased does not count.

        Takes time in proportion to what is new since they were last asked for here, or recorded, which they are every
        1,024 records.
        """
        session = self._session
        tail = session.tail(self._view, fresh=True)
        first = session.ledger.records(session.conversation.key, limit=1)
        return counters(session.tallying.figures(tail.branch, tail.lineage), tail.status, first[0].header.at)
