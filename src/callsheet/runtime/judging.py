"""What has to stay in view and what was useful, recorded on a view's word."""

import math
from collections.abc import Sequence

from callsheet.errors import BodyErased, InvalidOption, NotFound
from callsheet.graph.changes import Feedback, Pinned
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Episode, Fact, Message, Milestone, ToolArtifact, ToolMemory
from callsheet.graph.record import Record
from callsheet.runtime.drafting import Drafting
from callsheet.runtime.options import shown
from callsheet.runtime.resolving import resolve
from callsheet.runtime.seeing import Sight, sight
from callsheet.runtime.session import Session, View

_KINDS = (Message, ToolArtifact, ToolMemory, Milestone, Fact, Episode)


def pin(session: Session, view: View, references: Sequence[str], *, pinned: bool) -> RecordId:
    """See `Conversation.pin`."""
    ids: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        seen = sight(session, view)
        records = tuple(dict.fromkeys(_meant(seen, one).id for one in references))
        if not records:
            raise InvalidOption(f"{'pin' if pinned else 'unpin'} needs at least one reference")
        # Whoever it belongs to: a participant's word holds for that participant alone, the conversation's for all.
        scope = drafting.private(None)
        ids[:] = [drafting.add(Pinned(records=records, pinned=pinned), kind="pinned", scope=scope)]

    session.append(view, draft)
    return ids[0]


def judge(session: Session, view: View, reference: str, score: float, by: str) -> RecordId:
    """See `Conversation.feedback`."""
    if isinstance(score, bool) or not math.isfinite(score) or not -1 <= score <= 1:
        raise InvalidOption(f"score is {shown(score)}; it must be a number from -1 to 1")
    ids: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        record = _meant(sight(session, view), reference)
        body = Feedback(record=record.id, score=float(score), by=session.redacting.redaction.text(by))
        ids[:] = [drafting.add(body, kind="feedback", scope=drafting.private(None))]

    session.append(view, draft)
    return ids[0]


def _meant(seen: Sight, reference: str) -> Record:
    """What a reference means, of all that a request can show. Raises `NotFound`, `BodyErased`."""
    known = seen.get(RecordId(reference))
    record = known if known is not None and isinstance(known.body, _KINDS) else resolve(seen, reference)
    if record.body is None:
        raise BodyErased(f"the content of {record.id} was erased")
    if not isinstance(record.body, _KINDS):
        raise NotFound(f"{record.id} is nothing that a request shows")
    return record
