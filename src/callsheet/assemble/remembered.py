"""Memories in place of the results that they rest on: the compact form first, the exact bytes where they are needed."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field

from callsheet.assemble.items import Item
from callsheet.graph.enums import Level, Reason
from callsheet.graph.ids import RecordId
from callsheet.policy.verdict import DETAIL


@dataclass(frozen=True, kw_only=True, slots=True)
class Remembered:
    """What memories make of the records that a request may list."""

    #: Memories that add nothing: all their results stand in their place.
    idle: frozenset[RecordId] = frozenset()
    #: Results that a memory stands for, with why they are not told themselves.
    covered: Mapping[RecordId, Reason] = field(default_factory=dict)
    #: The memory that stands for a result.
    instead: Mapping[RecordId, RecordId] = field(default_factory=dict)


def remembered(items: Iterable[Item], standing: Container[RecordId]) -> Remembered:
    """Which results a memory among the items stands for; `standing` are those that stand in their own place.

    A result that policy protects, or whose exact bytes are wanted, is told all the same. A memory that was replaced
    stands for its results too: what replaced it tells how it is now. One that may not be shown for another reason
    stands for nothing.
    """
    known = {item.id: item for item in items}
    idle: set[RecordId] = set()
    covered: dict[RecordId, Reason] = {}
    instead: dict[RecordId, RecordId] = {}
    for item in sorted(known.values(), key=lambda item: item.position):
        if not item.covers:
            continue
        away = [id for id in item.covers if id not in standing]
        if not away:
            idle.add(item.id)
            continue
        tells = DETAIL[item.most] <= DETAIL[Level.STALE]
        if not tells and item.reason is not Reason.SUPERSEDED:
            continue
        for id in away:
            if id in known and (known[id].least is not Level.NONE or known[id].exact):
                continue
            if tells:
                covered[id] = Reason.REMEMBERED
                instead[id] = item.id
            else:
                covered.setdefault(id, Reason.SUPERSEDED)
    return Remembered(idle=frozenset(idle), covered=covered, instead=instead)
