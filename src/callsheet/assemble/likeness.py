"""Results that mostly equal an earlier one in view: a repeated read, an update that answers with the whole record.

They are told by what differs. That is lossless while the earlier one stands in its place in full; whoever moves it
tells the later one in full again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from callsheet.assemble import standins
from callsheet.derive.structured.changes import changes
from callsheet.graph.ids import RecordId

WORTH = 0.6
"""What differs is told alone where it takes at most this share of the whole."""

LONGEST = 65_536
"""Characters of a result that is compared; a longer one is told in full."""

COMPARED = 8
"""Earlier results that a new one is compared with, the newest."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Earlier:
    """A result that stands in view in full."""

    record: RecordId
    text: str
    #: The call that it answered, in a line.
    asked: str


def told_against(new: str, earlier: Earlier) -> str | None:
    """What stands for a result beside an earlier one; None where too little is equal."""
    if new == earlier.text:
        return standins.same(earlier.asked)
    if max(len(new), len(earlier.text)) > LONGEST:
        return None
    differs = changes(new, earlier.text)
    if differs is None:
        return None
    return standins.same_but(earlier.asked, differs) if differs else standins.same(earlier.asked)


def most_like(
    new: str, size: int | None, earlier: Sequence[Earlier], count: Callable[[str], int]
) -> tuple[RecordId, int] | None:
    """The earlier result, given oldest first, against which a new one of `size` tokens takes the fewest, and how many.

    None where that saves too little; without a size, whatever it saves. Of equal ones the newest.
    """
    best: tuple[RecordId, int] | None = None
    for other in reversed(earlier[-COMPARED:]):
        text = told_against(new, other)
        if text is None:
            continue
        tokens = count(text)
        if (size is None or tokens <= WORTH * size) and (best is None or tokens < best[1]):
            best = (other.record, tokens)
    return best
