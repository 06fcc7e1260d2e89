"""Why a sheet is as it is, what another policy set would make of it, and how memories stand."""

from callsheet.explain.absence import WhyNot
from callsheet.explain.difference import Difference
from callsheet.explain.sheet import Explained
from callsheet.explain.trace import Trace
from callsheet.graph.ids import RecordId
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime import comparing, explaining, listing, tracing
from callsheet.runtime.comparing import Compared
from callsheet.runtime.conversing.view import Viewed
from callsheet.runtime.explaining import Rebuilt
from callsheet.runtime.listing import ListedMemory
from callsheet.runtime.options import label, positive
from callsheet.runtime.policies import document_of
from callsheet.runtime.sheet import Sheet


class Explains(Viewed):
    """Explains and compares sheets."""

    def explain(self, sheet: Sheet | str) -> Explained:
        """What a sheet holds and why, record by record: `callsheet.explain.sheet.text` has it in sentences.

        Here and in the next four `sheet` may also be the id of a message or run that answers one. Nothing is stored,
        and nothing that they tell holds content. Raises `NotFound`, also where a participant or sub-agent asks for the
        sheet of somebody else; the next and the last also `PolicyError` for a policy set that is not known any more.
        """
        return explaining.explain(self._session, self._named_sheet(sheet))

    def why_not(self, sheet: Sheet | str, record: str) -> WhyNot:
        """Why a record does not stand in a sheet, or not in full; `record` is its id or how a request refers to it."""
        return explaining.why_not(self._session, self._named_sheet(sheet), label(record, "record"))

    def trace(self, sheet: Sheet | str) -> Trace:
        """Every candidate of a sheet with what each policy said, the level chosen and what planning weighed.

        Made by doing the request again as of its cut, so nothing of it was stored: `Trace.same` says whether it came
        out as it was sent. `callsheet.explain.trace.text` has it for people. Raises as assembling does, too.
        """
        return tracing.trace(self._session, self._named_sheet(sheet))

    def difference(self, one: Sheet | str, other: Sheet | str) -> Difference:
        """What came in, went out and changed from one sheet to another."""
        return explaining.difference(self._session, self._named_sheet(one), self._named_sheet(other))

    def rebuild(self, sheet: Sheet | str) -> Rebuilt:
        """A sheet made again from the records as of its cut, and held against what was stored."""
        return explaining.rebuild(self._session, self._named_sheet(sheet))

    def compare(
        self, before: str | PolicySetDocument, after: str | PolicySetDocument, *, newest: int = 100
    ) -> Compared:
        """What the policy set `after` would change over the newest sheets of this conversation, against `before`.

        Of a participant or sub-agent over its own. Each is made again as of its cut, under both sets; nothing is
        stored. Raises `PolicyError` for an unknown set.
        """
        one, other = document_of(before), document_of(after)
        limit = positive(newest, "newest")
        return comparing.compare(self._session, one, other, newest=limit, reads=self._reads)

    def memories(self) -> list[ListedMemory]:
        """The tool memories that this view may see, oldest first, and how each stands; without what they say."""
        return listing.memories(self._session, self._view)

    def _named_sheet(self, sheet: Sheet | str) -> RecordId:
        return self._stored_sheet(sheet.id if isinstance(sheet, Sheet) else label(sheet, "sheet")).id
