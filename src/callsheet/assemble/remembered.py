"""Memories in place of the results that they rest on: the compact form first, the exact bytes where they are needed."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from callsheet.assemble.items import Item
from callsheet.graph.enums import Level, Reason
from callsheet.graph.ids import RecordId
from callsheet.policy.verdict import DETAIL


@dataclass(frozen=True, kw_only=True, slots=True)
class Remembered:
    """What memories make of the records that a request may list."""

    #: Memories that add nothing: all their results stand in their place, and no policy protects them.
    idle: frozenset[RecordId] = frozenset()
    #: Results that a memory stands for, with why they are not told themselves.
    covered: Mapping[RecordId, Reason] = field(default_factory=dict)
    #: The memory that stands for a result, or tells how it is now.
    instead: Mapping[RecordId, RecordId] = field(default_factory=dict)


def remembered(
    items: Iterable[Item],
    standing: Container[RecordId],
    replaced_by: Mapping[RecordId, Sequence[RecordId]] | None = None,
) -> Remembered:
    """Which results a memory among the items stands for; `standing` are those that stand in their own place.

    A result that policy protects, or whose exact bytes are wanted, is told all the same. A memory that was replaced
    stands for its results too: what it is `replaced_by` tells how it is now. One that may not be shown for another
    reason stands for nothing.
    """
    known = {item.id: item for item in items}
    current = _Current(known=known, replaced_by=replaced_by or {})
    idle: set[RecordId] = set()
    covered: dict[RecordId, Reason] = {}
    instead: dict[RecordId, RecordId] = {}
    telling = [item for item in known.values() if item.covers or item.reason is Reason.SUPERSEDED]
    for item in sorted(telling, key=lambda item: item.position):
        if not item.covers:
            if (now := current.of(item.id)) is not None:
                instead.setdefault(item.id, now)
            continue
        away = [id for id in item.covers if id not in standing]
        if not away:
            if item.least is Level.NONE:
                idle.add(item.id)
            continue
        told = tells(item)
        if not told and item.reason is not Reason.SUPERSEDED:
            continue
        now = item.id if told else current.of(item.id)
        for id in away:
            if id in known and (known[id].least is not Level.NONE or known[id].exact):
                continue
            if told:
                covered[id] = Reason.REMEMBERED
                instead[id] = item.id
            else:
                covered.setdefault(id, Reason.SUPERSEDED)
                if now is not None:
                    instead.setdefault(id, now)
    return Remembered(idle=frozenset(idle), covered=covered, instead=instead)


def tells(item: Item) -> bool:
    """Whether a memory may be shown with what it says, or at least says that it is out of date."""
    return bool(item.covers) and DETAIL[item.most] <= DETAIL[Level.STALE]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Current:
    """Follows replacements to what tells how it is now."""

    known: Mapping[RecordId, Item]
    replaced_by: Mapping[RecordId, Sequence[RecordId]]

    def of(self, id: RecordId) -> RecordId | None:
        """The newest memory, over however many steps, that replaces a record and tells; None: there is none."""
        open_, seen = [id], {id}
        found: list[Item] = []
        while open_:
            for next_ in self.replaced_by.get(open_.pop(), ()):
                if next_ in seen:
                    continue
                seen.add(next_)
                open_.append(next_)
                item = self.known.get(next_)
                if item is not None and tells(item) and item.reason is not Reason.SUPERSEDED:
                    found.append(item)
        return max(found, key=lambda item: item.position).id if found else None
