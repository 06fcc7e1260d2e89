"""What a model may write when it calls the recall tool."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.errors import InvalidOption
from callsheet.recall.request import RecallRequest
from callsheet.recall.tool import parse, schema, tool
from callsheet.wire.tokens import count
from callsheet.wire.tools import read_tools


@pytest.mark.parametrize(
    ("arguments", "request_"),
    [
        ('{"reference": "art_1"}', RecallRequest(reference="art_1")),
        ('{"reference": "art_1", "lines": [0, 40]}', RecallRequest(reference="art_1", lines=(0, 40))),
        ('{"reference": "art_1", "lines": [40]}', RecallRequest(reference="art_1", lines=(40, None))),
        ('{"reference": "art_1", "rows": 7}', RecallRequest(reference="art_1", rows=(7, None))),
        ('{"reference": "art_1", "bytes": [1, 2]}', RecallRequest(reference="art_1", bytes=(1, 2))),
        ('{"reference": "art_1", "pointer": "/a/0"}', RecallRequest(reference="art_1", pointer="/a/0")),
        ('{"reference": "art_1", "search": "x", "lines": null}', RecallRequest(reference="art_1", search="x")),
        ('{"reference": "art_1", "lines": [], "query": ""}', RecallRequest(reference="art_1")),
        ('{"query": "late parcels"}', RecallRequest(query="late parcels")),
        ('{"reference": "art_1", "part": "lines 0:40"}', RecallRequest(reference="art_1", lines=(0, 40))),
        ('{"reference": "art_1", "part": " line 3 - 9"}', RecallRequest(reference="art_1", lines=(3, 9))),
        ('{"reference": "art_1", "part": "rows 7"}', RecallRequest(reference="art_1", rows=(7, None))),
        ('{"reference": "art_1", "part": "rows 7:"}', RecallRequest(reference="art_1", rows=(7, None))),
        ('{"reference": "art_1", "part": "bytes: [1, 2]"}', RecallRequest(reference="art_1", bytes=(1, 2))),
        ('{"reference": "art_1", "part": "characters 4 to 8"}', RecallRequest(reference="art_1", characters=(4, 8))),
        ('{"reference": "art_1", "part": "/a/0"}', RecallRequest(reference="art_1", pointer="/a/0")),
        ('{"reference": "art_1", "part": "lost parcel"}', RecallRequest(reference="art_1", search="lost parcel")),
        ('{"reference": "art_1", "part": "\'/usr/bin\'"}', RecallRequest(reference="art_1", search="/usr/bin")),
        ('{"reference": "art_1", "part": "\\"lines 3\\""}', RecallRequest(reference="art_1", search="lines 3")),
        ('{"reference": "art_1", "part": "lines of code"}', RecallRequest(reference="art_1", search="lines of code")),
        ('{"reference": "art_1", "part": "search lost oak"}', RecallRequest(reference="art_1", search="lost oak")),
        ('{"reference": "art_1", "part": "search: \'a b\'"}', RecallRequest(reference="art_1", search="a b")),
        ('{"reference": "art_1", "part": "search"}', RecallRequest(reference="art_1", search="search")),
        ('{"reference": "art_1", "part": "sql SELEC 1"}', RecallRequest(reference="art_1", sql="SELEC 1")),
        (
            '{"reference": "art_1", "part": "rows 184: sql SELECT a FROM t"}',
            RecallRequest(reference="art_1", sql="SELECT a FROM t", rows=(184, None)),
        ),
        (
            '{"reference": "art_1", "part": "rows 3 to 9 of SELECT a FROM t"}',
            RecallRequest(reference="art_1", sql="SELECT a FROM t", rows=(3, 9)),
        ),
        ('{"reference": "art_1", "part": "rows sql"}', RecallRequest(reference="art_1", search="rows sql")),
        ('{"reference": "art_1", "part": " "}', RecallRequest(reference="art_1")),
        ('{"reference": "art_1", "part": "pointer /a/0"}', RecallRequest(reference="art_1", pointer="/a/0")),
        ('{"reference": "art_1", "part": "Pointer: /a/0"}', RecallRequest(reference="art_1", pointer="/a/0")),
        ('{"reference": "art_1", "part": "pointer a"}', RecallRequest(reference="art_1", search="pointer a")),
        ('{"reference": "art_1", "part": "Rows 3:9"}', RecallRequest(reference="art_1", rows=(3, 9))),
        (
            '{"reference": "art_1", "part": "lines 0 to 100000000000000000000"}',
            RecallRequest(reference="art_1", lines=(0, 10**12)),
        ),
        (
            '{"reference": "art_1", "bytes": [0, 1' + "0" * 99 + "]}",
            RecallRequest(reference="art_1", bytes=(0, 10**12)),
        ),
        ('{"reference": "art_1", "bytes": [1000000000000]}', RecallRequest(reference="art_1", bytes=(10**12, None))),
        ('{"reference": "art_1", "part": "line 42: error"}', RecallRequest(reference="art_1", search="line 42: error")),
        (
            '{"reference": "art_1", "part": "\\"turns 3 to 1\\""}',
            RecallRequest(reference="art_1", search="turns 3 to 1"),
        ),
        ('{"reference": "art_1", "part": "at 10:30"}', RecallRequest(reference="art_1", search="at 10:30")),
        ('{"reference": "art_1", "part": "ORD-1 to 3"}', RecallRequest(reference="art_1", search="ORD-1 to 3")),
    ],
)
def test_what_is_meant_is_understood(arguments: str, request_: RecallRequest) -> None:
    assert parse(arguments) == request_
    assert parse(json.loads(arguments)) == request_


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("", "'reference'"),
        ("{}", "'reference'"),
        ("[1]", "must be a JSON object"),
        ("{", "not JSON"),
        ("[" * 100_000, "the arguments have"),
        ("[" * 20_000, "not JSON"),
        ('{"ref": "art_1"}', "unknown argument 'ref'; there are: reference, part, lines"),
        ('{"reference": 5}', "reference must be text"),
        ('{"reference": "a", "query": "b"}', "either 'reference'"),
        ('{"query": "b", "lines": [0, 1]}', "'lines' needs a 'reference'"),
        ('{"reference": "a", "lines": [0, 1], "search": "b"}', "at most one of"),
        ('{"reference": "a", "lines": [4, 2]}', "'from' must be at least 0 and below 'to'"),
        ('{"reference": "a", "lines": [-1, 2]}', "'from' must be"),
        ('{"reference": "a", "lines": [1, 2, 3]}', "two whole numbers"),
        ('{"reference": "a", "lines": ["1", 2]}', "two whole numbers"),
        ('{"reference": "a", "lines": [true, 2]}', "two whole numbers"),
        ('{"reference": "a", "lines": [1e999]}', "two whole numbers"),
        ('{"reference": "a", "lines": [' + "9" * 400 + "]}", "no content has more than 1,000,000,000,000"),
        ('{"reference": "a", "pointer": "items"}', "begins with '/'"),
        ('{"reference": "a", "search": "' + "x" * 2000 + '"}', "at most 1,000"),
        ('{"reference": "  "}', "not empty"),
    ],
)
def test_what_is_wrong_is_said(arguments: str, said: str) -> None:
    with pytest.raises(InvalidOption) as problem:
        parse(arguments)
    assert said in str(problem.value)
    assert len(str(problem.value)) < 300


@pytest.mark.parametrize(
    "part",
    [
        "rows -1 to 2",
        "lines 1:3, 5:7",
        "lines 0:40 and 90:95",
        "rows 1.5",
        "rows from 3 to 9",
        "lines 5 to end",
        "bytes +3:9",
        "lines 1" + "0" * 500,
        "turns 3 to 1",
        "messages 2:5",
        "items [0, 5]",
        "Columns 1-3",
    ],
)
def test_what_almost_is_a_range_is_never_looked_for_as_text(part: str) -> None:
    with pytest.raises(InvalidOption, match="a range is one of lines, rows, bytes or characters") as problem:
        parse({"reference": "a", "part": part})
    assert "put them in quotes" in str(problem.value)
    assert len(str(problem.value)) < 300
    assert parse({"reference": "a", "part": f'"{part}"'}).search == part


@given(st.text(max_size=60) | st.dictionaries(st.text(max_size=9), st.integers() | st.text(max_size=5)).map(json.dumps))
def test_no_arguments_raise_anything_else(arguments: str) -> None:
    with suppress(InvalidOption):
        parse(arguments)


def test_the_tool_is_valid_and_small() -> None:
    (read,) = read_tools([tool()])
    assert read.name == "recall"
    assert count(json.dumps(tool(), separators=(",", ":")), "o200k_base") <= 100
    properties = schema()["properties"]
    assert isinstance(properties, dict)
    assert set(properties) == {"reference", "part", "query"}


def test_a_request_writes_its_part_as_arguments() -> None:
    assert RecallRequest(reference="a", lines=(3, None)).arguments() == '"part": "lines 3:"'
    assert RecallRequest(reference="a", search="say x").arguments() == '"part": "\\"say x\\""'
    assert RecallRequest(reference="a").arguments() == ""
    onward = RecallRequest(reference="a", sql="SELECT a FROM t", rows=(3, None))
    assert onward.arguments() == '"part": "rows 3: sql SELECT a FROM t"'
    assert parse('{"reference": "a", ' + onward.arguments() + "}") == onward


ranges = st.tuples(st.integers(0, 999), st.integers(1_000, 10**12) | st.none())
parts = st.one_of(
    *(st.tuples(st.just(name), ranges) for name in ("lines", "rows", "bytes", "characters")),
    st.tuples(st.just("pointer"), st.text(max_size=20).map(lambda text: "/" + text.strip())),
    st.tuples(st.just("search"), st.text(min_size=1, max_size=30).filter(lambda text: bool(text.strip()))),
)


@given(parts)
def test_what_a_request_writes_is_understood_as_that_request(part: tuple[str, object]) -> None:
    name, value = part
    asked = RecallRequest(reference="a", **{name: value})  # type: ignore[arg-type]
    assert parse('{"reference": "a", ' + asked.arguments() + "}") == asked


@pytest.mark.parametrize("limit", [0, 15, -1, True, 2**70])
def test_a_limit_that_cannot_be_is_refused(limit: int) -> None:
    with pytest.raises(InvalidOption, match="limit"):
        RecallRequest(reference="a", limit=limit)
