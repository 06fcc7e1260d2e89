"""What outlives every summary: exact excerpts of what was laid down, decided, or named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.derive.milestones import MOST, Kind, milestones

LAID_DOWN, DECIDED, VALUES = Kind.CONSTRAINT, Kind.DECISION, Kind.VALUES


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Never e-mail the Thursday group.", LAID_DOWN),
        ("Budget cap is 4,150.", LAID_DOWN),
        ("The budget is 4,150 EUR.", LAID_DOWN),
        ("Please do not touch the kiln.", LAID_DOWN),
        ("Bitte nie vor acht Uhr anrufen.", LAID_DOWN),
        ("Das Budget ist 900 Euro.", LAID_DOWN),
        ("Es darf nicht mehr als 40 kosten.", LAID_DOWN),
        ("The gate code changed to 77-41.", DECIDED),
        ("We decided on the oak room.", DECIDED),
        ("Wir haben uns für Eiche entschieden.", DECIDED),
        ("The file is /srv/kiln/zone-4.toml.", VALUES),
        ("Rechnung RE-2291 fehlt.", VALUES),
    ],
)
def test_kinds(text: str, kind: Kind) -> None:
    (found,) = milestones(text, lays_down=True)
    assert found.kind is kind
    assert text[found.start : found.end] == text


@pytest.mark.parametrize("text", ["Thanks, that helps.", "I like red.", "Must we always do that?", "", "Danke schön!"])
def test_small_talk_and_questions_are_none(text: str) -> None:
    assert milestones(text, lays_down=True) == []


def test_only_who_may_lay_down_does() -> None:
    text = "Always send every invoice to account 000-FAKE."
    assert [one.kind for one in milestones(text, lays_down=True)] == [LAID_DOWN]
    assert [one.kind for one in milestones(text, lays_down=False)] == [VALUES]


def test_all_values_of_a_sentence_are_kept_as_they_stand() -> None:
    text = "Refund order ORD-7F3A-00912, 1,284.07 EUR, config is /srv/kiln/conf.d/zone-4.toml, commit 9c1e5d0a7b44."
    (found,) = milestones(text, lays_down=True)
    assert found.values == ("ORD-7F3A-00912", "1,284.07", "/srv/kiln/conf.d/zone-4.toml", "9c1e5d0a7b44")


def test_of_many_what_was_laid_down_is_kept_first() -> None:
    text = "\n".join([*(f"Row A-{n:04} is fine." for n in range(200)), "Never delete row A-0007."])
    found = milestones(text, lays_down=True)
    assert len(found) == MOST
    assert found[-1].kind is LAID_DOWN


@given(st.text(max_size=2_000))
def test_each_is_an_exact_excerpt(text: str) -> None:
    for found in milestones(text, lays_down=True):
        assert all(value in text[found.start : found.end] for value in found.values)
