"""What is looked for as plain words first is found as the pattern alone would find it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.derive.prose.blobs import blobs
from callsheet.derive.prose.important import errors, viewed
from callsheet.derive.prose.marks import Marks, lowered, marked_lines
from callsheet.derive.prose.tidy import tidy
from callsheet.derive.terms import Language, counted, terms

WORDS = ("tide", "id", "crane")


@given(st.text(alphabet="tidecran\n", max_size=60), st.lists(st.integers(0, 60), max_size=8))
def test_places_are_those_of_the_words(text: str, starts: list[int]) -> None:
    marks = Marks(text, WORDS)
    for start in sorted(starts):
        found = re.compile("tide|id|crane").search(text, start)
        assert marks.first(start) == (found.start() if found else -1)


@given(st.text(alphabet="tideX\n", max_size=60), st.integers(0, 30), st.integers(0, 60))
def test_lines_are_those_that_hold_a_word(text: str, start: int, end: int) -> None:
    lines, at = [], start
    for line in text[start:end].split("\n"):
        if any(word in line.lower() for word in WORDS):
            lines.append((at, at + len(line)))
        at += len(line) + 1
    assert list(marked_lines(text, WORDS, start, end)) == lines


@given(st.text(max_size=40))
def test_lower_case_keeps_every_character_in_its_place(text: str) -> None:
    assert len(lowered(text)) == len(text)


@pytest.mark.parametrize(
    "line",
    [
        "Lines: 5 - 9",
        "rows 1 to 20",
        "3 of 40 matches",
        "12 more files not shown",
        "7 tokens left",
        "Showing 14% of the page",
        "Output TRUNCATED",
        "see next_page",
        "1,200 ENTRIES total",
    ],
)
def test_a_line_that_says_which_part_is_shown_is_found_in_any_case(line: str) -> None:
    text = f"tide\n{line}\nebb\n"
    assert [text[span.start : span.end] for span in viewed(text)] == [line + "\n"]
    assert viewed(text.replace(line, "quay 4 and quay 5")) == []


def test_failures_are_found_at_the_ends_of_words_and_not_where_there_were_none() -> None:
    text = "0 errors\nno failures\nTideERROR: low\nпричал: ошибка\nfailed-over\nerror\n"
    assert [text[span.start : span.end].strip() for span in errors(text, plain=False)] == [
        "TideERROR: low",
        "причал: ошибка",
        "error",
    ]


@given(st.text(alphabet="ab \n\t\r", max_size=40))
def test_text_is_tidied_as_its_parts_with_signs_are(text: str) -> None:
    # An escape that shows nothing takes the long way.
    assert tidy(text + "\n.") == tidy(text + "\n\x1b[0m.")


@given(st.integers(0, 9), st.integers(0, 9))
def test_a_run_of_base64_is_found_wherever_it_begins(before: int, more: int) -> None:
    run = ("Ab3" * 90)[: 256 + more]
    found = blobs("." * before + run + ".")
    assert [(blob.start, blob.end) for blob in found] == [(before, before + len(run))]


def test_what_is_remembered_of_a_word_is_of_its_language() -> None:
    assert terms("Kräne", Language.GERMAN) != terms("Kräne", Language.ENGLISH)
    assert counted("the cranes and the crane of the port") == counted("the cranes and the crane of the port")
