"""What one assembly decides on: what stood in the last request, what has come since, what the newest turn calls for.

Bounded by the size of the request and of what is new, not by the length of the history, which is counted once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from callsheet.assemble.items import Item
from callsheet.assemble.lateness import widened
from callsheet.assemble.needed import Habit
from callsheet.assemble.plans import Fresh, Rewrite, Standing
from callsheet.graph.changes import Erased, Reclassified
from callsheet.graph.enums import Level, Reason, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Fact, Milestone, Selection, ToolArtifact, ToolMemory
from callsheet.graph.record import Record
from callsheet.policy.verdict import DETAIL
from callsheet.runtime.alluding import Alluding
from callsheet.runtime.attributing import attributed, hidden_calls, renamed, speakers
from callsheet.runtime.calling_for import AWAY, CallingFor
from callsheet.runtime.desk import called
from callsheet.runtime.gathered import Gathered
from callsheet.runtime.ground import Ground, asks, since_asked
from callsheet.runtime.itemising import Itemising, MakeItemiser
from callsheet.runtime.labels import SHOWING
from callsheet.runtime.living import archived_at
from callsheet.runtime.occurring import Occurring
from callsheet.runtime.personalising.book import Shelf
from callsheet.runtime.personalising.choosing import Choosing
from callsheet.runtime.reading import HIDDEN, News, Reading, concerned, numbered
from callsheet.runtime.recollecting import replaced_with, replacements
from callsheet.runtime.releasing import opened
from callsheet.runtime.resembling import resembling
from callsheet.runtime.retelling import Retelling
from callsheet.runtime.returning import Returning
from callsheet.runtime.reusing import Reusing
from callsheet.runtime.telling import Telling

_SOFT = frozenset({Reason.STALE, Reason.SUPERSEDED})
_SAID = _SOFT | {Reason.CONFLICT}


@dataclass(frozen=True, kw_only=True, slots=True)
class Gathering:
    """Gathers for one request."""

    ground: Ground
    itemiser: MakeItemiser
    #: The user's own stream; what the request goes on from with memories and all; the tokens that it may take.
    shelf: Shelf | None = None
    stood: tuple[Selection, ...] = ()
    room: int = 0

    def gather(self, forced: Rewrite | None) -> Gathered:
        """Read, number the turns, look for what must come back, and decide on each record."""
        ground, desk = self.ground, self.ground.desk
        desk.forget_erased(ground.ledger, ground.key)
        desk.opened = opened(ground.ledger, ground.key, ground.lineage, ground.boundary, desk.opened)
        reading = Reading(ground=ground)
        news = reading.news()
        changed = reading.changed()
        desk.forget(id for record in changed if isinstance(record.body, Erased) for id in record.body.records)
        desk.fetch(ground.ledger, ground.key, [selection.record for selection in ground.view])
        desk.take(ground.ledger, ground.key, news.records)
        away = desk.opened.elsewhere[-AWAY:]
        desk.fetch(ground.ledger, ground.key, away)
        fresh = [*news.records, *(desk.records[id] for id in away if ground.is_there(id))]
        silent = reading.telling.of_request(fresh, ground.view)
        return replace(self, ground=replace(ground, silent=silent))._gathered(forced, reading, news, changed)

    def _gathered(self, forced: Rewrite | None, reading: Reading, news: News, changed: Sequence[Record]) -> Gathered:
        ground, desk = self.ground, self.ground.desk
        view, taken = self._standing()
        turns, turn = numbered(ground, view, news)
        occurring = self._occurring(news, reading.telling)
        reuse = Reusing(ground=ground, occurring=occurring, turns=turns).reuse(view, news)
        alluding = self._alluding(news)
        returning = self._returning(occurring, turns, news, alluding)
        returned = [] if ground.policy.verbatim else returning.brought(view, self._asked(news))
        spoken = (id for id in (*returning.alluded, *returning.spoken) if id not in turns)
        behind = (*(news.unshown.opening if news.unshown is not None else ()), *returning.said, *spoken)
        calls_for = CallingFor(ground=ground, reading=reading, news=news, turns=turns).called(changed, returning)
        called_for = (*behind, *returned, *calls_for.brought)
        brought = tuple(dict.fromkeys(called_for))
        # That it comes back is our guess: it counts as used when it would just have left the last turns.
        back = dict.fromkeys([*brought, *returning.task])
        reuse.used.update((id, max(reuse.used.get(id, 0), turn - ground.policy.turns)) for id in back)
        results = [*(selection.record for selection in view), *(record.id for record in news.records), *brought]
        memories = reading.memories(id for id in results if isinstance(desk.records[id].body, ToolArtifact))
        desk.take(ground.ledger, ground.key, memories)
        retelling = Retelling(ground=ground)
        near = (id for id in results if turns.get(id, 0) > turn - ground.policy.turns)
        told = retelling.told(news.records, view, (*brought, *near), reading.visible(), reading.telling)
        desk.take(ground.ledger, ground.key, told.records)
        # What was spoken of and is called for as a fact comes back as that, with its reference.
        stated = {id for one in told.focus for id in _stated(desk.records[one])}.intersection(returning.spoken)
        brought = tuple(id for id in brought if id not in stated)
        turns |= {record.id: told.turn(record) for record in told.records}
        for memory in memories:
            turns[memory.id] = max(
                (turns[id] for id in _sources(memory) if id in turns), default=turns.get(memory.id, turn)
            )
        ids = dict.fromkeys([*results, *(record.id for record in (*memories, *told.records))])
        itemising = Itemising(
            ground=ground,
            itemiser=self.itemiser,
            # Whatever is chosen anew, or brought back, goes by all changes there ever were.
            standings=reading.standings(tuple(ids)),
            turns=turns,
            turn=turn,
            used=reuse.used,
            exact=frozenset(calls_for.exact),
            archived=archived_at(ground.ledger, ground.key, ground.lineage, ground.boundary),
            episode=returning.episode,
        )
        items = itemising.items(ids, view, news.records)
        replaced_by = replacements(itemising.standings, ids)
        outdated = replaced_with(memories, replaced_by) if replaced_by else set()
        items |= {id: replace(items[id], replaced=True) for id in outdated if id in items}
        items = told.over(items)
        names = speakers(ground, ids)
        items = widened(attributed(ground, items, names) if names else items)
        judged = reading.judged(changed)
        items |= {id: replace(items[id], feedback=judged.of(id) or 0.0) for id in judged.scores if id in items}
        items = resembling(ground, items, news.records)
        withheld = reading.withheld | _asked_by(desk.records[id] for id, item in items.items() if _unsaid(item))
        hard = (
            renamed(ground, (one.record for one in view))
            or len(view) < len(ground.view)
            or any(_narrower(items[one.record], one.level) for one in view)
        )
        if withheld and any(isinstance(record.body, Reclassified) for record in changed):
            hard = hard or any(not withheld.isdisjoint(called(desk.records[one.record])) for one in view)
        fresh = Fresh(
            records=tuple(record.id for record in news.records),
            brought=(*brought, *dict.fromkeys([*told.focus, *told.of(calls_for.pinned)])),
            pinned=frozenset(calls_for.pinned),
            behind=frozenset(behind),
            notices=self._notices(changed, view, items),
            exact=calls_for.exact,
            memories=tuple(record.id for record in (*memories, *told.records)),
            replacing=_replacing(memories, replaced_by, (one.record for one in view)),
            replaced_by=replaced_by,
        )
        base, first = ground.base, news.unshown
        personal = self._personal(news, turn)
        hard = hard or (personal is not None and personal.hard)
        return Gathered(
            items=items,
            standing=None if base is None else Standing(selections=view, carried=float(base.sheet.carried)),
            fresh=fresh,
            forced=Rewrite.HARD if hard else _compacted(forced) if told.asked else forced,
            turn=turn,
            results=reuse.results,
            habit=Habit(turns=turn, results=reuse.results, uses=reuse.uses),
            episode=returning.episode,
            tasks=returning.tasks,
            used=reuse.used,
            replayed=(*fresh.records, *calls_for.opened),
            older=(first.older if first is not None else 0) - taken,
            older_tokens=first.tokens if first is not None else 0,
            refused=_refused(news, taken),
            withheld=withheld,
            unasked=hidden_calls(ground, names),
            speakers=names,
            pins=frozenset(map(RecordId, itemising.standings.states.get(StateField.PINNED, ()))),
            memories=frozenset(id for id, item in items.items() if item.covers or item.second_hand is not None),
            compacted=told.mark,
            classes=itemising.classes(ids),
            silent=ground.silent,
            silenced=reading.telling.occurs(ground.silent, news.unshown),
            personal=personal,
        )

    def _alluding(self, news: News) -> Alluding | None:
        """What the newest of what the user says now means, where that counts."""
        ground, asked = self.ground, [record for record in self._asked(news) if asks(record)][-1:]
        if ground.questions is None or not asked or asked[0].id in ground.silent:
            return None
        return ground.questions.alluding(asked[0], ground.lineage.upto)

    def _personal(self, news: News, turn: int) -> Choosing | None:
        if self.shelf is None:
            return None
        return Choosing(
            ground=self.ground,
            shelf=self.shelf,
            known=self.ground.desk.personal,
            before=self.stood,
            room=self.room,
            turn=turn,
            news=self._asked(news),
        )

    def _standing(self) -> tuple[tuple[Selection, ...], int]:
        """What stood in the last request and may still stand, and how much was taken back since."""
        ground = self.ground
        there = tuple(selection for selection in ground.view if ground.is_there(selection.record))
        if not ground.desk.opened.ever:
            return there, 0
        view = tuple(selection for selection in there if ground.shows(ground.desk.records[selection.record]))
        return view, len({one.record for one in there} - {one.record for one in view})

    def _notices(
        self, changed: Sequence[Record], view: Sequence[Selection], items: Mapping[RecordId, Item]
    ) -> tuple[RecordId, ...]:
        """The records in view that have become stale or superseded since they were shown, or contradicted memories."""
        touched = {id for record in changed for id in concerned(record)}
        ages = {contract.name for contract in self.ground.policy.tools if contract.freshness is not None}
        last = {selection.record: selection for selection in view}
        found: list[RecordId] = []
        for id, selection in last.items():
            item = items[id]
            aged = item.reason is Reason.STALE and getattr(self.ground.desk.records[id].body, "tool", None) in ages
            if item.covers or aged:
                says = _tells_more(selection, item)
            elif item.replaced:
                says = selection.reason is not Reason.SUPERSEDED
            else:
                says = id in touched and item.reason in _SOFT
            found += [id] if says else []
        return tuple(found)

    def _occurring(self, news: News, telling: Telling) -> Occurring:
        base = self.ground.base
        before = base.sheet.omitted if base is not None else ()
        return Occurring(
            ledger=self.ground.ledger,
            key=self.ground.key,
            boundary=self.ground.boundary,
            hides=bool(news.refused) or self.ground.desk.opened.ever or any(reason in HIDDEN for reason, _ in before),
            opened=self.ground.desk.opened.shown,
            silent=telling.silent if telling.anywhere(self.ground.silent, news.unshown) else None,
        )

    def _asked(self, news: News) -> Sequence[Record]:
        # Of a history that was never shown, all before the newest question is old, and may be what it asks for.
        return news.records if self.ground.base is not None else since_asked(news.records)

    def _returning(
        self, occurring: Occurring, turns: Mapping[RecordId, int], news: News, alluding: Alluding | None
    ) -> Returning:
        older = news.unshown.older if news.unshown is not None else 0
        return Returning(
            ground=self.ground,
            occurring=occurring,
            turns=turns,
            beyond=older > 0,
            earlier=older + len(news.records) - len(self._asked(news)),
            episode=self.ground.base.sheet.episode if self.ground.base is not None else 0,
            tasks=self.ground.base.sheet.tasks if self.ground.base is not None else (),
            alluding=alluding,
        )


def _refused(news: News, taken: int) -> Mapping[Reason, int]:
    """What may not stand, by reason: of the new records, of what stood and was taken back, and on other branches."""
    counts = dict(news.refused)
    for reason, number in ((Reason.NOT_RELEASED, taken), (Reason.BRANCH, news.aside)):
        if number:
            counts[reason] = counts.get(reason, 0) + number
    return counts


def _compacted(forced: Rewrite | None) -> Rewrite:
    """Why everything is chosen anew where a compaction was asked for: for that, where nothing else compels it."""
    return Rewrite.COMPACTED if forced in (None, Rewrite.EXPIRED, Rewrite.UNCACHED) else forced


def _sources(memory: Record) -> tuple[RecordId, ...]:
    return memory.body.sources if isinstance(memory.body, ToolMemory) else ()


def _stated(record: Record) -> tuple[RecordId, ...]:
    return record.body.sources if isinstance(record.body, Milestone | Fact) else ()


def _unsaid(item: Item) -> bool:
    """Whether it is a message whose class may not go to the provider."""
    if item.role is None or item.reason not in (Reason.PRIVACY_CLASS, Reason.PROVIDER, Reason.RULE):
        return False
    return DETAIL[item.most_hard] >= DETAIL[Level.SAFE]


def _asked_by(records: Iterable[Record]) -> frozenset[RecordId]:
    return frozenset(call for record in records for call in called(record))


def _replacing(
    memories: Sequence[Record], replaced_by: Mapping[RecordId, Sequence[RecordId]], shown: Iterable[RecordId]
) -> tuple[RecordId, ...]:
    """What replaces, over any steps, a record that is shown or a memory of it."""
    stand = set(shown)
    open_ = [*stand, *(memory.id for memory in memories if not stand.isdisjoint(_sources(memory)))]
    found: dict[RecordId, None] = {}
    while open_ and replaced_by:
        new = [id for id in replaced_by.get(open_.pop(), ()) if id not in found]
        found |= dict.fromkeys(new)
        open_ += new
    return tuple(memory.id for memory in memories if memory.id in found)


def _tells_more(selection: Selection, item: Item) -> bool:
    """Whether a memory stands in view otherwise than it may by now."""
    return item.reason in _SAID and selection.reason is not item.reason and selection.level in SHOWING


def _narrower(item: Item, level: Level) -> bool:
    """Whether a hard verdict allows less than is shown."""
    return DETAIL[item.most_hard] > DETAIL[level]
