"""SQL in a process of its own: it answers SELECT over the tables that it is given, and refuses all else."""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callsheet.derive.reading import read
from callsheet.derive.tables import tables
from callsheet.engines.sql import duck
from callsheet.engines.sql.duck import Duck
from callsheet.errors import MissingExtra
from callsheet.graph.ports import NamedTable, Queried, QueryLimits, QueryRefusal
from callsheet.graph.tabular import Column, Table

STOCK = (
    "part,zip,price,since,note\n"
    'P1,00123,1.50,2031-01-02,"a ""big"" one"\n'
    "P2,00124,3,2031-03-02,\n"
    "P3,00123,12345678901234.25,2030-12-31,x|y\n"
)


def named(text: str) -> list[NamedTable]:
    found = tables(read(text))
    return [NamedTable(names=(f"t{at}" if at > 1 else "t",), table=table) for at, table in enumerate(found, start=1)]


def run(query: str, given: list[NamedTable] | None = None, **limits: float) -> Queried | QueryRefusal:
    bounds = QueryLimits(
        seconds=limits.get("seconds", 20),
        memory=int(limits.get("memory", 512 << 20)),
        bytes=int(limits.get("bytes", 8_000)),
        first=int(limits.get("first", 0)),
    )
    return Duck().run(query, named(STOCK) if given is None else given, bounds)


def rows(query: str, given: list[NamedTable] | None = None, **limits: float) -> list[tuple[str | None, ...]]:
    found = run(query, given, **limits)
    assert isinstance(found, Queried), found
    return list(found.rows)


def refused(query: str, given: list[NamedTable] | None = None, **limits: float) -> str:
    found = run(query, given, **limits)
    assert isinstance(found, QueryRefusal), found
    return found.problem


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT part FROM t", [("P1",), ("P2",), ("P3",)]),
        ("select zip, count(*) from t group by zip", [("00123", "2"), ("00124", "1")]),
        ("SELECT sum(price), max(since) FROM t;", [("12345678901238.75", "2031-03-02")]),
        ("WITH a AS (SELECT * FROM t WHERE since >= '2031-01-01') SELECT part FROM a", [("P1",), ("P2",)]),
        ("FROM t SELECT note ORDER BY part DESC -- the newest first", [("x|y",), (None,), ('a "big" one',)]),
        ("(SELECT 1 AS a UNION SELECT 0) ORDER BY a /* ; drop table t */", [("0",), ("1",)]),
        ("select year(since), since + interval 1 day from T limit 1", [("2031", "2031-01-03 00:00:00")]),
        ("select 'nan'::double, 'inf'::double, -0.0::double", [("nan", "inf", "-0.0")]),
        (
            "select 0.1 + 0.2, 1/3, 7 // 2, 2::hugeint ** 100",
            [("0.3", "0.3333333333333333", "3", "1.2676506002282294e+30")],
        ),
        ("select n from range(3) as r(n)", [("0",), ("1",), ("2",)]),
        (
            "with recursive r as (select 1 a union all select a + 1 from r where a < 3) select * from r",
            [("1",), ("2",), ("3",)],
        ),
        ("select t.part from t join t u using (zip) where u.part = 'P1' order by 1", [("P1",), ("P3",)]),
        (
            "select part, row_number() over (partition by zip order by part) from t",
            [("P1", "1"), ("P2", "1"), ("P3", "2")],
        ),
        ("select [1, null], {'a': 'x'}, 'ä' || chr(0)", [("[1, NULL]", "{'a': x}", "ä\0")]),
        ("SELECT part FROM t; -- all of them", [("P1",), ("P2",), ("P3",)]),
        ("/* first */ SELECT 1;;", [("1",)]),
        ("VALUES (2), (1)", [("1",), ("2",)]),
        ("TABLE t LIMIT 0", []),
        ("; ; SELECT 1", [("1",)]),
        ("/* ; */ ; SELECT 1", [("1",)]),
        ("select b from (values (1, 2), (2, 1)) as v(a, b) order by all", [("1",), ("2",)]),
        ("select zip, count(*) from t group by cube (zip) order by all", [("00123", "2"), ("00124", "1"), (None, "3")]),
        ("select count(*) from t order by sum(price)", [("3",)]),
        ("select part from t order by zip", [("P1",), ("P3",), ("P2",)]),
        ("select zip from t order by columns('zip')", [("00123",), ("00123",), ("00124",)]),
        ("select sum(n) from (select unnest([1, 2]) as n)", [("3",)]),
        ("select count(*) as user, 'now()' from t", [("3", "now()")]),
        ("select", None),
    ],
)
def test_a_select_over_the_table_is_answered(query: str, expected: list[tuple[str | None, ...]] | None) -> None:
    if expected is None:
        assert "Parser Error" in refused(query)
    else:
        assert rows(query) == expected


HOSTILE = [
    # Changes.
    "INSERT INTO t VALUES ('P9', '1', 1, NULL, '')",
    "UPDATE t SET part = 'x'",
    "DELETE FROM t",
    "TRUNCATE t",
    "DROP TABLE t",
    "ALTER TABLE t ADD COLUMN x INT",
    "CREATE TABLE u AS SELECT * FROM t",
    "CREATE OR REPLACE MACRO sum(x) AS 1",
    "CREATE SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')",
    "WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone",
    "WITH new AS (INSERT INTO t SELECT * FROM t RETURNING part) SELECT * FROM new",
    "SELECT * FROM (UPDATE t SET part = 'x' RETURNING part)",
    "MERGE INTO t USING t AS u ON false WHEN NOT MATCHED THEN INSERT VALUES ('a', 'b', 1, NULL, '')",
    "SELECT 1; DROP TABLE t",
    "SELECT 1;\u00a0SELECT 2",
    "SELECT 1 /* ' */; DELETE FROM t -- '",
    "BEGIN",
    # Files and what lies around.
    "COPY t TO '/tmp/stolen.csv'",
    "COPY (SELECT 1) TO '/dev/stdout'",
    "COPY t FROM '/etc/passwd'",
    "EXPORT DATABASE '/tmp/stolen'",
    "ATTACH '/tmp/stolen.db' AS other",
    "ATTACH ':memory:' AS other",
    "SELECT * FROM '/etc/passwd'",
    'SELECT * FROM "/etc/passwd"',
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_csv('/etc/passwd', delim=':')",
    "SELECT * FROM READ_BLOB('/etc/passwd')",
    "SELECT (SELECT content FROM read_text('/etc/passwd'))",
    "SELECT * FROM t WHERE part IN (SELECT file FROM glob('/etc/*'))",
    "SELECT * FROM parquet_scan('https://example.com/a.parquet')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM query('SELECT * FROM read_text(''/etc/passwd'')')",
    "SELECT * FROM query_table(['t'])",
    "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
    "FROM main.read_text('/etc/passwd')",
    "SELECT * FROM t, LATERAL (SELECT * FROM read_text('/etc/' || part))",
    # What the engine is and may do.
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "RESET lock_configuration",
    "PRAGMA database_list",
    "PRAGMA table_info('t')",
    "CALL duckdb_settings()",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM pg_catalog.pg_tables",
    "SELECT * FROM sqlite_master",
    "SELECT current_setting('home_directory')",
    "SELECT getenv('HOME')",
    "SELECT version()",
    "SHOW TABLES",
    "DESCRIBE t",
    "SUMMARIZE t",
    "EXPLAIN SELECT * FROM t",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "USE memory",
    "VACUUM",
    "CHECKPOINT",
    "PIVOT t ON zip USING sum(price)",
    "SELECT ?",
    "SELECT $1 FROM t",
    # What is another thing each time.
    "SELECT now()",
    "SELECT CURRENT_TIMESTAMP",
    "SELECT current_date - since FROM t",
    "SELECT age(since::timestamp) FROM t",
    "SELECT random()",
    "SELECT uuid()",
    "SELECT * FROM t USING SAMPLE 1",
    "SELECT * FROM t TABLESAMPLE 10%",
    "SELECT sleep_ms(100000)",
    "SELECT nextval('s')",
    # What says a cell in an error.
    "SELECT error(part) FROM t",
    # What is nothing.
    "",
    ";",
    "-- nothing",
    "\ufeffSELECT 1; SELECT 2",
    "ＳＥＬＥＣＴ * FROM t",
    "S\u0435LECT 1",
    "SELECT \u2019a\u2019",
    "SELECT 'a",
    "SELECT " + "(" * 1_900 + "1" + ")" * 1_900,
]


_INSIDE = """
import sys
sys.path += sys.argv[1:]
from callsheet.engines.sql import answering
usual = answering._queried
def within(connection, given, volatile):
{body}
answering._queried = within
answering.main()
"""
"""Runs something in such a process, at the moment when it would look at the query."""

_ONE_BY_ONE = """
    import duckdb, json
    found = []
    for query in json.loads(given["query"]):
        try:
            found.append(usual(connection, {**given, "query": query}, volatile).get("problem"))
        except duckdb.Error as problem:
            found.append(answering._told(str(problem)))
    return {"columns": found}
"""

_ATTEMPTS = """
    import os, socket
    attempts = {
        "read": lambda: open("/etc/passwd"),
        "write": lambda: open("/tmp/stolen", "w"),
        "list": lambda: os.listdir("/"),
        "connect": socket.socket,
        "run": lambda: os.popen("id").read(),
        "settings": lambda: connection.execute("SET threads=2"),
        "engine reads": lambda: connection.execute("FROM read_text('/etc/passwd')").fetchall(),
        "engine writes": lambda: connection.execute("COPY (SELECT 1) TO '/tmp/stolen'"),
        "engine attaches": lambda: connection.execute("ATTACH '/tmp/stolen'"),
        "engine loads": lambda: connection.execute("LOAD httpfs"),
        "environment": lambda: os.environ["PATH"],
        "other files": lambda: [os.fstat(number) for number in range(3, 9)],
    }
    done = []
    for name, attempt in attempts.items():
        try:
            attempt()
            done.append(name)
        except Exception:
            pass
    return {"columns": done}
"""


def inside(
    monkeypatch: pytest.MonkeyPatch, body: str, query: str = "SELECT 1", given: list[NamedTable] | None = None
) -> list[str | None]:
    """What such a process finds, started as it always is."""
    monkeypatch.setattr(duck, "_START", _INSIDE.replace("{body}", body))
    limits = QueryLimits(seconds=60, memory=512 << 20, bytes=8_000)
    said = Duck()._said(duck._message(query, given or named(STOCK), limits), limits)
    assert said is not None
    found: list[str | None] = said["columns"]
    return found


def test_what_is_no_select_over_the_table_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    queries = [query.replace("/tmp/stolen", str(tmp_path / "stolen")) for query in HOSTILE]
    problems = inside(monkeypatch, _ONE_BY_ONE, json.dumps(queries))
    assert [query for query, problem in zip(queries, problems, strict=True) if not problem] == []
    for problem in filter(None, problems):
        assert len(problem) < 600
        assert "root:" not in problem
        assert "P1" not in problem
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "query", ["DROP TABLE t", "FROM read_text('/etc/passwd')", "SELECT '\ud800'", "S 1\0", "x" * 4_001]
)
def test_what_is_refused_is_told(query: str) -> None:
    assert 0 < len(refused(query)) < 300


def test_the_process_can_open_nothing_once_the_query_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What it could still do if the engine were tricked."""
    attempts = _ATTEMPTS.replace("/tmp/stolen", str(tmp_path / "stolen"))
    assert inside(monkeypatch, attempts) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "query",
    [
        "WITH RECURSIVE r AS (SELECT 1 a UNION ALL SELECT a + 1 FROM r) SELECT count(*) FROM r",
        "SELECT count(*) FROM range(100000) a, range(100000) b, range(100000) c WHERE a.range * b.range = c.range + 7",
        "SELECT repeat('x', 2000000000)",
        "SELECT list(a) FROM range(1000000000) AS r(a)",
        "SELECT a FROM range(1000000000) AS r(a) ORDER BY hash(a)",
        "SELECT string_agg(repeat('x', 1000)) FROM range(10000000)",
    ],
)
def test_what_takes_too_long_or_too_much_is_stopped(query: str) -> None:
    begun = time.monotonic()
    problem = refused(query, seconds=3, memory=128 << 20)
    assert "stopped" in problem or "memory" in problem
    assert time.monotonic() - begun < 30


def test_rows_without_end_are_counted_up_to_a_million() -> None:
    found = run("SELECT * FROM range(1000000000)", bytes=100)
    assert isinstance(found, Queried)
    assert found.more
    assert found.total == 1_000_000
    assert found.rows[0] == ("0",)
    assert len(found.rows) < 100


def test_a_row_that_is_too_long_comes_cut() -> None:
    found = run("SELECT repeat('x', 1000000) UNION ALL SELECT 'y'", bytes=100)
    assert isinstance(found, Queried)
    assert found.total == 2
    assert len(found.rows) == 1
    assert found.rows[0][0] is not None
    assert 100 < len(found.rows[0][0]) < 200


def test_what_is_wrong_with_cells_is_told_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    given = table(a=("VARCHAR", ["4711 secret"]), b=("BIGINT", ["9223372036854775807"]))
    queries = [
        "SELECT a::INT FROM t",
        "SELECT a::DATE FROM t",
        "SELECT b * b FROM t",
        "SELECT b::TINYINT FROM t",
        "SELECT b + 4711 FROM t",
        "SELECT a::DECIMAL(4, 2) FROM t",
        "SELECT json_extract(a, '$.x') FROM t",
        "SELECT strptime(a, '%Y') FROM t",
        "SELECT chr(b) FROM t",
        "SELECT regexp_matches('x', a || '(') FROM t",
        "SELECT a::STRUCT(x INT) FROM t",
        "SELECT (a || '-')::UUID FROM t",
        "SELECT unhex(a) FROM t",
        "SELECT from_base64(a) FROM t",
    ]
    for said in inside(monkeypatch, _ONE_BY_ONE, json.dumps(queries), given):
        assert said is not None
        for part in ("4711", "secret", "922337"):
            assert part not in said


def test_a_row_of_many_long_cells_comes_cut() -> None:
    wide = ", ".join(f"repeat('ä', 9000) AS c{at}" for at in range(100))
    found = run(f"SELECT {wide}", bytes=8_000)
    assert isinstance(found, Queried)
    assert len(found.columns) == 100
    assert len(found.rows) == 1
    assert sum(len(cell or "") for cell in found.rows[0]) < 9_000


def test_rows_can_be_passed_over() -> None:
    assert rows("SELECT part FROM t", first=2) == [("P3",)]
    assert rows("SELECT part FROM t", first=3) == []
    assert rows("SELECT part FROM t", first=2, bytes=10**12) == [("P3",)]
    assert rows("SELECT * FROM range(1500000)", first=1_200_000, bytes=40)[:2] == [("1200000",), ("1200001",)]
    found = run("SELECT part FROM t", first=1, bytes=1)
    assert isinstance(found, Queried)
    assert (found.rows, found.total) == ((("P2",),), 3)


def table(**columns: tuple[str, Sequence[str | None]]) -> list[NamedTable]:
    made = tuple(Column(name=name, type=kind, cells=cells) for name, (kind, cells) in columns.items())
    return [NamedTable(names=("t",), table=Table(pointer="", columns=made, rows=len(made[0].cells)))]


def test_cells_come_back_as_they_went_in() -> None:
    cells = [
        "",
        "=",
        "\x1f0\x1e",
        "\x1f0",
        "\x1e",
        "NULL",
        "a\nb",
        "a\r",
        "\0",
        "'",
        '"',
        "ä😀",
        "\\",
        " ",
        None,
        "x" * 70_000,
    ]
    found = rows("SELECT a FROM t", table(a=("VARCHAR", cells)), bytes=10**6)
    assert [row[0] for row in found] == cells


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["\x1f", "\x1f0\x1e", "\x1e\x1f"]
)


@settings(max_examples=5, deadline=None)
@given(st.lists(st.none() | texts, min_size=1, max_size=60))
def test_any_text_comes_back_as_it_went_in(cells: list[str | None]) -> None:
    assert [row[0] for row in rows("SELECT a FROM t", table(a=("VARCHAR", cells)), bytes=10**6)] == cells


@pytest.mark.parametrize(
    ("kind", "cell"),
    [
        ("BIGINT", "-9223372036854775808"),
        ("HUGEINT", "170141183460469231731687303715884105727"),
        ("DECIMAL(38,2)", "999999999999999999999999999999999999.99"),
        ("DOUBLE", "5e-324"),
        ("DOUBLE", "nan"),
        ("DOUBLE", "-inf"),
        ("DOUBLE", "1e+40"),
        ("BOOLEAN", "true"),
        ("DATE", "0001-01-01"),
        ("DATE", "9999-12-31"),
        ("TIMESTAMP", "2031-01-02 03:04:05.000001"),
    ],
)
def test_values_of_each_type_are_printed_to_the_last_digit(kind: str, cell: str) -> None:
    assert rows("SELECT a FROM t", table(a=(kind, [cell, None]))) == [(cell,), (None,)]


@pytest.mark.parametrize(
    "name", ['a"b', "select", "a\nb", "a b", "a;--", "'", "ä", "$1", "rowid", "t", "a.b", "c0", "q"]
)
def test_columns_may_have_any_name(name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    given = table(**{name: ("BIGINT", ["2", "1"])})
    found = run(f"SELECT {quoted} FROM t ORDER BY {quoted}", given)
    assert isinstance(found, Queried), found
    assert found.columns[0][0] == name
    assert found.rows == (("1",), ("2",))
    assert rows("SELECT * FROM t", given) == [("2",), ("1",)]


def test_tables_go_by_each_of_their_names() -> None:
    one, other = named('{"a/b": [{"x": 1}, {"x": 2}], "c": [{"y": 2}, {"y": 3}]}')
    given = [NamedTable(names=("t", "/a~1b"), table=one.table), NamedTable(names=("t2", "/c"), table=other.table)]
    assert rows('SELECT x FROM "/a~1b" JOIN t2 ON x = y', given) == [("2",)]
    assert rows('SELECT count(*) FROM t, "/c"', given) == [("4",)]


def test_columns_that_differ_in_letters_beyond_ascii_alone_are_two() -> None:
    given = table(ä=("BIGINT", ["1"]), Ä=("BIGINT", ["2"]))
    assert rows("SELECT * FROM t", given) == [("1", "2")]


def test_nested_cells_are_asked_as_json() -> None:
    given = named('[{"a": {"b": [1.50, {"c": "x"}]}}, {"a": {"b": []}}]')
    assert rows("SELECT a->>'$.b[1].c', json_extract(a, '$.b[0]') FROM t", given) == [("x", "1.5"), (None, None)]
    deep = '[{"a": ' + "[" * 3_000 + "]" * 3_000 + ', "b": 1}, {"a": 1, "b": 2}]'
    assert rows("SELECT length(a), b FROM t", named(deep)) == [("6000", "1"), ("1", "2")]


QUERIES = [
    "SELECT a, count(*) FROM t GROUP BY a",
    "SELECT DISTINCT b FROM t",
    "SELECT a FROM t WHERE b IN (SELECT b FROM t WHERE a < 5)",
    "SELECT t.a, u.b FROM t JOIN t u ON t.a = u.a WHERE t.b < 3",
    "SELECT b FROM t ORDER BY a % 2",
    "SELECT b FROM t GROUP BY b LIMIT 3",
    "SELECT a, b FROM t ORDER BY a % 3 LIMIT 7 OFFSET 2",
    "SELECT a FROM t UNION SELECT b FROM t",
    "SELECT DISTINCT ON (a) a, b FROM t",
    "SELECT first(b), list(b) FROM t GROUP BY a",
    "SELECT * FROM t ORDER BY ALL",
]


@pytest.mark.parametrize("query", QUERIES)
def test_the_order_of_rows_is_a_function_of_what_they_hold(query: str) -> None:
    count = 40
    given = table(
        a=("BIGINT", [str(at % 7) for at in range(count)]), b=("BIGINT", [str(at * 13 % 11) for at in range(count)])
    )
    found = rows(query, given)
    if "first(" in query or "LIMIT" in query or "DISTINCT ON" in query or "IN (" in query:
        assert found == rows(query, given)
        return
    turned = [list(reversed(column.cells)) for column in given[0].table.columns]
    assert found == rows(query, table(a=("BIGINT", turned[0]), b=("BIGINT", turned[1])))


def test_rows_straight_from_the_table_keep_its_order() -> None:
    given = table(a=("BIGINT", [str(at * 7 % 101) for at in range(101)]))
    assert rows("SELECT a FROM t", given) == [(str(at * 7 % 101),) for at in range(101)]
    assert rows("SELECT a FROM t WHERE a > 90 LIMIT 3", given) == [("91",), ("98",), ("95",)]


def test_rows_of_a_long_table_keep_its_order() -> None:
    given = table(a=("BIGINT", [str(at * 7_919 % 200_003) for at in range(200_003)]))
    found = rows("SELECT a FROM t", given, first=190_000, bytes=1_000)
    assert found == [(str(at * 7_919 % 200_003),) for at in range(190_000, 190_000 + len(found))]


def test_a_large_table_is_asked() -> None:
    count, width = 200_000, 20
    cells: list[list[str | None]] = [[str(at * (place + 1)) for at in range(count)] for place in range(width)]
    given = table(**{f"c{place}": ("BIGINT", column) for place, column in enumerate(cells)})
    assert rows("SELECT count(*), sum(c19) FROM t", given, seconds=120) == [("200000", str(20 * sum(range(count))))]


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duck, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"callsheet\[sql\]"):
        Duck()


def test_where_no_process_starts_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert "no process" in refused("SELECT 1")
