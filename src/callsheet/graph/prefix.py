"""Where histories stand that are sent again: how a store finds the conversation that a client goes on with."""

from callsheet.graph.ids import RecordId, StreamId
from callsheet.graph.values import Count, Value


class Prefix(Value):
    """A beginning of a history, by a keyed hash of it, and the place in a conversation where it ends.

    A finding aid: no part of any cut, made from what was sent and not from records. Without it a history that is sent
    again is recorded as a new one.
    """

    #: Says which history. Whoever keeps it makes it, with a key, so that nobody can tell a history from it.
    mark: bytes
    stream: StreamId
    branch: RecordId
    #: The record behind which the history goes on, and its position.
    record: RecordId
    position: int
    #: Whether it ends with an answer that was given through this store, as opposed to one that a client told of.
    own: bool = False
    #: Characters of the results that it ends with; 0 where it ends with something else.
    size: Count = 0
    #: What is needed to go on from it where the history itself is not at hand; its maker's form.
    state: bytes = b""
