"""What the dense notation must keep: everything."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callsheet.derive.structured import decode, read_json, read_json_lines
from callsheet.derive.structured.inline import write
from callsheet.derive.structured.notation import notation
from callsheet.derive.structured.reading import parse
from callsheet.derive.structured.values import Json, Number

_LEXEMES = (
    "0",
    "-0",
    "1",
    "1.0",
    "1.50",
    "1e999",
    "-1E+5",
    "NaN",
    "Infinity",
    "-Infinity",
    "123456789012345678901234567890",
)
_TRICKY = (
    *(
        "",
        " ",
        "1",
        "1.0",
        "true",
        "null",
        "NaN",
        "-",
        "- a",
        "a: b",
        "a:b",
        "=x",
        "|3",
        "|",
        "[2]:",
        "[2]{a}:",
        "{2}{a}:",
    ),
    *(
        "a,b",
        "a;b",
        "a]",
        "a}",
        "{",
        "[",
        '"',
        '"a"',
        "x ",
        " x",
        "a\nb",
        "a\n\nb\n",
        "\n",
        "a\r\nb",
        "\x00",
        "\x7f",
        "\u2028",
    ),
    *(
        "\ud800",
        "x\udfffy",
        "é",
        "日本",
        "(… 3 rows not shown)",
        "a=b",
        "text",
        "k:text",
        "*",
        "$1",
        "a\tb",
        "#",
        "\\u0041",
    ),
)
_texts = st.sampled_from(_TRICKY) | st.text(st.characters(codec="utf-8"), max_size=12)
_keys = st.sampled_from(("bay", "row", "lot no", "a", "b", *_TRICKY)) | _texts
_words = st.none() | st.booleans() | st.sampled_from(_LEXEMES).map(Number) | _texts


@st.composite
def _like(draw: st.DrawFn, inner: st.SearchStrategy[Json]) -> Json:
    """Objects with the same keys, some of which some lack, in a list or under keys of their own."""
    names = draw(st.lists(_keys, min_size=1, max_size=4))
    rows: list[Json] = []
    for _ in range(draw(st.integers(1, 4))):
        kept = [name for name in names if draw(st.integers(0, 5))]
        rows.append(tuple((name, draw(inner)) for name in kept))
    if draw(st.booleans()):
        return rows
    return tuple((draw(_keys), row) for row in rows)


def _containers(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    pairs: st.SearchStrategy[Json] = st.lists(st.tuples(_keys, inner), max_size=4).map(tuple)
    items: st.SearchStrategy[Json] = st.lists(inner, max_size=4).map(list)
    return pairs | items | _like(inner)


json_values: st.SearchStrategy[Json] = st.recursive(_words, _containers, max_leaves=12)


@settings(max_examples=200, deadline=None)
@given(json_values)
def test_the_notation_of_any_value_reads_back_as_the_value(value: Json) -> None:
    written = notation(value)
    assert write(decode(written)) == write(value)


@settings(max_examples=100, deadline=None)
@given(json_values, st.sampled_from((None, 1, 3)))
def test_the_dense_form_of_a_document_is_not_longer_and_reads_back(value: Json, indent: int | None) -> None:
    text = write(value) if indent is None else write(value).replace(",", f",\n{' ' * indent}")
    document = read_json(text)
    if document is not None:
        assert len(document.dense()) <= len(text)
        assert write(decode(document.dense())) == write(document.value)


@settings(max_examples=60, deadline=None)
@given(json_values)
def test_a_value_is_read_as_the_standard_reader_reads_it(value: Json) -> None:
    text = write(value)
    assert json.dumps(json.loads(text)) == json.dumps(json.loads(write(parse(text))))


def test_an_array_of_like_objects_names_its_keys_once() -> None:
    hives = [
        {"hive": f"H{n}", "frames": {"brood": n, "honey": 9 - n}, "keeper": "Ada", "zip": "4123"} for n in range(3)
    ]
    document = read_json(json.dumps(hives))
    assert document is not None
    assert document.dense() == '[3]{hive frames{brood honey} keeper=Ada zip="4123"}:\nH0|0|9\nH1|1|8\nH2|2|7'


def test_a_column_of_strings_that_look_like_numbers_says_so_once() -> None:
    assert notation(parse('[{"zip":"41"},{"zip":"42"},{"zip":"x"}]')) == "[3]{zip:text}:\n41\n42\nx"


def test_a_missing_key_is_an_empty_cell_and_an_empty_string_is_quoted() -> None:
    written = notation(parse('[{"a":1,"b":"","c":3},{"a":1,"c":4},{"a":2,"b":"x","c":5}]'))
    assert written == '[3]{a b c}:\n1|""|3\n1||4\n2|x|5'


def test_a_row_of_another_shape_is_written_as_an_object() -> None:
    rows = [{"a": n, "b": n} for n in range(9)] + [{"b": 1, "a": 2}]
    assert notation(parse(json.dumps(rows))).splitlines()[-1] == '={"b":1,"a":2}'


def test_several_lines_of_text_stand_as_they_are() -> None:
    assert notation(parse('{"poem":"one\\ntwo\\n","by":"me"}')) == "poem:|3\none\ntwo\n\nby: me"


def test_objects_and_rows_within_rows_keep_their_keys_in_the_header() -> None:
    value = [
        {"pan": "A", "dots": [{"x": 1, "y": 2}, {"x": 3, "y": 4}], "by": {"ann": {"n": 1}, "bob": {"n": 2}}},
        {"pan": "B", "dots": [], "by": {"cyd": {"n": 3}}},
    ]
    assert notation(parse(json.dumps(value))) == (
        "[2]{pan dots[]{x y} by{*}{n}}:\nA|[1|2;3|4]|{ann:1;bob:2}\nB|[]|{cyd:3}"
    )


@pytest.mark.parametrize(
    "text", ['{"a":1', "[1,2", "[1,]", '{"a":1,}', "[1] 2", "{'a':1}", "[01]", '["\\x"]', "nope", ""]
)
def test_what_is_not_whole_json_is_no_document(text: str) -> None:
    assert read_json(text) is None


def test_json_cut_at_any_place_is_no_document() -> None:
    text = json.dumps({"a": [1.5, "x\ny é", None, {"b": [True, {}]}], "c": "\ud83d\ude00"}, indent=1)
    assert read_json(text) is not None
    assert all(read_json(text[:end]) is None for end in range(len(text)))


def test_repeated_keys_and_the_digits_of_numbers_stay() -> None:
    text = '{"a":1,"a":1.0,"b":1e999,"c":NaN,"d":-0,"e":"\\ud800"}'
    document = read_json(text)
    assert document is not None
    assert write(decode(document.dense())) == text


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":[', '[1,{"b":2,"a":'])
def test_ten_thousand_levels_are_read_and_written(opening: str) -> None:
    closing = "".join({"[": "]", "{": "}"}[sign] for sign in reversed(opening) if sign in "[{")
    text = opening * 10_000 + "null" + closing * 10_000
    document = read_json(text)
    assert document is not None
    assert write(decode(document.dense())) == text
    assert document.excerpt(range(len(document.segments)))
    assert document.outline()
    assert read_json(text[:-1]) is None


def test_records_on_lines_are_one_table() -> None:
    document = read_json_lines('{"a":1,"b":"x"}\n\n{"a":2,"b":"y"}\r\n')
    assert document is not None
    assert (document.unit, document.total) == ("records", 2)
    assert [segment.name for segment in document.segments] == ["line 1", "line 3"]
    assert document.dense() == "[2]{a b}:\n1|x\n2|y"
    assert read_json_lines('{"a":1}\n{"a":') is None
    assert read_json_lines('{"a":1}\nplain') is None
    assert read_json_lines('{"a":1}') is None
