"""Which pieces of text are specific values, and in which spellings they count as the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.evaluate.haystack import Haystack, stands_in
from callsheet.evaluate.values import Kind, kind_of, number, scan, value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mail mia@example.org today.", [(Kind.EMAIL, "mia@example.org")]),
        ("see https://example.org/a?b=1).", [(Kind.URL, "https://example.org/a?b=1")]),
        ("on 2024-05-01T10:30 or 5/1/2024", [(Kind.DATE, "2024-05-01T10:30"), (Kind.DATE, "5/1/2024")]),
        ("open src/app/main.py, please", [(Kind.PATH, "src/app/main.py")]),
        ("edit setup.cfg: now", [(Kind.FILE, "setup.cfg")]),
        ("order #W4821 of user_name", [(Kind.ID, "#W4821"), (Kind.ID, "user_name")]),
        ("pays 1,250.50, not 12", [(Kind.NUMBER, "1,250.50")]),
        ("say 'so be it' or \"no\"", [(Kind.QUOTED, "so be it")]),
        ("plain words alone", []),
    ],
)
def test_scanning_finds_what_must_be_reproduced_to_the_letter(text: str, expected: list[tuple[Kind, str]]) -> None:
    found = [(found.kind, found.spellings) for found in scan(text)]
    assert found == [(kind, value(kind, spelling).spellings) for kind, spelling in expected]


def test_quoted_text_counts_only_when_asked_for() -> None:
    assert list(scan("say 'so be it'", quoted=False)) == []


def test_endless_runs_of_word_characters_are_passed_over_quickly() -> None:
    """Without this, a text of this size would take minutes."""
    found = list(scan("id A-17 " + "acgt" * 100_000 + " end B-18x"))
    assert [spelling for one in found for spelling in one.spellings] == ["A-17", "B-18x"]


@pytest.mark.parametrize(
    ("text", "spellings"),
    [
        ("1250", {"1250", "1,250", "1250.0", "1250.00", "1,250.00"}),
        ("1,250.5", {"1,250.5", "1250.5", "1250.50", "1,250.50"}),
        ("9007199254740993000", {"9007199254740993000"}),
        ("-1250", {"-1250", "-1,250", "-1250.0", "-1250.00", "-1,250.00"}),
    ],
)
def test_a_number_counts_in_every_common_spelling(text: str, spellings: set[str]) -> None:
    found = number(text)
    assert found is not None
    assert set(found.spellings) == spellings


def test_a_short_number_is_no_value() -> None:
    assert number("12") is None
    assert number("1.25") is not None


@pytest.mark.parametrize(
    ("text", "kind"),
    [("a@b.org", Kind.EMAIL), ("1250", Kind.NUMBER), ("JFK", Kind.TEXT), ("two words", Kind.TEXT), ("a/b", Kind.PATH)],
)
def test_the_kind_of_a_whole_text(text: str, kind: Kind) -> None:
    assert kind_of(text) is kind


@pytest.mark.parametrize(
    ("needle", "text", "stands"),
    [
        ("W-48", "order W-48.", True),
        ("W-48", "order W-482", False),
        ("W-48", "XW-48", False),
        ("W-48", "XW-48, W-48", True),
        ("125", "1125", False),
        ("125", "0.125", False),
        ("125", "125.5", False),
        ("125", "costs 125.", True),
        ("125", "1,125", False),
        ("name", "line\\nname", True),
        ("name", "anname", False),
        ("/etc", "root/etc", True),
        ("/etc", "/etcetera", False),
        ("absent", "", False),
    ],
)
def test_a_value_stands_in_a_text_verbatim_and_not_within_a_longer_word_or_number(
    needle: str, text: str, stands: bool
) -> None:
    assert stands_in([needle], text) is stands


TEXTS = st.text(alphabet="ab1.,\\n\n -", max_size=12)


@given(st.lists(TEXTS, max_size=6), st.lists(st.text(alphabet="ab1.,", min_size=1, max_size=3), max_size=3))
def test_searching_many_texts_at_once_finds_what_searching_each_finds(texts: list[str], needles: list[str]) -> None:
    expected = tuple(at for at, text in enumerate(texts) if stands_in(needles, text))
    assert Haystack(texts).holders(needles) == expected
