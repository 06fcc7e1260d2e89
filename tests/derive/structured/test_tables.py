"""What a table keeps, however it was drawn."""

import csv
import io

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from callsheet.derive.document import ContentKind
from callsheet.derive.structured import decode, decode_table, read_table
from callsheet.derive.structured.grid import Grid, Row, Style, cells_of, joined
from callsheet.derive.structured.shared_cells import shared
from callsheet.derive.structured.table_document import TableDocument

_FRAMED = (
    "+----+--------+\n| id | bird   |\n+----+--------+\n"
    '|  1 | wren   |\n|  2 | a, "b" |\n|  3 |        |\n+----+--------+\n'
)
_RULED = ' id | bird \n----+------\n  1 | wren\n  2 | a, "b"\n  3 | \n(3 rows)\n'
_MARKDOWN = '| id | bird |\n|---:|:-----|\n| 1 | wren |\n| 2 | a, "b" |\n| 3 | |\n'


@pytest.mark.parametrize("text", [_FRAMED, _RULED, _MARKDOWN, _FRAMED + "3 rows in set (0.01 sec)\n"])
def test_a_drawn_table_keeps_its_cells_and_loses_its_lines(text: str) -> None:
    document = read_table(text)
    assert document is not None
    assert (document.kind, document.unit, document.total) == (ContentKind.TABLE, "rows", 3)
    assert document.dense() == 'id|bird\n1|wren\n2|"a, ""b"""\n3|'
    assert decode_table(document.dense()) == (("id", "bird"), [("1", "wren"), ("2", 'a, "b"'), ("3", "")])
    assert document.outline() == "3 rows: id, bird"
    rows = [segment for segment in document.segments if segment.name.startswith("row ")]
    assert [segment.name for segment in rows] == ["row 1", "row 2", "row 3"]
    assert "wren" in text[rows[0].start : rows[0].end]


@given(st.lists(st.text(st.characters(blacklist_characters="\n\r"), max_size=8), min_size=1, max_size=5))
def test_joined_cells_part_again(cells: list[str]) -> None:
    assert cells_of(joined(tuple(cells))) == tuple(cells)


_cell = st.text(st.sampled_from('ab1 ,;"\n|é'), max_size=6)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(), _cell, st.text("xyz", min_size=1, max_size=9)), min_size=3, max_size=12))
def test_csv_cells_are_read_as_the_standard_reader_reads_them(rows: list[tuple[int, str, str]]) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows([("count", "remark", "tag"), *rows])
    document = read_table(out.getvalue())
    assert isinstance(document, TableDocument)
    assert [row.cells for row in document.grid.rows] == [(str(n), remark, tag) for n, remark, tag in rows]
    dense = document.dense()
    again = [tuple(cells) for cells in csv.reader(io.StringIO(dense))] if dense == out.getvalue() else []
    head, found = decode_table(dense) if dense != out.getvalue() else (again[0], again[1:])
    assert (head, found) == (("count", "remark", "tag"), [(str(n), remark, tag) for n, remark, tag in rows])


_names = st.text(st.sampled_from('ab1 ,;"|!<=é'), max_size=8).map(lambda text: f"n{text}x")


@settings(max_examples=100, deadline=None)
@given(st.lists(_names, min_size=2, max_size=5, unique=True), st.sampled_from([",", ";", "\t"]))
@example(['we""ird col', 'a "b"'], ",")
def test_a_quoted_name_of_a_column_may_hold_any_sign(names: list[str], sign: str) -> None:
    out = io.StringIO(newline="")
    rows = [(str(n), *["v"] * (len(names) - 1)) for n in range(5)]
    csv.writer(out, delimiter=sign, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([names, *rows])
    document = read_table(out.getvalue())
    assert isinstance(document, TableDocument)
    assert document.grid.header is not None
    assert document.grid.header.cells == tuple(names)
    assert [row.cells for row in document.grid.rows] == rows


@pytest.mark.parametrize("line", ['He said "no", and left', '"3 of, them",b', '"no, end,b'])
def test_what_is_no_name_makes_no_header(line: str) -> None:
    document = read_table("\n".join([line, "1,2", "3,4", "5,6"]) + "\n")
    assert not isinstance(document, TableDocument) or document.grid.header is None


def test_the_header_stands_once_and_first_over_rows_from_further_down() -> None:
    text = "\n".join(["lot,bay,kept", *(f"L{n:05d},{n % 40},{n % 97}" for n in range(40_000))])
    document = read_table(text)
    assert document is not None
    assert document.total == 40_000
    assert document.excerpt([0, 31_778]) == (
        "(excerpt: 1 of 40,000 rows shown; a search or query sees all)\n"
        "(header, not next to the rows below:)\nlot,bay,kept\n"
        "(… 31,777 rows not shown)\nL31777,17,58\n(… 8,222 rows not shown)"
    )
    assert document.segments[0].always
    assert document.segments[31_778].name == "row 31778"


def test_cells_that_hold_line_ends_are_not_cut() -> None:
    text = 'who,said\nAda,"one,\ntwo"\nBob,"a ""b"""\r\nCyd,x\n'
    document = read_table(text)
    assert isinstance(document, TableDocument)
    assert [row.cells for row in document.grid.rows] == [("Ada", "one,\ntwo"), ("Bob", 'a "b"'), ("Cyd", "x")]
    assert document.excerpt([1]).split("\n", 1)[1].startswith('who,said\nAda,"one,\ntwo"\n(… 2 rows')


@pytest.mark.parametrize("sign", ["\t", ";", "|"])
def test_other_signs_part_cells_too(sign: str) -> None:
    text = "\n".join(sign.join(cells) for cells in (("moth", "span"), ("atlas", "240"), ("luna", "114"), ("io", "75")))
    document = read_table(text)
    assert document is not None
    assert document.outline() == "3 rows: moth, span"
    assert document.dense() == text


def test_rows_printed_by_a_database_driver_are_a_table() -> None:
    text = "[('wren', 9, None, datetime.date(2031, 5, 2)), "
    text += "('it\\'s', 1.50, True, Decimal('2.10')), (\"a, b\", -3, nan, b'x')]"
    document = read_table(text)
    assert document is not None
    assert (document.kind, document.unit, document.total) == (ContentKind.TABLE, "rows", 3)
    assert document.dense() == "[3]{$1 $2 $3 $4}:\nwren|9|null|2031-05-02\nit's|1.50|true|2.10\na, b|-3|NaN|b'x'"
    assert isinstance(decode(document.dense()), list)
    assert text[document.segments[1].start : document.segments[1].end] == "('it\\'s', 1.50, True, Decimal('2.10'))"


def test_printed_dicts_keep_their_keys() -> None:
    document = read_table("[{'a': 'x', 'b': 1}, {'a': 'y', 'b': datetime.datetime(2031, 5, 2, 7, 4)}]")
    assert document is not None
    assert document.dense() == "[2]{a b}:\nx|1\ny|2031-05-02 07:04:00"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "one line",
        "Hello, Ada,\nI was there, and\nso were you, too",
        "2031-05-02 07:04:00,123 INFO a\n2031-05-02 07:04:01,124 INFO b\n2031-05-02 07:04:01,125 WARN c",
        "     1\tdef f():\n     2\t    pass\n     3\t\n",
        "[('a', 1), ('b',)]",
        "[('a', 1)",
        "[f(x), g(y)]",
        "Title\n-----\ntext\n",
        "a|b\n",
        "[(" * 10_000,
        "[{'a':" * 10_000,
        '"' * 50_000 + "\n,\n,\n,",
    ],
)
def test_other_text_is_no_table(text: str) -> None:
    assert read_table(text) is None


@pytest.mark.parametrize(
    "text", [_FRAMED, _RULED, _MARKDOWN, 'a,b\n1,"x,\ny"\n2,"q"\n3,z\n', "[('a', b'x'), ('b', f('('))]"]
)
def test_a_table_cut_anywhere_is_read_or_refused_but_never_fails(text: str) -> None:
    for end in range(len(text)):
        document = read_table(text[:end])
        if document is not None:
            assert document.excerpt([0])
            assert document.outline()
            assert document.dense()
            assert len(document.segments) >= document.total


_SHARED = st.sampled_from(
    (
        "",
        "7",
        "null",
        "true",
        "wet",
        "*1",
        "&1 x",
        "(+2 same)",
        'a "b"',
        "a|b",
        "two\nlines",
        " x ",
        "the same long remark here",
    )
)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_a_table_whose_cells_repeat_reads_back_by_cell(data: st.DataObject) -> None:
    names = data.draw(st.sampled_from((["site", "remark"], ["lot", "bay no", "kept", "a=b"])))
    constant = data.draw(st.lists(st.booleans(), min_size=len(names), max_size=len(names)))
    first = [data.draw(_SHARED) for _ in names]
    count = data.draw(st.integers(2, 30))
    rows = [tuple(first[at] if same else data.draw(_SHARED) for at, same in enumerate(constant)) for _ in range(count)]
    grid = Grid(Style.DRAWN, Row(0, 0, tuple(names)), [Row(0, 0, row) for row in rows])
    written = shared(grid, 1_000_000)
    assert written is not None
    assert decode_table(written) == (tuple(names), rows)


def test_a_column_with_one_cell_and_long_cells_that_come_again_stand_once() -> None:
    rows = [f"S{n},open to all visitors in summer,{('dry', 'closed for repairs until May')[n % 2]},-" for n in range(6)]
    document = read_table("\n".join(["site,access,state,note", *rows]))
    assert document is not None
    assert document.dense() == (
        '[6]{site access="open to all visitors in summer" state note=-}:\nS0|dry\nS1|&1 closed for repairs until May\n'
        "S2|dry\nS3|*1\nS4|dry\nS5|*1"
    )
    assert decode_table(document.dense())[1][3] == (
        "S3",
        "open to all visitors in summer",
        "closed for repairs until May",
        "-",
    )


def test_a_table_that_would_gain_little_stays_as_it_is() -> None:
    text = "\n".join(["lot,bay,unit", *(f"L{n:07d},{n * 7919},b{n % 2}" for n in range(50))])
    document = read_table(text)
    assert document is not None
    assert document.dense() == text
    uneven = text + "\nL1,2"
    assert (found := read_table(uneven)) is not None
    assert found.dense() == uneven
