"""Searching over everything: exact matches pass all ranking by."""

from hypothesis import given
from hypothesis import strategies as st

from callsheet.graph.ids import RecordId
from callsheet.graph.index import Index
from callsheet.recall.finding import find

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
    assert [(one.id, one.exact) for one in found] == [("large", 1), ("named", 1), ("alike", 0)]


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
