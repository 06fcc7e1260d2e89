"""Which span of a history is due to become episodes, and into which parts it falls.

A call is never parted from its results. What waits blocks nothing: it is passed over, stays where it is, and is taken
when it is settled.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from callsheet.graph.enums import Role
from callsheet.graph.ids import RecordId
from callsheet.policy.settings import Compaction

PART = 8_000
"""Tokens in o200k_base of the part of a span that one episode stands for, about; one exchange may be longer."""

ACTIONS = 2
"""Turns that are kept where the last turns alone are over a mark, as in the middle of a long chain of tools."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One message or result, as far as compaction looks at it."""

    id: RecordId
    position: int
    turn: int
    #: The message that it stands with: the one that asked, for a result; else itself.
    group: RecordId
    #: None: a result.
    role: Role | None
    tokens: int
    instruction: bool = False
    #: One of its calls has no result yet, or waits for a person.
    open: bool = False
    #: Its content may not stand in an episode.
    apart: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Due:
    """What is to be compacted now."""

    #: In order of position, each group whole.
    taken: tuple[Entry, ...] = ()
    #: What was passed over and is looked at again: what waits, with what stands beside it.
    left: tuple[RecordId, ...] = ()
    #: The newest position that was looked at; 0: nothing is due.
    upto: int = 0

    @property
    def tokens(self) -> int:
        """Of what is taken, in o200k_base."""
        return sum(entry.tokens for entry in self.taken)


def over(marks: Compaction, *, turns: int, tokens: int, plain: int, budget: int) -> bool:
    """Whether a history has gone over a mark: what no episode stands for has so many `turns` and `tokens`.

    `plain` is what plain replay of it takes with instructions, tools and framing, `budget` what a request may take.
    Exactly at a mark it has not.
    """
    return (
        (marks.turns is not None and turns > marks.turns)
        or (marks.tokens is not None and tokens > marks.tokens)
        or (marks.share is not None and plain > marks.share * budget)
    )


def due(entries: Sequence[Entry], *, turn: int, keep: int) -> Due:
    """The oldest part of a history that was not compacted yet, but for the last `keep` turns and the newest question.

    `entries` are in order of position, `turn` is the newest one. What was just given stays, whatever `keep` says.
    """
    first = _first_kept(entries, turn, keep)
    old = [entry for entry in entries if first is None or entry.position < first]
    if not old:
        return Due()
    there = {entry.id for entry in old}
    members: dict[RecordId, list[Entry]] = {}
    for entry in entries:
        members.setdefault(entry.group, []).append(entry)
    waiting = {
        group
        for group, each in members.items()
        if any(one.open for one in each) or any(one.id not in there for one in each)
    }
    # The newest question stays in its place, also where a long chain of tools has followed it.
    asked = [entry.group for entry in entries if entry.role is Role.USER and not entry.instruction]
    waiting.update(asked[-1:])
    usable = [entry for entry in old if not entry.instruction]
    return Due(
        taken=tuple(entry for entry in usable if entry.group not in waiting and not entry.apart),
        left=tuple(entry.id for entry in usable if entry.group in waiting),
        upto=old[-1].position,
    )


def _first_kept(entries: Sequence[Entry], turn: int, keep: int) -> int | None:
    """The position from which on everything is kept; None: nothing is."""
    said = [entry for entry in entries if not entry.instruction]
    since = turn - keep
    # The last turns do not begin with an answer whose question is gone.
    since -= keep > 0 and any(entry.turn == since and entry.role is Role.USER for entry in said)
    last = said[-1].group if said else None
    return min((entry.position for entry in said if entry.turn > since or entry.group == last), default=None)


def parts(
    taken: Sequence[Entry], apart: Mapping[RecordId, Collection[RecordId]] | None = None
) -> list[tuple[Entry, ...]]:
    """A span in parts for an episode each: of `PART` tokens about, no group divided.

    `apart` are, by record, those that contradict it: they never stand in one part.
    """
    groups: dict[RecordId, list[Entry]] = {}
    for entry in taken:
        groups.setdefault(entry.group, []).append(entry)
    found: list[tuple[Entry, ...]] = []
    current: list[Entry] = []
    size = 0
    for members in groups.values():
        more = sum(entry.tokens for entry in members)
        against = {id for entry in members for id in (apart or {}).get(entry.id, ())}
        if current and (size + more > PART or any(entry.id in against for entry in current)):
            found.append(tuple(current))
            current, size = [], 0
        current += members
        size += more
    if current:
        found.append(tuple(current))
    return [tuple(sorted(part, key=lambda entry: entry.position)) for part in found]
