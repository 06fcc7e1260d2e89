"""Messages with what was said around them."""

from callsheet.graph.ids import RecordId
from callsheet.recall.around import blended, neighbours, smoothed
from callsheet.recall.bm25 import TermDocument, rank

A, B, C, D = (RecordId(id) for id in "abcd")


def test_rows_that_overlap_are_one() -> None:
    found = neighbours([[A, B, C], [C, D]])
    assert dict(found[C]) == {B: 0.5, A: 0.25, D: 0.5}
    assert dict(found[A]) == {B: 0.5, C: 0.25}
    assert neighbours([]) == {}
    assert neighbours([[A]]) == {A: ()}


def test_an_answer_is_found_by_the_words_of_its_question() -> None:
    asked = TermDocument(id=A, terms={"concert": 1.0}, length=4)
    answer = TermDocument(id=B, terms={"friday": 1.0}, length=2)
    other = TermDocument(id=C, terms={"concert": 1.0}, length=4)
    documents = {one.id: one for one in (asked, answer, other)}
    blend = blended(documents, neighbours([[A, B]]))
    assert blend[B].terms == {"friday": 1.0, "concert": 0.5}
    assert blend[B].length == 4
    found = rank(
        [("concert",), ("friday",)], [blend.get(id, one) for id, one in documents.items()], list(documents.values())
    )
    assert found[0].id == B


def test_a_score_is_the_weighted_mean_with_those_that_have_one() -> None:
    around = neighbours([[A, B, C]])
    assert smoothed({A: 0.9, B: 0.6}, around) == {A: round((0.9 + 0.3) / 1.5, 9), B: round((0.6 + 0.45) / 1.5, 9)}
    assert smoothed({D: 0.7}, around) == {D: 0.7}
