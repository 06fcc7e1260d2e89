"""Old results that hold what the user asks for and nothing in view tells."""

import pytest

from callsheet.assemble.bringing import ABOUT, Match, Matching
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Posting

ASKED = ("owner", "zip", "code", "dog")


def matching(query: tuple[str, ...], *held: str) -> tuple[Matching, list[Match]]:
    """Records at 1, 2, ... that hold these words."""
    postings = [
        Posting(term=term, position=place, record=RecordId(f"r{place}"))
        for place, words in enumerate(held, start=1)
        for term in words.split()
    ]
    matches = [
        Match(RecordId(f"r{place}"), place, 1.0, 0.1, 0.1, len(words.split()), rare=False)
        for place, words in enumerate(held, start=1)
    ]
    return Matching(query, postings, 100), matches


def positions(found: list[Match]) -> list[int]:
    return [match.position for match in found]


def test_what_holds_most_of_what_nothing_tells_comes_first() -> None:
    known, results = matching(ASKED, "zip code", "owner zip code", "dog")
    assert [2] == positions(known.untold(results, set()))


def test_what_is_told_counts_for_nothing() -> None:
    known, results = matching(ASKED, "owner dog", "zip code")
    assert [2] == positions(known.untold(results, {"owner"}))
    assert [] == positions(known.untold(results, {"owner", "zip"}))


def test_each_one_adds_words_and_of_equal_ones_the_newest_is_taken() -> None:
    known, results = matching(ASKED, "owner dog", "zip code", "zip code", "owner zip")
    assert {1, 3} == set(positions(known.untold(results, set())))


def test_few_are_taken() -> None:
    words = [f"w{at}" for at in range(20)]
    held = [f"{one} {other}" for one, other in zip(words[::2], words[1::2], strict=True)]
    known, results = matching(tuple(words), *held)
    assert ABOUT == len(known.untold(results, set()))


@pytest.mark.parametrize("query", [("zip", "code"), ("owner", "zip", "code")])
def test_a_short_turn_asks_for_nothing(query: tuple[str, ...]) -> None:
    known, results = matching(query, "zip code")
    assert [] == known.untold(results, set())


def test_what_stands_at_a_place_is_told() -> None:
    known, _ = matching(ASKED, "zip code", "owner")
    assert {"zip", "code"} == known.told({1, 7})
