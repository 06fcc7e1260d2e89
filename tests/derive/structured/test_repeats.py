"""What comes again in one document stands once, and is never taken for something else."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from callsheet.derive.structured import decode, read_json
from callsheet.derive.structured.inline import write
from callsheet.derive.structured.notation import notation
from callsheet.derive.structured.reading import parse
from callsheet.derive.structured.values import Json, Number

_LONG = (
    "the north field, sown late",
    "&1 the north field; sown late",
    "*1 the north field: sown late",
    "(+3 same) north field, sown late",
    "one line of it\nand another one of it",
    " spaces at both of the two ends ",
    "1234567890123456789012345",
    "@key of the northern field",
)
_words = st.sampled_from((*_LONG, "a", "*1", "&1 x", "*2", "&1:", "@key", "(+2 same)", "")) | st.sampled_from(
    (Number("1234567890123456789012345"), Number("7"), None, True)
)
_names = st.sampled_from(("a", "b", "c d", "1234567890123456789012345", *_LONG[:4]))
_rows: st.SearchStrategy[Json] = st.lists(_words, min_size=2, max_size=2).map(
    lambda cells: (("a", cells[0]), ("b", cells[1]))
)


@st.composite
def _other_keys(draw: st.DrawFn) -> Json:
    """Rows like the others, but with keys of their own."""
    one, two = draw(st.permutations(("a", "b", "x", "y")))[:2]
    return [((one, draw(_words)), (two, draw(_words))) for _ in range(draw(st.integers(1, 3)))]


_lists: st.SearchStrategy[Json] = st.lists(_rows, max_size=3).map(list) | _other_keys()
_numbers: st.SearchStrategy[Json] = st.lists(st.sampled_from(("1", "2.5", "-1e9")).map(Number), max_size=12).map(list)
_cells = _words | _rows | _lists | _numbers


@st.composite
def _tables(draw: st.DrawFn) -> Json:
    """Rows of cells of few kinds, so that much comes again; some hold the key that they stand under."""
    rows: list[Json] = []
    keys = draw(st.lists(_names, min_size=2, max_size=6))
    kinds = draw(st.lists(st.sampled_from((_words, _lists, _numbers, _cells)), min_size=1, max_size=3))
    for key in keys:
        cells: list[tuple[str, Json]] = [(f"k{at}", draw(kind)) for at, kind in enumerate(kinds)]
        rows.append((*cells, ("id", key)))
    if draw(st.booleans()):
        return tuple(zip(keys, rows, strict=True))
    return rows * draw(st.integers(1, 4))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(_names, _tables() | _cells), max_size=4).map(tuple) | _tables() | st.lists(_lists).map(list))
def test_what_comes_again_reads_back_as_it_was(value: Json) -> None:
    assert write(decode(notation(value))) == write(value)


def test_a_long_value_is_numbered_where_it_first_stands() -> None:
    note = "Counted by hand, the lower rack was wet."
    value = {"by": "Ada", "note": note, "racks": [{"rack": 1, "note": note}, {"rack": 2, "note": "dry"}], "last": note}
    assert notation(parse(json.dumps(value))) == (
        "by: Ada\nnote: &1 Counted by hand, the lower rack was wet.\nracks[2]{rack note}:\n1|*1\n2|dry\nlast: *1"
    )


def test_rows_that_come_again_are_their_number() -> None:
    ferry = {"boat": "Heron", "quay": "North Harbour", "leaves": "07:15"}
    buses = [{"boat": name, "quay": "Market Square", "leaves": "09:40"} for name in ("Bus 4", "Bus 5")]
    value = [[ferry, bus] for bus in buses]
    assert notation(parse(json.dumps(value))) == (
        "[2][]{boat quay leaves}:\n&1:Heron|North Harbour|07:15;Bus 4|Market Square|09:40\n*1;Bus 5|Market Square|09:40"
    )


def test_the_same_cells_under_other_keys_are_another_row() -> None:
    cells = ["North Harbour", "Market Square"]
    value = {
        "out": [dict(zip(("at", "to"), cells, strict=True))],
        "back": [dict(zip(("to", "at"), cells, strict=True))],
    }
    assert "*1" not in notation(parse(json.dumps(value)))


def test_equal_rows_one_after_another_stand_once() -> None:
    value = [{"town": name} for name in ("Oban", "Oban", "Oban", "Oban", "Oban", "Mull", "Mull")]
    assert notation(parse(json.dumps(value))) == "[7]{town}:\nOban\n(+4 same)\nMull\nMull"


def test_a_column_that_is_the_key_of_its_row_is_named_only() -> None:
    value = {"p1": {"id": "p1", "n": 1}, "p2": {"id": "p2", "n": 2}}
    assert notation(parse(json.dumps(value))) == "{2}{id=@key n}:\np1:1\np2:2"
    assert notation(parse('{"1":{"id":1,"n":1},"2":{"id":2,"n":2}}')) == "{2}{id n}:\n1:1|1\n2:2|2"
    assert notation(parse('[{"id":"@key","n":1},{"id":"@key","n":2}]')) == '[2]{id="@key" n}:\n1\n2'


def test_the_only_row_of_a_table_stands_behind_its_header() -> None:
    value = {"paid": [{"by": "card 7", "sum": 104}], "legs": []}
    assert notation(parse(json.dumps(value))) == "paid[]{by sum}:card 7|104\nlegs:[]"


def test_no_digit_stands_behind_a_comma_or_point_of_another_number() -> None:
    document = read_json(
        json.dumps({"levels": [87, 102, 5.5, 41], "at": [{"x": [1, 2], "y": 3}, {"x": [4, 5], "y": 6}]})
    )
    assert document is not None
    assert document.dense() == "levels:[87;102;5.5;41]\nat[2]{x y}:\n[1;2]|3\n[4;5]|6"


def test_excerpts_number_nothing() -> None:
    bed = {"soil": "heavy clay with a layer of chalk", "n": 0}
    document = read_json(json.dumps([bed | {"n": n} for n in range(9)] + [{"soil": "sand", "n": 9}]))
    assert document is not None
    assert "*1" in document.dense()
    assert document.excerpt([3, 4, 9]).count("heavy clay with a layer of chalk") == 2
