"""The stages of a conversation's life, drafted in the transaction of what leads to them.

The status says what happened to the conversation last: a turn makes it active whatever it was before, a compaction
compacted, and what is put away is archived until somebody speaks again or takes it up. It is the same on every branch
and for every reader.
"""

from collections.abc import Iterable

from callsheet.graph.changes import LifecycleChanged
from callsheet.graph.enums import Lifecycle, Role
from callsheet.graph.nodes import Message, ToolArtifact
from callsheet.graph.record import Draft
from callsheet.graph.values import Scope
from callsheet.runtime.drafting import Drafting

_SPEAKERS = (Role.USER, Role.ASSISTANT)


def turn_begins(drafting: Drafting) -> None:
    """Draft that the conversation is active from here on, unless it is already."""
    move(drafting, Lifecycle.ACTIVE)


def holds_turn(drafts: Iterable[Draft]) -> bool:
    """Whether something of a turn is recorded: what a user or model said, or a result."""
    return any(
        isinstance(draft.body, ToolArtifact) or (isinstance(draft.body, Message) and draft.body.role in _SPEAKERS)
        for draft in drafts
    )


def compacted(drafting: Drafting) -> None:
    """Draft, in the transaction of a compaction, that the conversation is compacted; one that is put away stays so."""
    if drafting.tail.status is not Lifecycle.ARCHIVED:
        move(drafting, Lifecycle.COMPACTED)


def move(drafting: Drafting, to: Lifecycle, reason: str = "") -> bool:
    """Draft a stage, for everyone who sees the conversation; whether it is another one than before."""
    if drafting.tail.status is to:
        return False
    changed = LifecycleChanged(status=to, reason=reason)
    # At the time of the transaction, also where what it records is said to have happened at another.
    drafting.add(changed, kind="lifecycle_changed", scope=Scope(), at=drafting.now)
    return True
