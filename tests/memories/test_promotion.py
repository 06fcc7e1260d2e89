"""Labelled promotions: what each result becomes, and which of the stated values are located."""

from pathlib import Path

import pytest

from tests.memories.labelled import Case, Tally, judge, load, locations, promotions

CASES = load(Path(__file__).with_name("promotion.yaml"))


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_result_becomes_what_its_label_says_and_no_value_is_located_where_it_is_not(case: Case) -> None:
    came = judge(case)
    assert came.as_ == case.as_
    assert came.located <= {str(value) for value in case.located}


def test_precision_and_recall_over_all_labels() -> None:
    came = [judge(case) for case in CASES]
    assert (promotions(came).precision, promotions(came).recall) == (1.0, 1.0)
    assert locations(came).precision == 1.0
    assert locations(came).recall >= 0.95


def test_the_labels_tell_every_kind_apart() -> None:
    assert {case.as_ for case in CASES} == {"memory", "metadata", "audit_only", "none"}
    assert len({case.name for case in CASES}) == len(CASES) >= 35


def test_figures_count_what_was_found_against_the_labels() -> None:
    tally = Tally(right=3, found=4, labelled=6)
    assert (tally.precision, tally.recall) == (0.75, 0.5)
    assert Tally(right=0, found=0, labelled=0).precision == 1.0
