"""Older records about the user's turn, where it returns to no task."""

import pytest

from callsheet.assemble.bringing import ABOUT, ASKS, LIKE, Match, about, tells
from callsheet.graph.ids import RecordId


def match(position: int, covers: float, *, shared: int = 3, score: float | None = None) -> Match:
    scored = covers * 10 if score is None else score
    return Match(RecordId(f"r{position}"), position, scored, covers, 0.1, shared, rare=False)


def test_what_holds_much_of_the_turn_and_more_than_what_is_in_view_is_about_it() -> None:
    strong, weak, shown = match(1, 0.7), match(2, 0.5), match(3, 0.6)
    assert [strong] == about([strong, shown, weak], {3}, ASKS)
    assert [strong, weak] == about([strong, weak], set(), ASKS)


@pytest.mark.parametrize("one", [match(1, LIKE), match(1, 0.9, shared=1)])
def test_a_little_or_one_term_is_not_enough(one: Match) -> None:
    assert [] == about([one], set(), ASKS)


def test_a_short_turn_asks_for_nothing() -> None:
    assert [] == about([match(1, 0.9)], set(), ASKS - 1)


def test_of_repeats_the_newest_speaks_and_few_are_taken() -> None:
    repeats = [match(9, 0.9), match(5, 0.9)]
    others = [match(4 - place, 0.8 - place / 100) for place in range(4)]
    found = about([*repeats, *others], set(), ASKS)
    assert repeats[0] == found[0]
    assert repeats[1] not in found
    assert ABOUT == len(found)


@pytest.mark.parametrize("name", ["SO-20612", "a_b", "mia@harbour", "src/main", "B7"])
def test_ids_paths_and_addresses_tell(name: str) -> None:
    assert tells(name)


@pytest.mark.parametrize("name", ["2026-01-05", "12.50", "harbour", "1_000", ""])
def test_dates_amounts_and_words_do_not(name: str) -> None:
    assert not tells(name)
