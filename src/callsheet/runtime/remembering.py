"""What was worked out about records for one request and holds for the next one, so that it is worked out once.

Nothing here decides anything: with nothing remembered the same comes out.
"""

from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from callsheet.assemble.itemising import Narrowed
from callsheet.assemble.items import Item
from callsheet.graph.enums import Level, Privacy
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, ToolArtifact
from callsheet.graph.record import Record
from callsheet.graph.times import Instant
from callsheet.policy.verdict import Decision


@dataclass(kw_only=True, slots=True)
class Remembered:
    """Decisions, items and narrowed forms of the records in view, as they come out under the same settings."""

    decisions: dict[RecordId, "_Decided"] = field(default_factory=dict)
    items: dict[RecordId, "_Itemised"] = field(default_factory=dict)
    #: Records behind the last turns of which nothing in the last request spoke, and their items.
    rested: dict[RecordId, "_Resting"] = field(default_factory=dict)
    #: The class of data of each record of which no change has made anything.
    classes: dict[RecordId, tuple[Record, Privacy]] = field(default_factory=dict)
    #: The segments of narrowed results and their tokens.
    narrowed: Narrowed = field(default_factory=dict)
    _under: object = None

    def under(self, settings: object) -> "Remembered":
        """The same, emptied unless all in it came out under the same settings."""
        if settings != self._under:
            self._under = settings
            for known in (self.decisions, self.items, self.rested, self.classes, self.narrowed):
                known.clear()
        return self

    def forget(self, but: Collection[RecordId]) -> None:
        """Let go of all records but these."""
        for known in (self.decisions, self.items, self.rested, self.classes):
            for id in [id for id in known if id not in but]:
                del known[id]
        for key in [key for key in self.narrowed if key[0] not in but]:
            del self.narrowed[key]

    def decision(self, record: Record, state: object, now: Instant) -> Decision | None:
        """The decision on a record in this state, where one is known that holds at this time."""
        known = self.decisions.get(record.id)
        if known is not None and known.record is record and known.state == state and known.holds(now):
            return known.decision
        return None

    def decided(
        self, record: Record, state: object, decision: Decision, *, since: Instant, until: Instant | None
    ) -> None:
        """Remember a decision, which holds until then; None: always."""
        self.decisions[record.id] = _Decided(record=record, state=state, since=since, until=until, decision=decision)

    def standing(self, record: Record, asked: object, state: object, now: Instant) -> Item | None:
        """The item of a record whose decision is known for `asked` and holds at this time, in a state beside it."""
        known = self.items.get(record.id)
        if known is None or known.record is not record or known.state != state:
            return None
        # Asked of each record at each request, so without a call for it.
        decided = known.decided
        if decided is None or decided.state != asked or now < decided.since:
            return None
        return known.item if decided.until is None or now < decided.until else None

    def item(self, record: Record, state: object, decision: Decision) -> Item | None:
        """The item of a record in this state, with all in it that an item depends on beside record and decision."""
        known = self.items.get(record.id)
        if known is None or known.record is not record or known.state != state or known.decision != decision:
            return None
        return known.item

    def itemised(self, record: Record, state: object, decision: Decision, item: Item) -> None:
        """Remember an item, unless it is narrowed: what it shows then depends on the whole request."""
        if not item.segments and Level.FOCUS not in item.noted:
            decided = self.decisions.get(record.id)
            self.items[record.id] = _Itemised(
                record=record,
                state=state,
                decision=decision,
                decided=decided if decided is not None and decided.decision is decision else None,
                item=item,
            )

    def rest(self, record: Record, turn: int, used: int, call: RecordId | None) -> None:
        """Note that a message or result, of this turn and last use, is behind the last turns and nothing speaks of it.

        `call` is at hand. Only these rest: a memory may be over when a task ends.
        """
        known = self.items.get(record.id)
        if known is None or known.record is not record or known.decided is None:
            return
        if isinstance(record.body, Message | ToolArtifact):
            since, until = known.decided.since, known.decided.until
            self.rested[record.id] = _Resting(record, turn, used, call, since, until, known.item)

    def resting(
        self,
        records: Iterable[Record],
        turns: Mapping[RecordId, int],
        used: Mapping[RecordId, int],
        calls: Container[RecordId],
        now: Instant,
        *,
        archived: int,
        upto: int,
        but: Container[str],
    ) -> dict[RecordId, Item]:
        """The items of those records that still rest: their turn, not after `upto`, and their last use are the same.

        `but` are the records of which something in this request speaks, `calls` those that are at hand; what stands
        before `archived` is over. This is asked of all that is in view at each request, so it asks as little as it can.
        """
        known = self.rested
        found: dict[RecordId, Item] = {}
        for record in records:
            id = record.header.id
            rested = known.get(id)
            if rested is None or rested[0] is not record or id in but or record.header.position < archived:
                continue
            _, turn, use, call, since, until, item = rested
            if turn > upto or turns.get(id) != turn or used.get(id, turn) != use:
                continue
            if (call is None or call in calls) and since <= now and (until is None or now < until):
                found[id] = item
        return found


class _Resting(NamedTuple):
    record: Record
    turn: int
    used: int
    #: At hand.
    call: RecordId | None
    since: Instant
    until: Instant | None
    item: Item


@dataclass(frozen=True, kw_only=True, slots=True)
class _Decided:
    record: Record
    state: object
    since: Instant
    until: Instant | None
    decision: Decision

    def holds(self, now: Instant) -> bool:
        return self.since <= now and (self.until is None or now < self.until)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Itemised:
    record: Record
    state: object
    decision: Decision
    #: How the decision is remembered; None: it is made anew for each request.
    decided: _Decided | None
    item: Item
