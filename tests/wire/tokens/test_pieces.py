"""Cutting a text never changes its tokens."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callsheet.wire.tokens import EncodingName, encoding
from callsheet.wire.tokens.pieces import PIECE, pieces
from tests.recordings import needs_recordings
from tests.wire.tokens import texts

NAMES: tuple[EncodingName, ...] = ("o200k_base", "cl100k_base")
both = pytest.mark.parametrize("name", NAMES)

#: What the encodings' patterns and the safe places speak of.
PARTS = (
    *(
        "a",
        "Zz",
        "é",
        "e\u0301",
        "\u0301",
        "中文",
        "か",
        "Ǆ",
        "ʰ",
        "1",
        "1234",
        "Ⅷ",
        "٣",
        "!",
        "--",
        "'",
        "'s",
        "'LL",
        "/",
    ),
    *("<|", "・", "。", "，", "😀", " ", "   ", "\n", "\r\n", "\t", "\xa0", "\u3000", "\x1c", "\x85", "\u2028"),
)
tricky = st.lists(st.sampled_from(PARTS), max_size=40).map("".join)


def _whole_and_in_pieces(name: EncodingName, text: str, size: int) -> tuple[list[int], list[int]]:
    tokenizer = encoding(name)
    cut = list(pieces(text, size))
    assert "".join(cut) == text
    return tokenizer.encode_ordinary(text), [id for piece in cut for id in tokenizer.encode_ordinary(piece)]


@both
@given(text=tricky, size=st.integers(1, 12))
@settings(max_examples=500)
def test_the_tokens_of_the_pieces_are_those_of_the_text(name: EncodingName, text: str, size: int) -> None:
    whole, in_pieces = _whole_and_in_pieces(name, text, size)

    assert in_pieces == whole


@both
@pytest.mark.parametrize("text", texts.BY_NAME.values(), ids=texts.BY_NAME.keys())
def test_the_tokens_of_the_pieces_are_those_of_the_text_for_known_difficulties(name: EncodingName, text: str) -> None:
    for size in (1, 7, 100):
        whole, in_pieces = _whole_and_in_pieces(name, text, size)
        assert in_pieces == whole


@both
@needs_recordings
def test_the_tokens_of_the_pieces_are_those_of_the_text_for_real_tool_outputs(name: EncodingName) -> None:
    for id, content in texts.tool_outputs(longest=20_000).items():
        whole, in_pieces = _whole_and_in_pieces(name, content, 50)
        assert in_pieces == whole, id


@pytest.mark.parametrize("text", [texts.GERMAN, texts.CJK, texts.CODE, texts.BASE64], ids=["de", "cjk", "code", "b64"])
def test_ordinary_text_is_cut_near_the_wished_size(text: str) -> None:
    long = text * (3 * PIECE // len(text) + 1)

    assert max(len(piece) for piece in pieces(long)) <= PIECE + 200


@given(text=st.text(alphabet=" \t\n\r\u3000x", max_size=60))
def test_a_short_text_stays_whole(text: str) -> None:
    assert list(pieces(text)) == [text]


def test_long_white_space_is_cut_wherever_it_stands() -> None:
    blank = " " * 2_000_000

    for text in (blank, "word\n\n" + blank + "word", "!\n" + blank + "\n", "中" * 300_000 + "\n" + blank):
        cut = list(pieces(text))
        assert "".join(cut) == text
        assert max(piece.count(" ") for piece in cut) <= 800_000


def test_a_text_without_any_safe_place_is_cut_as_it_stands() -> None:
    assert [len(piece) for piece in pieces("a" * 5_000_000)] == [2_000_000, 2_000_000, 1_000_000]
