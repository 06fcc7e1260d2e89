import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.derive.terms import MOST, Language, counted, language_of, query_terms, query_words, terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The glazes were fired", "firing a glaze"),
        ("Die Öfen wurden für die Glasuren geheizt", "der Ofen und die Glasur, geheizt"),
        ("für die Rückgabe der Straße", "fuer die RÜCKGABE der strasse"),
        ("für die Rueckgabe", "für die Rückgabe"),
    ],
)
def test_inflected_and_differently_written_words_meet(one: str, other: str) -> None:
    shared = set(terms(one)) & set(terms(other))
    assert len(shared) >= len(set(terms(other))) - 1
    assert shared


def test_the_language_is_told_by_its_stop_words_and_by_umlauts() -> None:
    assert language_of("the kiln is not on") is Language.ENGLISH
    assert language_of("der Ofen ist nicht an") is Language.GERMAN
    assert language_of("Öfen") is Language.GERMAN
    assert language_of("") is Language.ENGLISH


def test_identifiers_are_found_whole_and_by_their_parts() -> None:
    assert terms("getKilnTemp") == ["getkilntemp", "get", "kiln", "temp"]
    assert terms("ruth_oake_3668") == ["ruth_oake_3668", "ruth", "oak", "3668"]
    assert terms("HTTPKiln") == ["httpkiln", "http", "kiln"]


def test_stop_words_are_left_out_in_the_language_of_the_text() -> None:
    assert terms("the kiln and the lid") == ["kiln", "lid"]
    assert terms("der Ofen und der Deckel") == ["ofen", "deckel"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Waren werden nach Zahlung versandt.", "Waren"),
        ("Waren werden nach Zahlung versandt.", "Ware"),
        ("Waren werden nach Zahlung versandt.", "waren"),
        ("Jede Ware wird nach der Zahlung versandt.", "Waren"),
        ("Der Weg zum Ofen ist weit.", "der Weg"),
        ("Das verletzt die Würde der Töpfer.", "Würde"),
        ("Soll und Haben sind nicht gleich.", "Haben"),
        ("Please ask the IT department about the kiln.", "IT"),
        ("Please ask the IT department about the kiln.", "it"),
        ("We ship to the US and to Canada.", "to the US"),
        ("The kilns are fired in May.", "May"),
    ],
)
def test_nouns_and_names_that_look_like_stop_words_are_found(text: str, query: str) -> None:
    indexed = set(terms(text))
    assert indexed & set(query_terms(query))
    assert any(indexed & set(word) for word in query_words(query))


def test_stop_words_are_not_looked_for_beside_others() -> None:
    assert query_words("Waren die Glasuren da?") == query_words("Glasuren")
    assert query_words("it may be the kiln") == query_words("kiln")
    assert query_words("the and der") == ()
    assert query_terms("the and der") == ()
    assert terms("they were so, it may be") == terms("das waren wir, weg war er") == []


def test_scripts_without_spaces_become_pairs() -> None:
    assert terms("東京の青 glaze") == ["東京", "京の", "の青", "glaze"]
    assert set(terms("東京")) <= set(terms("東京の青"))


def test_a_short_question_finds_texts_of_both_languages() -> None:
    wanted = set(query_terms("Glasuren Temperaturen"))
    assert wanted & set(terms("Die Glasur ist für den Ofen"))
    assert wanted & set(terms("the Glasuren of that potter"))


@given(st.text())
def test_composed_and_decomposed_text_have_the_same_terms(text: str) -> None:
    composed = unicodedata.normalize("NFC", text)
    if unicodedata.normalize("NFC", unicodedata.normalize("NFD", composed)) == composed:
        assert terms(composed, Language.GERMAN) == terms(unicodedata.normalize("NFC", composed), Language.GERMAN)


@given(st.text(st.characters(codec="utf-8") | st.sampled_from("aB_1 äß東")))
def test_counts_are_those_of_the_terms_in_their_order(text: str) -> None:
    found = terms(text)
    made = counted(text, 10**6)
    distinct = dict.fromkeys(found)
    assert made[: len(distinct)] == tuple((term, found.count(term)) for term in distinct)
    # Single characters of scripts without spaces follow.
    assert all(len(term) == 1 and term in text for term, _ in made[len(distinct) :])
    for term in found:
        term.encode()


def test_the_most_frequent_terms_are_kept_in_order_of_appearance() -> None:
    assert counted("kiln lid shelf lid shelf", 2) == (("lid", 2), ("shelf", 2))


def test_of_very_long_text_the_end_is_read_too() -> None:
    text = "clay " * (MOST // 5) + "x" * 100 + " lastword"
    assert dict(counted(text))["lastword"] == 1


def test_runs_without_words_are_no_terms() -> None:
    assert terms("QUJD" * 50_000 + " clay") == ["clay"]
    assert terms("\ud800 clay \x00") == ["clay"]
