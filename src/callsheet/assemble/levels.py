"""In which level a record stands, how many tokens that is, and how it is written down as a selection."""

from collections.abc import Mapping

from callsheet.assemble.items import Item
from callsheet.graph.enums import Level, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection
from callsheet.policy.verdict import DETAIL

WHOLE = frozenset({Level.RAW, Level.DENSE})
LINES = WHOLE | {Level.GIST}
"""Levels that show all of a record, and those that show its line at least."""


def selected(
    item: Item, level: Level, reason: Reason | None = None, *, note: int = 0, against: RecordId | None = None
) -> Selection:
    """A record at a level: in its own place, or in a note; without a reason, for the one that the level has.

    Its gist stands in the place of an excerpt that would hold nothing.
    """
    if level is Level.FOCUS and item.bare:
        level = Level.GIST
    return Selection(
        record=item.id,
        level=level,
        reason=reason if reason is not None else _why(item, level),
        turn=item.turn,
        note=note,
        segments=item.segments if level is Level.FOCUS else (),
        against=against,
    )


def is_whole(selection: Selection) -> bool:
    """Whether a record stands in its place with all it says."""
    return selection.level in WHOLE and not selection.note and selection.against is None


def standing_size(item: Item, level: Level) -> int:
    """Tokens of a record in its own place; a form that it has in notes alone is as large there."""
    if level is Level.NONE:
        return 0
    size = item.standing.get(level)
    if size is None:
        size = item.noted.get(level, item.standing.get(Level.RAW, 0))
    return item.framing + size


def noted_size(item: Item, level: Level) -> int:
    """Tokens of a record's line in a note."""
    if level is Level.NONE:
        return 0
    size = item.noted.get(level)
    return size if size is not None else item.standing.get(level, 0)


def best(sizes: Mapping[Level, int]) -> Level:
    """The most detail that there is a form of."""
    return min(sizes, key=lambda level: DETAIL[level], default=Level.NONE)


def within(wanted: Level, most: Level) -> Level:
    """The level that is wanted, or the most that is allowed where that is less."""
    return wanted if DETAIL[wanted] >= DETAIL[most] else most


def least(item: Item) -> Level:
    """The smallest form in a note that policy accepts and the item has."""
    usable = [level for level in item.noted if DETAIL[item.most] <= DETAIL[level] <= DETAIL[item.least]]
    return min(usable, key=lambda level: item.noted[level], default=item.least)


def owed(item: Item) -> int:
    """What a record takes in the note at least; 0 where it may be left out."""
    return noted_size(item, least(item)) if item.least is not Level.NONE else 0


def _why(item: Item, level: Level) -> Reason:
    if item.reason is Reason.CONFLICT:
        return Reason.CONFLICT
    if item.replaced and level is not Level.NONE:
        return Reason.SUPERSEDED
    return item.reason if DETAIL[item.most] > 0 and level is item.most else Reason.INCLUDED
