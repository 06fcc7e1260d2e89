"""SQL as a part of a recall: how it is asked for, which table is meant, and how rows are shown within a limit."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.errors import InvalidOption, NotFound
from callsheet.graph.ports import NamedTable, Queried, QueryLimits, QueryRefusal
from callsheet.graph.tabular import Column, Table
from callsheet.recall.querying import Answered, described, listed, named
from callsheet.recall.request import RecallRequest
from callsheet.recall.serving import Source, serve
from callsheet.recall.tool import PART, SQL, parse, schema, tool
from callsheet.wire.tokens import count


@pytest.mark.parametrize(
    ("part", "sql"),
    [
        ("sql SELECT a FROM t", "SELECT a FROM t"),
        ("SQL: select a from t", "select a from t"),
        ("sql\nWITH x AS (SELECT 1) FROM x", "WITH x AS (SELECT 1) FROM x"),
        ("SELECT a\nFROM t", "SELECT a\nFROM t"),
        ("select count(*) from t;", "select count(*) from t;"),
        ("sql DROP TABLE t", "DROP TABLE t"),
        ("sql (SELECT 1)", "(SELECT 1)"),
        ("sql -- all\nSELECT 1", "-- all\nSELECT 1"),
    ],
)
def test_a_part_that_begins_like_sql_is_sql(part: str, sql: str) -> None:
    assert parse({"reference": "a", "part": part}) == RecallRequest(reference="a", sql=sql)
    assert parse({"reference": "a", "sql": sql}) == RecallRequest(reference="a", sql=sql)


@pytest.mark.parametrize(
    "part", ["sql error", "sql", "selected from these", "select a colour", '"sql SELECT 1"', "sqlSELECT 1"]
)
def test_other_text_is_text_to_find(part: str) -> None:
    assert parse({"reference": "a", "part": part}) == RecallRequest(reference="a", search=part.strip('"'))


def test_rows_beside_sql_are_those_of_its_answer() -> None:
    for rows in ([5], 5, [5, None]):
        asked = parse({"reference": "a", "part": "sql SELECT 1 FROM t", "rows": rows})
        assert asked == RecallRequest(reference="a", sql="SELECT 1 FROM t", rows=(5, None))
    with pytest.raises(InvalidOption, match="at most one"):
        RecallRequest(reference="a", sql="SELECT 1", lines=(0, 1))
    with pytest.raises(InvalidOption, match="at most one"):
        RecallRequest(reference="a", sql="SELECT 1", search="x")


@pytest.mark.parametrize("sql", ["", "  ", "x" * 4_001, 7])
def test_what_is_no_query_is_refused(sql: object) -> None:
    with pytest.raises(InvalidOption, match="sql"):
        RecallRequest(reference="a", sql=sql)  # type: ignore[arg-type]


@given(st.text(max_size=30), st.none() | st.integers(0, 9))
def test_what_a_request_writes_is_understood_as_that_request(rest: str, first: int | None) -> None:
    rows = (first, None) if first is not None else None
    asked = RecallRequest(reference="a", sql=f"SELECT {rest.strip()}x", rows=rows)
    assert parse('{"reference": "a", ' + asked.arguments() + "}") == asked


def test_what_the_tool_says_of_sql_takes_few_tokens() -> None:
    sizes = [count(json.dumps(tool(sql=sql), separators=(",", ":")), "o200k_base") for sql in (False, True)]
    assert sizes[1] - sizes[0] <= 8
    said = schema(sql=True)["properties"]
    assert isinstance(said, dict)
    assert said["part"]["description"] == PART + SQL
    assert SQL not in json.dumps(tool())


# ---------------------------------------------------------------------------------------------- rows


TWO = [
    Table(pointer="/a", columns=(Column(name="x", type="BIGINT", cells=["1", "2"]),), rows=2),
    Table(pointer="", columns=(Column(name="y", type="DATE", cells=["2031-01-01"]),), rows=1),
]


class Answers:
    """Answers every query with the same, and remembers what it was asked."""

    def __init__(self, answer: Queried | QueryRefusal) -> None:
        self.answer = answer
        self.asked: list[tuple[str, list[tuple[str, ...]], QueryLimits]] = []

    def run(self, query: str, tables: Sequence[NamedTable], limits: QueryLimits) -> Queried | QueryRefusal:
        self.asked.append((query, [given.names for given in tables], limits))
        return self.answer


def source(tables: Sequence[Table] = TWO) -> Source:
    return Source(reference="art_1", raw=b"x", text="x", exact=True, tables=lambda: tables)


def queried(*rows: tuple[str | None, ...], total: int | None = None, more: bool = False) -> Queried:
    columns = tuple((f"c{at}", "VARCHAR") for at in range(len(rows[0]) if rows else 1))
    return Queried(columns=columns, rows=rows, total=len(rows) if total is None else total, more=more)


def asked(sql: str = "SELECT 1", **more: object) -> RecallRequest:
    return RecallRequest(reference="art_1", sql=sql, **more)  # type: ignore[arg-type]


def test_tables_go_by_t_and_a_number_and_by_their_pointers() -> None:
    engine = Answers(queried(("1",)))
    served = serve(source(), asked(), lambda: engine)
    assert engine.asked[0][:2] == ("SELECT 1", [("t", "/a"), ("t2",)])
    assert served.text == "(art_1, sql over t = /a (2 rows), t2 (1 rows): 1 row)\nc0\n1"
    assert (served.unit, served.shown, served.total, served.more) == ("rows", 1, 1, None)
    assert served.content == b"c0\n1"


def test_pointers_that_are_one_name_or_none_are_no_names() -> None:
    tables = [
        Table(pointer=pointer, columns=TWO[1].columns, rows=1) for pointer in ("/A", "/a", "/\0", "/\ud800", "/b")
    ]
    assert [given.names for given in named(tables)] == [("t", "/A"), ("t2",), ("t3",), ("t4",), ("t5", "/b")]


def test_cells_that_could_be_misread_stand_in_quotes() -> None:
    row = ("a|b", 'say "x"', "two\nlines", "", None, "NULL", "null", " a ", "1.50")
    text = serve(source(), asked(), lambda: Answers(queried(row))).text
    assert text.partition("\n")[2].partition("\n")[2] == ('"a|b"|"say ""x"""|"two\nlines"|""|NULL|"NULL"|null| a |1.50')


def test_rows_beyond_the_limit_are_counted_and_can_be_read_on() -> None:
    found = queried(*[("x" * 50,)] * 10, total=900)
    served = serve(source(), asked(limit=200), lambda: Answers(found))
    assert served.text.split("\n")[0].endswith(
        'rows [0, 3) of 900 rows; to read on: "part": "rows 3: sql ..." with the same query)'
    )
    assert (served.shown, served.total) == (3, 900)
    assert served.more == asked(limit=200, rows=(3, None))
    engine = Answers(queried(*[("x",)] * 2, total=900))
    onward = serve(source(), asked(rows=(898, None)), lambda: engine)
    assert engine.asked[0][2].first == 898
    assert "rows [898, 900) of 900 rows)" in onward.text
    assert onward.more is None
    inner = serve(source(), asked(rows=(2, 4), limit=80), lambda: Answers(queried(*[("x" * 60,)] * 2, total=900)))
    assert inner.more == asked(rows=(3, 4), limit=80)


def test_rows_that_were_not_counted_to_the_end_say_so() -> None:
    served = serve(source(), asked(), lambda: Answers(queried(("1",), ("2",), total=1_000_000, more=True)))
    assert "rows [0, 2) of more than 1,000,000 rows; to read on" in served.text


def test_a_row_that_is_alone_too_long_is_cut_with_a_mark() -> None:
    served = serve(source(), asked(limit=100), lambda: Answers(queried(("ä" * 500,), total=2)))
    assert served.text.endswith("ä … (cut)")
    assert "the first in part" in served.text
    assert len(served.content) <= 110
    assert served.more == asked(limit=100, rows=(1, None))


@given(
    st.lists(st.lists(st.none() | st.text(max_size=30), min_size=2, max_size=2).map(tuple), max_size=20),
    st.integers(16, 400),
)
def test_what_is_shown_stays_within_the_limit(given_rows: list[tuple[str | None, ...]], limit: int) -> None:
    found = Queried(columns=(("a", "VARCHAR"), ("b" * 70, "VARCHAR")), rows=tuple(given_rows), total=len(given_rows))
    shown = Answered(found, (0, None), limit)
    assert len(shown.text.encode("utf-8", "surrogatepass")) <= limit + 20
    assert shown.end <= len(given_rows)
    assert (shown.onward is None) == (shown.end == len(given_rows))
    if given_rows and limit > 100:
        assert shown.end > 0


def test_what_is_refused_says_what_there_is() -> None:
    with pytest.raises(InvalidOption) as problem:
        serve(source(), asked("DROP TABLE t"), lambda: Answers(QueryRefusal(problem="only one SELECT is answered")))
    assert str(problem.value) == (
        "sql: only one SELECT is answered; t has 2 rows of x BIGINT; t = /a (2 rows), t2 (1 rows)"
    )
    with pytest.raises(NotFound, match=r"the query has 3 rows, counted from 0; 7 is behind the last"):
        serve(source(), asked(rows=(7, None)), lambda: Answers(queried(total=3)))
    with pytest.raises(NotFound, match="art_1 holds no table"):
        serve(source(()), asked(), lambda: Answers(queried(("1",))))
    with pytest.raises(NotFound, match="there is no SQL here"):
        serve(source(), asked())


def test_what_there_is_is_told_in_bounded_words() -> None:
    columns = tuple(Column(name="n" * 300 + str(at), type="VARCHAR", cells=["x"]) for at in range(900))
    many = [Table(pointer="/" + "p" * 300, columns=columns, rows=1)] * 16
    assert len(described(many)) < 1_000
    assert len(listed(many)) < 500


def test_content_that_is_no_text_has_no_tables() -> None:
    binary = Source(reference="art_1", raw=b"\0", text=None, exact=False, tables=lambda: TWO)
    assert "not text" in serve(binary, asked(), lambda: Answers(queried(("1",)))).text
