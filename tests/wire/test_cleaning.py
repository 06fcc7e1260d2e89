"""Cleaning changes what no provider takes, visibly, and nothing else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.wire.cleaning import MergedKeys, clean, clean_value, escape_controls, escape_surrogates
from tests.wire.histories import texts

HALF = "".join(f"kiln {number} ok \U0001f99c\U0001f525✔ " for number in range(40)) + "\ud83e"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("plain", "plain"),
        ("ä \U0001f99c ✔", "ä \U0001f99c ✔"),
        ("tag7\0 pump", "tag7␀ pump"),
        ("\0\0\0x\0", "␀×3x␀"),
        ("a\ud83eb", "a\ufffdb"),
        ("\udd9c\ud83e", "\ufffd\ufffd"),
        ("\b\r\x1b[0m\x7f\ufeff\u2028", "\b\r\x1b[0m\x7f\ufeff\u2028"),
    ],
)
def test_nul_and_lone_surrogates_become_visible(text: str, shown: str) -> None:
    assert clean(text) == shown


@given(texts)
def test_cleaned_text_has_an_encoding_and_stays_cleaned(text: str) -> None:
    cleaned = clean(text)

    assert "\0" not in cleaned
    assert cleaned.encode().decode() == cleaned
    assert clean(cleaned) is cleaned


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20))
def test_clean_text_is_not_touched(text: str) -> None:
    assert clean(text) is text


def test_only_the_half_character_is_replaced() -> None:
    assert clean(HALF) == HALF[:-1] + "\ufffd"


def test_values_are_cleaned_all_through() -> None:
    assert clean_value({"a\0": ["\0", ({"b": "\ud83e"}, 1, None)]}) == {"a␀": ["␀", [{"b": "\ufffd"}, 1, None]]}


def test_escaped_surrogates_read_back() -> None:
    assert escape_surrogates('{"ä": "\ud83e"}') == '{"ä": "\\ud83e"}'


def test_no_key_is_lost_in_cleaning() -> None:
    with pytest.raises(MergedKeys):
        clean_value([{"a": dict.fromkeys(("\ud800", "\ud801"), 1)}])


@given(texts)
def test_escaped_controls_read_back(text: str) -> None:
    escaped = escape_controls(json.dumps(text, ensure_ascii=False))

    assert json.loads(escaped) == text
    assert not any(0x7F <= ord(character) < 0xA0 or ord(character) < 0x20 for character in escaped)
