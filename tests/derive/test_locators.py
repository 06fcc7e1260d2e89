import json
import string

from hypothesis import given
from hypothesis import strategies as st

from callsheet.derive.jsonspans import find_pointer, values
from callsheet.derive.locators import locate, repair, resolve
from callsheet.graph.canonical import content_digest
from callsheet.graph.ids import RecordId
from callsheet.graph.values import Locator

SOURCE = RecordId("orchard")

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=6)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def _at(value: object, pointer: str) -> object:
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value[key]
        else:
            assert isinstance(value, list)
            value = value[int(key)]
    return value


@given(json_values, st.booleans())
def test_every_value_is_found_again_by_the_pointer_it_was_given(value: object, ascii_only: bool) -> None:
    content = json.dumps(value, ensure_ascii=ascii_only, indent=1).encode()
    for found in values(content):
        pointer = found.pointer()
        locator = locate(content, source=SOURCE, pointer=pointer)
        assert locator is not None
        held = resolve(locator, content)
        assert held is not None
        assert json.loads(held) == _at(value, pointer)


@given(st.binary(max_size=60), st.integers(-2, 61), st.integers(-2, 61))
def test_a_byte_range_resolves_to_what_stood_there(content: bytes, start: int, end: int) -> None:
    locator = locate(content, source=SOURCE, byte_range=(start, end))
    if 0 <= start < end <= len(content):
        assert locator is not None
        assert resolve(locator, content) == content[start:end]
    else:
        assert locator is None


@given(st.lists(st.text(string.ascii_letters + "é ,", max_size=8), min_size=1, max_size=8), st.data())
def test_lines_resolve_and_are_found_again_when_lines_come_before_them(lines: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    content = "\n".join(lines).encode() + b"\n"
    locator = locate(content, source=SOURCE, line_range=(first, last))
    assert locator is not None
    was = resolve(locator, content)
    assert was == "\n".join(lines[first - 1 : last]).encode()
    moved = b"0\n1\n" + content
    repaired = repair(locator, moved, was)
    if repaired is not None:
        assert resolve(repaired, moved) == was
        assert repaired.digest == locator.digest


@given(st.binary(max_size=40), st.binary(max_size=80), st.integers(0, 3))
def test_what_repair_returns_always_points_at_the_same_bytes(was: bytes, content: bytes, attempts: int) -> None:
    for place in (
        Locator(source=SOURCE, byte_range=(0, len(was)), digest=content_digest(was)),
        Locator(source=SOURCE, pointer="/plot/2", digest=content_digest(was)),
        Locator(source=SOURCE, line_range=(1, 2), digest=content_digest(was)),
        Locator(source=SOURCE, row_range=(0, 0), digest=content_digest(was)),
    ):
        repaired = repair(place, content, was, attempts)
        assert repaired is None or resolve(repaired, content) == was


def test_a_member_that_moved_is_found_under_the_same_key() -> None:
    before = b'{"trees": [{"row": 4, "yield": 61}, {"row": 5, "yield": 72}]}'
    after = b'{"trees": [{"row": 1, "yield": 9}, {"row": 4, "yield": 61}, {"row": 61, "yield": 72}]}'
    locator = locate(before, source=SOURCE, pointer="/trees/0/yield")
    assert locator is not None
    assert resolve(locator, after) is None
    for was in (b"61", None):
        repaired = repair(locator, after, was)
        assert repaired is not None
        assert repaired.pointer == "/trees/1/yield"


def test_a_value_that_stands_in_two_places_is_not_chosen() -> None:
    before = b'{"trees": [{"yield": 61}]}'
    after = b'{"trees": [{"yield": 1}, {"yield": 61}, {"yield": 61}]}'
    locator = locate(before, source=SOURCE, pointer="/trees/0/yield")
    assert locator is not None
    assert repair(locator, after, b"61") is None


def test_a_number_is_not_found_inside_a_longer_one_nor_under_another_key() -> None:
    locator = locate(b"paid 412 today", source=SOURCE, byte_range=(5, 8))
    assert locator is not None
    assert repair(locator, b"we paid 14127 yesterday", b"412") is None
    pointed = locate(b'{"fee": 412}', source=SOURCE, pointer="/fee")
    assert pointed is not None
    assert repair(pointed, b'{"tip": 412, "fee": 3}', b"412") is None


def test_no_attempt_is_made_when_none_is_left() -> None:
    locator = locate(b"a\nb\n", source=SOURCE, line_range=(2, 2))
    assert locator is not None
    assert repair(locator, b"x\na\nb\n", b"b", 0) is None
    assert repair(locator, b"x\na\nb\n", b"b", 1) is not None


def test_bytes_given_as_what_stood_there_count_only_if_they_have_its_digest() -> None:
    locator = locate(b"total 88", source=SOURCE, byte_range=(6, 8))
    assert locator is not None
    assert repair(locator, b"sum: 99", b"99") is None


def test_a_quoted_line_break_does_not_end_a_row() -> None:
    content = b'tree,note\r\n1,"tall\nold"\r\n2,new\r\n'
    locator = locate(content, source=SOURCE, row_range=(1, 1))
    assert locator is not None
    assert resolve(locator, content) == b'1,"tall\nold"'
    assert locate(content, source=SOURCE, row_range=(3, 3)) is None


def test_of_equal_keys_the_last_counts() -> None:
    assert find_pointer(b'{"a": 1, "a": [2]}', "/a") == (14, 17)
    assert find_pointer(b'{"a/b": {"m~n": 3}}', "/a~1b/m~0n") == (16, 17)


def test_deep_and_broken_json_takes_linear_time_and_no_stack() -> None:
    deep = b"[" * 100_000 + b"7" + b"]" * 100_000
    assert find_pointer(deep, "/0" * 100_000) == (100_000, 100_001)
    assert find_pointer(deep[:-5], "/0") is None
    assert find_pointer(b'{"a": [1, 2}', "/a/1") == (10, 11)
    assert find_pointer(b"\xff\xfe\x00 nonsense", "/a") is None
