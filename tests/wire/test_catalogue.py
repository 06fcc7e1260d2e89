"""Windows and prices of models come from a dated table."""

import pytest

from callsheet.wire.catalogue import catalogue, facts


@pytest.mark.parametrize(
    ("provider", "model", "window"),
    [
        ("openai", "gpt-4", 8_192),
        ("openai", "GPT-4o", 128_000),
        ("openai-responses", "gpt-4o", 128_000),
        ("openai", "gpt-5.2", 400_000),
        ("openai", "ft:gpt-4o:acme::x1", 128_000),
        ("anthropic", "claude-sonnet-4-5-20250929", 200_000),
        ("anthropic", "claude-opus-4-6", 1_000_000),
    ],
)
def test_the_window_of_a_known_model(provider: str, model: str, window: int) -> None:
    found = facts(provider, model)
    assert found is not None
    assert window == found.window


@pytest.mark.parametrize(
    ("provider", "model"), [("openai", "no-such-model"), ("openia", "gpt-4"), ("anthropic", "gpt-4"), ("openai", "")]
)
def test_what_is_not_listed_is_not_guessed(provider: str, model: str) -> None:
    assert facts(provider, model) is None


def test_cached_input_costs_less_wherever_it_is_listed_for_the_models_of_a_provider_with_a_cache() -> None:
    listed = [row for row in catalogue().models if row.cached is not None and row.input and row.provider == "anthropic"]
    assert len(listed) > 10
    assert all(row.cached is not None and row.input is not None and row.cached < row.input / 2 for row in listed)


def test_the_table_says_where_it_comes_from() -> None:
    assert catalogue().name.startswith("genai-prices ")
    assert len(catalogue().models) > 400
