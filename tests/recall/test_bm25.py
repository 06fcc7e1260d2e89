"""BM25 over values."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.errors import InvalidOption
from callsheet.graph.ids import RecordId
from callsheet.recall.bm25 import Bm25, TermDocument, rank


def document(id: str, **terms: int) -> TermDocument:
    return TermDocument(id=RecordId(id), terms=tuple(terms.items()))


documents = st.lists(
    st.dictionaries(st.sampled_from(["ash", "elm", "oak", "fir", "yew"]), st.integers(1, 5), max_size=5), max_size=12
).map(lambda all: [document(f"d{i}", **terms) for i, terms in enumerate(all)])
queries = st.lists(st.sampled_from(["ash", "elm", "oak", "larch"]), max_size=4)


def test_the_score_is_that_of_the_formula() -> None:
    index = Bm25([document("a", oak=2, elm=1), document("b", elm=1), document("c", fir=4)])
    (found,) = index.rank(["oak"])
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    expected = idf * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / (8 / 3)))
    assert found.id == "a"
    assert found.score == pytest.approx(expected, abs=1e-9)


def test_a_rare_term_weighs_more_than_a_common_one() -> None:
    index = Bm25([document("a", oak=1), document("b", oak=1), document("c", yew=1)])
    assert [found.id for found in index.rank(["oak", "yew"])] == ["c", "b", "a"]


def test_equal_scores_stand_newest_first() -> None:
    assert [found.id for found in rank(["oak"], [document("a", oak=1), document("b", oak=1)])] == ["b", "a"]


def test_nothing_is_found_in_nothing() -> None:
    assert rank(["oak"], []) == []
    assert rank([], [document("a", oak=1)]) == []
    assert rank(["oak"], [document("a"), document("b")]) == []


def test_an_id_is_added_once() -> None:
    index = Bm25([document("a", oak=1)])
    with pytest.raises(InvalidOption, match="'a'"):
        index.add(document("a", oak=1))
    assert "a" in index
    assert len(index) == 1


@given(documents, queries)
def test_adding_one_by_one_equals_building_at_once(given: list[TermDocument], query: list[str]) -> None:
    index = Bm25()
    for one in given:
        index.add(one)
        index.rank(query)
    assert index.rank(query) == rank(query, given)


@given(documents, queries, st.integers(0, 12))
def test_a_limit_cuts_and_changes_nothing_else(given: list[TermDocument], query: list[str], limit: int) -> None:
    assert rank(query, given, limit) == rank(query, given)[:limit]


@given(documents, queries, st.randoms(use_true_random=False))
def test_neither_order_nor_repetition_in_the_query_matters(
    given: list[TermDocument], query: list[str], chance: Random
) -> None:
    shuffled = query + query
    chance.shuffle(shuffled)
    assert rank(shuffled, given) == rank(query, given)


@given(documents, queries)
def test_exactly_the_documents_with_a_term_are_found(given: list[TermDocument], query: list[str]) -> None:
    holding = {one.id for one in given if {term for term, _ in one.terms} & set(query)}
    found = rank(query, given)
    assert {one.id for one in found} == holding
    assert all(one.score >= 0 for one in found)
