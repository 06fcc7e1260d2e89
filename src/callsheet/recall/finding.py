"""Searching over everything that may be seen: exact entities first, past all ranking, then BM25."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from callsheet.graph.ids import RecordId
from callsheet.graph.index import Index
from callsheet.recall.bm25 import Bm25, TermDocument
from callsheet.recall.exact import holding


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranked:
    """A record that was found."""

    id: RecordId
    #: How many of the entities that were asked for it holds.
    exact: int
    #: By BM25 over exactly the records that were given; 0: it holds none of the terms.
    score: float


def find(
    entities: Iterable[str],
    terms: Iterable[str],
    indexes: Sequence[tuple[RecordId, Index]],
    limit: int,
    *,
    known: Iterable[RecordId] = (),
) -> list[Ranked]:
    """The records (given oldest first) that hold an entity or a term; the most entities first, then by score, newest.

    `known` are records that are known to hold one entity although their index, which is bounded, does not say so.
    """
    held = dict(holding(entities, ((id, index.entities) for id, index in indexes)))
    for id in known:
        held[id] = held.get(id, 0) + 1
    scored = Bm25(TermDocument(id=id, terms=index.terms) for id, index in indexes).rank(terms)
    scores = {found.id: found.score for found in scored}
    place = {id: at for at, (id, _) in enumerate(indexes)}
    found = [Ranked(id=id, exact=held.get(id, 0), score=scores.get(id, 0.0)) for id in {**held, **scores}]
    return sorted(found, key=lambda one: (-one.exact, -one.score, -place[one.id]))[:limit]
