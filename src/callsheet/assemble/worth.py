"""How likely one of the next requests needs a result or a memory, as planning weighs it and explanations tell it."""

from callsheet.assemble.items import Item
from callsheet.assemble.needed import Habit, Needed
from callsheet.assemble.signal import favoured
from callsheet.graph.enums import Level


def fullest(item: Item) -> int:
    """Tokens of all that it says, in its own place."""
    return item.standing.get(Level.DENSE, item.standing.get(Level.RAW, 0))


def age_of(item: Item, turn: int, turns: int) -> int:
    """Turns since it was last used, for a request of `turn` under a set that keeps the last `turns`.

    A memory does not age beyond the last turns: somebody decided that it is to be remembered.
    """
    age = max(0, turn - item.used)
    return min(age, max(1, turns)) if item.covers else age


def chance(item: Item, *, needed: Needed, turn: int, turns: int, habit: Habit, horizon: int) -> float:
    """P(needed) within the next `horizon` turns of a conversation with this habit, as outcome and feedback move it."""
    likely = needed.of(age=age_of(item, turn, turns), size=fullest(item), habit=habit, horizon=horizon)
    return favoured(likely, item)
