"""Pictures count by their size in pixels, as each provider documents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.wire.tokens import picture_tokens


@pytest.mark.parametrize(
    ("provider", "model", "width", "height", "tokens"),
    [
        # OpenAI's own examples, then its table of base and tile costs.
        ("openai", "gpt-4o", 1024, 1024, 765),
        ("openai", "gpt-4o", 2048, 4096, 1105),
        ("openai", "gpt-4o", 512, 512, 255),
        ("openai", "gpt-4o-mini", 1024, 1024, 765),
        ("openai", "gpt-4.1", 1024, 1024, 765),
        ("openai", "gpt-5", 1024, 1024, 630),
        ("openai", "o1", 1024, 1024, 675),
        ("openai", "gpt-4.1-mini", 1024, 1024, 1659),
        ("openai", "gpt-4.1-mini", 4000, 4000, 2489),
        ("openai", "gpt-5-nano", 32, 32, 3),
        ("openai", "gpt-5.2", 1920, 1080, 2448),
        ("other", "something", 1024, 1024, 1229),
        ("anthropic", "claude-sonnet-4-6", 200, 200, 64),
        ("anthropic", "claude-sonnet-4-6", 1092, 1092, 1521),
        ("anthropic", "claude-sonnet-4-6", 4032, 3024, 1568),
        ("anthropic", "claude-opus-5", 1920, 1080, 2691),
        ("anthropic", "claude-opus-5", 4032, 3024, 4784),
        ("gemini", "gemini-2.0-flash", 384, 384, 258),
        ("gemini", "gemini-2.0-flash", 1000, 700, 516),
        ("gemini", "gemini-3-pro", 4032, 3024, 1120),
    ],
)
def test_the_documented_rules(provider: str, model: str, width: int, height: int, tokens: int) -> None:
    assert picture_tokens(provider, model, width=width, height=height) == tokens


@pytest.mark.parametrize("model", ["claude-sonnet-4-6", "claude-opus-5"])
@given(width=st.integers(200, 1200), height=st.integers(200, 900))
def test_a_claude_picture_is_about_its_area_by_750(model: str, width: int, height: int) -> None:
    tokens = picture_tokens("anthropic", model, width=width, height=height)

    assert tokens == pytest.approx(width * height / 750, rel=0.25)


def test_low_detail_is_a_fixed_small_count_for_openai_and_nothing_to_the_others() -> None:
    assert picture_tokens("openai", "gpt-4o", width=4096, height=8192, low_detail=True) == 85
    assert picture_tokens("openai", "gpt-5", low_detail=True) == 70
    assert picture_tokens("openai", "gpt-5-mini", low_detail=True) == 85
    assert picture_tokens("anthropic", "claude-opus-5", low_detail=True) == picture_tokens("anthropic", "claude-opus-5")


@pytest.mark.parametrize("size", [(None, None), (640, None), (0, 0), (-5, 100)], ids=str)
def test_a_picture_of_unknown_size_counts_as_a_full_screen(size: tuple[int | None, int | None]) -> None:
    for provider, model in (("openai", "gpt-5"), ("anthropic", "claude-opus-5"), ("gemini", "gemini-3-pro")):
        screen = picture_tokens(provider, model, width=1920, height=1080)
        assert picture_tokens(provider, model, width=size[0], height=size[1]) == screen


@given(
    st.sampled_from(["openai", "anthropic", "gemini", "other"]),
    st.sampled_from(["gpt-4o", "gpt-5-mini", "gpt-6", "claude-opus-5", "gemini-2.0-flash", ""]),
    st.integers(1, 10**7),
    st.integers(1, 10**7),
)
def test_no_size_gives_nothing_or_more_than_the_largest_picture(
    provider: str, model: str, width: int, height: int
) -> None:
    assert 1 <= picture_tokens(provider, model, width=width, height=height) <= 12_000
