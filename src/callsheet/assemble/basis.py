"""What one request is planned from, and what follows from that for each record by itself."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from callsheet.assemble.items import Item
from callsheet.assemble.levels import noted_size, selected, standing_size, within
from callsheet.assemble.needed import Habit, Needed
from callsheet.graph.enums import Level, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection
from callsheet.policy.sets import PolicySetDocument


@dataclass(frozen=True, kw_only=True, slots=True)
class Prices:
    """What a token costs, in fresh input tokens."""

    cached: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How large the request may be, in tokens of content."""

    #: With everything in it.
    budget: int
    #: Above this it is rewritten.
    high: int
    #: To this it is shrunk, where what is protected leaves it the room.
    low: int
    #: What stands in every request beside the records: tool schemas, framing.
    fixed: int = 0
    #: What leaving something out brings with it: the head of a note, the tool that fetches the rest.
    aside: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Basis:
    """All that a plan is a function of, beside what stood in the last request and what has come since."""

    items: Mapping[RecordId, Item]
    policy: PolicySetDocument
    limits: Limits
    prices: Prices
    needed: Needed
    turn: int
    habit: Habit
    #: The turn in which the present task began.
    episode: int = 0

    def size(self, selections: Iterable[Selection]) -> int:
        """Tokens of a request of these selections."""
        return self.limits.fixed + sum(map(self.size_of, selections))

    def size_of(self, selection: Selection) -> int:
        """Tokens of one record where and as it stands."""
        item = self.items[selection.record]
        if selection.against is not None:
            return item.framing + item.like_size
        return noted_size(item, selection.level) if selection.note else standing_size(item, selection.level)

    def stands(self, item: Item, whole: Container[RecordId] = ()) -> Selection:
        """A record in its place. `whole` are the results before it that stand in full, to be told against."""
        level = self.first_level(item)
        against = item.like if level is Level.DENSE and item.like in whole else None
        return selected(item, level, against=against)

    def first_level(self, item: Item) -> Level:
        """In how much detail a record stands when it is new or among the last turns."""
        if not item.is_result or self.policy.verbatim:
            return within(Level.RAW, item.most_hard)
        wanted = self.policy.history
        if item.exact:
            wanted = Level.RAW
        elif Level.FOCUS in item.standing:
            wanted = Level.FOCUS
        elif wanted is Level.FOCUS:
            wanted = Level.DENSE
        return within(wanted, item.most)

    def kept(self, items: Sequence[Item]) -> list[Item]:
        """Instructions, the last turns and the newest user turn, each group of calls and results whole."""
        if self.policy.verbatim:
            return list(items)
        newest = max((item.position for item in items if item.role is Role.USER and not item.instruction), default=0)
        since = self.turn - self.policy.turns
        # The last turns do not begin with an answer whose question is gone.
        since -= any(item.turn == since and item.role is Role.USER for item in items if not item.instruction)
        own = [item for item in items if not item.given and item.second_hand is None]
        recent = (item for item in own if (item.turn > since and item.compacted is None) or item.position == newest)
        groups = {item.group for item in recent} | {item.group for item in own if item.open}
        # What was just given is there to be answered, however few turns are kept.
        groups.update(item.group for item in own[-1:])
        return [item for item in items if item.instruction or item.group in groups]
