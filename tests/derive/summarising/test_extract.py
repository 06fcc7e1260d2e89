"""Extracts are word for word, in order, within their limit, and the same every time."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from callsheet.derive.summarising.extract import LIMIT, POINTS, Told, extract, first_point
from callsheet.derive.summarising.ranking import ranked
from callsheet.derive.summarising.sentences import LONGEST, sentences
from callsheet.wire.tokens import count


def tokens(text: str) -> int:
    return count(text, "o200k_base")


def cut(text: str) -> list[str]:
    return [text[one.start : one.end] for one in sentences(text)]


def test_sentences_end_where_people_end_them() -> None:
    assert cut("One. Two? Three!") == ["One.", "Two?", "Three!"]
    assert cut("It costs 1,284.07 EUR, e.g. in v2.1.0. Next one.") == [
        "It costs 1,284.07 EUR, e.g. in v2.1.0.",
        "Next one.",
    ]
    assert cut("Das geht z. B. am 3. Mai. Danach nicht.") == ["Das geht z. B. am 3. Mai.", "Danach nicht."]
    assert cut("今日は晴れ。明日は雨。") == ["今日は晴れ。", "明日は雨。"]
    assert cut("first line\nsecond line") == ["first line", "second line"]
    assert cut("Before.\n```\ncode = 1. Never.\n```\nAfter.") == ["Before.", "After."]
    assert cut("Before.\n```\nnever closed") == ["Before."]
    assert cut("  \n\n ") == []


@given(st.text(max_size=2_000))
def test_sentences_lie_in_order_within_the_text(text: str) -> None:
    found = sentences(text)
    assert all(0 <= one.start < one.end <= len(text) and one.end - one.start <= LONGEST for one in found)
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))


def test_a_long_line_is_cut_between_words_and_nothing_is_lost() -> None:
    line = " ".join(f"word{n}" for n in range(500))
    assert " ".join(cut(line)) == line


def test_a_sentence_counts_as_others_are_like_it() -> None:
    scores = ranked([["red", "paint"], ["red", "paint", "dries"], ["red", "paint", "can"], ["ferry"]])
    assert min(scores) == scores[3]
    assert ranked([]) == []
    assert ranked([["a"], ["a"]])[0] == ranked([["a"], ["a"]])[1]


TOLD = [
    Told("user", "Refund order ORD-7F3A-00912 please. It is 1,284.07 EUR."),
    *(Told("assistant", f"Paint number {n} is a nice colour. Paint is nice.") for n in range(40)),
    Told("get_order", "get_order(id: 7): id: A-77; status open", whole=True),
]


def test_an_extract_has_few_points_within_its_limit_and_names_what_they_leave_out() -> None:
    text = extract(TOLD, tokens)
    lines = text.split("\n")
    assert tokens(text) <= LIMIT
    assert 1 <= sum(not line.startswith("- also named") for line in lines) <= POINTS
    assert "ORD-7F3A-00912" in text
    assert "1,284.07" in text
    assert text == extract(TOLD, tokens)


def test_each_sentence_stands_word_for_word_under_whoever_said_it() -> None:
    for line in extract(TOLD, tokens).split("\n"):
        speaker, _, words = line.removeprefix("- ").partition(": ")
        if speaker != "also named":
            said = " ".join(one.text for one in TOLD if one.speaker == speaker)
            assert all(piece in said for piece in words.split(". "))


def test_nothing_told_is_nothing_extracted() -> None:
    assert extract([], tokens) == ""
    assert extract([Told("user", " \n ")], tokens) == ""
    assert extract(TOLD, tokens, limit=0) == ""


@given(st.lists(st.builds(Told, st.sampled_from(["user", "assistant"]), st.text(max_size=300)), max_size=8))
def test_any_text_has_an_extract_within_its_limit(told: list[Told]) -> None:
    text = extract(told, len, limit=120)
    assert len(text) <= 120
    assert first_point(text).count("\n") == 0
