import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callsheet.derive.derived import MORE, SEGMENTS, Derived, index_message, index_result, segment_table, unpack
from callsheet.derive.document import ContentKind, Segment
from callsheet.derive.entities import find
from callsheet.derive.reading import read
from callsheet.derive.terms import ANALYSER
from callsheet.graph.enums import Freshness, Privacy
from callsheet.graph.index import Index


def _index(content: str | bytes, arguments: str = "{}") -> Index:
    return index_result(content, tool="look_up", arguments=arguments, count=len)


def _derived(content: str | bytes, arguments: str = "{}") -> Derived:
    derived = unpack(_index(content, arguments).derived)
    assert derived is not None
    return derived


def test_what_is_kept_of_a_result_is_read_back_whole() -> None:
    content = json.dumps(
        [{"pot_id": f"P-77{n}1", "mail": "ruth@kiln.example", "in_stock": n} for n in range(4)], indent=2
    )
    derived = _derived(content, '{"shelf": "B4"}')
    assert derived.kind is ContentKind.JSON
    assert (derived.total, derived.unit) == (4, "items")
    assert derived.privacy is Privacy.PERSONAL
    assert derived.freshness is Freshness.VOLATILE
    assert derived.raw_tokens == derived.characters == len(content)
    assert derived.dense_tokens < derived.raw_tokens
    assert derived.gist_tokens == len(derived.gist)
    assert derived.gist.startswith("look_up(shelf: B4): 4 items")
    assert derived.analyser == ANALYSER
    assert not derived.failed


def test_the_table_finds_the_segments_that_touch_an_entity() -> None:
    content = json.dumps([{"pot_id": f"P-77{n}1", "owner": "ruth_oake_1"} for n in range(6)])
    index = _index(content)
    derived = unpack(index.derived)
    assert derived is not None
    segments = read(content).segments
    assert derived.table.spans() == [(segment.start, segment.end) for segment in segments]
    assert derived.table.touching(frozenset([index.entities.index("p-7741")])) == {4}
    assert derived.table.touching(frozenset([index.entities.index("ruth_oake_1")])) == set(range(6))


def test_a_long_table_covers_all_rows_in_bounded_room() -> None:
    rows = "".join(f"KLN-{n},B{n % 9},{n * 37}\n" for n in range(20_000))
    index = _index("sku,bay,weight\n" + rows)
    derived = unpack(index.derived)
    assert derived is not None
    assert len(derived.table.sizes) <= SEGMENTS
    assert derived.table.spans()[-1][1] >= len("sku,bay,weight\n" + rows) - 1
    assert len(index.derived) < 12_000
    assert len(index.entities) == 257
    assert index.entities[-1] == MORE
    assert len(index.terms) <= 512


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=40))
def test_spans_are_those_of_the_segments(shape: list[tuple[int, int]]) -> None:
    segments: list[Segment] = []
    end = 0
    for gap, size in shape:
        segments.append(Segment(end + gap, end + gap + size, f"line {len(segments)}"))
        end += gap + size
    table = segment_table(segments, [], {})
    assert table.spans() == [(segment.start, segment.end) for segment in segments]
    assert table.touched == [b""] * len(segments)


def test_no_more_than_eight_entities_are_kept_of_a_segment() -> None:
    text = " ".join(f"pot_{n}" for n in range(50))
    known = {f"pot_{n}": n for n in range(50)}
    table = segment_table([Segment(0, len(text), "line 1")], find(text), known)
    assert table.touched == [bytes(range(8))]


@pytest.mark.parametrize("content", ["error: lid open\nexit status 3", '{"error": "lid open"}'])
def test_what_is_remembered_of_a_failed_run_says_that_it_failed(content: str) -> None:
    derived = _derived(content)
    assert derived.failed
    assert "failed: " in derived.gist
    assert "lid open" in derived.gist


def test_a_result_that_was_recorded_as_failed_is_failed_whatever_it_says() -> None:
    index = index_result("lid open", tool="fire", arguments="{}", count=len, failed=True)
    derived = unpack(index.derived)
    assert derived is not None
    assert derived.gist == "fire() failed: lid open"


def test_the_class_of_the_arguments_counts_because_the_gist_shows_them() -> None:
    assert _derived("ok", '{"to": "ruth@kiln.example"}').privacy is Privacy.PERSONAL


def test_messages_are_found_by_entities_and_terms_and_have_no_levels() -> None:
    index = index_message("Where is pot P-7731, please?")
    assert index.entities == ("p-7731",)
    assert ("pot", 1) in index.terms
    assert unpack(index.derived) is None


def test_what_another_version_packed_is_derived_again() -> None:
    assert unpack(b"\x81\xa4what\x01") is None
    assert unpack(b"\xff") is None


@settings(max_examples=60, deadline=None)
@given(st.binary() | st.text() | st.text('{}[]":,aP-1\n|\\').map(lambda s: s * 3))
def test_no_content_makes_derivation_fail(content: bytes | str) -> None:
    derived = _derived(content)
    for entry in derived.table.touched:
        assert len(entry) <= 8
    assert len(derived.gist) <= 400


@pytest.mark.parametrize(
    "content",
    [
        "[" * 20_000 + "]" * 20_000,
        '{"a":' * 20_000,
        '{"a": 1e999, "a": NaN, "b": -Infinity}',
        "\x00" * 5000,
        '{"s": "\\ud800"}',
        "\ud800\udfff lone",
        b"\xff\xfe\x00\xd8",
        "QUJD" * 100_000,
        ("x" * 200_000) + "\n" + "y,z\n" * 20_000,
        '{"k": "' + '\\"' * 100_000,
    ],
)
def test_hostile_content_is_derived_in_bounded_room(content: str | bytes) -> None:
    index = _index(content)
    assert len(index.derived) < 12_000
    assert unpack(index.derived) is not None
