"""Learning how far an estimate is off from the usage that replies report. Pure: no clock, no state of its own.

What was learned is a function of the reports in their order and of nothing else, so a conversation that is read again
comes to the same counts, and no conversation changes another's.
"""

import enum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

#: Reports that are remembered: the factor follows the middle of these, the margin their highest.
WINDOW: Final = 15

#: Reports before the first guess stops taking part.
_TRUSTED_FROM = 3

#: Smallest and largest margin once something was learned.
MARGIN_FLOOR: Final = 0.02
MARGIN_CEILING: Final = 0.5

#: A report that is this many times more or less than the estimate counts something else, and teaches nothing.
ABSURD: Final = 8

#: No tokenizer is further than this from o200k_base.
_LEAST_FACTOR = 0.25
_MOST_FACTOR = 4.0

#: Decimals that factors and margins are rounded to, so that what a counter's name shows is what it counts with.
DECIMALS: Final = 4

#: More than the rounding of a report, a factor and a margin can take away together.
_ROUNDING = 0.0005


class Judgement(enum.Enum):
    """Whether a reported usage can teach anything, and why not."""

    USABLE = "usable"
    NOT_POSITIVE = "not_positive"
    OUT_OF_RANGE = "out_of_range"


class Calibration(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one conversation's reports say about one counter."""

    #: The name of the counter as it was before anything was learned; calibrations of different models do not mix.
    counter: str
    first_factor: float
    first_margin: float
    #: Tokens reported per token of the encoding, the newest last, at most `WINDOW`.
    recent: tuple[float, ...] = ()
    #: All usable reports so far.
    observations: int = 0

    @property
    def factor(self) -> float:
        """The median of the recent reports, which up to seven wild ones cannot move far; at first with the guess."""
        seen = self.recent if len(self.recent) >= _TRUSTED_FROM else (self.first_factor, *self.recent)
        ordered = sorted(seen)
        middle = len(ordered) // 2
        median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
        return round(median, DECIMALS)

    @property
    def margin(self) -> float:
        """Enough that each recent report would have stayed within the estimate, and more while there are few."""
        if not self.recent:
            return self.first_margin
        needed = max(self.recent) / self.factor - 1 + _ROUNDING
        unproven = self.first_margin / (len(self.recent) + 1)
        return round(min(MARGIN_CEILING, max(MARGIN_FLOOR, needed, unproven)), DECIMALS)


def judge(*, estimated: int, reported: int) -> Judgement:
    """Whether `learn` would use this report."""
    if estimated <= 0 or reported <= 0:
        return Judgement.NOT_POSITIVE
    if reported > ABSURD * estimated or estimated > ABSURD * reported:
        return Judgement.OUT_OF_RANGE
    return Judgement.USABLE


def learn(calibration: Calibration, *, estimated: int, reported: int) -> Calibration:
    """The calibration after one more reply.

    `estimated` is what the calibrated counter said about the request, framing and pictures included and the margin
    not; `reported` is all its input tokens, cached ones too. A report that `judge` finds unusable changes nothing.
    """
    if judge(estimated=estimated, reported=reported) is not Judgement.USABLE:
        return calibration
    observed = min(_MOST_FACTOR, max(_LEAST_FACTOR, calibration.factor * (reported / estimated)))
    return replace(
        calibration,
        recent=(*calibration.recent, round(observed, DECIMALS))[-WINDOW:],
        observations=calibration.observations + 1,
    )
