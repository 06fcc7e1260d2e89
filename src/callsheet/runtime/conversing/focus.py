"""What has to stay in view, and what was useful: the word of people and programs on what requests show."""

from callsheet.graph.ids import RecordId
from callsheet.runtime import judging
from callsheet.runtime.conversing.view import Viewed
from callsheet.runtime.options import label, references_of


class Focuses(Viewed):
    """Pins records, and says how useful they were."""

    def pin(self, *references: str) -> RecordId:
        """Keep messages, results, memories, milestones, facts or episodes in every request from the next one on.

        Each stands at least in a line or by its reference, and no budget leaves it out; what policy refuses stays out
        all the same. A participant's pin holds for that participant alone, the conversation's own for everybody who
        may see the record. Like the next two it returns the id of the record that says so, and raises `NotFound` for
        what there is not, `BodyErased`, and `InvalidOption`; then nothing has changed.
        """
        return judging.pin(self._session, self._view, references_of(references), pinned=True)

    def unpin(self, *references: str) -> RecordId:
        """Let go of what was pinned: it stands until a rewrite finds something better."""
        return judging.pin(self._session, self._view, references_of(references), pinned=False)

    def feedback(self, reference: str, score: float, *, by: str = "") -> RecordId:
        """Say how useful a record was, from -1 (misleading) to 1; the newest score of each `by` counts.

        Its mean moves how likely the record is held to be needed, at most to the half or the double. A participant's
        word counts for that participant alone.
        """
        who = label(by, "by") if by else ""
        return judging.judge(self._session, self._view, label(reference, "reference"), score, who)
