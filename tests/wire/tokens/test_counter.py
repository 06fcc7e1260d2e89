"""Which model counts how, what an estimate says about itself, and the cases that made others overflow."""

import base64
import json
import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.graph.ports import TokenCounter as Port
from callsheet.wire.tokens import TokenCounter, count, counter_for, uncalibrated
from tests.wire.tokens import texts

O200K = "o200k_base@1"
CL100K = "cl100k_base@1"
OPENAI_GUESS = "openai~o200k_base×1+m0.1@1"
OLD_CLAUDE = "anthropic~o200k_base×1.15+m0.15@1"
NEW_CLAUDE = "anthropic~o200k_base×1.4+m0.2@1"
GEMINI = "gemini~o200k_base×1.05+m0.15@1"
OTHER = "other~o200k_base×1.15+m0.2@1"

#: A counter's name is a pin in stored assemblies: a line here changes only together with the version in the name.
GOLDEN = {
    ("openai", "gpt-4o"): O200K,
    ("openai", "gpt-4o-mini-2024-07-18"): O200K,
    ("openai", "chatgpt-4o-latest"): O200K,
    ("openai", "gpt-4.1"): O200K,
    ("openai", "gpt-4.1-nano"): O200K,
    ("openai", "gpt-4.5-preview"): O200K,
    ("openai", "gpt-5"): O200K,
    ("openai", "gpt-5-mini"): O200K,
    ("openai", "gpt-5.2"): O200K,
    ("openai", "gpt-5.2-2026-01-15"): O200K,
    ("openai", "gpt-oss-120b"): O200K,
    ("openai", "o1"): O200K,
    ("openai", "o1-preview"): O200K,
    ("openai", "o3-mini"): O200K,
    ("openai", "o4-mini"): O200K,
    ("openai", "ft:gpt-4o-2024-08-06:acme::abc"): O200K,
    ("openai-responses", "gpt-5"): O200K,
    ("OpenAI", " GPT-5 "): O200K,
    ("openai", "gpt-4"): CL100K,
    ("openai", "gpt-4-0613"): CL100K,
    ("openai", "gpt-4-32k"): CL100K,
    ("openai", "gpt-4-turbo-2024-04-09"): CL100K,
    ("openai", "gpt-3.5-turbo"): CL100K,
    ("openai", "gpt-35-turbo-16k"): CL100K,
    ("openai", "ft:gpt-3.5-turbo-0125:acme::abc"): CL100K,
    ("openai", "gpt-6"): OPENAI_GUESS,
    ("openai", "gpt-50"): OPENAI_GUESS,
    ("openai", "gpt-4.7"): OPENAI_GUESS,
    ("openai", "o5"): OPENAI_GUESS,
    ("openai", ""): OPENAI_GUESS,
    ("anthropic", "claude-2.1"): OLD_CLAUDE,
    ("anthropic", "claude-instant-1.2"): OLD_CLAUDE,
    ("anthropic", "claude-3-5-sonnet-20241022"): OLD_CLAUDE,
    ("anthropic", "claude-3-7-sonnet-latest"): OLD_CLAUDE,
    ("anthropic", "claude-opus-4-20250514"): OLD_CLAUDE,
    ("anthropic", "claude-sonnet-4-0"): OLD_CLAUDE,
    ("anthropic", "claude-opus-4-1-20250805"): OLD_CLAUDE,
    ("anthropic", "claude-haiku-4-5"): OLD_CLAUDE,
    ("anthropic", "claude-sonnet-4.5"): OLD_CLAUDE,
    ("anthropic", "claude-sonnet-4-6"): OLD_CLAUDE,
    ("anthropic", "anthropic.claude-sonnet-4-5-20250929-v1:0"): OLD_CLAUDE,
    ("anthropic", "claude-sonnet-4@20250514"): OLD_CLAUDE,
    ("anthropic", "claude-opus-4-7"): NEW_CLAUDE,
    ("anthropic", "claude-opus-4.8"): NEW_CLAUDE,
    ("anthropic", "claude-opus-4-8-20260301"): NEW_CLAUDE,
    ("anthropic", "claude-opus-4-10"): NEW_CLAUDE,
    ("anthropic", "claude-opus-5"): NEW_CLAUDE,
    ("anthropic", "claude-fable-5-1"): NEW_CLAUDE,
    ("anthropic", "something"): NEW_CLAUDE,
    ("gemini", "gemini-2.5-pro"): GEMINI,
    ("google", "gemini-3-pro-preview"): GEMINI,
    ("mistral", "mistral-large"): OTHER,
    ("other", "gpt-4o"): OTHER,
    ("", ""): OTHER,
}


def test_the_golden_table_of_models_and_counters() -> None:
    assert {pair: counter_for(*pair).name for pair in GOLDEN} == GOLDEN


@pytest.mark.parametrize("pair", GOLDEN, ids="/".join)
def test_only_counters_of_known_encodings_are_exact_and_only_the_others_have_a_margin(pair: tuple[str, str]) -> None:
    counter = counter_for(*pair)

    assert counter.exact is (counter.name in {O200K, CL100K})
    assert counter.exact is (counter.margin == 0)


def test_a_counter_is_what_the_pure_rooms_ask_for() -> None:
    port: Port = counter_for("openai", "gpt-5")

    assert port.count("hello world") == 2


@pytest.mark.parametrize("text", texts.BY_NAME.values(), ids=texts.BY_NAME.keys())
def test_an_exact_counter_counts_what_the_encoding_counts(text: str) -> None:
    assert counter_for("openai", "gpt-5").count(text) == count(text, "o200k_base")
    assert counter_for("openai", "gpt-4").count(text) == count(text, "cl100k_base")


def test_an_estimate_is_the_encoding_times_the_factor_rounded_up_and_its_bound_adds_the_margin() -> None:
    counter = counter_for("anthropic", "claude-sonnet-4-6")

    assert [counter.converted(n) for n in (0, 1, 20, 100, 101)] == [0, 2, 23, 115, 117]
    assert [counter.bounded(n) for n in (0, 1, 20, 100, 101)] == [0, 2, 23, 115, 117]
    assert counter.count("hello world") == 3
    assert counter_for("openai", "gpt-5").bounded(101) == 101


@given(st.integers(0, 10**30), st.integers(0, 10**30), st.sampled_from(sorted(GOLDEN)))
def test_more_text_never_counts_less_and_a_bound_is_never_below_its_count(
    a: int, b: int, pair: tuple[str, str]
) -> None:
    counter = counter_for(*pair)

    assert counter.converted(min(a, b)) <= counter.converted(max(a, b))
    assert counter.bounded(a) >= a
    # Counts of parts may stand for the count of the whole: rounding stays on the safe side.
    assert counter.converted(a) + counter.converted(b) >= counter.converted(a + b)


def test_a_stored_count_serves_without_its_text() -> None:
    for pair in (("openai", "gpt-5"), ("anthropic", "claude-opus-5"), ("gemini", "gemini-3-pro")):
        counter = counter_for(*pair)
        assert counter.converted(count(texts.GERMAN, counter.encoding)) == counter.count(texts.GERMAN)


def test_counters_are_values() -> None:
    counter = counter_for("anthropic", "claude-opus-5")

    assert counter == counter_for("anthropic", "claude-opus-5")
    assert hash(counter) == hash(counter_for("anthropic", "claude-opus-5"))
    with pytest.raises(AttributeError):
        setattr(counter, "factor", 2.0)  # noqa: B010
    assert msgspec.json.decode(msgspec.json.encode(counter), type=TokenCounter) == counter


def test_a_calibrated_counter_counts_and_is_named_by_what_was_learned() -> None:
    calibration = msgspec.structs.replace(uncalibrated("anthropic", "claude-opus-5"), recent=(1.5, 1.52, 1.51))

    counter = counter_for("anthropic", "claude-opus-5", calibration)

    assert counter.name == "anthropic~o200k_base×1.51+m0.05@1"
    assert counter.converted(100) == 151
    assert counter.bounded(151) == 159


def test_a_calibration_of_other_models_is_refused_and_an_exact_counter_ignores_it() -> None:
    calibration = uncalibrated("anthropic", "claude-opus-5")

    assert counter_for("anthropic", "claude-sonnet-5", calibration) == counter_for("anthropic", "claude-sonnet-5")
    assert counter_for("openai", "gpt-5", calibration).name == O200K
    with pytest.raises(ValueError, match="not for anthropic"):
        counter_for("anthropic", "claude-sonnet-4-6", calibration)


SENTENCES = {
    "ja": "倉庫の温度計は三番が故障しています。" * 400,
    "zh": "三号仓库的温度计坏了，请尽快更换。" * 400,
    "ko": "창고 온도계 세 번째가 고장났습니다. " * 400,
    "en": "Thermometer three in the store is broken. " * 400,
}
EVERY_COUNTER = sorted({name: pair for pair, name in GOLDEN.items()}.values())


@pytest.mark.parametrize("pair", EVERY_COUNTER, ids=lambda pair: counter_for(*pair).name)
def test_tokens_per_character_are_those_of_the_language(pair: tuple[str, str]) -> None:
    counter = counter_for(*pair)
    per_character = {language: counter.count(text) / len(text) for language, text in SENTENCES.items()}

    assert all(0.55 <= per_character[language] <= 2.0 for language in ("ja", "zh", "ko")), per_character
    assert 0.18 <= per_character["en"] <= 0.35, per_character


@pytest.mark.parametrize("pair", EVERY_COUNTER, ids=lambda pair: counter_for(*pair).name)
def test_japanese_of_30000_characters_does_not_pass_for_16000_tokens(pair: tuple[str, str]) -> None:
    counter = counter_for(*pair)

    assert counter.bounded(counter.count((SENTENCES["ja"] * 5)[:30_000])) > 16_000
    assert counter.count(SENTENCES["ja"][:7_300]) > 4_000


@pytest.mark.parametrize("pair", EVERY_COUNTER, ids=lambda pair: counter_for(*pair).name)
def test_a_picture_never_counts_as_its_base64_text(pair: tuple[str, str]) -> None:
    counter = counter_for(*pair)
    data = base64.b64encode(random.Random(3).randbytes(225_000)).decode()

    message = counter.count("screen of panel 6") + counter.count_picture() + counter.framing.message

    assert counter.bounded(message) < 5_000
    assert counter.count(data) > 75_000


def test_tools_count_with_their_schemas() -> None:
    definitions = [
        json.dumps({"name": f"op_{i}", "description": "Does one thing to a crate. " * 60, "parameters": {}})
        for i in range(41)
    ]
    counter = counter_for("anthropic", "claude-sonnet-4-6")
    texts_alone = sum(counter.count(definition) for definition in definitions)

    assert counter.count_tools(definitions) == texts_alone + counter.framing.around_tools(41) > 15_000
    assert counter.count_tools([]) == 0
