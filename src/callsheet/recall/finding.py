"""Searching over everything that may be seen: exact entities first, past all ranking, then words and meaning, fused."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from callsheet.graph.counting import Asked, TermCounts
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Index, Weighed
from callsheet.graph.values import Value
from callsheet.recall.alike import Saying, apart, saying
from callsheet.recall.bm25 import Scored, TermDocument, rank
from callsheet.recall.exact import holding
from callsheet.recall.fusing import DEPTH, IDENTIFIERS, WORDS, by_meaning, by_words, fuse


class Candidate(Value):
    """A record that may be seen, with what it is found by."""

    id: RecordId
    entities: tuple[str, ...] = ()
    #: All its terms with how often each occurs, times the weight of the field where.
    terms: TermCounts
    #: The records that it sums up: of a summary and its sources only one kind is found.
    sources: tuple[RecordId, ...] = ()
    #: Terms by which it is found and that say nothing, such as its own name.
    apart: frozenset[str] = frozenset()

    def document(self, asked: Asked | None = None) -> TermDocument:
        """It as words rank it; with the terms that are asked for only those, which is less to work with."""
        terms = self.terms.among(asked) if asked is not None else self.terms.all()
        return TermDocument(id=self.id, terms=terms, length=self.terms.length)


def candidate(
    id: RecordId, index: Index, sources: tuple[RecordId, ...] = (), apart: frozenset[str] = frozenset()
) -> Candidate:
    """A record with its index."""
    return weighed_candidate(id, Weighed.of(index), sources, apart)


def weighed_candidate(
    id: RecordId, index: Weighed, sources: tuple[RecordId, ...] = (), apart: frozenset[str] = frozenset()
) -> Candidate:
    """A record with as much of its index as a search needs."""
    return Candidate(id=id, entities=index.entities, terms=index.terms, sources=sources, apart=apart)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranked:
    """A record that was found."""

    id: RecordId
    #: How many of the entities that were asked for it holds; the whole query to the letter counts as one.
    exact: int
    #: Over exactly the records that were given; 0: neither by a word nor by its meaning. Compares within one search.
    score: float
    #: Which arms found it: by identifiers, by words, by meaning.
    arms: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What is looked for."""

    #: Entities in normal form.
    entities: tuple[str, ...] = ()
    #: Words, each by any of its terms.
    words: tuple[tuple[str, ...], ...] = ()


Texts = Callable[[RecordId], str]
"""The text of a record, read only where two records must be told apart."""

Plain = Callable[[Iterable[str]], Iterable[str]]
"""The terms of a text as they are compared with those of another."""


def find(
    entities: Iterable[str],
    terms: Iterable[str],
    indexes: Sequence[tuple[RecordId, Index]],
    limit: int,
    *,
    known: Iterable[RecordId] = (),
    meaning: Sequence[tuple[RecordId, float]] = (),
    text: Texts | None = None,
    plain: Plain = frozenset,
) -> list[Ranked]:
    """`ranked` over records with their indexes (oldest first), each term a word of its own, at most `limit`."""
    question = Question(entities=tuple(entities), words=tuple((term,) for term in terms))
    candidates = [candidate(id, index) for id, index in indexes]
    lexical = rank(question.words, [one.document() for one in candidates])
    return ranked(question, candidates, limit, known=known, lexical=lexical, meaning=meaning, text=text, plain=plain)


def ranked(
    question: Question,
    candidates: Sequence[Candidate],
    limit: int,
    *,
    lexical: Sequence[Scored],
    known: Iterable[RecordId] = (),
    meaning: Sequence[tuple[RecordId, float]] = (),
    text: Texts | None = None,
    plain: Plain = frozenset,
) -> list[Ranked]:
    """The records (given oldest first) that hold an entity or a term or mean the like, at most `limit`.

    The most entities first, of equal ones what names one of them before all else, then by words and meaning, newest
    first; behind them what only repeats one of them in other
    words, if `text` is given. `known` are records that are known to hold one entity although their index, which is
    bounded, does not say so. `lexical` and `meaning` have the best first; what is no candidate is left out of them.
    """
    among = {one.id: one for one in candidates}
    held = dict(holding(question.entities, ((one.id, one.entities) for one in candidates)))
    for id in known:
        held[id] = held.get(id, 0) + 1
    depth = max(limit, 0) * DEPTH
    words = by_words([one for one in lexical if one.id in among], depth)
    means = by_meaning([(id, score) for id, score in meaning if id in among], depth)
    fused = {one.id: one for one in fuse((words, means))}
    # Beyond the depth, words still find: whoever asks for many gets all.
    beyond = [one.id for one in lexical if one.id in among and one.id not in fused]
    newest = reversed([one.id for one in candidates])
    order = {id: place for place, id in enumerate(dict.fromkeys((*fused, *beyond, *newest)))}
    # What names it before anything else is about it; others mention it.
    about = {one.id for one in candidates if one.entities and one.entities[0] in question.entities}
    found = sorted(
        {*held, *fused, *beyond}, key=lambda id: (-held.get(id, 0), id not in about, order.get(id, len(order)))
    )
    chosen = once(found, among, held)
    if text is not None:
        chosen = first_new(chosen, among, held, limit=max(limit, 0), text=text, plain=plain)
    return [
        Ranked(
            id=id,
            exact=held.get(id, 0),
            score=fused[id].score if id in fused else 0.0,
            arms=(
                *((IDENTIFIERS,) if held.get(id) else ()),
                *(fused[id].arms if id in fused else (WORDS,) if id in beyond else ()),
            ),
        )
        for id in chosen[: max(limit, 0)]
    ]


def once(
    found: Sequence[RecordId], among: Mapping[RecordId, Candidate], held: Mapping[RecordId, int]
) -> list[RecordId]:
    """Without summaries of what stands before them, and without the sources of summaries that do.

    A record that holds an entity that was asked for stays: a summary may have left out what it says of it.
    """
    taken: list[RecordId] = []
    shown: set[RecordId] = set()
    summed: set[RecordId] = set()
    for id in found:
        sources = among[id].sources if id in among else ()
        if not held.get(id) and (id in summed or not shown.isdisjoint(sources)):
            continue
        taken.append(id)
        shown.add(id)
        summed.update(sources)
    return taken


def first_new(
    found: Sequence[RecordId],
    among: Mapping[RecordId, Candidate],
    held: Mapping[RecordId, int],
    *,
    limit: int,
    text: Texts,
    plain: Plain = frozenset,
) -> list[RecordId]:
    """The first of these, and what says the same as one before it behind the others; what holds an entity stays."""
    exact = [id for id in found if held.get(id)]
    others = [id for id in found if not held.get(id)]
    sayings = (_saying(among[id], plain) if id in among else None for id in others)
    return exact + [others[place] for place in apart(sayings, text, limit - len(exact))]


def _saying(one: Candidate, plain: Plain) -> Saying | None:
    return saying(one.id, plain(term for term in one.terms.all() if term not in one.apart), one.entities)
