"""What was said around the messages that a search has found: the nearest that the view may see and read."""

from collections.abc import Sequence

from callsheet.graph.ids import RecordId
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.recall.around import WEIGHTS
from callsheet.runtime.candidates import Candidates, said

_MORE = 2
"""Messages that are read on one side beside those that are needed: some say nothing, as those that only call a tool."""


def rows(candidates: Candidates, messages: Sequence[Record]) -> list[list[RecordId]]:
    """Each message with its neighbours before and after it, in order; they become candidates too."""
    found: list[list[RecordId]] = []
    for message in messages:
        before = _side(candidates, message.position, back=True)
        after = _side(candidates, message.position, back=False)
        found.append([*reversed(before), message.id, *after])
    return found


def _side(candidates: Candidates, position: int, *, back: bool) -> list[RecordId]:
    """The nearest on one side, the nearest first. What is hidden or says nothing takes no place among them."""
    seen, near = candidates.seen, len(WEIGHTS)
    key, limit = seen.session.conversation.key, near + _MORE
    found: list[RecordId] = []
    while len(found) < near:
        query = NodeQuery(
            kinds=("message",),
            lineage=seen.lineage,
            before=position if back else None,
            after=0 if back else position,
            newest=back,
            limit=limit,
        )
        read = seen.session.ledger.nodes(key, query)
        spoken = [record for record in (reversed(read) if back else read) if said(record)]
        found += candidates.admit(spoken, near - len(found))
        if len(read) < limit:
            break
        position = read[0].position if back else read[-1].position
    return found
