"""What a conversation's reported usage teaches its counter."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.wire.tokens import Calibration, Judgement, counter_for, judge, learn, uncalibrated
from callsheet.wire.tokens.calibration import MARGIN_CEILING, MARGIN_FLOOR, WINDOW

MODEL = ("anthropic", "claude-sonnet-4-6")
any_number = st.integers() | st.sampled_from([0, -1, 1, 2**63, 10**400, -(10**400)])


def request(calibration: Calibration, tokens: int) -> int:
    """What the calibrated counter estimates for a request of so many tokens in the encoding."""
    return counter_for(*MODEL, calibration).converted(tokens)


def converse(requests: list[tuple[int, float]], first: Calibration | None = None) -> Calibration:
    """The calibration after requests of so many tokens in the encoding, each reported at so many times that."""
    calibration = first or uncalibrated(*MODEL)
    for tokens, ratio in requests:
        calibration = learn(calibration, estimated=request(calibration, tokens), reported=round(tokens * ratio))
    return calibration


sizes = st.integers(2_000, 200_000)
true_ratios = st.floats(0.5, 3.0)


@given(true_ratios, st.lists(sizes, min_size=4, max_size=40))
def test_the_factor_converges_to_consistent_reports(ratio: float, requests: list[int]) -> None:
    calibration = converse([(tokens, ratio) for tokens in requests])

    assert calibration.factor == pytest.approx(ratio, rel=0.005)
    assert calibration.margin < max(uncalibrated(*MODEL).first_margin / 4, MARGIN_FLOOR + 0.01)


@given(true_ratios, st.lists(st.tuples(sizes, st.floats(0.9, 1.1)), min_size=1, max_size=40))
def test_estimate_and_margin_cover_the_recent_reports(ratio: float, requests: list[tuple[int, float]]) -> None:
    reports = [(tokens, ratio * noise) for tokens, noise in requests]
    counter = counter_for(*MODEL, converse(reports))

    for tokens, reported in reports[-WINDOW:]:
        assert counter.bounded(counter.converted(tokens)) >= round(tokens * reported)


@given(true_ratios, st.lists(st.tuples(sizes, st.floats(0.97, 1.03)), min_size=20, max_size=40))
def test_after_reports_steady_within_3_percent_the_next_is_at_most_5_percent_over_the_bound(
    ratio: float, requests: list[tuple[int, float]]
) -> None:
    *before, (tokens, noise) = requests
    counter = counter_for(*MODEL, converse([(size, ratio * wobble) for size, wobble in before]))

    assert counter.bounded(counter.converted(tokens)) * 1.05 >= tokens * ratio * noise


@given(st.lists(st.tuples(any_number, any_number), max_size=30))
def test_hostile_reports_never_break_it(reports: list[tuple[int, int]]) -> None:
    calibration = uncalibrated(*MODEL)
    for estimated, reported in reports:
        calibration = learn(calibration, estimated=estimated, reported=reported)

        assert 0.25 <= calibration.factor <= 4
        assert MARGIN_FLOOR <= calibration.margin <= MARGIN_CEILING
        assert len(calibration.recent) <= WINDOW
        assert counter_for(*MODEL, calibration).converted(100) >= 25


@given(st.lists(st.floats(1 / 8, 8), max_size=7), true_ratios.filter(lambda ratio: 0.8 <= ratio <= 1.6))
def test_a_few_wild_reports_among_steady_ones_do_not_move_the_factor(wild: list[float], ratio: float) -> None:
    steady = converse([(10_000, ratio)] * WINDOW)
    estimated = request(steady, 10_000)
    disturbed = steady
    for times in wild:
        disturbed = learn(disturbed, estimated=estimated, reported=max(1, round(estimated * times)))

    assert disturbed.factor == pytest.approx(steady.factor, rel=0.001)


@pytest.mark.parametrize(
    ("estimated", "reported", "verdict"),
    [
        (1000, 1200, Judgement.USABLE),
        (1000, 8000, Judgement.USABLE),
        (1000, 125, Judgement.USABLE),
        (1000, 8001, Judgement.OUT_OF_RANGE),
        (1000, 124, Judgement.OUT_OF_RANGE),
        (1000, 10**400, Judgement.OUT_OF_RANGE),
        (1000, 0, Judgement.NOT_POSITIVE),
        (1000, -5, Judgement.NOT_POSITIVE),
        (0, 10, Judgement.NOT_POSITIVE),
        (-1, -1, Judgement.NOT_POSITIVE),
    ],
)
def test_an_absurd_report_is_named_and_changes_nothing(estimated: int, reported: int, verdict: Judgement) -> None:
    calibration = converse([(5_000, 1.3)])

    assert judge(estimated=estimated, reported=reported) is verdict
    learned = learn(calibration, estimated=estimated, reported=reported)
    assert (learned == calibration) is (verdict is not Judgement.USABLE)


def test_one_report_moves_the_factor_half_way_and_three_replace_the_guess() -> None:
    factors = [converse([(100_000, 1.45)] * reports).factor for reports in range(4)]

    assert factors == pytest.approx([1.15, 1.30, 1.45, 1.45], abs=0.001)


def test_the_margin_shrinks_with_evidence_down_to_its_floor() -> None:
    margins = [converse([(100_000, 1.15)] * reports).margin for reports in range(12)]

    assert margins == sorted(margins, reverse=True)
    assert margins[0] == 0.15
    assert margins[-1] == MARGIN_FLOOR


@given(st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 10**6)), max_size=30), st.integers(0, 30))
def test_what_was_learned_depends_on_the_reports_alone(reports: list[tuple[int, int]], stored_after: int) -> None:
    """Learning goes on from a stored calibration exactly as if it had never been stored."""
    straight = stored = uncalibrated(*MODEL)
    for number, (estimated, reported) in enumerate(reports):
        straight = learn(straight, estimated=estimated, reported=reported)
        stored = learn(stored, estimated=estimated, reported=reported)
        if number == stored_after:
            stored = msgspec.json.decode(msgspec.json.encode(stored), type=Calibration)

    assert stored == straight


def test_framing_that_no_factor_scales_is_learned_around() -> None:
    """The estimate has a fixed part; the factor still settles on what the texts really count."""
    calibration = uncalibrated(*MODEL)
    for _ in range(40):
        estimated = request(calibration, 2_000) + 400
        calibration = learn(calibration, estimated=estimated, reported=2_000 * 2 + 400)

    assert calibration.factor == pytest.approx(2.0, rel=0.01)
