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
        ("openai", "gpt-5.1-2025-11-13", 1024, 1024, 630),
        # The side that is not 768 px is rounded down: here to 1,024 px, which are two tiles.
        ("openai", "gpt-4o", 1000, 1334, 765),
        # Its examples of patches, those of 1,800 x 2,400 px with the patches of each model.
        ("openai", "gpt-6-astra", 1024, 1024, 1229),
        ("openai", "gpt-6-astra", 4096, 512, 2458),
        ("openai", "gpt-5.4", 2048, 2048, 3000),
        ("openai", "gpt-5-mini", 1800, 2400, 1743),
        ("openai", "o4-mini", 1800, 2400, 2498),
        ("openai", "gpt-4.1-nano", 1800, 2400, 3572),
        ("openai", "gpt-4.1-mini", 1024, 1024, 1659),
        ("openai", "gpt-5-nano", 32, 32, 2),
        # What each shrinks a photograph of twelve megapixels to: 2,048 px, 6,000 px and 10,000 patches, nothing.
        ("openai", "gpt-5.2", 1920, 1080, 2448),
        ("openai", "gpt-5.2", 4032, 3024, 3687),
        ("openai", "gpt-5-2-2025-12-11", 4032, 3024, 3687),
        ("openai", "gpt-5.3-codex", 4032, 3024, 3687),
        ("openai", "gpt-5.5", 4032, 3024, 11868),
        ("openai", "gpt-5.6-sol", 4032, 3024, 14364),
        ("openai", "gpt-5-6-sol", 4032, 3024, 14364),
        ("openai", "gpt-6.1-sol", 9000, 9000, 35915),
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


def test_low_detail_is_a_small_picture_to_openai_and_nothing_to_the_others() -> None:
    assert picture_tokens("openai", "gpt-4o", width=4096, height=8192, low_detail=True) == 85
    assert picture_tokens("openai", "gpt-5", low_detail=True) == 70
    assert picture_tokens("openai", "gpt-6-astra", width=640, height=480, low_detail=True) == 231
    assert picture_tokens("anthropic", "claude-opus-5", low_detail=True) == picture_tokens("anthropic", "claude-opus-5")


@pytest.mark.parametrize("model", ["gpt-5.2", "gpt-5-mini", "o4-mini"])
def test_to_some_models_low_detail_is_as_any(model: str) -> None:
    assert picture_tokens("openai", model, low_detail=True) == picture_tokens("openai", model)


def test_to_gpt_5_4_low_detail_is_more_than_high() -> None:
    assert picture_tokens("openai", "gpt-5.4", width=2048, height=2048, low_detail=True) == 4916


@given(st.sampled_from(["gpt-5.2", "gpt-5-mini", "gpt-5.4", "gpt-5.5"]), st.integers(1, 9_000), st.integers(1, 9_000))
def test_a_picture_and_the_same_one_turned_count_alike(model: str, width: int, height: int) -> None:
    one, other = ((width, height), (height, width))
    assert picture_tokens("openai", model, width=one[0], height=one[1]) == picture_tokens(
        "openai", model, width=other[0], height=other[1]
    )


@pytest.mark.parametrize("size", [(None, None), (640, None), (0, 0), (-5, 100)], ids=str)
def test_a_picture_of_unknown_size_counts_as_a_full_screen(size: tuple[int | None, int | None]) -> None:
    for provider, model in (("openai", "gpt-5"), ("anthropic", "claude-opus-5"), ("gemini", "gemini-3-pro")):
        screen = picture_tokens(provider, model, width=1920, height=1080)
        assert picture_tokens(provider, model, width=size[0], height=size[1]) == screen


@given(
    st.sampled_from(["openai", "anthropic", "gemini", "other"]),
    st.sampled_from(["gpt-4o", "gpt-5-mini", "gpt-5.4", "gpt-6", "claude-opus-5", "gemini-2.0-flash", ""]),
    st.integers(1, 10**7),
    st.integers(1, 10**7),
)
def test_no_size_gives_nothing_or_more_than_the_largest_picture(
    provider: str, model: str, width: int, height: int
) -> None:
    assert 1 <= picture_tokens(provider, model, width=width, height=height) <= 36_000
