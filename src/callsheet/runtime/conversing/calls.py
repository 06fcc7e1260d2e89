"""Calls that wait for their results, as programs are given them and give them back."""

from dataclasses import dataclass, field

from callsheet.graph.ids import RecordId
from callsheet.runtime.options import label


@dataclass(frozen=True, kw_only=True, slots=True)
class PendingCall:
    """A call that waits for its result."""

    id: RecordId
    #: The provider's id, to be given back with the result.
    provider_id: str | None
    tool: str
    #: The turn that asked: the id of its message.
    turn: RecordId
    #: As the model wrote them, parsed or not.
    arguments: str = field(repr=False)


def call_id(call: str | PendingCall) -> str:
    """The id of a call that is given as itself or by its id, ours or the provider's."""
    return call.id if isinstance(call, PendingCall) else label(call, "call")
