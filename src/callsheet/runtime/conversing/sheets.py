"""Sheets that were assembled before."""

from itertools import islice

from callsheet.graph.nodes import ContextAssembly
from callsheet.graph.record import Record
from callsheet.runtime.conversing.view import Viewed
from callsheet.runtime.options import label, positive
from callsheet.runtime.sent import sent
from callsheet.runtime.sheet import Sheet
from callsheet.runtime.stored import newest_sheets
from callsheet.runtime.whole_sheets import read_sheet


class Shows(Viewed):
    """Shows what the model saw."""

    def sheet(self, id: str) -> Sheet:
        """A sheet that was assembled before, with the exact bytes that were sent.

        `id` is its own, or that of the message or run that answered it: what did the model see when it said this?
        The view of a participant or sub-agent has its own alone. Raises `NotFound`.
        """
        return self._sheet(self._stored_sheet(label(id, "sheet")))

    def sheets(self, *, newest: int | None = None) -> list[Sheet]:
        """The sheets of this conversation in the order of their assembly; with `newest`, the last so many.

        For a participant or sub-agent they are its own, on whatever branch.
        """
        limit = positive(newest, "newest") if newest is not None else None
        found = newest_sheets(self._session.ledger, self._session.sheets.key)
        own = [record for record, body in islice((each for each in found if self._reads(each[1])), limit)]
        return [self._sheet(record) for record in reversed(own)]

    def _sheet(self, record: Record) -> Sheet:
        body = record.body
        assert isinstance(body, ContextAssembly)
        full = read_sheet(self._session.place, record)
        rendered = sent(self._session, full.blocks)
        return Sheet(id=record.id, record=body, selections=full.selected, blocks=tuple(rendered), _get=self._get)
