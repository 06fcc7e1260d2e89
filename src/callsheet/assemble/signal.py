"""The usage signal of D4: what following messages, outcomes and judgements say of how useful a record is.

Stated, not fitted: no recording tells what a judgement is worth.
"""

from collections.abc import Iterable

from callsheet.assemble.items import Item

FAILED = 0.5
"""What counts of a result that is no success. That it failed may matter all the same."""

LEAST, MOST = 0.5, 2.0
"""How far outcome and judgement may move how likely a record is needed: judging is a hint, pinning is an order."""


def signal(item: Item) -> float:
    """The usage signal, from 0 to 1.

    1 where the record was used after its own turn (a later message names what it and few others hold, or cites it),
    else 0; with its feedback added; and a failed result counts half.
    """
    used = 1.0 if item.used > item.turn else 0.0
    return min(1.0, max(0.0, (used + item.feedback) * (FAILED if item.failed else 1.0)))


def favour(item: Item) -> float:
    """By what the likelihood of being needed is multiplied, from ½ to 2: 1 where nothing is known.

    Full praise doubles it, full blame and failure each halve it. Use is no part of it: likelihood goes by the turn of
    last use already.
    """
    judged = 1.0 + (item.feedback if item.feedback > 0 else item.feedback / 2)
    return min(MOST, max(LEAST, judged * (FAILED if item.failed else 1.0)))


def favoured(likely: float, item: Item) -> float:
    """A likelihood with what outcome and judgement make of it, at most 1."""
    if not item.failed and not item.feedback:
        return likely
    return min(1.0, round(likely * favour(item), 9))


def mean(scores: Iterable[float]) -> float:
    """The feedback on a record, from -1 to 1: the mean of the newest score of each who judged."""
    known = sorted(scores)
    return round(sum(known) / len(known), 9) if known else 0.0
