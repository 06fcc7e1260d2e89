"""What one assembly decides on: what stood in the last request, what has come since, what the newest turn calls for.

Bounded by the size of the request and of what is new, not by the length of the history, which is counted once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from callsheet.assemble import sizes
from callsheet.assemble.exactness import asks_for_exact
from callsheet.assemble.items import Item
from callsheet.assemble.planning import Fresh, Rewrite, Standing
from callsheet.graph.changes import Erased, Reclassified
from callsheet.graph.enums import Level, Privacy, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection, ToolArtifact, ToolMemory
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.policy.verdict import DETAIL
from callsheet.runtime.desk import called
from callsheet.runtime.ground import Ground, asks, since_asked
from callsheet.runtime.itemising import Itemising, MakeItemiser
from callsheet.runtime.occurring import Occurring
from callsheet.runtime.reading import HIDDEN, News, Reading, concerned, numbered
from callsheet.runtime.recollecting import replacing
from callsheet.runtime.returning import Returning
from callsheet.runtime.reusing import Reusing
from callsheet.runtime.terms import Terms

LATELY = 16
"""Results, the newest, among which the one that is meant is looked for where nothing is named."""

_SOFT = frozenset({Reason.STALE, Reason.SUPERSEDED})


@dataclass(frozen=True, kw_only=True, slots=True)
class Gathered:
    """Everything that one assembly decides on."""

    items: Mapping[RecordId, Item]
    standing: Standing | None
    fresh: Fresh
    forced: Rewrite | None
    turn: int
    results: int
    reused: int
    #: The turn in which the present task began.
    episode: int
    #: The turn of last use of each record in view, where that is later than its own.
    used: Mapping[RecordId, int]
    #: The records that are visible and new, or that a first request looks at.
    replayed: tuple[RecordId, ...]
    #: Of a history that was never shown, the records that were not looked at, and their tokens in o200k_base.
    older: int
    older_tokens: int
    refused: Mapping[Reason, int]
    #: Calls whose arguments may not be shown.
    withheld: frozenset[RecordId] = frozenset()
    #: Those of the items that are memories.
    memories: frozenset[RecordId] = frozenset()
    #: The class of data of each record.
    classes: Mapping[RecordId, Privacy] = field(default_factory=dict)

    def history(self, terms: Terms) -> int:
        """Tokens in o200k_base of all that plain replay would show."""
        before = terms.base.sheet.history_o200k if terms.base is not None else 0
        records = (terms.desk.records[id] for id in self.replayed)
        return (
            before
            + self.older_tokens
            + sum(
                sizes.recorded_tokens(record, terms.calls) or sizes.estimated_tokens(record, terms.calls)
                for record in records
            )
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Gathering:
    """Gathers for one request."""

    ground: Ground
    itemiser: MakeItemiser

    def gather(self, forced: Rewrite | None) -> Gathered:
        """Read, number the turns, look for what must come back, and decide on each record."""
        ground, desk = self.ground, self.ground.desk
        desk.forget_erased(ground.ledger, ground.key)
        reading = Reading(ground=ground)
        news = reading.news()
        changed = reading.changed()
        desk.forget(id for record in changed if isinstance(record.body, Erased) for id in record.body.records)
        desk.fetch(ground.ledger, ground.key, [selection.record for selection in ground.view])
        desk.take(ground.ledger, ground.key, news.records)
        view = tuple(selection for selection in ground.view if ground.is_there(selection.record))
        turns, turn = numbered(ground, view, news)
        occurring = self._occurring(news)
        reuse = Reusing(ground=ground, occurring=occurring, turns=turns).reuse(view, news)
        returning = self._returning(occurring, turns, news)
        returned = [] if ground.policy.verbatim else returning.brought(view, self._asked(news))
        behind = (*(news.unshown.opening if news.unshown is not None else ()), *returning.said)
        exact = self._exact(news, returning)
        desk.fetch(ground.ledger, ground.key, exact)
        exact = tuple(id for id in exact if ground.is_there(id) and ground.shows(desk.records[id]))
        brought = tuple(dict.fromkeys([*behind, *returned, *(id for id in exact if id not in turns)]))
        # That it comes back is our guess: it counts as used when it would just have left the last turns.
        reuse.used.update((id, max(reuse.used.get(id, 0), turn - ground.policy.turns)) for id in brought)
        results = [*(selection.record for selection in view), *(record.id for record in news.records), *brought]
        memories = reading.memories(id for id in results if isinstance(desk.records[id].body, ToolArtifact))
        desk.take(ground.ledger, ground.key, memories)
        for memory in memories:
            turns[memory.id] = max(
                (turns[id] for id in _sources(memory) if id in turns), default=turns.get(memory.id, turn)
            )
        ids = dict.fromkeys([*results, *(memory.id for memory in memories)])
        itemising = Itemising(
            ground=ground,
            itemiser=self.itemiser,
            # Whatever is chosen anew, or brought back, goes by all changes there ever were.
            standings=reading.standings(tuple(ids)),
            turns=turns,
            turn=turn,
            used=reuse.used,
            exact=frozenset(exact),
        )
        items = itemising.items(ids, view, news.records)
        withheld = reading.withheld() | _asked_by(desk.records[id] for id, item in items.items() if _unsaid(item))
        hard = len(view) < len(ground.view) or any(_narrower(items[one.record], one.level) for one in view)
        if withheld and any(isinstance(record.body, Reclassified) for record in changed):
            hard = hard or any(not withheld.isdisjoint(called(desk.records[one.record])) for one in view)
        fresh = Fresh(
            records=tuple(record.id for record in news.records),
            brought=brought,
            behind=frozenset(behind),
            notices=_notices(changed, view, items),
            exact=exact,
            memories=tuple(memory.id for memory in memories),
            replacing=replacing(memories, (one.record for one in view)),
        )
        base, first = ground.base, news.unshown
        return Gathered(
            items=items,
            standing=None if base is None else Standing(selections=view, carried=float(base.sheet.carried)),
            fresh=fresh,
            forced=Rewrite.HARD if hard else forced,
            turn=turn,
            results=reuse.results,
            reused=reuse.reused,
            episode=returning.episode,
            used=reuse.used,
            replayed=fresh.records,
            older=first.older if first is not None else 0,
            older_tokens=first.tokens if first is not None else 0,
            refused=news.refused,
            withheld=withheld,
            memories=frozenset(id for id, item in items.items() if item.covers),
            classes=itemising.classes(ids),
        )

    def _exact(self, news: News, returning: Returning) -> tuple[RecordId, ...]:
        """The results whose exact bytes are wanted: by the caller, or by the newest turn of the user."""
        ground = self.ground
        asked = [record for record in news.records if asks(record)][-1:]
        if ground.policy.verbatim or not any(asks_for_exact(ground.words(record)) for record in asked):
            return () if ground.policy.verbatim else ground.boundary.exact
        named = returning.named or tuple(record.id for record in self._newest_result(asked[0]))
        return tuple(dict.fromkeys([*ground.boundary.exact, *named]))

    def _newest_result(self, before: Record) -> list[Record]:
        """The newest result before a turn that the reader may see: what is meant where nothing is named."""
        query = NodeQuery(
            kinds=("artifact",), lineage=self.ground.lineage, before=before.position, newest=True, limit=LATELY
        )
        found = self.ground.ledger.nodes(self.ground.key, query)
        return [record for record in found if self.ground.shows(record)][-1:]

    def _occurring(self, news: News) -> Occurring:
        base = self.ground.base
        before = base.sheet.omitted if base is not None else ()
        return Occurring(
            ledger=self.ground.ledger,
            key=self.ground.key,
            boundary=self.ground.boundary,
            hides=bool(news.refused) or any(reason in HIDDEN for reason, _ in before),
        )

    def _asked(self, news: News) -> Sequence[Record]:
        # Of a history that was never shown, all before the newest question is old, and may be what it asks for.
        return news.records if self.ground.base is not None else since_asked(news.records)

    def _returning(self, occurring: Occurring, turns: Mapping[RecordId, int], news: News) -> Returning:
        older = news.unshown.older if news.unshown is not None else 0
        return Returning(
            ground=self.ground,
            occurring=occurring,
            turns=turns,
            beyond=older > 0,
            earlier=older + len(news.records) - len(self._asked(news)),
            episode=self.ground.base.sheet.episode if self.ground.base is not None else 0,
        )


def _sources(memory: Record) -> tuple[RecordId, ...]:
    return memory.body.sources if isinstance(memory.body, ToolMemory) else ()


def _unsaid(item: Item) -> bool:
    """Whether it is a message whose class may not go to the provider."""
    refused = item.reason in (Reason.PRIVACY_CLASS, Reason.PROVIDER) and DETAIL[item.most_hard] >= DETAIL[Level.SAFE]
    return refused and item.role is not None


def _asked_by(records: Iterable[Record]) -> frozenset[RecordId]:
    return frozenset(call for record in records for call in called(record))


def _notices(
    changed: Sequence[Record], view: Sequence[Selection], items: Mapping[RecordId, Item]
) -> tuple[RecordId, ...]:
    """The records in view that a change since has made stale or superseded."""
    touched = {id for record in changed for id in concerned(record)}
    if not touched:
        return ()
    found = (one.record for one in view if one.record in touched and items[one.record].reason in _SOFT)
    return tuple(dict.fromkeys(found))


def _narrower(item: Item, level: Level) -> bool:
    """Whether a hard verdict allows less than is shown."""
    return DETAIL[item.most_hard] > DETAIL[level]
