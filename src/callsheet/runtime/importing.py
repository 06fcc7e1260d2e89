"""Recording what was said elsewhere and before: many dated messages at once, with how far their source has been read.

Internal; `callsheet.audit.exchange` is its user. Messages and progress go into one transaction, so a source whose
reading breaks off is taken up again exactly behind what was recorded.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from callsheet.errors import InputError
from callsheet.graph.changes import ImportProgress
from callsheet.graph.cut import Lineage, alone
from callsheet.graph.enums import ArtifactStatus, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.query import NodeQuery, StateQuery
from callsheet.graph.record import Record
from callsheet.graph.times import Instant
from callsheet.graph.values import Digest
from callsheet.runtime.conversation import Conversation
from callsheet.runtime.drafting import Drafting
from callsheet.runtime.recording import Item, Recording
from callsheet.runtime.session import Session


@dataclass(frozen=True, kw_only=True, slots=True)
class Dated:
    """One message as it was parsed."""

    items: Sequence[Item]
    #: When it was said; None: not known, so it counts as said when it is recorded.
    at: Instant | None = None
    #: How the tool execution ended, for a result that does not say so itself.
    status: ArtifactStatus | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """How far a source has been read into a branch."""

    #: None: nothing of it has been.
    progress: ImportProgress | None = None
    #: Whether the branch holds messages or results of its own that came otherwise, or later.
    others: bool


def standing(view: Conversation, source: Digest) -> Standing:
    """How far a source has been read into the branch of a view."""
    session, branch = view._session, view.branch_id
    tail = session.tail(view._view, fresh=True)
    record = _progress(session, tail.lineage, source)
    own = alone(branch, tail.position)
    query = NodeQuery(kinds=("message", "artifact"), lineage=own, newest=True, limit=1)
    newest = session.ledger.nodes(session.conversation.key, query)
    others = bool(newest) and (record is None or newest[0].position > record.position)
    progress = record.body if record is not None else None
    return Standing(progress=progress if isinstance(progress, ImportProgress) else None, others=others)


def _progress(session: Session, lineage: Lineage, source: Digest) -> Record | None:
    rows = session.ledger.states(
        session.conversation.key, StateQuery(field=StateField.IMPORT, targets=(source,), lineage=lineage)
    )
    found = session.ledger.get(session.conversation.key, (RecordId(rows[0].value),)) if rows and rows[0].value else []
    return found[0] if found else None


def record_dated(
    view: Conversation, messages: Sequence[Dated], progress: ImportProgress, *, before: ImportProgress | None
) -> list[Record]:
    """Record messages and the progress that they make, in one transaction; `before` is the progress so far.

    Raises `InputError` when somebody else has read on in the source since; then nothing is recorded.
    """
    session = view._session

    def draft(drafting: Drafting) -> None:
        known = _progress(session, drafting.tail.lineage, progress.source)
        if (known.body if known is not None else None) != before:
            raise InputError(f"conversation {view.name!r}: another import of the same source is under way")
        now = drafting.at
        for message in messages:
            at = message.at if message.at is not None else now
            Recording(items=message.items, status=message.status, at=at).draft(drafting)
        drafting.at = now
        drafting.add(progress, kind="import_progress")

    return session.append(view._view, draft)[1]
