"""Scheduled tasks: turns that no person says at the time, and that take the normal path otherwise."""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from callsheet.assemble import blocks
from callsheet.errors import InvalidOption
from callsheet.graph.enums import Role, RuntimeMode
from callsheet.graph.ids import RecordId
from callsheet.runtime.drafting import Drafting
from callsheet.runtime.recording import Item, Recording
from callsheet.runtime.session import Session
from callsheet.wire import formats


@dataclass(frozen=True, kw_only=True, slots=True)
class Scheduled:
    """The turn of a task that has come due."""

    task: str
    recording: Recording

    def draft(self, drafting: Drafting) -> None:
        """Draft the turn, which says of which task it is; none when its event is known already."""
        drafting.carries = replace(drafting.carries, mode=RuntimeMode.SCHEDULED, task=self.task)
        self.recording.draft(drafting)


def turn(content: object) -> Sequence[Item]:
    """What a task says when it is due. Raises `InvalidMessage`, and `InvalidOption` for what is no user's message."""
    items = formats.parse({"role": "user", "content": content} if isinstance(content, str) else content)
    said = [item for item in items if isinstance(item, blocks.Said) and item.role is Role.USER]
    if len(said) != 1 or len(items) != 1:
        raise InvalidOption("a scheduled task says one message of the user, as text or in a provider's shape")
    return items


def task_of(session: Session, trigger: RecordId | None) -> str | None:
    """The task that what is answered now belongs to; None: it belongs to none."""
    found = session.ledger.get(session.conversation.key, (trigger,)) if trigger is not None else []
    return found[0].header.scope.task if found else None
