"""German compounds come apart into words of a fixed list, and nothing else does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.derive.compounds import SHORTEST, folded, parts
from callsheet.derive.terms import Language, query_words, terms, weighted


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("warmepumpenwartungsvertrag", ("warme", "pumpe", "wartung", "vertrag")),
        ("waermepumpenwartungsvertrag", ("warme", "pumpe", "wartung", "vertrag")),
        ("strassenbeleuchtung", ("strasse", "beleuchtung")),
        ("lagerraums", ("lager", "raum")),
        ("kundigungsfristen", ("kundigung", "frist")),
        ("muhlengasschen", ("muhle", "gasschen")),  # the end is unknown
        ("notstromaggregat", ()),  # both are
        ("steuererklarung", ("steuer", "erklarung")),
        ("kaffeemaschine", ("kaffee", "maschine")),
        ("gansefutterung", ("gans", "futterung")),  # what is done with a part
        ("pferdefuetterungen", ("pferd", "futterung")),
    ],
)
def test_compounds_come_apart(word: str, expected: tuple[str, ...]) -> None:
    assert parts(word) == expected


@pytest.mark.parametrize(
    "word",
    [
        "verantwortung",
        "entscheidung",
        "unterricht",
        "gesellschaft",
        "verschiedene",
        "naturlich",
        "besonders",
        "rathaus",
    ],
)
def test_what_is_no_compound_stays_whole(word: str) -> None:
    assert parts(word) == ()


@given(st.text(alphabet="abcdefghiklmnoprstuwz", max_size=70))
def test_any_word_ends_soon_and_its_parts_are_no_longer_than_it(word: str) -> None:
    found = parts(word)
    assert len(found) != 1
    assert not found or len(folded(word)) >= SHORTEST
    assert sum(len(folded(part)) - 1 for part in found) <= len(word)


def test_a_query_asks_for_each_word_by_all_its_terms() -> None:
    (word,) = query_words("Wartungsverträge")
    assert {"wartung", "vertrag"} < set(word)
    assert query_words("the der") == ()
    assert query_words("C# and C++") == (("c#",), ("c++",))


def test_a_german_text_holds_the_parts_and_an_english_one_does_not() -> None:
    assert "vertrag" in terms("der Wartungsvertrag", Language.GERMAN)
    assert terms("sandstone", Language.ENGLISH) == ["sandston"]


def test_fields_count_by_their_weight() -> None:
    assert dict(weighted([("East gate", 3), ("the gate opens", 1)])) == {"east": 3, "gate": 4, "open": 1}
    assert weighted([("oak elm", 2), ("fir", 1)], limit=2) == (("oak", 2), ("elm", 2))
