"""What stands in the next request: what stood in the last one and what is new, or everything chosen anew.

The normal step appends: providers bill a prefix that they have seen at a fraction, so what was shown stays byte for
byte, and what is new or brought back follows it. A rewrite chooses anew what stands, and pays for all of it once.

When to rewrite is the ski-rental problem (Karlin et al., Competitive snoopy caching, 1988): keeping a long request
costs a little at every step, rewriting it costs much once, and how many steps follow is not known. Rewriting when what
was paid for keeping equals what rewriting costs is never more than twice as dear as knowing.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import floor, log

from msgspec.structs import replace

from callsheet.assemble.episodes import Beside, Legible
from callsheet.assemble.items import Item
from callsheet.assemble.knapsack import Option, choose
from callsheet.assemble.needed import Habit, Needed
from callsheet.assemble.remembered import Remembered, remembered
from callsheet.assemble.signal import favoured
from callsheet.assemble.sorted_fill import fill
from callsheet.assemble.worth import chance
from callsheet.graph.enums import Level, Reason, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.settings import Fill
from callsheet.policy.verdict import DETAIL

_WHOLE = frozenset({Level.RAW, Level.DENSE})
_LINES = _WHOLE | {Level.GIST}
"""Levels that show all of a record, and those that show its line at least."""


class Rewrite(StrEnum):
    """Why everything is chosen anew."""

    #: Nothing was shown before.
    FIRST = "first"
    #: A record that stands in view may no longer, or not in this detail.
    HARD = "hard"
    #: Somebody asked for a compaction: what episodes stand for leaves its place.
    COMPACTED = "compacted"
    #: Another policy set or version of assembly: what was chosen was chosen by other rules.
    CHANGED = "changed"
    #: Another provider, model or set of tools: nothing of the last request is cached.
    UNCACHED = "uncached"
    #: The provider has forgotten the last request.
    EXPIRED = "expired"
    #: It would be larger than the high-water mark.
    HIGH_WATER = "high_water"
    #: What was spent on keeping it has reached what it costs to rewrite.
    PAYS = "pays"


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
class Standing:
    """What the last request showed, and what keeping it has cost."""

    selections: tuple[Selection, ...]
    #: Spent since the last rewrite on what a rewrite would have left out, in fresh tokens.
    carried: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Fresh:
    """What has come since: new records in order of position, and older ones brought back."""

    records: tuple[RecordId, ...] = ()
    brought: tuple[RecordId, ...] = ()
    #: Of these, messages from before a history's newest part, which is all that its first request looks at.
    behind: frozenset[RecordId] = frozenset()
    #: Records in view that a soft verdict caps since they were shown.
    notices: tuple[RecordId, ...] = ()
    #: Of these, what was just pinned.
    pinned: frozenset[RecordId] = frozenset()
    #: Results whose exact bytes are wanted.
    exact: tuple[RecordId, ...] = ()
    #: Memories of what is in view, new or brought back; and those of them that replace one in view.
    memories: tuple[RecordId, ...] = ()
    replacing: tuple[RecordId, ...] = ()
    #: What replaces each of the records that something visible replaces.
    replaced_by: Mapping[RecordId, Sequence[RecordId]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What stands in the request, in its order, and why it was chosen."""

    selections: tuple[Selection, ...]
    rewrite: Rewrite | None
    carried: float
    #: Of each candidate in view before that stands no more, why.
    left_out: Mapping[RecordId, Reason]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Begun:
    """A rewrite of which it is known what stands in its place."""

    #: All that may stand in it, in order of position, and that without what is second-hand.
    every: Sequence[Item]
    items: Sequence[Item]
    held: Remembered
    #: What stands in its place.
    stands: Mapping[RecordId, Selection]
    beside: Beside
    #: Tokens of what stands in its place, of what goes before all else in the note, and the low-water mark.
    size: int
    first: int
    low: int

    @property
    def room(self) -> int:
        """Tokens for the rest."""
        return self.low - self.size - self.first

    @property
    def least(self) -> int:
        """Tokens that the request takes at least, whatever else is chosen.

        Either the rest leaves what is second-hand all of its share, or it takes that room itself.
        """
        return min(self.size + self.beside.wanted(), self.low - self.beside.most)


@dataclass(frozen=True, kw_only=True, slots=True)
class Planner:
    """Plans one request. Pure: the same arguments give the same plan."""

    items: Mapping[RecordId, Item]
    policy: PolicySetDocument
    limits: Limits
    prices: Prices
    needed: Needed
    turn: int
    habit: Habit
    #: The turn in which the present task began.
    episode: int = 0

    def plan(self, standing: Standing | None, fresh: Fresh, forced: Rewrite | None = None) -> Plan:
        """The next request after `standing`, or a rewrite where one is `forced`, due, or pays."""
        if standing is None or (forced is not None and self._worth(forced, standing, fresh)):
            return self._rewritten(standing, fresh, forced or Rewrite.FIRST)
        selections = (*standing.selections, *self._appended(standing, fresh))
        size = self.size(selections)
        fewer = self._without_given(selections, standing, fresh) if size > self.limits.high else selections
        left_out: dict[RecordId, Reason] = {}
        if len(fewer) < len(selections):
            stands = {one.record for one in fewer}
            left_out = {one.record: Reason.OVER_BUDGET for one in selections if one.record not in stands}
            selections, size = fewer, self.size(fewer)
        if self.policy.verbatim:
            return Plan(selections=selections, rewrite=None, carried=0.0, left_out=left_out)
        if size > self.limits.high:
            plan = self._rewritten(standing, fresh, Rewrite.HIGH_WATER)
            if self.size(plan.selections) < size or size > self.limits.budget:
                return plan
        least = self._protected_size(standing, fresh)
        front = self._front_size(selections)
        carried = standing.carried + self.prices.cached * max(0, size - least)
        due = (1 - self.prices.cached) * max(1, least - front)
        if size > least and _falls_due(standing.carried, carried, due):

            def pays(left: int) -> bool:
                """Whether a rewrite pays that leaves so much: the more it leaves, the less it does."""
                # What was carried is counted from the least that can stand; of that, this is what it had left out.
                saved = size - left
                return saved > 0 and carried * saved / (size - least) >= (1 - self.prices.cached) * (left - front)

            begun = self._begun(standing, fresh)
            if pays(begun.least) and pays(self.size((plan := self._ended(begun, fresh, Rewrite.PAYS)).selections)):
                return plan
        stand = {selection.record for selection in selections}
        passed = {id: self.items[id].reason for id in fresh.records if id not in stand}
        return Plan(selections=selections, rewrite=None, carried=carried, left_out={**passed, **left_out})

    def _without_given(
        self, selections: tuple[Selection, ...], standing: Standing, fresh: Fresh
    ) -> tuple[Selection, ...]:
        """What stood and the reader's own that is new, where the new work of others is what makes it too much."""
        new = selections[len(standing.selections) :]
        own = (one for one in new if not self.items[one.record].given or one.record in fresh.pinned)
        fewer = (*standing.selections, *own)
        most = self.limits.budget if self.policy.verbatim else self.limits.high
        return fewer if self.size(fewer) <= most < self.size(selections) else selections

    def _worth(self, forced: Rewrite, standing: Standing, fresh: Fresh) -> bool:
        """Hard changes rewrite at any price; where the cache is gone, rewriting is free but must make it smaller."""
        if forced not in (Rewrite.EXPIRED, Rewrite.UNCACHED):
            return True
        return self.size((*standing.selections, *self._appended(standing, fresh))) > self.limits.low

    # ------------------------------------------------------------------ sizes

    def size(self, selections: Iterable[Selection]) -> int:
        """Tokens of a request of these selections."""
        return self.limits.fixed + sum(map(self.size_of, selections))

    def size_of(self, selection: Selection) -> int:
        """Tokens of one record where and as it stands."""
        item = self.items[selection.record]
        if selection.against is not None:
            return item.framing + item.like_size
        return _noted_size(item, selection.level) if selection.note else _standing_size(item, selection.level)

    def _front_size(self, selections: Iterable[Selection]) -> int:
        """What a rewrite leaves where it stands, so that it stays cached: tools and instructions."""
        front = (one for one in selections if self.items[one.record].instruction)
        return self.size(front)

    def _protected_size(self, standing: Standing, fresh: Fresh) -> int:
        ids = dict.fromkeys([*(selection.record for selection in standing.selections), *fresh.records])
        kept = self._kept([self.items[id] for id in ids])
        return self.limits.fixed + sum(_standing_size(item, self._first_level(item)) for item in kept)

    # ------------------------------------------------------------------ the normal step

    def _appended(self, standing: Standing, fresh: Fresh) -> list[Selection]:
        """What follows: notices and what is brought back in one note, before the user's turn where there is one."""
        notes = max((selection.note for selection in standing.selections), default=0)
        note = [self._noticed(id, notes + 1) for id in fresh.notices]
        stand = {selection.record for selection in standing.selections}
        held = remembered(self._of(standing, fresh), {*stand, *fresh.records}, fresh.replaced_by)
        replacing = [id for id in fresh.replacing if id not in held.idle]
        back = dict.fromkeys([*replacing, *(held.instead.get(id, id) for id in fresh.brought)])
        exact = [id for id in fresh.exact if self.items[id].exact and id not in fresh.records]
        raw = {one.record for one in standing.selections if one.level is Level.RAW} if exact else ()
        exact = [id for id in exact if id not in raw]
        back = dict.fromkeys(id for id in back if id not in stand and id not in exact)
        note += [self._brought(id, notes + 1) for id in self._not_said(back, standing, fresh)]
        note += [self._brought(id, notes + 1) for id in exact]
        likes = {self.items[id].like for id in fresh.records}
        whole = {one.record for one in standing.selections if one.record in likes and _whole(one)}
        news = [self._stands(self.items[id], whole) for id in fresh.records]
        news = [selection for selection in news if selection.level is not Level.NONE]
        place = next(
            (
                index
                for index in range(len(news) - 1, -1, -1)
                if self.items[news[index].record].role is Role.USER and index == len(news) - 1
            ),
            len(news),
        )
        return [*news[:place], *(entry for entry in note if entry.level is not Level.NONE), *news[place:]]

    def _not_said(self, back: Iterable[RecordId], standing: Standing, fresh: Fresh) -> list[RecordId]:
        """What comes back without what is said already: by an episode that stands in full, or by what it quotes."""
        in_full = {one.record for one in standing.selections if one.level is Level.DENSE}
        left = [id for id in back if not self._said_by_one_of(in_full, id)]
        brought = [self._brought(id, 0) for id in left]
        legible = self._legible((*standing.selections, *brought), fresh.records)
        return [id for id in left if not legible.tells(self.items[id])]

    def _of(self, standing: Standing, fresh: Fresh) -> list[Item]:
        """The items that the next request may show."""
        ids = [*(selection.record for selection in standing.selections), *fresh.brought, *fresh.memories]
        return [self.items[id] for id in dict.fromkeys(ids)]

    def _stands(self, item: Item, whole: Container[RecordId] = ()) -> Selection:
        """A record in its place. `whole` are the results before it that stand in full, to be told against."""
        level = self._first_level(item)
        segments = item.segments if level is Level.FOCUS else ()
        against = item.like if level is Level.DENSE and item.like in whole else None
        return Selection(
            record=item.id, level=level, reason=_why(item, level), turn=item.turn, segments=segments, against=against
        )

    def _first_level(self, item: Item) -> Level:
        """In how much detail a record stands when it is new or among the last turns."""
        if not item.is_result or self.policy.verbatim:
            return _within(Level.RAW, item.most_hard)
        wanted = self.policy.history
        if item.exact:
            wanted = Level.RAW
        elif Level.FOCUS in item.standing:
            wanted = Level.FOCUS
        elif wanted is Level.FOCUS:
            wanted = Level.DENSE
        return _within(wanted, item.most)

    def _brought(self, id: RecordId, note: int) -> Selection:
        item = self.items[id]
        # A long one comes back in the parts that touch what is in play.
        narrowed = Level.FOCUS in item.noted and not item.exact
        level = _within(Level.FOCUS if narrowed else _best(item.noted), item.most)
        segments = item.segments if level is Level.FOCUS else ()
        return Selection(record=id, level=level, reason=_why(item, level), turn=item.turn, note=note, segments=segments)

    def _noticed(self, id: RecordId, note: int) -> Selection:
        item = self.items[id]
        reason = Reason.SUPERSEDED if item.replaced else item.reason
        level = Level.STALE if reason is Reason.STALE else Level.GIST if reason is Reason.CONFLICT else Level.REF
        return Selection(record=id, level=level, reason=reason, turn=item.turn, note=note)

    # ------------------------------------------------------------------ the rewrite

    def _rewritten(self, standing: Standing | None, fresh: Fresh, why: Rewrite) -> Plan:
        return self._ended(self._begun(standing, fresh), fresh, why)

    def _begun(self, standing: Standing | None, fresh: Fresh) -> "_Begun":
        """What stands in its place in a rewrite, before anything is chosen for its note."""
        before = standing.selections if standing is not None else ()
        ids = dict.fromkeys(
            [*(selection.record for selection in before), *fresh.brought, *fresh.records, *fresh.memories]
        )
        every = sorted((self.items[id] for id in ids), key=lambda item: item.position)
        beside = self._beside(every, fresh.brought)
        items = [item for item in every if item.second_hand is None]
        # What stands far behind the rest is told in a note, which also says how much lies between.
        near = [item for item in items if item.id not in fresh.behind and not item.covers]
        recent = (self._whole_history(near) if standing is None else None) or self._kept(items)
        kept = {item.id: item for item in recent if not item.covers}
        held = remembered(items, kept, fresh.replaced_by)
        plain = {item.id: self._stands(item) for item in kept.values()}
        stands = self._told(plain)
        owed = sum(self._owed(item) for item in items if item.id not in kept and item.id not in held.idle)
        if not self.policy.verbatim and self.size(stands.values()) + owed > self.limits.budget:
            # What is told by its difference rests on the other, which may be shortened now.
            stands = self._told(self._fitted(plain, owed))
        return _Begun(
            every=every,
            items=items,
            held=held,
            stands=stands,
            beside=beside,
            size=self.size(stands.values()),
            first=beside.first(),
            low=self.limits.low,
        )

    def _ended(self, begun: "_Begun", fresh: Fresh, why: Rewrite) -> Plan:
        """The rewrite, with what else is worth its tokens in a note."""
        every, items, held, stands, beside = begun.every, begun.items, begun.held, begun.stands, begun.beside
        room = begun.room
        rest = [item for item in items if item.id not in stands and item.id not in held.idle]
        # What was said in a span is told by its episode.
        rest = [item for item in rest if not self._told_by_episode(item) or item.id in fresh.brought]
        noted = self._noted_with(held, rest, room, fresh.brought)
        taken = sum(self.size_of(selection) for selection in noted.values())
        told_beside = beside.rest(room - taken, self._legible([*stands.values(), *noted.values()]))
        in_full = {id for id, level in told_beside.items() if level is Level.DENSE}
        noted = {
            id: one
            for id, one in noted.items()
            if not self._said_by_one_of(in_full, id) and not self._only_points(one, told_beside)
        }
        noted |= {id: self._in_note(self.items[id], level) for id, level in told_beside.items()}
        if told_beside:
            listed = {*(item.id for item in rest), *told_beside}
            rest = [item for item in every if item.id in listed]
        left_out = {item.id: _omission(item) for item in every if item.id not in stands and item.id not in noted}
        told = {id for id, memory in held.instead.items() if memory in noted}
        left_out |= {
            id: reason
            for id, reason in held.covered.items()
            if id in left_out and (reason is not Reason.REMEMBERED or id in told)
        }
        left_out |= {
            item.id: Reason.REMEMBERED
            for item in items
            if item.id in left_out and item.compacted in told_beside and self._told_by_episode(item)
        }
        left_out |= {id: self.items[id].reason for id, selection in stands.items() if selection.level is Level.NONE}
        note = [noted[item.id] for item in rest if item.id in noted]
        shown = [item for item in items if item.id in stands and stands[item.id].level is not Level.NONE]
        if self.policy.instructions_in_place:
            everything = [stands[item.id] for item in shown]
            return Plan(selections=(*note, *everything), rewrite=why, carried=0.0, left_out=left_out)
        front = [stands[item.id] for item in shown if item.instruction]
        back = [stands[item.id] for item in shown if not item.instruction]
        return Plan(selections=(*front, *note, *back), rewrite=why, carried=0.0, left_out=left_out)

    @staticmethod
    def _told_by_episode(item: Item) -> bool:
        """Whether it was said in a span that has its episode, and no policy wants it shown by itself."""
        return item.compacted is not None and not item.is_result and item.least is Level.NONE

    def _said_by_one_of(self, episodes: Container[RecordId], id: RecordId) -> bool:
        """Whether one of these episodes says all that a record says, and no policy wants it shown by itself."""
        item = self.items[id]
        return item.within in episodes and (item.least is Level.NONE or item.recent)

    def _only_points(self, selection: Selection, told: Mapping[RecordId, Level]) -> bool:
        """Whether a record stands by its reference alone, and an episode tells of it and says how to read it."""
        item = self.items[selection.record]
        by_reference = selection.level is Level.REF and not item.is_result
        return by_reference and item.recent and told.get(item.compacted or item.id) in _LINES

    @staticmethod
    def _legible(selections: Sequence[Selection], also: Iterable[RecordId] = ()) -> Legible:
        """What these show, and `also` what stands in its place without being among them."""
        lines = frozenset(one.record for one in selections if one.level in _LINES)
        whole = frozenset(one.record for one in selections if one.level in _WHOLE)
        return Legible(whole=whole.union(also), lines=lines.union(also))

    def _beside(self, items: Sequence[Item], brought: Sequence[RecordId]) -> Beside:
        """The episodes, milestones and facts among the items, to be chosen within their share of the low-water mark."""
        most = int(self.policy.compaction.shown * max(0, self.limits.low - self.limits.fixed))
        told = [item for item in items if item.second_hand is not None]
        return Beside(items=told, brought=frozenset(brought), most=most)

    def _whole_history(self, items: Sequence[Item]) -> Sequence[Item] | None:
        """A history that was never shown, where it needs no note: the reader's own, and others' where they fit too."""
        own = [item for item in items if not item.given]
        if not self._fits_whole(own):
            return None
        return items if len(own) < len(items) and self._fits_whole(items) else own

    def _fits_whole(self, items: Sequence[Item]) -> bool:
        """Whether a history that was never shown needs no note: all of it stands within the low-water mark.

        A set whose mark is in tokens wants few of them, and leaves out what does not pay even where it fits; but never
        to save less than what leaving out brings with it.
        """
        there = {item.id for item in items}
        if not all(item.group in there and item.most is not Level.NONE and item.compacted is None for item in items):
            return False
        limit = self.limits.low
        if self.policy.low_water.tokens is not None:
            kept = self.size(self._stands(item) for item in self._kept(items))
            limit = min(self.limits.budget, kept + self.limits.aside)
        return self.size(self._stands(item) for item in items) <= limit

    def _told(self, stands: Mapping[RecordId, Selection]) -> dict[RecordId, Selection]:
        """The same, in order of position, with each by its difference that has the other before it in full."""
        told: dict[RecordId, Selection] = {}
        whole: set[RecordId] = set()
        for id, selection in stands.items():
            like = self.items[id].like
            differs = selection.level is Level.DENSE and like in whole
            told[id] = replace(selection, against=like) if differs else selection
            if _whole(told[id]):
                whole.add(id)
        return told

    def _kept(self, items: Sequence[Item]) -> list[Item]:
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

    def _fitted(self, stands: Mapping[RecordId, Selection], owed: int) -> dict[RecordId, Selection]:
        """The last turns within the budget: the largest results shorter, then the oldest groups out of their place.

        `owed` is what the note must hold. The results that were just given are shortened last, and calls without a
        result go last. Instructions and the newest user turn stay; when even that is too large, the caller says so.
        """
        fitted = dict(stands)
        over = self.size(fitted.values()) + owed - self.limits.budget
        if over <= 0:
            return fitted
        last = self._last_group(fitted)
        results = [self.items[id] for id in fitted if self.items[id].is_result]
        for lower in (Level.FOCUS, Level.GIST, Level.REF):
            for item in sorted(results, key=lambda item: (item.group == last, -self.size_of(fitted[item.id]))):
                if over <= 0:
                    return fitted
                if (lower not in item.standing and lower not in item.noted) or DETAIL[lower] < DETAIL[item.most]:
                    continue
                size = _standing_size(item, lower)
                if size >= self.size_of(fitted[item.id]):
                    continue
                over -= self.size_of(fitted[item.id]) - size
                segments = item.segments if lower is Level.FOCUS else ()
                fitted[item.id] = Selection(
                    record=item.id, level=lower, reason=Reason.OVER_BUDGET, turn=item.turn, segments=segments
                )
        return self._without_oldest(fitted, over)

    def _without_oldest(self, stands: dict[RecordId, Selection], over: int) -> dict[RecordId, Selection]:
        items = [self.items[id] for id in stands if not self.items[id].instruction]
        newest = max((item.position for item in items if item.role is Role.USER), default=0)
        last = self._last_group(stands)
        groups: dict[RecordId, list[Item]] = {}
        for item in sorted(items, key=lambda item: item.position):
            groups.setdefault(item.group, []).append(item)
        waiting = {group for group, members in groups.items() if any(item.open for item in members)}
        for group, members in sorted(groups.items(), key=lambda entry: entry[0] in waiting):
            if over <= 0:
                break
            if group == last or any(item.position == newest for item in members):
                continue
            for item in members:
                over -= self.size_of(stands.pop(item.id)) - self._owed(item)
        return stands

    def _last_group(self, ids: Iterable[RecordId]) -> RecordId | None:
        last = max((self.items[id] for id in ids), key=lambda item: item.position, default=None)
        return last.group if last is not None else None

    def _owed(self, item: Item) -> int:
        """What a record takes in the note at least; 0 where it may be left out."""
        return _noted_size(item, self._least(item)) if item.least is not Level.NONE else 0

    def _noted_with(
        self, held: Remembered, items: Sequence[Item], room: int, brought: Sequence[RecordId]
    ) -> dict[RecordId, Selection]:
        """The note, with memories in place of the results that they stand for.

        No memory costs another result its place: what these leave, memories and what was said share.
        """
        without = [item for item in items if not item.covers]
        noted = self._noted(without, room, brought)
        if len(without) == len(items):
            return noted
        results = {id: one for id, one in noted.items() if self.items[id].is_result and id not in held.covered}
        left = room - sum(self.size_of(selection) for selection in results.values())
        rest = [item for item in items if item.covers or not item.is_result]
        there = {item.id for item in rest}
        wanted = dict.fromkeys(held.instead.get(id, id) for id in brought)
        return results | self._noted(rest, left, tuple(id for id in wanted if id in there))

    def _noted(self, items: Sequence[Item], room: int, brought: Sequence[RecordId] = ()) -> dict[RecordId, Selection]:
        """What of the older records stands in the note: the reader's own first; others' fill what that leaves."""
        noted = self._filled([item for item in items if not item.given], room, brought)
        given = [item for item in items if item.given]
        if given:
            left = room - sum(self.size_of(selection) for selection in noted.values())
            # What belongs to the last turns stands as far as there is room, the newest first.
            last = [item.id for item in reversed(given) if item.turn > self.turn - self.policy.turns]
            noted |= self._filled(given, left, [*last, *(id for id in brought if self.items[id].given)])
        return noted

    def _filled(self, items: Sequence[Item], room: int, brought: Sequence[RecordId]) -> dict[RecordId, Selection]:
        """What of the older records stands in the note: what must, what is asked for now, what is worth its tokens."""
        must = {item.id: self._least(item) for item in items if item.least is not Level.NONE}
        room -= sum(item.noted.get(must[item.id], 0) for item in items if item.id in must)
        if self.policy.fill is Fill.SORTED:
            filled = fill(items, must, room, weights=self.policy.weights, brought=brought)
            return {id: self._in_note(self.items[id], level) for id, level in filled.items()}
        rest = {item.id: item for item in items}
        exact = [item.id for item in items if item.exact]
        for id in exact:
            # What was asked for to the letter is shown so far as it fits at all.
            size = _noted_size(rest[id], Level.RAW) - _noted_size(rest[id], must.get(id, Level.NONE))
            if size <= room + self.limits.budget - self.limits.low:
                must[id] = Level.RAW
                room -= size
        for id in brought:
            if id in exact:
                continue
            for level in _told_best(rest[id]) if id in rest else ():
                size = _noted_size(rest[id], level) - _noted_size(rest[id], must.get(id, Level.NONE))
                if size <= room:
                    must[id] = level
                    room -= size
                    break
        offers: dict[RecordId, list[Option]] = {}
        levels: dict[RecordId, list[Level]] = {}
        for item in items:
            if item.most is Level.NONE or item.instruction:
                continue
            base = must.get(item.id, Level.NONE)
            usable = [
                level
                for level in sorted(item.noted, key=lambda level: -DETAIL[level])
                if DETAIL[item.most] <= DETAIL[level] < DETAIL[base] and item.noted[level] > item.noted.get(base, 0)
            ]
            worth = self._worth_of(item)
            levels[item.id] = usable
            offers[item.id] = [
                Option(size=item.noted[level] - item.noted.get(base, 0), value=worth * _shows(item, level))
                for level in usable
            ]
        price = (1 - self.prices.cached) + self.prices.cached * self.policy.horizon
        chosen = choose(offers, max(0, room), price=price / max(1, self.policy.miss))
        final = dict(must)
        final.update({id: levels[id][option] for id, option in chosen.items()})
        return {id: self._in_note(self.items[id], level) for id, level in final.items()}

    def _in_note(self, item: Item, level: Level) -> Selection:
        segments = item.segments if level is Level.FOCUS else ()
        return Selection(
            record=item.id, level=level, reason=_why(item, level), turn=item.turn, note=1, segments=segments
        )

    def _least(self, item: Item) -> Level:
        """The smallest form that policy accepts and the item has."""
        usable = [level for level in item.noted if DETAIL[item.most] <= DETAIL[level] <= DETAIL[item.least]]
        return min(usable, key=lambda level: item.noted[level], default=item.least)

    def _worth_of(self, item: Item) -> float:
        """P(needed) of a result; what was said is worth less with every turn, and people's words more than models'."""
        if item.is_result:
            return chance(
                item,
                needed=self.needed,
                turn=self.turn,
                turns=self.policy.turns,
                habit=self.habit,
                horizon=self.policy.horizon,
            )
        asked = item.role is Role.USER and item.turn >= self.episode
        said = _ASKED if asked else _SAID.get(item.role, 0.0)
        return favoured(said / (1 + (self.turn - item.turn) / _SAID_FADES), item)


_SAID: Mapping[Role | None, float] = {Role.USER: 0.002, Role.ASSISTANT: 0.001}
"""How likely what was said is needed. Not fitted: no value of a call need come from it, but it tells what the results
are about."""

_ASKED = 0.2
"""The same of what the user said since the present task began: without it nobody knows what is to be done."""

_SAID_FADES = 10
"""Turns after which the worth of what was said has halved."""

_MARKED = 0.5
"""What the marker of a memory that is out of date is worth beside the memory."""


_LOOKS = 1.25
"""A rewrite that did not pay yet is looked at again when so many times as much was spent."""


def _falls_due(before: float, now: float, due: float) -> bool:
    """Whether a rewrite is to be looked at: once `due` is spent, and each time that `_LOOKS` times as much is."""
    return now >= due and (before < due or floor(log(now / due, _LOOKS)) > floor(log(before / due, _LOOKS)))


def _whole(selection: Selection) -> bool:
    """Whether a record stands in its place with all it says."""
    return selection.level in (Level.RAW, Level.DENSE) and not selection.note and selection.against is None


def _shows(item: Item, level: Level) -> float:
    """The share of what may be needed that a level still shows."""
    if level in (Level.RAW, Level.DENSE):
        return 1.0
    if not item.is_result:
        return 1.0 if level is Level.GIST else 0.0
    if item.covers and level is Level.STALE:
        # That there was something, and how to learn how it is now.
        return _MARKED
    if level is Level.FOCUS:
        full = max(item.standing.get(Level.DENSE, 0), 1)
        return min(1.0, max(item.gist_keeps, item.noted[level] / full))
    return item.gist_keeps if level is Level.GIST else 0.0


def _standing_size(item: Item, level: Level) -> int:
    """Tokens of a record in its own place; a form that it has in notes alone is as large there."""
    if level is Level.NONE:
        return 0
    size = item.standing.get(level)
    if size is None:
        size = item.noted.get(level, item.standing.get(Level.RAW, 0))
    return item.framing + size


def _noted_size(item: Item, level: Level) -> int:
    """Tokens of a record's line in a note."""
    if level is Level.NONE:
        return 0
    size = item.noted.get(level)
    return size if size is not None else item.standing.get(level, 0)


def _told_best(item: Item) -> tuple[Level, ...]:
    """How a record comes back in a note: in full, or the parts of it that touch what is in play."""
    best = _within(_best(item.noted), item.most)
    narrowed = (Level.FOCUS,) if Level.FOCUS in item.noted and DETAIL[best] < DETAIL[Level.FOCUS] else ()
    return (best, *narrowed) if best is not Level.NONE else ()


def _best(sizes: Mapping[Level, int]) -> Level:
    return min(sizes, key=lambda level: DETAIL[level], default=Level.NONE)


def _within(wanted: Level, most: Level) -> Level:
    """The level that is wanted, or the most that is allowed where that is less."""
    return wanted if DETAIL[wanted] >= DETAIL[most] else most


def _why(item: Item, level: Level) -> Reason:
    if item.reason is Reason.CONFLICT:
        return Reason.CONFLICT
    if item.replaced and level is not Level.NONE:
        return Reason.SUPERSEDED
    return item.reason if DETAIL[item.most] > 0 and level is item.most else Reason.INCLUDED


def _omission(item: Item) -> Reason:
    return item.reason if item.most is Level.NONE else Reason.NOT_RELEVANT
