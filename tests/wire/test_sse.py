"""Server-sent events, in whatever pieces the bytes come."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.wire.sse import Event, Lines, event

CASES = {
    "line feeds": (b"data: a\n\ndata: b\n\n", [("", "a"), ("", "b")]),
    "carriage returns": (b"data: a\r\rdata: b\r\r", [("", "a"), ("", "b")]),
    "both": (b"data: a\r\n\r\ndata: b\r\n\r\n", [("", "a"), ("", "b")]),
    "mixed": (b"data: a\n\r\ndata: b\r\n\n", [("", "a"), ("", "b")]),
    "named": (b"event: ping\ndata: {}\n\n", [("ping", "{}")]),
    "no space behind the colon": (b"event:x\ndata:a\n\n", [("x", "a")]),
    "two spaces": (b"data:  a\n\n", [("", " a")]),
    "several lines": (b"data: a\ndata: b\n\n", [("", "a\nb")]),
    "a comment": (b": keep-alive\n\n", [("", None)]),
    "a comment among data": (b"data: a\n: hm\ndata: b\n\n", [("", "a\nb")]),
    "id and retry": (b"id: 1\nretry: 3\ndata: a\n\n", [("", "a")]),
    "empty lines before": (b"\n\ndata: a\n\n", [("", None), ("", "a")]),
    "byte order mark": (b"\xef\xbb\xbfdata: a\n\n", [("", "a")]),
    "a key alone": (b"data\n\n", [("", "")]),
    "without the last blank line": (b"data: a\n\ndata: b\n", [("", "a"), ("", "b")]),
    "without the end of the last line": (b'data: a\n\nevent: x\ndata: {"b": 1}', [("", "a"), ("x", '{"b": 1}')]),
    "without the end of what is last": (b"data: a\n\ndata: [DONE]", [("", "a"), ("", "[DONE]")]),
    "nothing": (b"", []),
}


def _read(stream: bytes, cuts: list[int], largest: int = 1 << 20) -> list[Event]:
    lines, found, before = Lines(largest=largest), list[Event](), 0
    for cut in [*sorted(cuts), len(stream)]:
        found += lines.feed(stream[before:cut])
        before = cut
    return [*found, *lines.close()]


@pytest.mark.parametrize(("stream", "expected"), CASES.values(), ids=CASES)
def test_events_are_split_and_read(stream: bytes, expected: list[tuple[str, str | None]]) -> None:
    found = _read(stream, [])

    assert [(each.name, each.data) for each in found] == expected
    assert not any(each.broken for each in found)


streams = st.one_of(
    st.lists(
        st.sampled_from([b"data: ", b"event: e", b"\n", b"\r", b"\r\n", b"\n\n", b"x", b"\xff", b": c", b"\xc3\xa4"]),
        max_size=30,
    ).map(b"".join),
    st.binary(max_size=60),
)


@given(stream=streams, data=st.data(), largest=st.sampled_from([1, 5, 8, 1000]))
def test_pieces_do_not_matter_and_no_byte_is_lost(stream: bytes, data: st.DataObject, largest: int) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=20))

    found = _read(stream, cuts, largest)

    assert b"".join(each.raw for each in found) == stream
    assert found == _read(stream, [], largest) == _read(stream, list(range(len(stream))), largest)


def test_an_event_is_there_as_soon_as_its_blank_line_is() -> None:
    lines = Lines()

    assert lines.feed(b"data: a\n") == []
    assert [each.data for each in lines.feed(b"\n")] == ["a"]
    assert [each.data for each in lines.feed(b"data: b\r\n\r\n")] == ["b"]


def test_an_event_that_is_too_large_comes_in_broken_pieces_and_the_next_one_whole() -> None:
    found = _read(b"data: " + b"x" * 100 + b"\n\ndata: a\n\n", [], largest=40)

    assert [each.broken for each in found] == [True, True, True, False]
    assert all(len(each.raw) <= 44 for each in found)
    assert found[-1].data == "a"


@pytest.mark.parametrize("stream", [b"data: \xff\n\n", b"data: {", b"event: x\ndata: a"], ids=str)
def test_what_cannot_be_read_is_kept_as_broken(stream: bytes) -> None:
    (found,) = _read(stream, [])

    assert found.broken
    assert found.data is None
    assert found.raw == stream


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        (' {"a": "\\ud83e"}', {"a": "\ud83e"}),
        ('{"a": 1e999}', {"a": float("inf")}),
        ("[DONE]", None),
        ("[1]", None),
        ("{", None),
        ("", None),
        ('{"a":' * 100_000, None),
        ('{"a":' * 500 + "1" + "}" * 500, None),
    ],
    ids=lambda value: str(value)[:12],
)
def test_the_object_of_an_event(data: str, expected: object) -> None:
    assert Event(raw=b"", data=data).fields == expected


@pytest.mark.parametrize("line_end", ["\n", "\r", "\r\n"], ids=repr)
@pytest.mark.parametrize("ends", [0, 1, 2])
def test_another_event_may_follow_one_that_is_ended(line_end: str, ends: int) -> None:
    (last,) = _read(f'data: {{"a": 1}}{line_end * ends}'.encode(), [])

    assert [each.data for each in _read(last.ended + b"data: b\n\n", []) if each.data] == ['{"a": 1}', "b"]
    assert ends < 2 or last.ended == last.raw


def test_what_is_written_is_read_again() -> None:
    made = event({"text": "a\nb\r\n\ud83e ü"}, "x") + event("[DONE]")

    first, second = _read(made, [])

    assert (first.name, first.fields) == ("x", {"text": "a\nb\r\n\ud83e ü"})
    assert second.data == "[DONE]"
