"""Slices: exact, bounded, and together the whole."""

from dataclasses import dataclass
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.errors import NotFound
from callsheet.recall.exact import encoded_size
from callsheet.recall.request import Range, RecallRequest
from callsheet.recall.serving import Piece as Part
from callsheet.recall.serving import Served, Source, serve
from callsheet.recall.slices import take_bytes, take_lines, take_span

texts = st.text(alphabet="ab\n\r\u00e4\u20ac\U0001f600\ud800", max_size=120)


@dataclass(frozen=True)
class Piece:
    start: int
    end: int
    name: str
    always: bool = False


@dataclass(frozen=True)
class Table:
    """A table whose first line is its header."""

    unit: str
    total: int
    segments: tuple[Piece, ...]


def table(text: str) -> Table:
    pieces: list[Piece] = []
    start = 0
    for index, line in enumerate(text.split("\n")):
        pieces.append(Piece(start, start + len(line), f"row {index - 1}", always=index == 0))
        start += len(line) + 1
    return Table(unit="rows", total=len(pieces) - 1, segments=tuple(pieces))


def plain(text: str) -> Source:
    return Source(reference="art_1", raw=text.encode("utf-8", "surrogatepass"), text=text, exact=True)


def tabular(text: str) -> Source:
    return Source(reference="art_1", raw=text.encode(), text=text, exact=True, outline=lambda whole: table(text))


STOCK = "\n".join(
    ["part,shelf,count,minimum", *(f"P{i:05d},{i % 40},{(i * 13) % 97},{(i * 5) % 60}" for i in range(5000))]
)


def of_parts(*parts: str | bytes) -> Source:
    """Content of several parts; bytes are no text and told of in words."""
    shown = [part if isinstance(part, str) else f"({len(part)} bytes)" for part in parts]
    raw = [part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part for part in parts]
    placed: list[Part] = []
    at = raw_at = 0
    for part, text, content in zip(parts, shown, raw, strict=True):
        binary = isinstance(part, bytes)
        end, raw_end = at + len(text), raw_at + len(content)
        placed.append(Part(start=at, end=end, raw_start=raw_at, raw_end=raw_end, exact=not binary, standin=binary))
        at, raw_at = end + 1, raw_end
    return Source(
        reference="art_1",
        raw=b"".join(raw),
        text="\n".join(shown),
        exact=False,
        pieces=tuple(placed),
        outline=lambda whole: table("\n".join(shown)),
    )


def ask(
    *,
    lines: Range | None = None,
    rows: Range | None = None,
    bytes: Range | None = None,
    characters: Range | None = None,
    pointer: str | None = None,
    search: str | None = None,
    limit: int = 400,
) -> RecallRequest:
    return RecallRequest(
        reference="art_1",
        lines=lines,
        rows=rows,
        bytes=bytes,
        characters=characters,
        pointer=pointer,
        search=search,
        limit=limit,
    )


def read_on(source: Source, request: RecallRequest | None) -> list[Served]:
    served: list[Served] = []
    while request is not None:
        served.append(serve(source, request))
        request = served[-1].more
        assert len(served) < 10_000
    return served


@given(st.binary(max_size=300), st.integers(16, 80))
def test_slices_of_bytes_joined_are_the_bytes(content: bytes, limit: int) -> None:
    source = Source(reference="art_1", raw=content, text=None, exact=False)
    joined = b"".join(one.content for one in read_on(source, ask(bytes=(0, None), limit=limit)))
    assert sha256(joined).digest() == sha256(content).digest()


@given(texts, st.integers(16, 80), st.booleans())
def test_reading_on_from_the_beginning_gives_the_whole(text: str, limit: int, whole: bool) -> None:
    served = read_on(plain(text), ask(limit=limit) if whole else ask(lines=(0, None), limit=limit))
    assert b"".join(one.content for one in served) == text.encode("utf-8", "surrogatepass")
    assert all(len(one.content) <= limit for one in served)


@given(st.lists(texts | st.binary(max_size=9), min_size=1, max_size=5), st.integers(16, 80), st.booleans())
def test_slices_of_several_parts_joined_are_the_content_without_a_byte_more_or_less(
    parts: list[str | bytes], limit: int, whole: bool
) -> None:
    source = of_parts(*parts)
    served = read_on(source, ask(limit=limit) if whole else ask(lines=(0, None), limit=limit))
    assert b"".join(one.content for one in served) == source.raw
    served = read_on(source, ask(bytes=(0, None), limit=limit))
    assert b"".join(one.content for one in served) == source.raw


@given(st.lists(texts, min_size=1, max_size=4), st.integers(16, 40))
def test_rows_and_spans_of_several_parts_read_on_to_their_end(parts: list[str], limit: int) -> None:
    source = of_parts(*parts)
    text = source.text or ""
    if "\n" in text:
        below = text.partition("\n")[2].encode("utf-8", "surrogatepass")
        joined = b"".join(one.content for one in read_on(source, ask(rows=(0, None), limit=limit)))
        # The ends of lines between parts are not recorded; all others are.
        assert joined.replace(b"\n", b"") == below.replace(b"\n", b"")
        assert source.raw.endswith(joined)


def test_a_long_line_of_one_part_is_read_on_in_characters_and_never_shows_the_bytes_of_another() -> None:
    source = of_parts("reed " * 200, bytes(range(200)), "end of the shore")
    first = serve(source, ask(lines=(0, None)))
    assert first.more == ask(characters=(400, 1_000 + 1 + 11 + 1 + 16))
    assert 'to read on: {"part": "characters 400:1029"}' in first.text
    shown = "".join(one.text.partition("\n")[2] for one in read_on(source, ask(lines=(0, None))))
    assert shown == source.text


@given(texts, st.integers(16, 40))
def test_text_of_another_encoding_is_read_on_to_its_end(text: str, limit: int) -> None:
    raw = text.encode("utf-16", "surrogatepass")
    pieces = (Part(start=0, end=len(text), raw_start=0, raw_end=len(raw), exact=False),)
    source = Source(reference="art_1", raw=raw, text=text, exact=False, pieces=pieces)
    served = read_on(source, ask(lines=(0, None), limit=limit))
    assert b"".join(one.content for one in served) == text.encode("utf-8", "surrogatepass")


@given(texts, st.integers(16, 80), st.integers(0, 5), st.integers(1, 6))
def test_lines_are_those_that_were_asked_for(text: str, limit: int, first: int, count: int) -> None:
    lines = text.split("\n")
    whole = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    if first >= len(whole) and first:
        with pytest.raises(NotFound):
            take_lines(text, (first, first + count), limit)
        return
    part = take_lines(text, (first, first + count), limit)
    wanted = "".join(whole[first : first + count])
    assert encoded_size(part.text) <= limit
    assert wanted.startswith(part.text)
    assert part.total == len(whole)
    if part.more is None:
        assert part.text == wanted
    elif not part.partial:
        assert part.text == "".join(whole[first : part.end])
        assert part.more == ("lines", (part.end, min(first + count, len(whole))))


@given(texts, st.integers(16, 40))
def test_a_span_is_cut_between_characters_and_goes_on_as_bytes(text: str, limit: int) -> None:
    part = take_span(text, 0, len(text), limit)
    rest = b""
    if part.more is not None:
        start, end = part.more[1]
        rest = text.encode("utf-8", "surrogatepass")[start:end]
    assert part.text.encode("utf-8", "surrogatepass") + rest == text.encode("utf-8", "surrogatepass")


def test_bytes_do_not_split_a_character() -> None:
    assert take_bytes("ä€".encode() * 20, (0, None), 16).text == "ä€" * 3


def test_bytes_that_are_no_text_are_shown_within_the_limit() -> None:
    part = take_bytes(b"\xff" * 1000, (0, None), 40)
    assert part.text == "\\xff" * 10
    assert part.more == ("bytes", (10, 1000))


def test_rows_stand_below_their_header() -> None:
    served = serve(tabular(STOCK), ask(rows=(3177, 3178)))
    assert (
        served.text
        == "(art_1, rows [3177, 3178) of 5,000; the header stands first)\npart,shelf,count,minimum\nP03177,17,76,45"
    )
    assert served.content == b"P03177,17,76,45"


def test_every_excerpt_of_rows_shows_the_header_once_and_first() -> None:
    source = tabular(STOCK)
    requests = [ask(), ask(rows=(10, None)), ask(lines=(0, None)), ask(lines=(40, 60)), ask(search="P0317")]
    for request in requests:
        served = serve(source, request)
        assert served.text.count("part,shelf,count,minimum") == 1
        assert served.text.split("\n")[1] == "part,shelf,count,minimum"
        assert encoded_size(served.text) <= 400 + 200


def test_rows_read_on_are_all_rows() -> None:
    served = read_on(tabular(STOCK), ask(rows=(0, None), limit=4000))
    assert b"".join(one.content for one in served).decode() == STOCK.partition("\n")[2]
    # What is shown ends with a row.
    assert all(not one.text.endswith("\n") for one in served)


def test_a_search_in_a_table_names_the_rows() -> None:
    served = serve(tabular(STOCK), ask(search="p04999"))
    assert served.text.endswith(f"part,shelf,count,minimum\nrow 4999: {STOCK.rpartition(chr(10))[2]}")


def test_a_search_in_a_header_shows_it_once() -> None:
    served = serve(tabular(STOCK), ask(search="shelf"))
    assert served.text.count("shelf,count") == 1


def test_a_search_in_lines_names_them_and_shows_no_line_twice() -> None:
    text = "\n".join(["start", "load ok", "fail: disk 7", "fail: disk 8", "retry", "end"])
    served = serve(plain(text), ask(search="FAIL"))
    assert served.text.split("\n")[1:] == ["line 1: load ok", "line 2: fail: disk 7", "line 3: fail: disk 8"]
    assert served.total == 2


def test_a_search_with_very_many_matches_is_bounded_and_says_how_many() -> None:
    served = serve(plain("spot on\n" * 5000), ask(search="spot"))
    assert encoded_size(served.text) < 700
    assert served.total == 5000
    assert served.shown < 60
    assert "5,000 matches" in served.text


def test_a_search_that_finds_nothing_says_so() -> None:
    assert serve(plain("abc"), ask(search="xyz")).text == '(art_1, search "xyz": 0 matches in 1 lines)'


def test_what_fits_is_whole_and_what_does_not_says_how_to_read_on() -> None:
    assert serve(plain("one\ntwo"), ask()).text == "(art_1, whole: 2 lines, 7 bytes)\none\ntwo"
    long = serve(plain("word\n" * 1000), ask())
    assert long.text.startswith('(art_1, lines [0, 80) of 1,000; to read on: {"part": "lines 80:1000"})\nword\n')
    assert long.more == ask(lines=(80, 1000))


def test_one_endless_line_is_read_on_in_bytes() -> None:
    text = "€" * 100_000
    served = serve(plain(text), ask())
    assert served.content.decode() == "€" * 133
    assert served.more == ask(bytes=(399, 300_000))


def test_a_pointer_gives_the_value_as_written() -> None:
    source = plain('{"items": [{"id": 1}, {"id":  2e0}]}')
    assert serve(source, ask(pointer="/items/1")).text == '(art_1, /items/1: 12 characters)\n{"id":  2e0}'
    with pytest.raises(NotFound, match="/items has 2 items"):
        serve(source, ask(pointer="/items/5"))
    with pytest.raises(NotFound, match="the document has 1 keys: items"):
        serve(source, ask(pointer="/other"))
    with pytest.raises(NotFound, match="art_1 has nothing at /a: the document is neither"):
        serve(plain("plain words"), ask(pointer="/a"))


def test_what_lies_behind_the_end_is_not_there() -> None:
    with pytest.raises(NotFound, match="there are 2 lines"):
        serve(plain("a\nb"), ask(lines=(2, 3)))
    with pytest.raises(NotFound, match="3 bytes"):
        serve(plain("a\nb"), ask(bytes=(9, 10)))
    with pytest.raises(NotFound, match="rows"):
        serve(plain("a\nb"), ask(rows=(0, 1)))


def test_binary_content_gives_type_and_size_and_the_way_to_its_bytes() -> None:
    source = Source(reference="art_1", raw=bytes(900), text=None, exact=False, mime="image/png")
    served = serve(source, ask())
    assert (
        served.text == "(art_1, image/png, 900 bytes, not text; ask for bytes, or in Python conversation.raw('art_1'))"
    )
    assert "needs text" in serve(source, ask(search="x")).text


def test_empty_content_is_empty() -> None:
    assert serve(plain(""), ask()).text == "(art_1, whole: 0 lines, 0 bytes)"
    assert serve(plain(""), ask(lines=(0, 5))).content == b""
