"""What was said around the messages that a search has found: the nearest that the view may see and read."""

from collections.abc import Sequence
from itertools import islice

from callsheet.graph.ids import RecordId
from callsheet.graph.query import AroundQuery
from callsheet.graph.record import Record
from callsheet.recall.around import WEIGHTS
from callsheet.runtime.candidates import Candidates

_NEAR = len(WEIGHTS)
"""Messages that count on each side."""

_MORE = 2
"""Messages that are looked for on one side beside those: some say nothing, as those that only call a tool."""

_WIDER = 4
"""How many times as many are looked for where those were too few."""


def rows(candidates: Candidates, messages: Sequence[Record]) -> list[list[RecordId]]:
    """Each message with its neighbours before and after it, in order; they become candidates too."""
    found: dict[int, tuple[list[RecordId], list[RecordId]]] = {}
    left, limit = [message.position for message in messages], _NEAR + _MORE
    while left:
        seen = candidates.seen
        query = AroundQuery(kind="message", positions=tuple(left), lineage=seen.lineage, limit=limit)
        around = seen.session.ledger.around(seen.session.conversation.key, query)
        _look(candidates, [side for sides in around.values() for side in sides])
        found |= {
            at: (_spoken(candidates, before), _spoken(candidates, after)) for at, (before, after) in around.items()
        }
        left = [at for at in left if any(map(_short, around[at], found[at], (limit, limit)))]
        limit *= _WIDER
    candidates.take(id for sides in found.values() for side in sides for id in side)
    told = ((message.id, *found[message.position]) for message in messages)
    return [[*reversed(before), id, *after] for id, before, after in told]


def _look(candidates: Candidates, sides: Sequence[Sequence[int]]) -> None:
    """Learn which of the nearest count, then of one more where those are too few, then of all."""
    for stop in (_NEAR, _NEAR + 1, None):
        candidates.look([at for side in sides for at in side[:stop]])
        sides = [side for side in sides if len(_spoken(candidates, side[:stop])) < _NEAR]


def _spoken(candidates: Candidates, side: Sequence[int]) -> list[RecordId]:
    """The nearest. What is hidden or says nothing takes no place among them."""
    return list(islice(candidates.spoken(side), _NEAR))


def _short(looked: Sequence[int], found: Sequence[RecordId], limit: int) -> bool:
    """Whether there may be more to find behind those that were looked at."""
    return len(found) < _NEAR and len(looked) == limit
