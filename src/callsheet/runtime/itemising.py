"""What planning needs to know of each record: what the policies say of it, and how large it is by level."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TypeAlias

import msgspec

from callsheet.assemble.itemising import Itemiser, Seen
from callsheet.assemble.items import Item
from callsheet.assemble.sizes import WITHHELD
from callsheet.graph.enums import ArtifactStatus, Freshness, Privacy
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, Selection, ToolArtifact, ToolCall, ToolMemory
from callsheet.graph.record import Record
from callsheet.graph.times import Instant
from callsheet.policy.freshness import SECOND
from callsheet.policy.verdict import Decision
from callsheet.runtime.deciding import Deciding, Standings
from callsheet.runtime.desk import bodies, called
from callsheet.runtime.ground import Ground, asks
from callsheet.runtime.likening import Likening

MakeItemiser: TypeAlias = Callable[[Mapping[RecordId, ToolCall], int, frozenset[str]], Itemiser]
"""From the calls that are at hand, the turn that the request answers, and the entities in play."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Itemising:
    """Decides on records and measures them, for one request."""

    ground: Ground
    itemiser: MakeItemiser
    standings: Standings
    turns: dict[RecordId, int]
    #: The turn that the request answers.
    turn: int
    #: The turn of last use of each record, where that is later than its own.
    used: Mapping[RecordId, int]
    #: Results whose exact bytes are wanted.
    exact: frozenset[RecordId] = frozenset()
    #: The position where the conversation was put away last, and the turn in which the present task began.
    archived: int = 0
    episode: int = 0

    def items(self, ids: Iterable[RecordId], view: Sequence[Selection], news: Sequence[Record]) -> dict[RecordId, Item]:
        """Each record as planning sees it. What is brought back counts as older than the last turns."""
        ground, turn = self.ground, self.turn
        records = [ground.desk.records[id] for id in ids]
        calls = bodies(ground.desk.calls)
        deciding = Deciding(
            boundary=ground.boundary,
            policy=ground.policy,
            standings=self.standings,
            calls=calls,
            open=ground.open,
            turn=turn,
            tool_of=ground.tool_of,
            opened=ground.desk.opened.shown,
            archived=self.archived,
            episode=self.episode,
        )
        in_play = frozenset(entity for record in news for entity in ground.entities(record))
        shown = calls
        if not ground.silent.isdisjoint(calls):
            # Arguments that are not shown take the room of the words that stand for them.
            shown = {id: msgspec.structs.replace(calls[id], o200k=WITHHELD) for id in ground.silent & calls.keys()}
            shown = {**calls, **shown}
        itemiser = replace(
            self.itemiser(shown, turn, in_play),
            asked=self._named(records, news),
            new=frozenset(record.id for record in news),
        )
        likes = Likening(ground=ground, calls=calls).likes(view, news)
        newest = max((record.position for record in news if asks(record)), default=0)
        # Whether a failure is settled is asked only where something failed.
        statuses = {body.status for record in records if isinstance(body := record.body, ToolArtifact)}
        resolved = deciding.resolved(records) if statuses - {ArtifactStatus.OK} else frozenset()
        remembered = ground.desk.remembered
        # Rules that users write may ask for anything of the boundary, and for ages in seconds.
        changed = frozenset(record.id for record in records) if ground.policy.rules else self.standings.targets
        recent, aged = max(1, ground.policy.turns), max(1, turn - ground.policy.turns)
        now, open, silent = ground.boundary.now, ground.open, ground.silent
        limits = self._limits()
        resting = remembered.resting(
            records,
            self.turns,
            self.used,
            calls,
            now,
            archived=self.archived,
            upto=turn - recent,
            but={*resolved, *self.exact, *likes, *changed, *_calling(records, open | silent)},
        )
        items: dict[RecordId, Item] = {}
        for record in records:
            id = record.id
            if (item := resting.get(id)) is not None:
                items[id] = item
                continue
            own = self.turns.setdefault(id, aged)
            # Beside what stands in the record, policies ask whether it is of the last turns, and for its age in time.
            over = deciding.over(record, own)
            age = _Age.NEWEST if own >= turn else _Age.LAST if turn - own < recent else _Age.OLDER
            asked = (age, id in resolved, record.position == newest, id in self.exact, over)
            call = getattr(record.body, "call", None)
            waits = bool(open) and not open.isdisjoint(called(record))
            mute = bool(silent) and not silent.isdisjoint((*called(record), call))
            used = self.used.get(id, own)
            state = (own, own < turn, used, likes.get(id), waits, call in calls, mute)
            item = remembered.standing(record, asked, state, now) if id not in changed else None
            if item is None:
                decision = self._decision(deciding, record, own, asked, limits if id not in changed else None)
                item = remembered.item(record, state, decision) or self._item(itemiser, record, state, decision)
                remembered.itemised(record, state, decision, item)
            if asked == (_Age.OLDER, False, False, False, False) and state[3:] == (None, False, call in calls, False):
                remembered.rest(record, own, used, call if call in calls else None)
            items[id] = item
        return items

    def _named(self, records: Sequence[Record], news: Sequence[Record]) -> frozenset[str]:
        """What the newest turn of the user names, and the messages since: calls with their arguments."""
        newest = max(filter(asks, records), key=lambda record: record.position, default=None)
        asking = [record for record in news if isinstance(record.body, Message)]
        asking += [newest] if newest is not None else []
        return frozenset(entity for record in asking for entity in self.ground.entities(record))

    def classes(self, ids: Iterable[RecordId]) -> dict[RecordId, Privacy]:
        """The class of data of each record."""
        ground = self.ground
        deciding = Deciding(
            boundary=ground.boundary,
            policy=ground.policy,
            standings=self.standings,
            calls={},
            open=ground.open,
            turn=self.turn,
        )
        records, derived, known = ground.desk.records, ground.desk.derived, ground.desk.remembered.classes
        changed = self.standings.targets
        classes: dict[RecordId, Privacy] = {}
        for id in ids:
            record = records[id]
            before = known.get(id)
            if before is not None and before[0] is record and id not in changed:
                classes[id] = before[1]
                continue
            classes[id] = deciding.class_of(record, derived.get(id))
            if id not in changed:
                known[id] = (record, classes[id])
        return classes

    def _item(self, itemiser: Itemiser, record: Record, state: "_State", decision: Decision) -> Item:
        own, _, used, like, waits, _, _ = state
        seen = Seen(
            record=record,
            turn=own,
            index=self.ground.desk.indexes.get(record.id),
            derived=self.ground.desk.derived.get(record.id),
            used=used,
            like=like[0] if like is not None else None,
            like_size=like[1] if like is not None else 0,
            open=waits,
        )
        return itemiser.item(seen, decision)

    def _decision(
        self, deciding: Deciding, record: Record, own: int, asked: "_Asked", limits: Sequence[int] | None
    ) -> Decision:
        """What the policies say of a record; remembered until it reaches one of these ages. None: it is not."""
        desk, now = self.ground.desk, self.ground.boundary.now
        known = desk.remembered.decision(record, asked, now) if limits is not None else None
        if known is not None:
            return known
        _, resolved, newest, exact, _ = asked
        derived = desk.derived.get(record.id)
        made = deciding.decide(record, own, derived=derived, resolved=resolved, newest=newest, exact=exact)
        if limits is not None:
            desk.remembered.decided(record, asked, made, since=now, until=self._next_age(record, limits))
        return made

    def _limits(self) -> list[int]:
        """The ages, in seconds, at which a class of freshness goes stale."""
        policy = self.ground.policy
        limits = [policy.freshness.of(freshness) for freshness in Freshness]
        limits += [contract.stale_after for contract in policy.tools]
        return [seconds for seconds in limits if seconds is not None]

    def _next_age(self, record: Record, limits: Sequence[int]) -> Instant | None:
        """When a record next reaches one of these ages, or goes stale by itself; None: never."""
        body, now = record.body, self.ground.boundary.now
        memory = body if isinstance(body, ToolMemory) else None
        at = memory.observed if memory is not None else record.header.at
        due = [at + seconds * SECOND for seconds in limits]
        due += [memory.stale_after] if memory is not None and memory.stale_after is not None else []
        return min((Instant(time) for time in due if time > now), default=None)


class _Age(IntEnum):
    """What policies ask of an age in turns. Rules of a set may ask for more: decisions under them are made anew."""

    NEWEST = 0
    LAST = 1
    OLDER = 2


_Asked: TypeAlias = tuple[_Age, bool, bool, bool, bool]
"""What a decision depends on beside its record.

Its age, whether it is settled, whether it is the question, whether its exact bytes are wanted, and whether its
session is over.
"""

_State: TypeAlias = tuple[int, bool, int, tuple[RecordId, int] | None, bool, bool, bool]
"""What an item depends on beside its record, the decision on it and the settings of the request.

Its turn, whether that is over, its last use, what it is like, whether it waits, whether its call is there, and
whether a call may not be shown.
"""


def _calling(records: Iterable[Record], calls: frozenset[RecordId]) -> list[RecordId]:
    """The records that hold one of these calls, or answer it."""
    if not calls:
        return []
    answering = (one.id for one in records if getattr(one.body, "call", None) in calls)
    return [*answering, *(one.id for one in records if not calls.isdisjoint(called(one)))]
