"""Which tables content holds, and of which type their columns are: never another value than was recorded."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.derive.cells import numbers, plain
from callsheet.derive.reading import read
from callsheet.derive.tables import MOST_CELLS, MOST_COLUMNS, MOST_TABLES, named, tables
from callsheet.graph.tabular import Table


def found(text: str) -> list[Table]:
    return tables(read(text))


def shape(table: Table) -> list[tuple[str, str]]:
    return [(column.name, column.type) for column in table.columns]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,sku,n\n1,007,5\n2,008,\n3,010,7\n", [("id", "BIGINT"), ("sku", "VARCHAR"), ("n", "BIGINT")]),
        ("a\tb\n1\tx\n2\ty\n3\tz\n", [("a", "BIGINT"), ("b", "VARCHAR")]),
        ("\ufeffid,sku,n\r\n1,007,5\r\n2,008,\r\n", [("id", "BIGINT"), ("sku", "VARCHAR"), ("n", "BIGINT")]),
        ('\ufeff"id";"a;b"\n1;x\n2;"y;z"\n', [("id", "BIGINT"), ("a;b", "VARCHAR")]),
        ("id,name,id\n1,x,5\n2,y,6\n", [("id", "BIGINT"), ("name", "VARCHAR"), ("id_2", "BIGINT")]),
        ("+---+---+\n| a | b |\n+---+---+\n| 1 | x |\n| 2 | y |\n+---+---+\n", [("a", "BIGINT"), ("b", "VARCHAR")]),
        ("| a | b |\n|---|---|\n| 1 | 2.5 |\n| 2 | 3 |\n", [("a", "BIGINT"), ("b", "DECIMAL(2,1)")]),
        (" a | b \n---+---\n 1 | t \n 2 | f \n(2 rows)\n", [("a", "BIGINT"), ("b", "VARCHAR")]),
        ("[(1, 'a', Decimal('1.50')), (2, 'b', None)]", [("c1", "BIGINT"), ("c2", "VARCHAR"), ("c3", "DECIMAL(3,2)")]),
        ("[{'a': 1, 'b': None}, {'a': 2, 'b': 'x'}]", [("a", "BIGINT"), ("b", "VARCHAR")]),
        ('[{"a": 1}, {"a": 2, "b": true}]', [("a", "BIGINT"), ("b", "BOOLEAN")]),
        ('{"a": 1}\n{"a": 2.5}\n', [("a", "DECIMAL(2,1)")]),
        ("[[1, 2], [3, 4]]", [("c1", "BIGINT"), ("c2", "BIGINT")]),
        ('["x", "y"]', [("value", "VARCHAR")]),
        (
            '{"P1": {"n": 1, "s": "a"}, "P2": {"n": 2, "s": "b"}}',
            [("key", "VARCHAR"), ("n", "BIGINT"), ("s", "VARCHAR")],
        ),
        ('[{"a": {"b": [1.50]}}, {"a": 2}]', [("a", "VARCHAR")]),
        ('[{"a": "1"}, {"a": "2"}]', [("a", "VARCHAR")]),
        ('[{"a": 1}, {"a": "2"}]', [("a", "VARCHAR")]),
        ('[{"a": NaN}, {"a": -Infinity}, {"a": 1.5}]', [("a", "DOUBLE")]),
        ('[{"a": 1e999}, {"a": 1}]', [("a", "VARCHAR")]),
    ],
)
def test_a_table_has_the_columns_and_types_that_were_recorded(text: str, expected: list[tuple[str, str]]) -> None:
    (table,) = found(text)
    assert shape(table) == expected
    assert all(len(column.cells) == table.rows for column in table.columns)


def test_cells_are_what_was_recorded() -> None:
    (table,) = found('[{"a": 1.50, "b": {"c": [1, "x"]}}, {"b": "\\ud800 ä"}]')
    assert [list(column.cells) for column in table.columns] == [["1.50", None], ['{"c":[1,"x"]}', "\\ud800 ä"]]
    (table,) = found('part,note\nP1,"a, ""b"""\nP2,\nP3,x\n')
    assert list(table.columns[1].cells) == ['a, "b"', None, "x"]


def test_rows_of_another_length_lack_cells_or_have_more() -> None:
    lines = ["a,b", *(f"{at},{at}" for at in range(60)), "7", "8,8,8"]
    (table,) = found("\n".join(lines))
    assert shape(table) == [("a", "BIGINT"), ("b", "BIGINT"), ("c3", "BIGINT")]
    assert [column.cells[-2] for column in table.columns] == ["7", None, None]
    assert [column.cells[-1] for column in table.columns] == ["8", "8", "8"]


def test_the_largest_table_stands_first_and_each_says_where_it_is() -> None:
    text = '{"meta": {"tags": ["x", "y", "z", "w"]}, "a/b": [{"x": 1}], "deep": {"rows": [{"y": 1}, {"y": 2}]}}'
    assert [(table.pointer, table.rows) for table in found(text)] == [
        ("/deep/rows", 2),
        ("/a~1b", 1),
        ("/meta/tags", 4),
    ]
    assert [table.pointer for table in found('[{"rows": [{"y": 1}, {"y": 2}]}]')] == ["/0/rows", ""]
    assert len(found(json.dumps({str(at): [{"x": 1}] for at in range(40)}))) == MOST_TABLES


def test_rows_whose_cells_repeat_are_no_names_of_columns() -> None:
    assert found("yes,no,yes\nno,no,yes\nyes,yes,no\n") == []


def test_a_table_among_text_is_found() -> None:
    text = "Here it is:\n\n| a | b |\n|---|---|\n" + "".join(f"| {at} | x |\n" for at in range(20)) + "\nThat is all.\n"
    (table,) = found(text)
    assert (table.rows, shape(table)) == (20, [("a", "BIGINT"), ("b", "VARCHAR")])


@pytest.mark.parametrize(
    "text", ["", "no table", "[]", "{}", "[[]]", "[{}]", "7", '[{"a": 1}, 2, [3]]', "a: b\nc: d\n", "[" * 9_000]
)
def test_what_holds_no_table_holds_none(text: str) -> None:
    assert found(text) == []


def test_what_is_too_large_to_be_asked_is_no_table() -> None:
    wide = [{str(at): at for at in range(MOST_COLUMNS + 1)}] * 2
    assert found(json.dumps(wide)) == []
    sparse = json.dumps([{f"k{at % 900}": 1} for at in range(MOST_CELLS // 900 + 1)])
    assert found(sparse) == []


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["9223372036854775807"], "BIGINT"),
        (["9223372036854775808"], "HUGEINT"),
        (["9" * 39], "VARCHAR"),
        (["-0"], "DOUBLE"),
        (["0.1", "0.25"], "DECIMAL(3,2)"),
        (["-12.5", "3"], "DECIMAL(3,1)"),
        (["0.30000000000000004", "1"], "DOUBLE"),
        (["0.1000000000000000055511151231257827"], "DECIMAL(35,34)"),
        (["1e-7"], "DOUBLE"),
        (["1e400"], "VARCHAR"),
        (["1e5", "0.1234567890123456789"], "VARCHAR"),
        (["1" * 5_000], "VARCHAR"),
    ],
)
def test_numbers_have_a_type_that_holds_each_to_the_digit(texts: list[str], kind: str) -> None:
    assert numbers(texts) == kind


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2"], "BIGINT"),
        (["01", "2"], "VARCHAR"),
        (["+1"], "VARCHAR"),
        (["1 000"], "VARCHAR"),
        (["1,000"], "VARCHAR"),
        (["1e5"], "VARCHAR"),
        (["1.5e-7", "2.0"], "DOUBLE"),
        (["nan"], "VARCHAR"),
        (["NULL", "1"], "VARCHAR"),
        (["٣"], "VARCHAR"),
        (["1_000"], "VARCHAR"),
        (["true", "false"], "BOOLEAN"),
        (["True"], "VARCHAR"),
        (["2031-02-28"], "DATE"),
        (["2031-02-30"], "VARCHAR"),
        (["0000-01-01"], "VARCHAR"),
        (["2031-02-28 10:00:00", "2031-02-28 10:00:00.5"], "TIMESTAMP"),
        (["2031-02-28 10:00:00.50"], "VARCHAR"),
        (["2031-02-28T10:00:00Z"], "VARCHAR"),
        (["", ""], "VARCHAR"),
        (["", "4"], "BIGINT"),
    ],
)
def test_cells_of_text_have_a_type_that_prints_them_as_they_were(cells: list[str], kind: str) -> None:
    column = plain("a", cells)
    assert column.type == kind
    assert list(column.cells) == [cell or None for cell in cells]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a", "A", "a"], ["a", "A_2", "a_3"]),
        (["", " ", "c2"], ["c1", "c2", "c2_2"]),
        (["a_2", "a", "A"], ["a_2", "a", "A_3"]),
        (["ä", "Ä"], ["ä", "Ä"]),
        (["x\0y", "\ud800"], ["x\ufffdy", "\\ud800"]),
    ],
)
def test_columns_have_names_that_tell_them_apart(names: list[str], expected: list[str]) -> None:
    assert named(names) == expected


@given(st.lists(st.text(max_size=4), max_size=20))
def test_any_names_become_as_many_that_differ_in_either_case(names: list[str]) -> None:
    made = named(names)
    assert len(made) == len(names)
    assert len({name.translate({at: at + 32 for at in range(65, 91)}) for name in made}) == len(names)
    assert all(name and "\0" not in name for name in made)


@given(
    st.lists(
        st.decimals(allow_nan=False, allow_infinity=False) | st.floats(allow_nan=False, allow_infinity=False),
        min_size=1,
    )
)
def test_no_number_gets_a_type_that_cannot_hold_it(values: list[Decimal | float]) -> None:
    texts = [format(value, "f") if isinstance(value, Decimal) else repr(value) for value in values]
    kind = numbers(texts)
    for text in texts:
        if kind == "DOUBLE":
            assert Decimal(repr(float(text))) == Decimal(text)
        elif kind.startswith("DECIMAL"):
            width, scale = map(int, kind[8:-1].split(","))
            assert width <= 38
            assert abs(Decimal(text)) < Decimal(10) ** (width - scale)
            assert len(text.partition(".")[2]) <= scale
        elif kind in ("BIGINT", "HUGEINT"):
            assert str(int(text)) == text


rows = st.lists(
    st.dictionaries(st.text(max_size=3), st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4)),
    max_size=6,
)


@given(rows)
def test_whatever_rows_hold_is_read(given_rows: list[dict[str, object]]) -> None:
    for table in found(json.dumps(given_rows)):
        assert all(len(column.cells) == table.rows for column in table.columns)
        assert all(cell is None or cell.encode() is not None for column in table.columns for cell in column.cells)
