"""Fewer characters, no value lost."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.derive.prose.tidy import tidy

MANY = "waiting for the tide to turn\n" * 411


@pytest.mark.parametrize(
    ("text", "shorter"),
    [
        (MANY + "turned", "waiting for the tide to turn\n... (the line above 411 times in all)\nturned"),
        ("ab\nab\nab\n", "ab\nab\nab\n"),
        ("oak   \n\tfir\t\n", "oak\n\tfir\n"),
        ("one\n\n\n\n  two", "one\n\n  two"),
        ("\x1b[1;31mred\x1b[0m ink", "red ink"),
        ("\x1b]0;title\x07bell", "bell"),
        ("\x1b]8;;https://mill.example/\x1b\\mill\x1b]8;;\x1b\\", "(https://mill.example/) mill"),
        ("load  1%\rload 50%\rload 100%\ndone", "load 100%\ndone"),
        ("first line\rsecond line\rthird one", "first line\nsecond line\nthird one"),
        ("wheel\r\nstone\r\n", "wheel\nstone\n"),
        ("ca\bart", "cart"),
        ("\0tag7\0", "␀tag7␀"),
    ],
)
def test_what_a_reader_never_saw_goes(text: str, shorter: str) -> None:
    assert shorter == tidy(text)


def test_white_space_at_line_ends_stays_where_it_means_something() -> None:
    assert "+oak  \n \n-fir" == tidy("+oak  \n \n-fir", trailing=True)


def test_repeats_are_counted_across_a_large_text() -> None:
    line = "the same hundred characters, " * 4 + "again"
    assert f"{line}\n... (the line above 40,000 times in all)\nend" == tidy((line + "\n") * 40_000 + "end")


@given(st.lists(st.sampled_from(["oak 12", "  fir 7.50", "", "elm-9", "oak 12"]), max_size=40))
def test_every_value_and_its_indentation_stay(lines: list[str]) -> None:
    shorter = tidy("\n".join(lines))
    assert {line for line in lines if line} == {
        line for line in shorter.split("\n") if line and not line.startswith("...")
    }


@given(st.text(alphabet="ab \n", max_size=200))
def test_doing_it_twice_changes_nothing_and_words_keep_their_order(text: str) -> None:
    once = tidy(text)
    folded = re.sub(r"(?m)^\.\.\. \(the line.*\n?", "", once)
    assert len(once) <= len(text)
    assert tidy(once) == once
    if folded == once:
        assert once.split() == text.split()
