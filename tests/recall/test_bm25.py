"""Ranking by words: what the formula says, over exactly what is given."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.graph.ids import RecordId
from callsheet.recall.bm25 import K1, B, Scored, TermDocument, rank

WORDS = ["oak", "elm", "fir", "yew"]


def document(id: str, **terms: float) -> TermDocument:
    return TermDocument(id=RecordId(id), terms=terms, length=sum(terms.values()))


def ask(words: Sequence[str], given: Sequence[TermDocument]) -> list[Scored]:
    return rank([(word,) for word in words], given)


documents = st.lists(st.dictionaries(st.sampled_from(WORDS), st.sampled_from([0.25, 1.0, 3.0])), max_size=8).map(
    lambda all: [document(f"d{place}", **terms) for place, terms in enumerate(all)]
)
queries = st.lists(st.sampled_from(WORDS), max_size=5)


def test_a_score_is_that_of_the_formula() -> None:
    (found,) = ask(["oak"], [document("a", oak=2, elm=1), document("b", elm=1), document("c", fir=4)])
    idf = math.log1p((3 - 1 + 0.5) / 1.5)
    expected = idf * (K1 + 1) * 2 / (2 + K1 * (1 - B + B * 3 / (8 / 3)))
    assert found.id == "a"
    assert found.score == pytest.approx(expected, abs=1e-9)
    assert found.share == 1


def test_the_rarer_word_decides_and_of_equal_ones_the_newer_stands_first() -> None:
    given = [document("a", oak=1), document("b", oak=1), document("c", yew=1)]
    assert [found.id for found in ask(["oak", "yew"], given)] == ["c", "b", "a"]


def test_nothing_is_found_by_nothing() -> None:
    assert ask(["oak"], []) == []
    assert ask([], [document("a", oak=1)]) == []
    assert ask(["oak"], [document("a"), document("b")]) == []


def test_a_word_is_found_by_any_of_its_terms_and_counts_once_in_the_share() -> None:
    given = [document("a", oak=1), document("b", oaks=1, elm=1), document("c", fir=1)]
    found = {str(one.id): one.share for one in rank([("oak", "oaks"), ("elm",)], given)}
    assert found.keys() == {"a", "b"}
    assert found["b"] == 1
    assert 0 < found["a"] < 1


def test_how_rare_a_term_is_comes_from_the_documents_alone() -> None:
    alone = [document("a", oak=1), document("b", elm=1), document("c", elm=1)]
    blended = [document("a", oak=1, elm=0.5), document("b", elm=1, oak=0.5), document("c", elm=1)]
    assert {one.id for one in rank([("oak",)], blended, alone)} == {"a", "b"}
    by_alone = rank([("oak",)], blended, alone)[0].score
    assert by_alone > rank([("oak",)], blended)[0].score


@given(documents, queries, st.randoms())
def test_the_order_of_words_does_not_matter(given: list[TermDocument], query: list[str], random: object) -> None:
    assert ask(list(reversed(query)) + query, given) == ask(query, given)


@given(documents, queries)
def test_exactly_what_holds_a_word_is_found_with_a_score_and_a_share(
    given: list[TermDocument], query: list[str]
) -> None:
    found = ask(query, given)
    assert {one.id for one in found} == {one.id for one in given if set(one.terms) & set(query)}
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert all(one.score > 0 and 0 < one.share <= 1 for one in found)
