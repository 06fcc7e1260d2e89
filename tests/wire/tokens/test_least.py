"""A bound below the tokens of any text, for what is refused by its length."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.wire.tokens import count, counter_for, encoding
from callsheet.wire.tokens.engine import DEFINITIONS, EncodingName
from callsheet.wire.tokens.least import LONGEST_TOKEN, least_tokens

_PIECES = st.sampled_from(
    [
        " ",
        "  ",
        "\n",
        "\r\n",
        "\t",
        "\u3000",
        "a",
        "the",
        "B",
        "7",
        "2026",
        "/",
        "!",
        "!\n",
        "/\n",
        "'s",
        "é",
        "漢",
        "😀",
        "=",
    ]
)
_TEXTS = st.one_of(st.text(), st.lists(_PIECES, max_size=60).map("".join))


@pytest.mark.parametrize("name", DEFINITIONS)
def test_no_token_is_longer(name: EncodingName) -> None:
    assert max(map(len, encoding(name).token_byte_values())) == LONGEST_TOKEN


@pytest.mark.parametrize("name", DEFINITIONS)
@given(_TEXTS, st.sampled_from([0, 3, 10**6]))
def test_no_text_has_fewer(name: EncodingName, text: str, enough: int) -> None:
    assert least_tokens(text, enough) <= count(text, name)


@pytest.mark.parametrize("blank", [" ", "\n", "=", "\t "])
def test_no_text_of_one_sign_has_fewer(blank: str) -> None:
    text = blank * 5_000
    assert 5_000 // LONGEST_TOKEN <= least_tokens(text, 0) <= count(text, "o200k_base")


def test_it_is_near_the_count_of_what_people_write_and_ends_where_that_is_enough() -> None:
    text = "The parcel was seen at the depot in Bremen and at the harbour. " * 1_000
    assert least_tokens(text, 10_000) == 10_001
    assert 0.7 * count(text, "o200k_base") < least_tokens(text, 60_000)


@pytest.mark.parametrize("model", ["gpt-5.2", "claude-sonnet-4-5"])
def test_a_counter_says_what_is_surely_over_a_limit(model: str) -> None:
    counter = counter_for("openai" if model.startswith("gpt") else "anthropic", model)
    text = "one two three four five six seven eight nine ten " * 100
    assert counter.surely_over(text, 900)
    assert not counter.surely_over(text, counter.count(text))
