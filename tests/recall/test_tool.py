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
        ('{"ref": "art_1"}', "unknown argument 'ref'; there are: reference, lines"),
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
        ('{"reference": "a", "lines": [' + "9" * 400 + "]}", "'from' must be"),
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


@given(st.text(max_size=60) | st.dictionaries(st.text(max_size=9), st.integers() | st.text(max_size=5)).map(json.dumps))
def test_no_arguments_raise_anything_else(arguments: str) -> None:
    with suppress(InvalidOption):
        parse(arguments)


def test_the_tool_is_valid_and_small() -> None:
    (read,) = read_tools([tool()])
    assert read.name == "recall"
    assert count(json.dumps(tool(), separators=(",", ":")), "o200k_base") <= 150
    properties = schema()["properties"]
    assert isinstance(properties, dict)
    assert set(properties) == {"reference", "lines", "rows", "bytes", "pointer", "search", "query"}


def test_a_request_writes_its_part_as_arguments() -> None:
    assert RecallRequest(reference="a", lines=(3, None)).arguments() == '"lines": [3]'
    assert RecallRequest(reference="a", search='say "x"').arguments() == '"search": "say \\"x\\""'
    assert RecallRequest(reference="a").arguments() == ""


@pytest.mark.parametrize("limit", [0, 15, -1, True, 2**70])
def test_a_limit_that_cannot_be_is_refused(limit: int) -> None:
    with pytest.raises(InvalidOption, match="limit"):
        RecallRequest(reference="a", limit=limit)
