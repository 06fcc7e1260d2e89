"""Sheets that were assembled before."""

from callsheet.errors import NotFound
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ContextAssembly
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.runtime.conversing.view import Viewed
from callsheet.runtime.options import label, positive
from callsheet.runtime.sent import sent
from callsheet.runtime.sheet import Sheet
from callsheet.runtime.whole_sheets import read_sheet


class Shows(Viewed):
    """Shows what the model saw."""

    def sheet(self, id: str) -> Sheet:
        """A sheet that was assembled before, with the exact bytes that were sent.

        `id` is its own, or that of the message or run that answered it: what did the model see when it said this?
        Raises `NotFound`.
        """
        session = self._session
        found = session.ledger.get(session.sheets.key, (self._sheet_of(RecordId(label(id, "sheet"))),))
        if not found or not isinstance(found[0].body, ContextAssembly):
            raise NotFound(f"no sheet {id!r} in conversation {self.name!r}, nor one that it answers")
        return self._sheet(found[0])

    def sheets(self, *, newest: int | None = None) -> list[Sheet]:
        """The sheets of this conversation in the order of their assembly; with `newest`, the last so many."""
        session = self._session
        limit = positive(newest, "newest") if newest is not None else None
        query = NodeQuery(kinds=("assembly",), newest=limit is not None, limit=limit)
        return [self._sheet(record) for record in session.ledger.nodes(session.sheets.key, query)]

    def _sheet(self, record: Record) -> Sheet:
        body = record.body
        assert isinstance(body, ContextAssembly)
        full = read_sheet(self._session.place, record)
        rendered = sent(self._session, full.blocks)
        return Sheet(id=record.id, record=body, selections=full.selected, blocks=tuple(rendered), _get=self._get)
