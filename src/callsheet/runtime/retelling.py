"""What a request may tell at second hand: the episodes in its window, and the milestones and facts that come into play.

Read anew only when something was compacted since; which of it comes into play is looked up with each question.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from callsheet.assemble.episodes import second_hand
from callsheet.assemble.items import Item, SecondHand
from callsheet.assemble.stated import MARK
from callsheet.graph.enums import Level, Reason, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Posting, PostingQuery
from callsheet.graph.nodes import Episode, Fact, Milestone, Selection
from callsheet.graph.record import Record
from callsheet.policy.verdict import DETAIL
from callsheet.runtime.episodes import NOTHING, Compactions, Mark, Retold, Silenced
from callsheet.runtime.ground import NAMES, Ground, asks
from callsheet.runtime.labels import SHOWING
from callsheet.runtime.releasing import Reader
from callsheet.runtime.repeating import is_past, same, within
from callsheet.runtime.telling import Telling
from callsheet.runtime.unseen import Visible
from callsheet.runtime.voiding import Voiding, sources_of
from callsheet.runtime.withholding import calls_of

COMMON = 8
"""Milestones and facts with a name or word above which it calls for none of them: it says too little."""

WORDS = 48
"""Words of a question that are looked up."""

IN_FOCUS = 8
"""Milestones and facts that a question brings into view at most."""

LAID_DOWN = 16
"""Of what people laid down, the newest, that a request considers beside what its question calls for."""

OTHERS = 8
"""Of other milestones the same."""

_AT_FIRST = 4 * (COMMON + 1)
"""Of what holds a name or word the newest that are looked at first: what a milestone says its fact says too."""

_WIDEST = 1_024

_Name: TypeAlias = tuple[str | None, str | None]
"""An entity, or a term."""

_TOLD = frozenset({Reason.SUPERSEDED, Reason.STALE})
"""Why an episode says no more than that there was something."""

_AT_HAND = 4_096
"""Records of which it is kept at hand whether an episode stands for them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """What one request may tell."""

    #: All that is considered, and what stood in the last request and is not considered any more.
    records: tuple[Record, ...] = ()
    #: Of these, what the newest question calls for, best first.
    focus: tuple[RecordId, ...] = ()
    mark: Mark = NOTHING
    #: Somebody asked for a compaction since the last request.
    asked: bool = False
    #: What rests on a record of which something else holds since, and what.
    void: Mapping[RecordId, Reason] = field(default_factory=dict)
    #: What stood in the last request and stands in no rewrite: episodes out of their window, and what is said twice.
    past: frozenset[RecordId] = frozenset()
    #: Of messages that are owed a line, and of milestones: the episode whose extract says all of it, word for word.
    within: Mapping[RecordId, RecordId] = field(default_factory=dict)
    _compactions: Compactions | None = None
    #: What is known of that so far, and items as they were and with it; filled here.
    _covered: dict[RecordId, RecordId | None] = field(default_factory=dict)
    _made: dict[RecordId, tuple[Item, Item]] = field(default_factory=dict)

    def turn(self, record: Record) -> int:
        """The turn in which it stands: the last one of an episode, else that of the compaction."""
        body = record.body
        return body.turns[1] if isinstance(body, Episode) else self.mark.turn

    def of(self, wanted: Iterable[RecordId]) -> tuple[RecordId, ...]:
        """Those of the records that may be told here, such as of what was just pinned."""
        there = {record.id for record in self.records} - self.void.keys()
        return tuple(id for id in wanted if id in there)

    def over(self, items: Mapping[RecordId, Item]) -> dict[RecordId, Item]:
        """The items with what compaction makes of them: what has its episode, and what may be told no more."""
        known, changed = self._compactions, dict(items)
        if known is None:
            return changed
        for id in self.void.keys() & items.keys():
            # An episode still says that there was something; what is gone or too private it tells nothing of.
            least = self.void[id] in _TOLD and items[id].second_hand is SecondHand.EPISODE
            held = Level.REF if least and DETAIL[items[id].most] <= DETAIL[Level.REF] else Level.NONE
            changed[id] = replace(items[id], most=held, most_hard=held, least=Level.NONE, reason=self.void[id])
        for id in self.past & items.keys():
            changed[id] = replace(items[id], most=Level.NONE, least=Level.NONE, reason=Reason.NOT_RELEVANT)
        plain = [id for id, item in items.items() if item.second_hand is None and item.position <= self.mark.upto]
        if len(self._covered) > _AT_HAND:
            self._covered.clear()
            self._made.clear()
        missing = tuple(id for id in plain if id not in self._covered)
        self._covered.update({**dict.fromkeys(missing), **known.covered(missing)})
        episodes = {id: episode for id in plain if (episode := self._covered[id]) is not None}
        for id in episodes.keys() | (self.within.keys() & items.keys()):
            changed[id] = self._told_by(changed[id], episodes.get(id), self.within.get(id))
        return changed

    def _told_by(self, item: Item, episode: RecordId | None, within: RecordId | None) -> Item:
        """The item with the episode that stands for it, and the one that says all of it; the same is made once."""
        known = self._made.get(item.id)
        if known is None or known[0] is not item or (known[1].compacted, known[1].within) != (episode, within):
            known = self._made[item.id] = (item, replace(item, compacted=episode, within=within))
        return known[1]


@dataclass(frozen=True, kw_only=True)
class Retelling:
    """Reads for one request."""

    ground: Ground

    @property
    def compactions(self) -> Compactions:
        """Those of the reader."""
        ground = self.ground
        reader = Reader(ground.boundary.participant, ground.boundary.run)
        return Compactions(ledger=ground.ledger, key=ground.key, lineage=ground.lineage, reader=reader)

    def told(
        self,
        news: Sequence[Record],
        view: Sequence[Selection],
        owed: Sequence[RecordId],
        changes: Visible | None,
        telling: Telling,
    ) -> Told:
        """What a request may tell; nothing where nothing was compacted. `owed` is what comes back, and the last turns.

        `changes`: None where there never were any.
        """
        ground, known = self.ground, self.compactions
        if ground.policy.verbatim:
            return Told()
        state = ground.desk.compacted = known.state(ground.desk.compacted)
        mark = state.mark
        if mark.record is None:
            return Told()
        retold = self._retold(known, (mark.record, state.episode, ground.policy.compaction.episodes))
        focus = self._out_of_view(self._focus(known, news), news, view, mark)
        pinned = self._pinned(known, changes) if changes is not None else []
        standing = [ground.desk.records[one.record] for one in view if one.record in ground.desk.records]
        stood = [record for record in standing if isinstance(record.body, Episode | Milestone | Fact)]
        considered = {record.id: record for record in (*retold.records, *focus, *pinned)}
        every = {record.id: record for record in (*pinned, *stood, *considered.values())}
        void = self._silent(tuple(every.values()), telling, retold)
        if changes is not None:
            void = {**Voiding(ground=ground, changes=changes).void(tuple(every.values())), **void}
        # What is pinned or stands already says it for what says the same; what may be told no more says it for none.
        says = same(record for record in every.values() if record.id not in void)
        past = {record.id for record in stood if is_past(record, considered, says)} - void.keys()
        return Told(
            records=tuple(record for id, record in every.items() if id in past or says.get(id, id) == id),
            focus=tuple(dict.fromkeys(says[record.id] for record in focus if record.id in says)),
            mark=mark,
            asked=ground.base is not None and mark.position > ground.seen and known.asked(ground.seen),
            void=void,
            past=frozenset(past),
            within=within(
                ground, [record for id, record in every.items() if id not in void], owed, mark.upto, retold.within
            ),
            _compactions=known,
            _covered=retold.covered,
            _made=retold.made,
        )

    def _retold(self, known: Compactions, key: tuple[RecordId | None, RecordId | None, int]) -> Retold:
        kept = self.ground.desk.retold
        if kept.key == key:
            return kept
        episodes = known.window(self.ground.policy.compaction.episodes)
        wanted = [id for one in episodes if isinstance(one.body, Episode) for id in one.body.milestones]
        milestones = self.ground.ledger.get(self.ground.key, wanted) if wanted else []
        found = [record for record in milestones if known.owns(record)]
        laid_down = [record for record in found if second_hand(record.body) is SecondHand.LAID_DOWN]
        others = [record for record in found if second_hand(record.body) is SecondHand.STATED and _said(record)]
        if len(laid_down) < LAID_DOWN:
            laid_down = [*_facts(known, LAID_DOWN - len(laid_down)), *laid_down]
        self.ground.desk.retold = Retold(
            key=key,
            episodes=tuple(episodes),
            laid_down=tuple(laid_down[-LAID_DOWN:]),
            others=tuple(others[-OTHERS:]),
        )
        return self.ground.desk.retold

    # ------------------------------------------------------------------ in play

    def _focus(self, known: Compactions, news: Sequence[Record]) -> list[Record]:
        """What shares a name or a rare word with the newest question; best first, of equals the newer."""
        asked = [record for record in news if asks(record)][-1:]
        if not asked or asked[0].id in self.ground.silent:
            return []
        index = self.ground.desk.indexes.get(asked[0].id)
        names = [MARK + name for name in self.ground.entities(asked[0])[:NAMES]]
        words = [MARK + term for term, _ in index.terms[:WORDS]] if index is not None else []
        scores: dict[RecordId, float] = {}
        records: dict[RecordId, Record] = {}
        for held in self._held(known, names, words):
            for record in held:
                scores[record.id] = scores.get(record.id, 0.0) + 1 / len(held)
                records[record.id] = record
        best = sorted(records.values(), key=lambda record: (-round(scores[record.id], 6), -record.position))
        return best[:IN_FOCUS]

    @staticmethod
    def _out_of_view(
        records: Sequence[Record], news: Sequence[Record], view: Sequence[Selection], mark: Mark
    ) -> list[Record]:
        """The milestones and facts but for those of which all that they rest on can be read in view anyway."""
        if not records:
            return []
        legible = {one.record for one in view if one.level in SHOWING}
        # Before a first request all is new, and what is compacted does not stand in its place.
        legible |= {one.id for one in news if one.position > mark.upto}
        return [record for record in records if not legible.issuperset(sources_of(record))]

    def _held(self, known: Compactions, names: Sequence[str], words: Sequence[str]) -> Iterator[list[Record]]:
        """The reader's own milestones and facts with each name or word that few of them have.

        Others' with the same name do not count, however many there are.
        """
        stated, upto = self.ground.desk.stated, self.ground.lineage.upto
        # Whatever came since, as many as were too many are still among the newest that are looked at.
        common = {name for name, oldest in stated.common.items() if upto - oldest < _WIDEST}
        entities = tuple(name for name in names if (name, None) not in common)
        terms = tuple(term for term in words if (None, term) not in common)
        limit = _AT_FIRST
        while entities or terms:
            query = PostingQuery(entities=entities, terms=terms, lineage=self.ground.lineage, limit=limit)
            held: dict[_Name, list[Posting]] = {}
            for posting in self.ground.ledger.postings(self.ground.key, query):
                held.setdefault((posting.entity, posting.term), []).append(posting)
            # Most of what too many have shows it in the first half already.
            half = {name: each[: limit // 2] for name, each in held.items()}
            mine = self._mine(known, half)
            few = {name: each for name, each in held.items() if len(mine[name]) <= COMMON}
            mine |= self._mine(known, {name: each for name, each in few.items() if len(each) > limit // 2})
            stated.common.update((name, held[name][-1].position) for name, own in mine.items() if len(own) > COMMON)
            again = [name for name, each in few.items() if len(each) >= limit and len(mine[name]) <= COMMON]
            again = again if limit < _WIDEST else []
            yield from (mine[name] for name in few if len(mine[name]) <= COMMON and name not in again)
            entities = tuple(entity for entity, _ in again if entity is not None)
            terms = tuple(term for _, term in again if term is not None)
            limit *= 4

    def _mine(self, known: Compactions, held: Mapping[_Name, Sequence[Posting]]) -> dict[_Name, list[Record]]:
        """Of what holds each name or word the reader's own, without repeats."""
        ids = dict.fromkeys(posting.record for each in held.values() for posting in each)
        looked_up = self.ground.desk.stated.get(self.ground.ledger, self.ground.key, ids)
        own = {record.id: record for record in looked_up if known.owns(record)}
        return {
            name: list(_once(own[one.record] for one in each if one.record in own).values())
            for name, each in held.items()
        }

    def _pinned(self, known: Compactions, changes: Visible) -> list[Record]:
        """Milestones, facts and episodes that somebody pinned."""
        ground = self.ground
        ids = [RecordId(id) for id in changes.states((StateField.PINNED,))[StateField.PINNED]]
        found = ground.ledger.get(ground.key, ids) if ids else []
        return [record for record in found if second_hand(record.body) is not None and known.owns(record)]

    def _silent(self, records: Sequence[Record], telling: Telling, retold: Retold) -> dict[RecordId, Reason]:
        """Those that quote a record whose content may not go to this provider: they are as if they were not there."""
        ground = self.ground
        silenced = retold.silent.setdefault((ground.policy_hash, ground.boundary.provider), Silenced())
        known, quoting = silenced.sources, silenced.quoting
        if telling.asks_policies:
            known.clear()  # a rule may ask for anything, and a change may have come since
            quoting.clear()
        new = [record for record in records if record.id not in quoting]
        ids = tuple(dict.fromkeys(id for record in new for id in sources_of(record) if id not in known))
        found = [one for one in (ground.ledger.get(ground.key, ids) if ids else ()) if one.body is not None]
        silent = telling.silent(found)
        # The line of a result tells what was asked for.
        asked = {one.id for one in found if not telling.withheld.isdisjoint(calls_of(one))}
        known.update((id, id in silent or id in asked) for id in ids)
        quoting.update((record.id, any(known[id] for id in sources_of(record))) for record in new)
        return {record.id: Reason.PRIVACY_CLASS for record in records if quoting[record.id]}


def _facts(known: Compactions, limit: int) -> list[Record]:
    """Of the newest facts those that people laid down; oldest first."""
    found: list[Record] = []
    for looked_at, record in enumerate(known.newest("fact"), start=1):
        if second_hand(record.body) is SecondHand.LAID_DOWN:
            found.append(record)
        if len(found) >= limit or looked_at >= _WIDEST:
            break
    return found[::-1]


def _once(records: Iterable[Record]) -> dict[RecordId, Record]:
    """The records without those that state what an earlier one does: a fact says what its milestone said."""
    every = {record.id: record for record in records}
    return {first: every[first] for first in same(every.values()).values()}


def _said(record: Record) -> bool:
    """Whether a person or model said it: what a tool found stands by its result, where that is worth its tokens."""
    return isinstance(record.body, Milestone | Fact) and not record.body.tainted
