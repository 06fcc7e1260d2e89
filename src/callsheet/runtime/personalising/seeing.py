"""The memories of the user as one request may see them: those of the conversation's user, for its participant."""

from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, Participant
from callsheet.runtime.desk import Desk
from callsheet.runtime.personalising.book import Shelf, along, branch_for, stream_of
from callsheet.runtime.place import Place


def shelf_for(place: Place, boundary: Boundary, desk: Desk, upto: int | None = None) -> Shelf | None:
    """What the reader of a request sees of the user's memories, up to a position; default: all there is now.

    None: nothing was kept by then, or the reader is a sub-agent, which is told what it needs. One look-up where
    nothing was ever kept.
    """
    if boundary.run is not None or upto == 0:
        return None
    stream = stream_of(place.ledger, place.owner)
    if stream is None:
        return None
    head = place.ledger.head(stream.key) if upto is None else None
    position = upto if upto is not None else head.position if head is not None else 0
    if not position:
        return None
    own = (branch_for(_name(place, boundary.participant, desk)),)
    return Shelf(ledger=place.ledger, stream=stream, lineage=along(position, own))


def _name(place: Place, participant: RecordId | None, desk: Desk) -> str | None:
    """The name of a participant, by which memories know it in every conversation."""
    if participant is None:
        return None
    if participant not in desk.names:
        for record in place.ledger.get(place.conversation.key, (participant,)):
            if isinstance(record.body, Participant):
                desk.names[participant] = record.body.name
    return desk.names.get(participant)
