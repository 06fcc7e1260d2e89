"""What an excerpt of JSON shows and says."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callsheet.derive.structured import decode, read_json, read_json_lines
from callsheet.derive.structured.inline import write
from callsheet.derive.structured.reading import parse


def _catalogue(count: int) -> str:
    bulbs = [{"code": f"B{n}", "note": 'a "quoted" note, with , and } inside', "bed": n % 7} for n in range(count)]
    return json.dumps({"cursor": "n/a", "bulbs": bulbs, "error": None}, indent=2)


def test_the_array_that_holds_most_is_divided_by_item_and_what_stands_beside_it_always_stands() -> None:
    text = _catalogue(400)
    document = read_json(text)
    assert document is not None
    assert (document.unit, document.total, len(document.segments)) == ("items", 400, 402)
    assert [(s.name, s.always) for s in document.segments[:2]] == [("/cursor", True), ("/bulbs/0", False)]
    assert (document.segments[-1].name, document.segments[-1].always) == ("/error", True)
    item = document.segments[7]
    assert json.loads(text[item.start : item.end])["code"] == "B6"
    assert document.outline() == "400 items: code, note, bed; keys: cursor, bulbs (400 items), error"


@settings(max_examples=60, deadline=None)
@given(st.sets(st.integers(0, 59), min_size=1))
def test_every_shown_item_equals_the_original_and_every_gap_is_counted(chosen: set[int]) -> None:
    document = read_json(_catalogue(60))
    assert document is not None
    lines = document.excerpt([at + 1 for at in sorted(chosen)]).split("\n")
    assert lines[0] == (f"(excerpt, not JSON: {len(chosen)} of 60 items of /bulbs shown; a search or query sees all)")
    assert lines[1] == "cursor: n/a"
    assert lines[-1] == "error: null"
    gaps = [int(line.split()[1]) for line in lines if line.startswith("(… ")]
    assert sum(gaps) == 60 - len(chosen)
    shown = [line for line in lines[2:] if not line.startswith("(… ")]
    shown[0] = shown[0].replace(f"[{len(chosen)} of 60]", f"[{len(chosen)}]")
    originals = json.loads(_catalogue(60))["bulbs"]
    found = json.loads(write(decode("\n".join(shown))))
    assert found["bulbs"] == [originals[at] for at in sorted(chosen)]


def test_an_object_is_divided_by_key_and_names_the_keys_it_leaves_out() -> None:
    text = json.dumps({"name": "Ada", "garden": {"beds": 3, "soil": "clay"}, "diary": ["x", "y", "z"]})
    document = read_json(text)
    assert document is not None
    assert (document.unit, document.total) == ("keys", 3)
    assert document.outline() == "keys: name, garden (2 keys), diary (3 items)"
    assert document.excerpt([1]) == (
        "(excerpt, not JSON: 1 of 3 keys shown; a search or query sees all)\n"
        "(… 1 key not shown: name)\n"
        "garden:\n beds:3\n soil: clay\n"
        "(… 1 key not shown: diary (3 items))"
    )


def test_keys_are_counted_where_they_stand_and_what_stands_beside_them_apart() -> None:
    rows = {f"k{n}": {"id": n, "text": "x y"} for n in range(400)}
    for value, before in (({"cursor": "n/a", "items": rows}, 1), ({"data": {"rows": rows}, "next": None}, 0)):
        document = read_json(json.dumps(value))
        assert document is not None
        assert document.total == 400
        place = "/items" if "items" in value else "/data/rows"
        title, *_ = document.excerpt([at + before for at in range(20)]).split("\n")
        said = f"20 of 400 keys of {place} and 0 of 1 other parts shown"
        assert title == f"(excerpt, not JSON: {said}; a search or query sees all)"


def test_a_big_member_is_divided_however_deep_it_stands() -> None:
    text = json.dumps({"a": {"b": [{"c": {"rows": [{"k": "v" * 50, "n": n} for n in range(30)]}}]}})
    document = read_json(text)
    assert document is not None
    assert (document.total, document.segments[4].name) == (30, "/a/b/0/c/rows/4")
    assert "(… 4 items not shown)" in document.excerpt([4])


def test_names_are_json_pointers() -> None:
    text = json.dumps({"a/b": {"~": ["x" * 500, "y" * 500]}})
    document = read_json(text)
    assert document is not None
    assert [segment.name for segment in document.segments] == ["/a~1b/~0/0", "/a~1b/~0/1"]


def test_segments_are_in_order_and_do_not_overlap() -> None:
    for text in (_catalogue(3), _catalogue(50), "[" + ",".join("7" * 250_000) + "]", "[[],{}]", "{}", "[]"):
        document = read_json(text)
        assert document is not None
        ends = [(segment.start, segment.end) for segment in document.segments]
        assert all(start < end for start, end in ends)
        assert all(one[1] <= two[0] for one, two in pairwise(ends))
        assert document.excerpt(range(len(ends)))


def test_very_many_items_are_divided_into_runs() -> None:
    document = read_json("[" + ",".join(str(n) for n in range(250_000)) + "]")
    assert document is not None
    assert document.total == 250_000
    assert document.segments[1].name == "/3-5"
    assert document.excerpt([1]).startswith("(excerpt, not JSON: 3 of 250,000 items shown;")
    assert document.segments[-1].name == "/249999"


def test_an_excerpt_of_records_says_how_many_there_are() -> None:
    document = read_json_lines("\n".join(json.dumps({"n": n}) for n in range(9)))
    assert document is not None
    assert document.excerpt([0, 8]) == (
        "(excerpt, not JSON: 2 of 9 records shown; a search or query sees all)\n"
        "[2 of 9]{n}:\n0\n(… 7 records not shown)\n8"
    )


def test_the_whole_of_a_document_has_no_gaps() -> None:
    document = read_json(_catalogue(12))
    assert document is not None
    shown = document.excerpt(range(len(document.segments)))
    assert "not shown" not in shown
    assert write(decode(shown.split("\n", 1)[1])) == write(parse(_catalogue(12)))


@pytest.mark.parametrize("sign", [",", ", ", " ,", ",\n"])
def test_the_items_of_a_very_long_array_of_numbers_are_found_where_they_stand(sign: str) -> None:
    items = [str(n * n * 7919 % 1_000_003) for n in range(150_000)]
    text = '{"tides": [' + sign.join(items) + "]}"
    document = read_json(text)
    assert document is not None
    assert (document.total, len(document.segments)) == (150_000, 75_000)
    for at in (0, 1, 40_000, 74_998, 74_999):
        segment = document.segments[at]
        assert text[segment.start : segment.end] == sign.join(items[2 * at : 2 * at + 2])


def test_a_huge_text_is_its_own_dense_form() -> None:
    text = '["' + "x" * 20_000_000 + '", {"a": 1}]'
    document = read_json(text)
    assert document is not None
    assert document.dense() is text
