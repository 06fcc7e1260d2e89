"""Searching over everything: exact matches pass all ranking by."""

from hypothesis import given
from hypothesis import strategies as st

from callsheet.graph.counting import count_terms
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Index
from callsheet.recall.bm25 import rank
from callsheet.recall.finding import Candidate, Question, find, ranked

WORDS = ["ash", "elm", "oak", "fir"]

indexes = st.lists(
    st.builds(
        Index,
        entities=st.lists(st.sampled_from(["q-1", "q-2"]), unique=True).map(tuple),
        terms=st.dictionaries(st.sampled_from(WORDS), st.integers(1, 4)).map(lambda terms: tuple(terms.items())),
    ),
    max_size=8,
).map(lambda all: [(RecordId(f"r{place}"), index) for place, index in enumerate(all)])


def test_who_holds_the_identifier_stands_before_who_only_talks_alike() -> None:
    given = [
        (RecordId("named"), Index(entities=("q-1",), terms=(("elm", 9),))),
        (RecordId("alike"), Index(terms=(("oak", 5),))),
        (RecordId("large"), Index(terms=(("fir", 1),))),
    ]
    found = find(["q-1"], ["oak"], given, 5, known=[RecordId("large")])
    assert [(one.id, one.exact) for one in found] == [("named", 1), ("large", 1), ("alike", 0)]


def test_what_names_it_before_all_else_stands_before_what_mentions_it_later() -> None:
    given = [
        (RecordId("about"), Index(entities=("q-1", "q-2"))),
        (RecordId("old mention"), Index(entities=("q-2", "q-1"))),
        (RecordId("mention"), Index(entities=("q-2", "q-1"))),
    ]
    assert [one.id for one in find(["q-1"], [], given, 5)] == ["about", "mention", "old mention"]


def candidate(id: str, *terms: str, sources: tuple[str, ...] = ()) -> Candidate:
    counts = count_terms((term, 1) for term in terms)
    return Candidate(id=RecordId(id), terms=counts, sources=tuple(map(RecordId, sources)))


def found(candidates: list[Candidate], limit: int = 20, entities: tuple[str, ...] = ()) -> list[str]:
    question = Question(entities=entities, words=(("gate",),))
    lexical = rank(question.words, [one.document() for one in candidates])
    return [one.id for one in ranked(question, candidates, limit, lexical=lexical, text=str)]


def test_a_summary_and_its_sources_are_not_both_found() -> None:
    sources = [candidate("one", "gate", "oak", "fir", "elm"), candidate("two", "gate", "yew", "ash", "box")]
    other = candidate("other", "gate", "key", "mill", "hang")
    best = candidate("sum", "gate", sources=("one", "two"))
    assert found([*sources, other, best]) == ["sum", "other"]
    weak = candidate("sum", "gate", *(f"word{n}" for n in range(30)), sources=("one", "two"))
    assert set(found([*sources, other, weak])) == {"one", "two", "other"}


def test_a_source_that_holds_the_identifier_stays() -> None:
    source = Candidate(id=RecordId("one"), entities=("g-1",), terms=count_terms([("oak", 1)]))
    assert set(found([source, candidate("sum", "gate", sources=("one",))], entities=("g-1",))) == {"one"}


def test_what_says_the_same_goes_behind_what_does_not_and_is_not_lost() -> None:
    same = [candidate(f"same{n}", "gate", "open", "east") for n in range(3)]
    other = candidate("other", "gate", "key", "mill", "hang", "lorri")
    assert found([*same, other], 2) == ["same2", "other"]
    assert set(found([*same, other])) == {"same0", "same1", "same2", "other"}


@given(indexes, st.lists(st.sampled_from(WORDS)), st.integers(0, 5))
def test_only_what_holds_something_is_found_and_exact_ones_first(
    given: list[tuple[RecordId, Index]], terms: list[str], limit: int
) -> None:
    found = find(["q-1"], terms, given, limit)
    held = dict(given)
    assert len(found) <= limit
    assert [one.exact for one in found] == sorted((one.exact for one in found), reverse=True)
    for one in found:
        assert "q-1" in held[one.id].entities or {term for term, _ in held[one.id].terms} & set(terms)
