"""The usage signal and what it makes of a likelihood: bounded, monotone, nothing where nothing is known."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.assemble.items import Item
from callsheet.assemble.signal import favour, favoured, mean, signal
from callsheet.assemble.worth import chance
from callsheet.graph.enums import Level
from callsheet.graph.ids import RecordId
from tests.assemble.items import LIKELY, NEW

PLAIN = Item(id=RecordId("r"), position=1, turn=3, group=RecordId("r"), role=None, used=3)
SCORES = st.floats(-1, 1)


@pytest.mark.parametrize(
    ("used", "feedback", "failed", "expected"),
    [
        (3, 0.0, False, 0.0),
        (4, 0.0, False, 1.0),
        (4, 0.0, True, 0.5),
        (4, 1.0, False, 1.0),
        (4, -1.0, False, 0.0),
        (4, -0.5, True, 0.25),
        (3, 0.75, False, 0.75),
        (3, 0.5, True, 0.25),
        (3, -1.0, False, 0.0),
    ],
)
def test_the_signal_is_use_and_feedback_of_which_a_failure_counts_half(
    used: int, feedback: float, failed: bool, expected: float
) -> None:
    assert signal(dataclasses.replace(PLAIN, used=used, feedback=feedback, failed=failed)) == expected


@pytest.mark.parametrize(
    ("feedback", "failed", "expected"),
    [
        (0.0, False, 1.0),
        (1.0, False, 2.0),
        (0.5, False, 1.5),
        (-1.0, False, 0.5),
        (-0.5, False, 0.75),
        (0.0, True, 0.5),
        (1.0, True, 1.0),
        (-1.0, True, 0.5),
    ],
)
def test_what_is_known_moves_the_likelihood_from_its_half_to_its_double(
    feedback: float, failed: bool, expected: float
) -> None:
    item = dataclasses.replace(PLAIN, feedback=feedback, failed=failed)
    assert favour(item) == expected
    assert favoured(0.2, item) == pytest.approx(0.2 * expected)
    assert favoured(0.9, item) <= 1.0


#: As `Needed.of` gives them: rounded to nine digits.
CHANCES = st.floats(0, 1).map(lambda likely: round(likely, 9))


@given(likely=CHANCES, one=SCORES, other=SCORES, failed=st.booleans())
def test_more_praise_never_makes_less_likely(likely: float, one: float, other: float, failed: bool) -> None:
    less, more = (dataclasses.replace(PLAIN, feedback=score, failed=failed) for score in sorted((one, other)))
    assert favoured(likely, less) <= favoured(likely, more)
    assert signal(less) <= signal(more)
    assert 0.0 <= favoured(likely, less) <= 1.0


@given(likely=st.floats(0, 1))
def test_where_nothing_is_known_nothing_changes_to_the_last_bit(likely: float) -> None:
    assert favoured(likely, PLAIN) == likely


@given(st.lists(SCORES, min_size=1))
def test_the_feedback_is_a_mean_in_any_order(scores: list[float]) -> None:
    assert mean(scores) == mean(reversed(scores))
    assert min(scores) - 1e-9 <= mean(scores) <= max(scores) + 1e-9


def test_the_chance_of_a_result_goes_by_it() -> None:
    def of(item: Item) -> float:
        return chance(item, needed=LIKELY, turn=60, turns=6, habit=NEW, horizon=1)

    item = dataclasses.replace(PLAIN, standing={Level.DENSE: 100})
    plain = of(item)
    assert 0 < plain < 0.5
    assert of(dataclasses.replace(item, feedback=1.0)) == pytest.approx(2 * plain)
    assert of(dataclasses.replace(item, failed=True)) == pytest.approx(plain / 2)
