"""Exact lookups: a text inside one artifact, records by entity."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.derive.text import readable
from callsheet.errors import InvalidOption
from callsheet.graph.ids import RecordId
from callsheet.recall.exact import WINDOW, fold, holding, search

texts = st.text(alphabet="abİσςΣ\n\r\u00e4\ud800\U0001f600 ", max_size=200)


def test_a_line_among_many_is_found_with_its_number_counted_from_0() -> None:
    chance = random.Random(7)
    lines = [f"{i:06d} " + " ".join(chance.choice(["red", "tan"]) for _ in range(14)) for i in range(9000)]
    lines[6120] = "006120 CRACK SEEN in panel R-7, width 4 mm"
    text = "\n".join(lines)
    found = search(text, "crack seen", 5)
    assert found.total == 1
    assert not found.more
    (hit,) = found.hits
    assert (hit.line, hit.text) == (6120, lines[6120])
    assert text.encode()[hit.byte_start : hit.byte_end] == b"CRACK SEEN"


@pytest.mark.parametrize("content", [b"\x00\x00x7\x00 valve 9 shut\n", "valve 9 shut\n".encode("utf-16")])
def test_text_among_nul_and_utf_16_bytes_is_found(content: bytes) -> None:
    text = readable(content)
    assert text is not None
    assert [hit.text.strip("\0")[-12:] for hit in search(text, "Valve 9", 3).hits] == ["valve 9 shut"]


def test_one_endless_line_is_shown_around_each_match() -> None:
    text = "x" * 1_000_000 + "NEEDLE" + "y" * 1_000_000 + "needle" + "z" * 10
    found = search(text, "needle", 5)
    assert [hit.start for hit in found.hits] == [1_000_000, 2_000_006]
    assert found.hits[0].cut_before
    assert found.hits[0].cut_after
    assert not found.hits[1].cut_after
    assert all("needle" in fold(hit.text) and len(hit.text) <= 2 * WINDOW for hit in found.hits)


def test_a_query_that_almost_matches_everywhere_takes_linear_time() -> None:
    found = search("a" * 2_000_000, "a" * 500 + "b", 5)
    assert found.hits == ()
    assert found.total == 0


def test_neighbouring_lines_stand_beside_the_hit() -> None:
    (hit,) = search("one\ntwo\nthree\nfour\nfive", "three", 5, context=1).hits
    assert (hit.before, hit.after) == (("two",), ("four",))
    (first,) = search("one\ntwo", "one", 5, context=2).hits
    assert (first.before, first.after) == ((), ("two",))


def test_an_empty_query_is_refused() -> None:
    with pytest.raises(InvalidOption):
        search("text", "", 3)


@given(texts)
def test_folding_keeps_every_place(text: str) -> None:
    assert len(fold(text)) == len(text)


@given(texts, st.text(alphabet="abσΣ\n\u00e4", min_size=1, max_size=3), st.integers(0, 5), st.integers(0, 2))
def test_hits_are_where_they_say(text: str, query: str, limit: int, context: int) -> None:
    found = search(text, query, limit, context=context)
    encoded = text.encode("utf-8", "surrogatepass")
    assert len(found.hits) <= limit
    assert (found.total == 0) == (fold(query) not in fold(text))
    for hit in found.hits:
        assert fold(text[hit.start : hit.end]) == fold(query)
        assert encoded[hit.byte_start : hit.byte_end].decode("utf-8", "surrogatepass") == text[hit.start : hit.end]
        assert hit.line == text.count("\n", 0, hit.start)
        assert text[hit.text_start : hit.text_start + len(hit.text)] == hit.text
    lines = text.split("\n")
    for hit in found.hits:
        if "\n" not in query:
            assert hit.text == lines[hit.line]
            assert list(hit.before) == lines[max(hit.line - context, 0) : hit.line]


def test_records_that_hold_most_entities_stand_first_and_newest_first_among_equals() -> None:
    held = [
        (RecordId(id), entities) for id, entities in [("a", ("q1",)), ("b", ("q1", "q2")), ("c", ("q1",)), ("d", ())]
    ]
    assert list(holding(["q1", "q2"], held).items()) == [("b", 2), ("c", 1), ("a", 1)]
