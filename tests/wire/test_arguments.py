"""Arguments of calls: sent as they are where they are a JSON object, as text inside one where not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.wire.arguments import as_object, as_text, is_object
from callsheet.wire.jsonvalue import NESTING_LIMIT
from tests.wire.histories import texts


def nested(depth: int) -> str:
    """An object with `depth` levels, its own included."""
    return '{"a":' + "[" * (depth - 1) + "]" * (depth - 1) + "}"


NO_OBJECT = [
    "null",
    "1",
    "[]",
    '"{}"',
    "{",
    "{}}",
    '{"a": NaN}',
    '{"a": -Infinity}',
    '{"a": "\0"}',
    "\ufeff{}",
]


@pytest.mark.parametrize("text", [*NO_OBJECT, nested(NESTING_LIMIT + 2), nested(100_000), '{"a": ' + "9" * 5_000 + "}"])
def test_what_is_no_object_is_wrapped(text: str) -> None:
    shown = text.replace("\0", "␀")

    assert not is_object(text)
    assert json.loads(as_text(text)) == {"unparsed_arguments": shown}
    assert as_object(text) == {"unparsed_arguments": shown}


@pytest.mark.parametrize("text", ["", " ", "\n"])
def test_blank_arguments_are_none(text: str) -> None:
    assert as_text(text) == "{}"
    assert as_object(text) == {}


@pytest.mark.parametrize("text", ["{}", ' {"b": 1, "a": {"c": [1.50, -0.0, 1E5, null]}}\n', nested(NESTING_LIMIT)])
def test_an_object_is_sent_as_it_is(text: str) -> None:
    assert as_text(text) == text
    assert as_object(text) == json.loads(text)
    assert list(as_object(text)) == list(json.loads(text))


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"a": {"b": 1, "b": 1}}',
        '{"a": 1e999}',
        '{"a": 1e-999}',
        '{"a": 12345678901234567890.5}',
        '{"a": 0.12345678901234567890}',
    ],
)
def test_an_object_that_a_value_would_change_stays_text(text: str) -> None:
    assert is_object(text)
    assert as_text(text) == text
    assert as_object(text) == {"unparsed_arguments": text}


@pytest.mark.parametrize("number", ["123456789012345678901234567890", "0.1", "1e22", "0.30000000000000004", "1.5E+300"])
def test_numbers_that_a_value_holds_are_values(number: str) -> None:
    assert as_object(f'{{"a": {number}}}') == {"a": json.loads(number)}


def test_escapes_are_cleaned_where_they_become_characters() -> None:
    text = '{"k\\u0000": ["a\\u0000\\u0000b", {"half": "\\ud83e"}], "whole": "\\ud83e\\udd9c"}'

    assert as_text(text) == text
    assert as_object(text) == {"k␀": ["a␀×2b", {"half": "\ufffd"}], "whole": "\U0001f99c"}


def test_characters_are_cleaned_in_both() -> None:
    assert as_text('{"a": "\ud83e"}') == '{"a": "\ufffd"}'
    assert as_object('{"a": "\ud83e"}') == {"a": "\ufffd"}


def test_keys_that_cleaning_would_make_one_stay_apart_as_text() -> None:
    escaped, raw = '{"a\\ud800": 1, "a\\ud801": 2}', '{"b": {"a\ud800": 1, "a\ud801": 2}}'

    assert as_object(escaped) == {"unparsed_arguments": escaped}
    assert as_text(escaped) == escaped
    shown = raw.replace("\ud800", "\ufffd").replace("\ud801", "\ufffd")
    assert as_object(raw) == json.loads(as_text(raw)) == {"unparsed_arguments": shown}


@given(st.one_of(texts, st.text('{}[]",:\\u0aden1.9', max_size=12)))
def test_any_text_gives_an_object_that_says_it(text: str) -> None:
    for shown in (json.loads(as_text(text)), as_object(text)):
        assert isinstance(shown, dict)
        json.dumps(shown, allow_nan=False, ensure_ascii=False).encode()
