"""Recording how far the making of an index has come in a stream: what is found at a cut rests on what counts there."""

from callsheet.errors import PositionConflict, StoreBusy
from callsheet.graph.changes import IndexAdvanced
from callsheet.graph.ports import Append
from callsheet.graph.record import Draft, Stream
from callsheet.runtime.meaning import advanced
from callsheet.runtime.working.workshop import Workshop

_ATTEMPTS = 200
"""Times that a record is tried to be appended; each time at least one other writer got through."""


def advance(workshop: Workshop, stream: Stream, index: str, upto: int) -> bool:
    """Record how far the work has come, unless somebody has come further; whether that was to do.

    Raises `StoreBusy`.
    """
    ledger, ids = workshop.ledger, workshop.ids
    for _ in range(_ATTEMPTS):
        head = ledger.head(stream.key)
        if head is None or advanced(ledger, stream.key, index, head.position) >= upto:
            return False
        body = IndexAdvanced(index=index, stream=stream.id, position=upto)
        draft = Draft(id=ids.record("index_advanced"), at=workshop.clock.now(), body=body, nonce=ids.nonce())
        try:
            ledger.append([Append(stream=stream, drafts=(draft,), expect=head.position)])
        except PositionConflict:
            continue
        return True
    raise StoreBusy(f"other writers of {stream.name!r} were first {_ATTEMPTS} times; try again")
