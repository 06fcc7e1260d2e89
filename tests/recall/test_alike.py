"""What says the same in other words, and what only looks like it."""

import pytest

from callsheet.derive.terms import compared, counted
from callsheet.graph.ids import RecordId
from callsheet.recall.alike import apart, close, denials, saying


def same(one: str, other: str) -> bool:
    first, second = (saying(RecordId(text), (term for term, _ in counted(text))) for text in (one, other))
    assert first is not None
    assert second is not None
    return apart([first, second], str, 2) == [0, 1] and close(first, second) and denials(one) == denials(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The east gate opens at six.", "Gate (east) opens 06:00."),
        ("The east gate opens at six.", "They open the east gate at six."),
        ("Das Osttor öffnet um sechs Uhr.", "Um 6 Uhr öffnet das Osttor."),
    ],
)
def test_other_words_for_the_same(one: str, other: str) -> None:
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The east gate opens at six.", "The east gate opens at seven."),
        ("The east gate opens at six.", "The east gate does not open at six."),
        ("Lorries must not use the east gate on Sundays", "Lorries must use the east gate on Sundays"),
        ("Anna likes red tulips most of all", "Anna likes red roses most of all"),
        ("Das Tor öffnet um sechs.", "Das Tor öffnet nie um sechs."),
        ("", "The east gate opens at six."),
    ],
)
def test_what_differs_in_what_matters(one: str, other: str) -> None:
    if one:
        assert not same(one, other)
    else:
        assert saying(RecordId("empty"), ()) is None


def test_identifiers_must_be_the_same() -> None:
    one = saying(RecordId("a"), ["order", "late", "paid"], ["ord-17"])
    other = saying(RecordId("b"), ["order", "late", "paid"], ["ord-71"])
    assert one is not None
    assert other is not None
    assert not close(one, other)


def test_long_texts_are_not_compared_and_keep_their_places() -> None:
    assert saying(RecordId("long"), map(str, range(100))) is None
    short = saying(RecordId("x"), ["oak", "elm"])
    assert apart([short, None, short], lambda id: "", 3) == [0, 1, 2]


def test_texts_are_read_only_where_two_are_close() -> None:
    read: list[str] = []
    near = saying(RecordId("near"), ["oak", "elm", "fir"])
    again = saying(RecordId("again"), ["oak", "elm", "fir"])
    far = saying(RecordId("far"), ["yew", "ash", "box"])
    assert apart([far, near, again], lambda id: read.append(id) or "", 3) == [0, 1, 2]  # type: ignore[func-returns-value]
    assert sorted(read) == ["again", "near"]
    assert apart([far, near, again], str, 2) == [0, 1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Gaense fressen morgens Hafer", "Die Gänse fressen morgens Hafer."),
        ("Der Schlüssel hängt am Brett", "Die Schlüssel hängen am Brett."),
        ("Schlüssel hängen am Brett", "Der Schluessel haengt am Brett"),
        ("Das Gewächshaus öffnet um sechs Uhr", "Gewächshaus öffnet um 6 Uhr"),
    ],
)
def test_german_is_compared_in_whatever_language_it_was_read(one: str, other: str) -> None:
    first, second = (saying(RecordId(text), compared(term for term, _ in counted(text))) for text in (one, other))
    assert first is not None
    assert second is not None
    assert close(first, second)
