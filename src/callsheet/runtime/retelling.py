"""What a request may tell at second hand: the episodes in its window, and the milestones and facts that come into play.

Read anew only when something was compacted since; which of it comes into play is looked up with each question.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from callsheet.assemble.compose import text_of
from callsheet.assemble.episodes import second_hand
from callsheet.assemble.items import Item, SecondHand
from callsheet.assemble.stated import MARK
from callsheet.derive.classify import STRICTNESS
from callsheet.graph.enums import Level, Privacy, Reason, Relation, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Posting, PostingQuery
from callsheet.graph.nodes import Episode, Fact, Milestone, Selection, ToolMemory
from callsheet.graph.query import LinkQuery
from callsheet.graph.record import Record
from callsheet.graph.values import Payload
from callsheet.policy.verdict import DETAIL
from callsheet.runtime.episodes import NOTHING, Compactions, Mark, Retold, Silenced
from callsheet.runtime.ground import NAMES, Ground, asks
from callsheet.runtime.labels import SHOWING
from callsheet.runtime.releasing import Reader
from callsheet.runtime.telling import Telling
from callsheet.runtime.unseen import Visible
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

_WIDEST = 1_024

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
        plain = [id for id, item in items.items() if item.second_hand is None and item.position <= self.mark.upto]
        if len(self._covered) > _AT_HAND:
            self._covered.clear()
            self._made.clear()
        missing = tuple(id for id in plain if id not in self._covered)
        self._covered.update({**dict.fromkeys(missing), **known.covered(missing)})
        for id in plain:
            episode = self._covered[id]
            if episode is None:
                continue
            before = self._made.get(id)
            if before is None or before[0] is not items[id]:
                before = self._made[id] = (items[id], replace(items[id], compacted=episode))
            changed[id] = before[1]
        return changed


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
        self, news: Sequence[Record], view: Sequence[Selection], changes: Visible | None, telling: Telling
    ) -> Told:
        """What a request may tell; nothing where nothing was compacted. `changes`: None where there never were any."""
        ground, known = self.ground, self.compactions
        mark, newest = known.state() if not ground.policy.verbatim else (NOTHING, None)
        if mark.record is None:
            return Told()
        retold = self._retold(known, (mark.record, newest, ground.policy.compaction.episodes))
        focus = self._out_of_view(self._focus(known, news), news, view, mark)
        pinned = self._pinned(known, changes) if changes is not None else []
        once = _once([*retold.records, *focus, *pinned])
        standing = [ground.desk.records[one.record] for one in view if one.record in ground.desk.records]
        told = (record for record in standing if isinstance(record.body, Episode | Milestone | Fact))
        before = [record for record in told if record.id not in once]
        every = (*once.values(), *before)
        void = self._silent(every, telling, retold)
        if changes is not None:
            void = {**self._void(every, changes), **void}
        return Told(
            records=every,
            focus=tuple(record.id for record in focus if record.id in once and record.id not in void),
            mark=mark,
            asked=ground.base is not None and mark.position > ground.seen and known.asked(ground.seen),
            void=void,
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
            for record in held if len(held) <= COMMON else ():
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
        return [record for record in records if not legible.issuperset(_sources(record))]

    def _held(self, known: Compactions, names: Sequence[str], words: Sequence[str]) -> Iterator[list[Record]]:
        """The newest of the reader's own milestones and facts with each name or word, one more than count as few.

        Others' with the same name do not count, however many there are.
        """
        limit = COMMON + 1
        entities, terms = tuple(names), tuple(words)
        while entities or terms:
            query = PostingQuery(entities=entities, terms=terms, lineage=self.ground.lineage, limit=limit)
            held: dict[tuple[str | None, str | None], list[Posting]] = {}
            for posting in self.ground.ledger.postings(self.ground.key, query):
                held.setdefault((posting.entity, posting.term), []).append(posting)
            ids = dict.fromkeys(posting.record for each in held.values() for posting in each)
            own = (
                {
                    record.id: record
                    for record in self.ground.ledger.get(self.ground.key, tuple(ids))
                    if known.owns(record)
                }
                if ids
                else {}
            )
            again: list[tuple[str | None, str | None]] = []
            for name, each in held.items():
                mine = list(_once(own[one.record] for one in each if one.record in own).values())
                if len(each) >= limit and len(mine) <= COMMON and limit < _WIDEST:
                    again.append(name)
                else:
                    yield mine
            entities = tuple(entity for entity, _ in again if entity is not None)
            terms = tuple(term for _, term in again if term is not None)
            limit *= 4

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
        ids = tuple(dict.fromkeys(id for record in new for id in _sources(record) if id not in known))
        found = [one for one in (ground.ledger.get(ground.key, ids) if ids else ()) if one.body is not None]
        silent = telling.silent(found)
        # The line of a result tells what was asked for.
        asked = {one.id for one in found if not telling.withheld.isdisjoint(calls_of(one))}
        known.update((id, id in silent or id in asked) for id in ids)
        quoting.update((record.id, any(known[id] for id in _sources(record))) for record in new)
        return {record.id: Reason.PRIVACY_CLASS for record in records if quoting[record.id]}

    def _void(self, records: Sequence[Record], changes: Visible) -> dict[RecordId, Reason]:
        """Those that quote a record which is gone, of a stricter class now, replaced, or marked as out of date."""
        ground = self.ground
        ids = tuple(dict.fromkeys(id for record in records for id in _sources(record)))
        if not ids:
            return {}
        gone = ground.ledger.erased(ground.key, ids)
        states = changes.states((StateField.PRIVACY, StateField.STALE), ids)
        now = {id: Privacy(value) for id, value in states[StateField.PRIVACY].items()}
        query = LinkQuery(relation=Relation.SUPERSEDES, targets=ids, lineage=ground.lineage)
        replaced = {row.target for row in changes.links(ground.ledger.links(ground.key, query))}
        stale = states[StateField.STALE].keys()
        out = outlived(self._memories(ids, changes), ids)
        quoting = {record.id for record in records if out and self._quotes_results(record)}
        found: dict[RecordId, Reason] = {}
        for record in records:
            sources = _sources(record)
            said = {out[id] for id in sources if id in out} if record.id in quoting else set()
            if any(id in gone or _stricter(now.get(id), record.header.privacy) for id in sources):
                found[record.id] = Reason.ERASED
            elif not replaced.isdisjoint(sources) or Reason.SUPERSEDED in said:
                found[record.id] = Reason.SUPERSEDED
            elif not stale.isdisjoint(sources) or Reason.STALE in said:
                found[record.id] = Reason.STALE
        return found

    def _quotes_results(self, record: Record) -> bool:
        """Whether it may tell what results of its span say: an extract does so in lines of its own."""
        body = record.body
        if not isinstance(body, Episode) or body.method != "extractive":
            return True
        return any(line.startswith("- result of ") for line in text_of(self.ground.read(body.summary)).split("\n"))

    def _memories(self, ids: tuple[RecordId, ...], changes: Visible) -> dict[RecordId, tuple[Reason | None, ...]]:
        """How the tool memories that rest on each of these records stand; None: as what holds."""
        ground = self.ground
        rests: dict[RecordId, list[RecordId]] = {}
        query = LinkQuery(relation=Relation.DERIVED_FROM, targets=ids, lineage=ground.lineage)
        for row in changes.links(ground.ledger.links(ground.key, query)):
            rests.setdefault(row.target, []).append(row.source)
        every = tuple(dict.fromkeys(id for found in rests.values() for id in found))
        records = ground.ledger.get(ground.key, every) if every else []
        memories = tuple(record.id for record in records if isinstance(record.body, ToolMemory))
        if not memories:
            return {}
        query = LinkQuery(relation=Relation.SUPERSEDES, targets=memories, lineage=ground.lineage)
        replaced = {row.target for row in changes.links(ground.ledger.links(ground.key, query))}
        stale = changes.states((StateField.STALE,), memories)[StateField.STALE]
        stand = {id: Reason.SUPERSEDED if id in replaced else Reason.STALE if id in stale else None for id in memories}
        return {id: tuple(stand[one] for one in found if one in stand) for id, found in rests.items()}


def outlived(memories: Mapping[RecordId, Sequence[Reason | None]], ids: Iterable[RecordId]) -> dict[RecordId, Reason]:
    """The records that say what no memory of them holds to be so any more, and why; without any, they stand."""
    found: dict[RecordId, Reason] = {}
    for id in ids:
        stand = memories.get(id, ())
        if stand and None not in stand:
            found[id] = Reason.SUPERSEDED if Reason.SUPERSEDED in stand else Reason.STALE
    return found


def _stricter(now: Privacy | None, than: Privacy) -> bool:
    return now is not None and STRICTNESS.index(now) > STRICTNESS.index(than)


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
    said: set[Payload] = set()
    found: dict[RecordId, Record] = {}
    for record in records:
        body = record.body
        if isinstance(body, Milestone | Fact):
            if body.value in said:
                continue
            said.add(body.value)
        found[record.id] = record
    return found


def _said(record: Record) -> bool:
    """Whether a person or model said it: what a tool found stands by its result, where that is worth its tokens."""
    return isinstance(record.body, Milestone | Fact) and not record.body.tainted


def _sources(record: Record) -> tuple[RecordId, ...]:
    return record.body.sources if isinstance(record.body, Episode | Milestone | Fact) else ()
