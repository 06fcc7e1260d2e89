"""A text counted from another one that it is like has the tokens that it has by itself."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callsheet.wire.tokens import EncodingName, encoding
from callsheet.wire.tokens.alike import count_alike
from tests.wire.tokens.test_pieces import NAMES, tricky

WORDS = st.sampled_from(
    ["keel ", "mast\n", "  boom", "\n\n", "jib's ", "3,400 kg ", "    return hull\n", "été ", "}\n/x "]
)
LONG = st.lists(WORDS, min_size=80, max_size=160).map("".join)


def _tokens(text: str, name: EncodingName) -> int:
    return len(encoding(name).encode_ordinary(text))


@pytest.mark.parametrize("name", NAMES)
@given(around=st.tuples(LONG, LONG), one=tricky, other=tricky, tail=st.sampled_from(["", "\n", "  \n", " \n\n", "\t"]))
@settings(max_examples=40)
def test_what_is_like_another_text_is_counted_as_by_itself(
    name: EncodingName, around: tuple[str, str], one: str, other: str, tail: str
) -> None:
    before, behind = around
    text, like = before + one + behind, before + other + behind + tail

    assert count_alike(text, like, _tokens(like, name), lambda piece: _tokens(piece, name)) == _tokens(text, name)
    assert count_alike(like, text, _tokens(text, name), lambda piece: _tokens(piece, name)) == _tokens(like, name)


@given(text=LONG, other=LONG)
@settings(max_examples=20)
def test_what_is_unlike_is_counted_as_by_itself(text: str, other: str) -> None:
    tokens = _tokens(other, "o200k_base")

    assert count_alike(text, other, tokens, lambda piece: _tokens(piece, "o200k_base")) == _tokens(text, "o200k_base")


def test_of_a_long_text_with_one_word_changed_little_is_counted() -> None:
    text = "the quick brown fox jumps over the lazy dog, again and again; " * 60
    counted: list[str] = []

    def count(piece: str) -> int:
        counted.append(piece)
        return _tokens(piece, "o200k_base")

    changed = text[:1_500] + " slow" + text[1_500:].rstrip()
    assert count_alike(changed, text, _tokens(text, "o200k_base"), count) == _tokens(changed, "o200k_base")
    assert sum(map(len, counted)) < 200
