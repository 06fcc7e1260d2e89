"""JSON Pointers on the text as it was written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.recall.pointer import Found, Missing, locate

Json = None | bool | int | str | list["Json"] | dict[str, "Json"]

values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def at(text: str, pointer: str) -> str | None:
    found = locate(text, pointer)
    return text[found.start : found.end] if isinstance(found, Found) else None


def places(value: Json, pointer: str = "") -> list[tuple[str, Json]]:
    found = [(pointer, value)]
    if isinstance(value, dict):
        for key, inner in value.items():
            found += places(inner, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            found += places(inner, f"{pointer}/{index}")
    return found


@given(values, st.sampled_from([None, 1]), st.booleans())
def test_every_place_is_found_as_it_was_written(value: Json, indent: int | None, ascii: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii)
    for pointer, inner in places(value):
        written = at(text, pointer)
        assert written is not None
        assert json.loads(written) == inner


@pytest.mark.parametrize(
    ("text", "pointer", "written"),
    [
        ('{"n": 1e999, "m": [ 1.0 , NaN]}', "/n", "1e999"),
        ('{"n": 1e999, "m": [ 1.0 , NaN]}', "/m/1", "NaN"),
        ('{"a": 1, "a": 2}', "/a", "2"),
        ('{"a": {"b": 1}, "a": {"c": 2}}', "/a/c", "2"),
        ('{"": {"": 5}}', "//", "5"),
        ('{"a~b": {"c/d": 5}}', "/a~0b/c~1d", "5"),
        ('{"\\u00e4": 5}', "/ä", "5"),
        ('{"a": "x\\"}"} ', "/a", '"x\\"}"'),
        ('  {"a": 1} ', "", '{"a": 1}'),
        ('{"a": {"b": [1, 2]}, "c": "cut in the mid', "/a/b/1", "2"),
    ],
)
def test_odd_but_clear(text: str, pointer: str, written: str) -> None:
    assert at(text, pointer) == written


@pytest.mark.parametrize("pointer", ["/b", "/a/2", "/a/-", "/a/01", "/a/0/x", "/a/" + "9" * 6000])
def test_what_is_not_there_is_not_found(pointer: str) -> None:
    assert at('{"a": [1, 2]}', pointer) is None


def test_an_answer_about_what_is_missing_says_what_is_there() -> None:
    missing = locate('{"a": {"b": 1, "c": [1, 2, 3]}}', "/a/x")
    assert isinstance(missing, Missing)
    assert (missing.reached, missing.keys, missing.kind) == ("/a", ["b", "c"], "object")
    missing = locate('{"a": {"b": 1, "c": [1, 2, 3]}}', "/a/c/7")
    assert isinstance(missing, Missing)
    assert (missing.reached, missing.size, missing.kind) == ("/a/c", 3, "array")


def test_depth_is_no_limit() -> None:
    text = "[" * 20_000 + "7" + "]" * 20_000
    assert at(text, "/0" * 20_000) == "7"
    assert at(text, "/1") is None


@given(st.text(alphabet='{}[]",:\\1a \n', max_size=40), st.sampled_from(["", "/a", "/0", "/a/0", "/0/a/1"]))
def test_no_text_is_too_broken_to_be_looked_at(text: str, pointer: str) -> None:
    found = locate(text, pointer)
    if isinstance(found, Found):
        assert 0 <= found.start < found.end <= len(text)
