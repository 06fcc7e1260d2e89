"""Terms and counts out of a packed index: the same read in part as read whole, and damage is told."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.errors import Damaged
from callsheet.graph.counting import Asked, count_terms, joined, unread
from callsheet.graph.index import Index, packed, weighed

_terms = st.text(alphabet="ab\u00e9\u65e5", max_size=4)
_counted = st.lists(st.tuples(_terms, st.integers(0, 3)), max_size=40)


@given(_counted, st.lists(_terms, max_size=4))
def test_what_is_asked_for_is_read_as_from_all(terms: list[tuple[str, int]], asked: list[str]) -> None:
    read = weighed(packed(Index(terms=tuple(terms)))).terms
    whole = count_terms(terms)
    assert read.length == whole.length == sum(count for _, count in terms)
    expected = {term: count for term, count in whole.all().items() if term in asked}
    assert read.among(Asked(asked)) == whole.among(Asked(asked)) == expected
    assert read.all() == whole.all()
    assert read.among(Asked(asked)) == expected


@given(st.lists(_counted, min_size=1, max_size=3))
def test_records_together_count_as_one(several: list[list[tuple[str, int]]]) -> None:
    found = joined([weighed(packed(Index(terms=tuple(terms)))).terms for terms in several])
    expected = count_terms([each for terms in several for each in terms])
    assert (found.length, found.all()) == (expected.length, expected.all())


def test_a_term_whose_bytes_stand_within_others_is_not_there() -> None:
    # "é" ends with the byte that stands before a term of nine bytes.
    term = "ninebytes"
    content = packed(Index(terms=(("é" + term, 2),)))
    assert msgspec.msgpack.encode(term) in content
    assert weighed(content).terms.among(Asked([term])) == {}


def test_what_cannot_be_stored_is_asked_for_in_vain() -> None:
    read = weighed(packed(Index(terms=(("oak", 1),)))).terms
    assert read.among(Asked(["\ud800", "oak"])) == {"oak": 1}


@pytest.mark.parametrize("size", [0, 15, 16, 65_535, 65_536])
def test_lists_of_any_size_are_counted(size: int) -> None:
    assert unread(msgspec.msgpack.encode(["t"] * size), (1,) * size).length == size
    with pytest.raises(ValueError, match="terms occur"):
        unread(msgspec.msgpack.encode(["t"] * size), (1,) * (size + 1))


def test_damage_is_told() -> None:
    content = packed(Index(terms=(("oak", 1), ("elm", 2))))
    with pytest.raises(Damaged, match="rebuild"):
        weighed(content[:-4])
    with pytest.raises(Damaged, match="rebuild"):
        weighed(msgspec.msgpack.encode([[], "no list", [1], b""]))
    torn = weighed(content.replace(b"elm", b"\xff\xff\xff")).terms
    assert torn.among(Asked(["fir"])) == {}
    with pytest.raises(Damaged, match="rebuild"):
        torn.among(Asked(["oak"]))
    with pytest.raises(Damaged, match="rebuild"):
        torn.all()
