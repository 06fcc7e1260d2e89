"""The figures of searches as a table for people and as data for programs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

import callsheet
from callsheet.evaluate.retrieval import (
    ARMS,
    HYBRID,
    Document,
    Found,
    Measures,
    Question,
    RetrievalSet,
    exact,
    groups,
    measured,
    record,
)

HEADER = ("arm", "questions", "count", "P@K", "R@K", "nDCG@K", "MRR")


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """The measures of one arm over one group of questions."""

    arm: str
    group: str
    measures: Measures


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """What came of one set."""

    k: int
    #: The embedder; None: words alone.
    embedder: str | None
    documents: int
    rows: tuple[Row, ...]
    #: Ids that stand in questions, and those that are not found first by themselves.
    ids: int
    missed: tuple[str, ...]
    #: Measures of all questions in which the arms together are below one of them alone.
    below: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether each id is found first, and the arms together are nowhere below one of them."""
        return not self.missed and not self.below


def report(
    runtime: callsheet.Runtime,
    given: RetrievalSet,
    *,
    k: int,
    embedder: str | None,
    progress: Callable[[str], object] | None = None,
) -> Report:
    """Record a set in a store that is empty, ask all of it, and measure. Without an embedder words alone are asked."""
    tell = progress if progress is not None else str
    tell(f"recording {len(given.documents):,} documents")
    shelf = record(runtime, _apart(given.documents))
    rows: list[Row] = []
    for arm, names in ARMS.items():
        if embedder is None and "meaning" in names:
            continue
        tell(f"asking {len(given.questions):,} questions: {arm}")
        found = {one.id: shelf.ask(one.query, one.conversation, names, k) for one in given.questions}

        def answer(question: Question, found: dict[str, list[str]] = found) -> Found:
            return found[question.id]

        rows += (Row(arm=arm, group=name, measures=measured(each, answer, k)) for name, each in groups(given.questions))
    ids, missed = exact(shelf, given.questions)
    return Report(
        k=k,
        embedder=embedder,
        documents=len(given.documents),
        rows=tuple(rows),
        ids=ids,
        missed=tuple(missed),
        below=tuple(_below(rows)),
    )


def _apart(documents: Sequence[Document]) -> list[Document]:
    """Each conversation's documents in a row."""
    order = {document.conversation: place for place, document in reversed(list(enumerate(documents)))}
    return sorted(documents, key=lambda document: order[document.conversation])


def _below(rows: Sequence[Row]) -> Iterator[str]:
    whole = {row.arm: row.measures for row in rows if row.group == "all"}
    together = whole.pop(HYBRID, None)
    for name in ("precision", "recall", "ndcg", "mrr") if together is not None else ():
        best = max(getattr(measures, name) for measures in whole.values())
        if round(getattr(together, name), 3) < round(best, 3):
            yield name


def table_rows(made: Report) -> Iterator[tuple[str, ...]]:
    """A row for each arm and group."""
    for row in made.rows:
        of = row.measures
        yield (row.arm, row.group, f"{of.questions:,}", *(f"{value:.3f}" for value in _values(of)))


def _values(of: Measures) -> tuple[float, float, float, float]:
    return of.precision, of.recall, of.ndcg, of.mrr


def notes(made: Report) -> Iterator[str]:
    """Under the table: what was asked of what, and what is not as it should be."""
    arms = f"vectors of {made.embedder}" if made.embedder is not None else "words alone, without an embedder"
    yield f"{made.documents:,} documents, K = {made.k}, {arms}."
    if made.ids:
        yield f"{made.ids - len(made.missed):,} of {made.ids:,} ids are the first that is found by themselves."
    yield from (f"not found first: {id}" for id in made.missed)
    if made.below:
        yield f"The arms together are below one of them alone in: {', '.join(made.below)}."


def told(made: Report) -> dict[str, object]:
    """All of it as plain data."""
    return {**asdict(made), "ok": made.ok}
