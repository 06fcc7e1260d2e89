"""The life of a conversation as a whole: where it stands, when something last happened in it, putting it away.

No request depends on the status. What held for a session alone is over for good where the conversation was put away
behind it, so whether somebody takes it up again, perhaps where a reader cannot see it, changes nothing for that reader.
"""

from collections.abc import Callable
from typing import NamedTuple

from callsheet.errors import InvalidOption
from callsheet.graph.changes import LifecycleChanged
from callsheet.graph.cut import Lineage
from callsheet.graph.enums import Lifecycle, StateField
from callsheet.graph.ids import ROOT_BRANCH, RecordId
from callsheet.graph.nodes import Boundary
from callsheet.graph.ports import Ledger
from callsheet.graph.query import NodeQuery, StateQuery
from callsheet.graph.record import Record, StreamKey
from callsheet.graph.times import Instant
from callsheet.policy.visibility import hidden_from
from callsheet.runtime.drafting import Drafting
from callsheet.runtime.session import Session, View
from callsheet.runtime.stages import move

IDLE = "idle"
"""The reason of what is put away because nothing has happened in it."""


class Activity(NamedTuple):
    """When something last happened in a conversation, and where it stands."""

    #: The newest of its messages, results and stages of life.
    record: RecordId
    at: Instant
    status: Lifecycle


def status(ledger: Ledger, key: StreamKey) -> Lifecycle:
    """Where a conversation stands now."""
    return _status(_newest(ledger, key, "lifecycle_changed"))


def activity(ledger: Ledger, key: StreamKey) -> Activity | None:
    """When something last happened in a conversation, by its turns and the stages of its life; None: it is empty.

    The stages count, so that neither what was recorded under an old date nor what was just taken up is idle at once.
    """
    begun = ledger.records(key, limit=1)
    stage = _newest(ledger, key, "lifecycle_changed")
    said = _newest(ledger, key, "message", "artifact")
    known = [*begun, *(record for record in (stage, said) if record is not None)]
    if not known:
        return None
    newest = max(known, key=lambda record: record.position)
    return Activity(record=newest.id, at=max(record.header.at for record in known), status=_status(stage))


def _newest(ledger: Ledger, key: StreamKey, *kinds: str) -> Record | None:
    """The newest record of these kinds, on whatever branch."""
    return next(iter(ledger.nodes(key, NodeQuery(kinds=kinds, newest=True, limit=1))), None)


def _status(stage: Record | None) -> Lifecycle:
    return stage.body.status if stage is not None and isinstance(stage.body, LifecycleChanged) else Lifecycle.OPENED


def archived_at(ledger: Ledger, key: StreamKey, lineage: Lineage, boundary: Boundary) -> int:
    """The position where a conversation was put away last, as far as a reader may know; 0: it never was."""
    rows = ledger.states(key, StateQuery(field=StateField.ARCHIVED, targets=("",), lineage=lineage))
    if not rows:
        return 0
    # Nearly always it was said to everyone.
    stages = ledger.nodes(key, NodeQuery(kinds=("lifecycle_changed",), lineage=lineage))
    seen = (one for one in stages if hidden_from(one.header.scope, boundary.participant, boundary.run) is None)
    return max((one.position for one in seen if _status(one) is Lifecycle.ARCHIVED), default=0)


def archive(session: Session, view: View, reason: str) -> bool:
    """Put a conversation away; whether it was not yet. Raises `InvalidOption` in the view of a sub-agent."""
    _refuse_sub_agent(view, "put away")
    return _moved(session, view, lambda drafting: move(drafting, Lifecycle.ARCHIVED, reason))


def reopen(session: Session, view: View, reason: str) -> bool:
    """Take up a conversation that was put away; whether it was. Raises `InvalidOption` in the view of a sub-agent."""
    _refuse_sub_agent(view, "taken up")

    def due(drafting: Drafting) -> bool:
        return drafting.tail.status is Lifecycle.ARCHIVED and move(drafting, Lifecycle.ACTIVE, reason)

    return _moved(session, view, due)


def archive_idle(session: Session, newest: RecordId) -> bool:
    """Put a conversation away in which nothing has happened since this record; whether that was done."""

    def due(drafting: Drafting) -> bool:
        now = activity(session.ledger, session.conversation.key)
        return now is not None and now.record == newest and move(drafting, Lifecycle.ARCHIVED, IDLE)

    return _moved(session, View(ROOT_BRANCH), due)


def _moved(session: Session, view: View, draft: Callable[[Drafting], bool]) -> bool:
    """Whether the newest state of the conversation led to another stage."""
    done: list[bool] = []

    def drafted(drafting: Drafting) -> None:
        done[:] = [draft(drafting)]

    session.tail(view, fresh=True)
    session.append(view, drafted)
    return done[0]


def _refuse_sub_agent(view: View, what: str) -> None:
    if view.carries.sub_agent is not None:
        raise InvalidOption(f"a conversation is {what} by whoever holds it, not by a sub-agent")
