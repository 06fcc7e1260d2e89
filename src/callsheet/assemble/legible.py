"""What of a request can be read elsewhere in it, and so need not stand in it twice."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from callsheet.assemble.items import Item
from callsheet.assemble.levels import LINES, WHOLE
from callsheet.graph.enums import Level
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection


@dataclass(frozen=True, kw_only=True, slots=True)
class Legible:
    """What can be read in a request as it was recorded."""

    whole: Container[RecordId]
    #: By the line of a note at least, which shows the beginning of what was said and what a result found.
    lines: Container[RecordId]

    @classmethod
    def of(cls, selections: Sequence[Selection], also: Iterable[RecordId] = ()) -> Self:
        """What these show, and `also` what stands in its place without being among them."""
        lines = frozenset(one.record for one in selections if one.level in LINES)
        whole = frozenset(one.record for one in selections if one.level in WHOLE)
        return cls(whole=whole.union(also), lines=lines.union(also))

    def tells(self, item: Item) -> bool:
        """Whether all that a milestone or fact quotes can be read, and nothing wants it shown by itself."""
        there = self.lines if item.quotes_line else self.whole
        return bool(item.quotes) and item.least is Level.NONE and all(id in there for id in item.quotes)


def told_by_episode(item: Item) -> bool:
    """Whether it was said in a span that has its episode, and no policy wants it shown by itself."""
    return item.compacted is not None and not item.is_result and item.least is Level.NONE


def said_by_one_of(episodes: Container[RecordId], item: Item) -> bool:
    """Whether one of these episodes says all that a record says, and no policy wants it shown by itself."""
    return item.within in episodes and (item.least is Level.NONE or item.recent)


def only_points(selection: Selection, item: Item, told: Mapping[RecordId, Level]) -> bool:
    """Whether a record stands by its reference alone, and an episode tells of it and says how to read it."""
    by_reference = selection.level is Level.REF and not item.is_result
    return by_reference and item.recent and told.get(item.compacted or item.id) in LINES
