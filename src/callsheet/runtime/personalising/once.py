"""Memories of the user that say the same in other words: the best of them comes first, the others behind the rest."""

from collections.abc import Callable, Mapping, Sequence

from callsheet.derive import terms
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Index
from callsheet.graph.nodes import UserMemory
from callsheet.recall.finding import candidate, first_new, once
from callsheet.runtime.personalising.standing import Held
from callsheet.runtime.personalising.subject import states

COMPARED = 64
"""Memories that are compared with each other, the best: each is held against all before it."""


def told_once(
    found: Sequence[RecordId],
    held: Mapping[RecordId, Held],
    indexes: Sequence[tuple[RecordId, Index]],
    *,
    named: Mapping[RecordId, int],
    text: Callable[[UserMemory], str],
) -> list[RecordId]:
    """These memories, the best first: of a summary and what it was made of only what is better, and no fact twice.

    What says the same as one before it comes behind the others of the best. What holds an identifier that was asked for
    (`named`) stays beside a summary of it, which may have left that out.
    """
    among = {id: candidate(id, _without_statement(index), held[id].body.sources) for id, index in indexes if id in held}
    kept = once(found, among, named)
    best = first_new(
        kept[:COMPARED],
        among,
        {},
        limit=COMPARED,
        text=lambda id: text(held[id].body),
        plain=terms.compared,
    )
    return [*best, *kept[COMPARED:]]


def _without_statement(index: Index) -> Index:
    return Index(entities=tuple(name for name in index.entities if not states(name)), terms=index.terms)
