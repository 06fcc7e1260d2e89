"""Where what the user asks for was spoken of last."""

import pytest

from callsheet.assemble.bringing import RARE, SPOKEN, Matching
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Posting


def spoken(query: str, *held: str, away: str = "") -> list[str]:
    """What comes back, of records r1, r2, ... that hold these words; those out of view are messages."""
    postings = [
        Posting(term=term, position=place, record=RecordId(f"r{place}"))
        for place, words in enumerate(held, start=1)
        for term in words.split()
        if term in query.split()
    ]
    matching = Matching(query.split(), postings, 100)
    return list(matching.spoken(matching.latest(), set(map(RecordId, away.split()))))


@pytest.mark.parametrize(
    ("query", "held", "away", "expected"),
    [
        ("deposit", ["deposit paid", "other"], "r1", ["r1"]),
        ("deposit", ["deposit", "deposit", "deposit"], "r1 r2 r3", ["r3", "r2"]),
        ("deposit", ["deposit", "deposit", "deposit"], "r1 r2", []),
        ("deposit", ["deposit", "deposit", "deposit"], "r1 r3", ["r3"]),
        ("jonas eats", ["jonas eats", "jonas", "else"], "r1 r2", ["r1", "r2"]),
        ("jonas eats", ["jonas eats", "jonas", "else"], "r1", ["r1"]),
        ("weather", ["weather"] * RARE, f"r{RARE}", [f"r{RARE}"]),
        ("weather", ["weather"] * (RARE + 1), f"r{RARE + 1}", []),
        ("unknown", ["deposit"], "r1", []),
        ("a b c d", ["a", "b", "c", "d"], "r1 r2 r3 r4", ["r4", "r3"]),
    ],
)
def test_a_message_comes_back_where_a_rare_word_stood_last_those_with_most_of_them_first(
    query: str, held: list[str], away: str, expected: list[str]
) -> None:
    assert spoken(query, *held, away=away) == expected
    assert len(expected) <= SPOKEN
