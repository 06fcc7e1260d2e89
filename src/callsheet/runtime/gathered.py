"""What one assembly decides on, and what of it gives way where a request is too small for all."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum

from callsheet.assemble import sizes
from callsheet.assemble.items import Item
from callsheet.assemble.levels import noted_size, standing_size
from callsheet.assemble.needed import Habit
from callsheet.assemble.plans import Fresh, Rewrite, Standing
from callsheet.graph.enums import Level, Privacy, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection
from callsheet.runtime.episodes import NOTHING, Mark
from callsheet.runtime.personalising.choosing import Choosing
from callsheet.runtime.terms import Terms

_COMPELLING = frozenset({Rewrite.FIRST, Rewrite.HARD, Rewrite.COMPACTED, Rewrite.CHANGED})
"""Why all is chosen anew at any price."""


class Yielded(IntEnum):
    """What has given way in a request that is too small for it: first what a compaction brought."""

    NOTHING = 0
    #: What tells at second hand, but for what is pinned.
    TOLD = 1
    #: Also the lines of the last turns that have their episode, and the tool that reads what is not listed.
    OWED = 2
    #: Also the recall tool, and with it the references that it reads.
    RECALL = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Gathered:
    """Everything that one assembly decides on."""

    items: Mapping[RecordId, Item]
    standing: Standing | None
    fresh: Fresh
    forced: Rewrite | None
    turn: int
    results: int
    habit: Habit
    #: The turn in which the present task began.
    episode: int
    tasks: tuple[int, ...]
    #: The turn of last use of each record in view, where that is later than its own.
    used: Mapping[RecordId, int]
    #: The records that are visible and new, or that a first request looks at.
    replayed: tuple[RecordId, ...]
    #: Of a history that was never shown, the records that were not looked at (less those that stood and were taken
    #: back), and their tokens in o200k_base.
    older: int
    older_tokens: int
    refused: Mapping[Reason, int]
    #: How far the history has its episodes.
    compacted: Mark = NOTHING
    #: Calls whose arguments may not be shown.
    withheld: frozenset[RecordId] = frozenset()
    #: Records that are pinned, whether or not they stand in view.
    pins: frozenset[RecordId] = frozenset()
    #: Those of the items that are memories.
    memories: frozenset[RecordId] = frozenset()
    #: Calls of others behind what stands under their names.
    unasked: frozenset[RecordId] = frozenset()
    #: The names of others under which some of the records stand.
    speakers: Mapping[RecordId, str] = field(default_factory=dict)
    #: The class of data of each record.
    classes: Mapping[RecordId, Privacy] = field(default_factory=dict)
    #: Records whose content may not go to the provider, and whether there ever were any.
    silent: frozenset[RecordId] = frozenset()
    silenced: bool = False
    #: The memories of the user; None: there are none for this reader.
    personal: Choosing | None = None
    #: What has given way to the rest.
    yielded: Yielded = Yielded.NOTHING

    def yielding(self, what: Yielded) -> "Gathered":
        """With so much gone, so that in the end a request needs no more than before a compaction, and no tool."""
        forced = self.forced if self.forced in _COMPELLING else Rewrite.HIGH_WATER
        items = {id: _without(item, what) for id, item in self.items.items()}
        return replace(self, items=items, forced=forced, yielded=what)

    def pinned(self, selections: Iterable[Selection]) -> dict[str, int]:
        """The tokens of those of these selections that stand for no other reason than that they are pinned."""
        found: dict[str, int] = {}
        for one in selections:
            item = self.items.get(one.record) if one.record in self.pins else None
            if item is None or item.least is Level.NONE or item.recent or item.open or item.instruction or item.failed:
                continue
            size = noted_size if one.note else standing_size
            found[item.id] = size(item, one.level)
        return found

    def history(self, terms: Terms) -> int:
        """Tokens in o200k_base of all that plain replay would show."""
        before = terms.base.sheet.history_o200k if terms.base is not None else 0
        calls = terms.calls
        if self.withheld or self.unasked:
            hidden = self.withheld | self.unasked
            calls = {id: call for id, call in calls.items() if id not in hidden}
        told = (terms.desk.records[id] for id in self.replayed if id not in self.silent)
        tokens = sum(sizes.recorded_tokens(one, calls) or sizes.estimated_tokens(one, calls) for one in told)
        # What may not be shown counts as the words that stand for it, so that no figure tells of its content.
        return before + self.older_tokens + tokens + sizes.WITHHELD * len(self.silent.intersection(self.replayed))


def _without(item: Item, what: Yielded) -> Item:
    if what >= Yielded.OWED and item.compacted is not None and item.recent:
        return replace(item, least=Level.NONE)
    if item.second_hand is not None and item.least is Level.NONE:
        return replace(item, most=Level.NONE, reason=Reason.OVER_BUDGET)
    return item
