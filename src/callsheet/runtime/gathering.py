"""What one assembly reads: what stood in the last request, what has come since, and what the newest turn calls for.

Bounded by the size of the request and of what is new, not by the length of the history, which is counted once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from callsheet.assemble import bringing
from callsheet.assemble.compose import INSTRUCTING, Material, earlier, result_text
from callsheet.assemble.delta import Whole
from callsheet.assemble.itemising import Itemiser, Seen
from callsheet.assemble.items import Item
from callsheet.assemble.likeness import COMPARED, LONGEST, Earlier, most_like
from callsheet.assemble.planning import Fresh, Rewrite, Standing
from callsheet.graph.changes import (
    CallResolved,
    Conflicted,
    Erased,
    MarkedStale,
    Pinned,
    Promoted,
    Reclassified,
    Released,
    RetentionApplied,
    Shared,
    Superseded,
    Withdrawn,
)
from callsheet.graph.cut import Lineage
from callsheet.graph.enums import Freshness, Level, Reason, Role, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Posting, PostingQuery
from callsheet.graph.nodes import Boundary, Message, Selection, ToolArtifact, ToolCall
from callsheet.graph.ports import Ledger
from callsheet.graph.query import NodeQuery, StateQuery
from callsheet.graph.record import Record, StreamKey
from callsheet.graph.times import Instant
from callsheet.graph.values import Payload
from callsheet.policy.freshness import SECOND
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.verdict import DETAIL, Decision
from callsheet.policy.visibility import refusal
from callsheet.recall.tool import NAME as RECALL
from callsheet.runtime.deciding import Deciding, Standings, read_standings
from callsheet.runtime.desk import Desk, bodies, called
from callsheet.runtime.indexing import SAID
from callsheet.runtime.occurring import Occurring
from callsheet.runtime.unshown import Unshowing, Unshown

CHANGES = (
    "superseded", "conflicted", "released", "withdrawn", "shared", "call_resolved", "marked_stale", "promoted",
    "reclassified", "retention_applied", "erased", "pinned",
)  # fmt: skip
"""Kinds of record that change the standing of others."""

FIRST = 600
"""Records of a history that the first request looks at, the newest, and of older ones those that policy protects.

What the newest question names of the rest is brought back.
"""

NAMES = 64
"""Entities of a new record that are looked up."""

TELLING = 24
"""A result with more entities than this names everything and so nothing; it brings nothing back."""

QUERY = 48
"""Terms of a user's turn that are looked up."""

TOGETHER = 32
"""Messages whose names are looked up at once."""

MESSAGES = 3
"""Messages of the user, the newest, that may return to an earlier task."""

PROMISING = 48
"""Records that are scored against a user's turn."""

LOOKED_UP = 24
"""Results that a request brings back at most."""

ASKED = 4
"""Results that hold what the user names and that are brought back at most, however common the name is."""

HALF, QUARTER, EIGHTH = 2, 4, 8
"""Shares of the low-water mark: what a returned-to task may take, one result that is named, one that stood near it."""

NEAR = 3
"""Results on either side of a named one that stood near it."""


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


@dataclass(kw_only=True)
class Gathering:
    """Gathers for one request."""

    ledger: Ledger
    key: StreamKey
    lineage: Lineage
    boundary: Boundary
    policy: PolicySetDocument
    desk: Desk
    itemiser: Callable[[Mapping[RecordId, ToolCall], int, frozenset[str]], Itemiser]
    read: Callable[[Payload], bytes]
    counting: Callable[[str], int]
    #: What was shown last; None: nothing, or nothing that can be gone on from.
    base: Whole | None
    #: Calls without a result.
    open: frozenset[RecordId] = frozenset()
    low: int = 0
    #: What is set while gathering.
    turns: dict[RecordId, int] = field(default_factory=dict)
    used: dict[RecordId, int] = field(default_factory=dict)
    episode: int = 0
    occurring: Occurring = field(init=False)
    changes: bool | None = None
    earlier: int = 0

    def gather(self, forced: Rewrite | None) -> Gathered:
        """Read, number the turns, look for what must come back, and decide on each record."""
        view = self.base.selected if self.base is not None else ()
        after = self.base.sheet.cut.at(self.boundary.conversation) if self.base is not None else 0
        first = self._unshown() if self.base is None and not self.policy.verbatim else None
        news, refused = self._news(after) if first is None else (first.records, first.refused)
        before = self.base.sheet.omitted if self.base is not None else ()
        self.occurring = Occurring(
            ledger=self.ledger,
            key=self.key,
            boundary=self.boundary,
            hides=bool(refused) or any(reason in HIDDEN for reason, _ in before),
        )
        changed = self._changed(after) if self.base is not None and self._ever_changed() else ()
        self.desk.forget(id for record in changed if isinstance(record.body, Erased) for id in record.body.records)
        self.desk.fetch(self.ledger, self.key, [selection.record for selection in view])
        self.desk.take(self.ledger, self.key, news)
        gone = [selection for selection in view if not self._is_there(selection.record)]
        view = tuple(selection for selection in view if selection not in gone)
        turn = self._number(view, news, first)
        self.episode = self.base.sheet.episode if self.base is not None else 0
        results, reused = self._reuse(view, news, turn)
        if first is not None and results:
            # What was not looked at is taken to be used again as often as what was.
            reused += round(reused * first.results / results)
            results += first.results
        # Of a history that was never shown, all before the newest question is old, and may be what it asks for.
        asked = news if self.base is not None else _since_asked(news)
        older = first.older if first is not None else 0
        self.earlier = older + len(news) - len(asked)
        brought = [] if self.policy.verbatim else self._brought(view, asked, turn)
        everything = dict.fromkeys(
            [*(selection.record for selection in view), *(record.id for record in news), *brought]
        )
        # Whatever is chosen anew, or brought back, goes by all changes there ever were.
        standings = self._standings(tuple(everything)) if self._ever_changed() else Standings()
        items = self._items(everything, standings, turn, view, news)
        hard = bool(gone) or any(_narrower(items[selection.record], selection.level) for selection in view)
        touched = {id for record in changed for id in _concerned(record)}
        return Gathered(
            items=items,
            standing=None if self.base is None else Standing(selections=view, carried=float(self.base.sheet.carried)),
            fresh=Fresh(
                records=tuple(record.id for record in news),
                brought=tuple(brought),
                notices=tuple(
                    dict.fromkeys(
                        selection.record
                        for selection in view
                        if selection.record in touched and items[selection.record].reason in _SOFT
                    )
                ),
            ),
            forced=Rewrite.HARD if hard else forced,
            turn=turn,
            results=results,
            reused=reused,
            episode=self.episode,
            used=self.used,
            replayed=tuple(record.id for record in news),
            older=older,
            older_tokens=first.tokens if first is not None else 0,
            refused=refused,
        )

    # ------------------------------------------------------------------ what is new

    def _news(self, after: int) -> tuple[list[Record], dict[Reason, int]]:
        query = NodeQuery(kinds=("message", "artifact"), lineage=self.lineage, after=after)
        refused: dict[Reason, int] = {}
        news: list[Record] = []
        for record in self.ledger.nodes(self.key, query):
            reason = Reason.ERASED if record.body is None else refusal(record.header, self.boundary)
            if reason is None:
                news.append(record)
            else:
                refused[reason] = refused.get(reason, 0) + 1
        return news, refused

    def _unshown(self) -> Unshown:
        """The newest of a history of which nothing is in view, with what of the rest is protected."""
        query = StateQuery(field=StateField.PINNED, lineage=self.lineage)
        pinned = {row.target for row in self.ledger.states(self.key, query)} if self._ever_changed() else set()
        return Unshowing(
            ledger=self.ledger,
            key=self.key,
            lineage=self.lineage,
            boundary=self.boundary,
            newest=FIRST,
            turns=max(1, self.policy.turns),
            pinned=pinned,
            open=self.open,
        ).read()

    def _ever_changed(self) -> bool:
        if self.changes is None:
            query = NodeQuery(kinds=CHANGES, lineage=self.lineage, newest=True, limit=1)
            self.changes = bool(self.ledger.nodes(self.key, query))
        return self.changes

    def _is_there(self, id: RecordId) -> bool:
        record = self.desk.records.get(id)
        return record is not None and record.body is not None

    def _changed(self, after: int) -> tuple[Record, ...]:
        return tuple(self.ledger.nodes(self.key, NodeQuery(kinds=CHANGES, lineage=self.lineage, after=after)))

    def _number(self, view: Sequence[Selection], news: Sequence[Record], first: Unshown | None) -> int:
        """Give each record its turn; the newest is the answer."""
        self.turns.update((selection.record, selection.turn) for selection in view)
        turn = self.base.sheet.turns if self.base is not None else 0
        if first is not None:
            turn = first.turn
            self.turns.update(first.turns)
        for record in news:
            if record.id in self.turns:
                continue
            body = record.body
            if isinstance(body, Message):
                turn += body.role not in INSTRUCTING
                self.turns[record.id] = turn
            elif isinstance(body, ToolArtifact):
                asked = self.turns.get(body.message) if body.message is not None else None
                self.turns[record.id] = asked if asked is not None else turn
        return turn

    # ------------------------------------------------------------------ use and reuse

    def _reuse(self, view: Sequence[Selection], news: Sequence[Record], turn: int) -> tuple[int, int]:
        """Note which results in view the new turns make use of; count those that are used again late."""
        before = self.base.sheet if self.base is not None else None
        results = (before.results if before is not None else 0) + sum(
            isinstance(record.body, ToolArtifact) for record in news
        )
        reused = before.reused if before is not None else 0
        known = self.base.used if self.base is not None else {}
        self.used = {selection.record: known[selection.record] for selection in view if selection.record in known}
        if self.policy.verbatim:
            return results, reused
        holders = {selection.record for selection in view} | {record.id for record in news}
        said = [record for record in news if isinstance(record.body, Message)]
        for start in range(0, len(said), TOGETHER):
            for record, postings in self._held(said[start : start + TOGETHER]):
                now = self.turns[record.id]
                for id in bringing.used(postings, holders):
                    own = self.turns.get(id, now)
                    reused += self.used.get(id, own) - own <= LATE < now - own
                    self.used[id] = max(now, self.used.get(id, own))
        return results, reused

    def _held(self, said: Sequence[Record]) -> Iterator[tuple[Record, list[Posting]]]:
        """For each message the newest occurrences of what it names among the results before it; looked up at once."""
        names = {record.id: self._entities(record) for record in said}
        between = said[-1].position - said[0].position
        query = PostingQuery(
            entities=tuple(dict.fromkeys(name for found in names.values() for name in found)),
            lineage=self.lineage,
            before=said[-1].position,
            # So that what came between the messages takes no place from what came before them.
            limit=bringing.COMMON + 1 + between,
        )
        held: dict[str | None, list[Posting]] = {}
        for posting in self.occurring.postings(query) if query.entities else ():
            held.setdefault(posting.entity, []).append(posting)
        for record in said:
            earlier = (
                [one for one in held.get(name, ()) if one.position < record.position] for name in names[record.id]
            )
            yield record, [posting for found in earlier for posting in found[: bringing.COMMON + 1]]

    def _entities(self, record: Record) -> tuple[str, ...]:
        """What a new record names, its calls included."""
        found: dict[str, None] = {}
        for id in (record.id, *called(record)):
            index = self.desk.indexes.get(id)
            if index is not None:
                found.update(dict.fromkeys(entity.removeprefix(SAID) for entity in index.entities[:NAMES]))
        return tuple(found)[:NAMES]

    def _postings(self, entities: Sequence[str], terms: Sequence[str], *, before: int) -> list[Posting]:
        if not entities and not terms:
            return []
        limit = bringing.OCCURRENCES if terms else bringing.COMMON + 1
        query = PostingQuery(
            entities=tuple(entities), terms=tuple(terms), lineage=self.lineage, before=before, limit=limit
        )
        return self.occurring.postings(query)

    # ------------------------------------------------------------------ what comes back

    def _brought(self, view: Sequence[Selection], news: Sequence[Record], turn: int) -> list[RecordId]:
        """Older results that the new records name, or whose task they return to, within what a note may take."""
        if not news:
            return []
        shown = {selection.record for selection in view if selection.level not in _GONE}
        first = news[0].position
        found: dict[RecordId, int] = {}
        returned = self._returned(view, news)
        self._find(found, returned, shown, each=self.low // HALF, total=self.low // HALF)
        person = dict.fromkeys(entity for record in news if _asks(record) for entity in self._entities(record))
        asked = bringing.asked_for(self._postings(tuple(person)[:NAMES], (), before=first))
        self._find(found, asked[:ASKED], shown, each=self.low // HALF, total=self.low // HALF)
        names = dict.fromkeys(entity for record in news for entity in self._telling(record))
        named = bringing.named(self._postings(tuple(names)[: 2 * NAMES], (), before=first), shown | found.keys())
        seeds = self._find(found, named[:LOOKED_UP], shown, each=self.low // HALF, total=self.low // HALF)
        for seed in seeds[:4]:
            around = self._around(self.desk.records[seed].position, NEAR, NEAR)
            self._find(found, around, shown, each=self.low // EIGHTH, total=self.low // QUARTER)
        for id in found:
            # That it comes back is our guess: it counts as used when it would just have left the last turns.
            self.used[id] = max(self.used.get(id, 0), turn - self.policy.turns)
        return sorted(found, key=lambda id: self.desk.records[id].position)

    def _telling(self, record: Record) -> tuple[str, ...]:
        entities = self._entities(record)
        return entities if isinstance(record.body, Message) or len(entities) <= TELLING else ()

    def _find(
        self, found: dict[RecordId, int], ids: Iterable[RecordId], shown: set[RecordId], *, each: int, total: int
    ) -> list[RecordId]:
        """Add the results among `ids` that may come back, in order, as far as they fit. Returns what was added."""
        wanted = [id for id in dict.fromkeys(ids) if id not in shown and id not in found]
        self.desk.fetch(self.ledger, self.key, wanted)
        sizes: dict[RecordId, int] = {}
        for id in wanted:
            record = self.desk.records.get(id)
            if record is None or not isinstance(record.body, ToolArtifact):
                continue
            if refusal(record.header, self.boundary) is not None:
                continue
            if record.body.tool == RECALL:
                continue
            derived = self.desk.derived.get(id)
            size = derived.dense_tokens if derived is not None else record.body.size // 3
            sizes[id] = min(size, self.policy.narrowing.limit)
        chosen = bringing.within([id for id in wanted if id in sizes], sizes, total=total, each=each)
        found.update((id, sizes[id]) for id in chosen)
        return chosen

    def _returned(self, view: Sequence[Selection], news: Sequence[Record]) -> list[RecordId]:
        """The results of the task that what the user says now returns to."""
        said = [record for record in news if isinstance(record.body, Message) and record.body.role is Role.USER]
        if not said:
            return []
        shown = {
            self.desk.records[selection.record].position
            for selection in view
            if not selection.note or selection.level in _LEGIBLE
        }
        # Of what is at hand only that counts which stands in view: the rest is there by chance.
        standing = (selection.record for selection in view if not selection.note)
        calls = (call for id in standing for call in called(self.desk.records[id]))
        shown |= {self.desk.calls[call].position for call in calls if call in self.desk.calls}
        for record in said[-MESSAGES:]:
            terms = self._terms(record)
            matches = self._matches(terms, news[0].position, len(news))
            match = bringing.returns_to(matches, shown)
            if match is not None:
                self.episode = self.turns[record.id]
                return self._around(match.position, bringing.REACH, bringing.REACH // bringing.BEFORE)
            if bringing.begins(matches, shown, len(terms)):
                self.episode = self.turns[record.id]
        return []

    def _terms(self, said: Record) -> list[str]:
        index = self.desk.indexes.get(said.id)
        return [term for term, _ in index.terms[:QUERY]] if index is not None else []

    def _matches(self, terms: Sequence[str], before: int, new: int) -> list[bringing.Match]:
        """The older records that hold terms of a turn, best first."""
        if not terms:
            return []
        records = (self.base.sheet.messages_replayed if self.base is not None else self.earlier) + new
        matching = bringing.Matching(terms, self._postings((), terms, before=before), records)
        promising = matching.promising(PROMISING)
        return matching.matches(self.ledger.indexed(self.key, promising)) if promising else []

    def _around(self, position: int, behind: int, before: int) -> list[RecordId]:
        """Results that stood near a position, the nearest first; what followed it counts as nearer."""
        kinds = ("artifact",)
        followed = NodeQuery(kinds=kinds, lineage=self.lineage, after=position - 1, limit=behind)
        preceded = NodeQuery(kinds=kinds, lineage=self.lineage, before=position, limit=before, newest=True)
        # Counted in results: positions would tell of records that this reader may not see.
        ranked = [(record.id, rank) for rank, record in enumerate(self.occurring.nodes(followed))]
        ranked += [(record.id, -rank) for rank, record in enumerate(reversed(self.occurring.nodes(preceded)), start=1)]
        return bringing.nearest(ranked, 0)

    # ------------------------------------------------------------------ deciding

    def _standings(self, ids: tuple[RecordId, ...]) -> Standings:
        """What changes have made of records, as far as it is visible."""
        return read_standings(
            self.ledger, self.key, self.lineage, ids, lambda record: refusal(record.header, self.boundary) is None
        )

    def _items(
        self,
        ids: Iterable[RecordId],
        standings: Standings,
        turn: int,
        view: Sequence[Selection],
        news: Sequence[Record],
    ) -> dict[RecordId, Item]:
        in_play = frozenset(entity for record in news for entity in self._entities(record))
        calls = bodies(self.desk.calls)
        itemiser = self.itemiser(calls, turn, in_play)
        deciding = Deciding(
            boundary=self.boundary, policy=self.policy, standings=standings, calls=calls, open=self.open, turn=turn
        )
        likes = self._likes(view, news)
        newest = max((r.position for r in news if isinstance(r.body, Message) and r.body.role is Role.USER), default=0)
        resolved = deciding.resolved(self.desk.records[id] for id in ids)
        changed = standings.targets
        items: dict[RecordId, Item] = {}
        for id in ids:
            record = self.desk.records[id]
            own = self.turns.setdefault(id, max(1, turn - self.policy.turns))
            settled = id in resolved, record.position == newest
            decision = self._decision(deciding, record, own, *settled, remembers=id not in changed)
            waits = bool(self.open) and any(call in self.open for call in called(record))
            there = getattr(record.body, "call", None) in calls
            state = (decision, own, own < turn, self.used.get(id, own), likes.get(id), waits, there)
            item = self.desk.remembered.item(record, state)
            if item is None:
                item = self._item(itemiser, record, state)
                self.desk.remembered.itemised(record, state, item)
            items[id] = item
        return items

    def _item(self, itemiser: Itemiser, record: Record, state: "_State") -> Item:
        decision, own, _, used, like, waits, _ = state
        seen = Seen(
            record=record,
            turn=own,
            index=self.desk.indexes.get(record.id),
            derived=self.desk.derived.get(record.id),
            used=used,
            like=like[0] if like is not None else None,
            like_size=like[1] if like is not None else 0,
            open=waits,
        )
        return itemiser.item(seen, decision)

    def _decision(
        self, deciding: Deciding, record: Record, own: int, resolved: bool, newest: bool, *, remembers: bool
    ) -> Decision:
        """What the policies say of a record; remembered, where no change has touched it."""
        # Beside what stands in the record, policies ask whether it is of the last turns, and for its age in time.
        state = (min(deciding.turn - own, max(1, self.policy.turns)), resolved, newest)
        now = self.boundary.now
        known = self.desk.remembered.decision(record, state, now) if remembers else None
        if known is not None:
            return known
        derived = self.desk.derived.get(record.id)
        made = deciding.decide(record, own, derived=derived, resolved=resolved, newest=newest)
        if remembers:
            until = self._next_age(record.header.at)
            self.desk.remembered.decided(record, state, made, since=now, until=until)
        return made

    def _next_age(self, at: Instant) -> Instant | None:
        """When what was observed then next reaches an age at which a class of freshness goes stale; None: never."""
        limits = (self.policy.freshness.of(freshness) for freshness in Freshness)
        due = (at + seconds * SECOND for seconds in limits if seconds is not None)
        return min((Instant(time) for time in due if time > self.boundary.now), default=None)

    def _likes(self, view: Sequence[Selection], news: Sequence[Record]) -> dict[RecordId, tuple[RecordId, int]]:
        """For results that mostly equal one in view: that one, and the tokens of what differs."""
        if self.policy.verbatim:
            return {}
        material = Material(
            records=self.desk.records, calls=bodies(self.desk.calls), read=self.read, forms=self.desk.forms_for(False)
        )
        found: dict[RecordId, tuple[RecordId, int]] = {}
        whole: list[RecordId] = []
        for selection in view:
            if selection.against is not None:
                if not self._is_there(selection.against):
                    continue
                like = self._most_like(selection.record, [self._earlier(selection.against, material)], size=None)
                found |= {selection.record: like} if like is not None else {}
            elif selection.level in _WHOLE and not selection.note and self._comparable(selection.record):
                whole.append(selection.record)
        comparable = [record.id for record in news if self._comparable(record.id)]
        if whole and comparable:
            before = [self._earlier(id, material) for id in whole[-COMPARED:]]
            for id in comparable:
                derived = self.desk.derived.get(id)
                like = self._most_like(id, before, size=derived.dense_tokens if derived is not None else 0)
                found |= {id: like} if like is not None else {}
        return found

    def _comparable(self, id: RecordId) -> bool:
        """Whether a result answers a call, and is neither so short nor so long that comparing it gains nothing."""
        body = self.desk.records[id].body
        return isinstance(body, ToolArtifact) and body.call is not None and SMALL < body.size <= LONGEST

    def _earlier(self, id: RecordId, material: Material) -> Earlier:
        known = self.desk.earlier.get(id)
        if known is None:
            known = self.desk.earlier[id] = earlier(id, material)
        return known

    def _most_like(self, id: RecordId, before: Sequence[Earlier], *, size: int | None) -> tuple[RecordId, int] | None:
        """The earlier result against which one of `size` tokens is best told; None: whatever it saves."""
        body = self.desk.records[id].body
        assert isinstance(body, ToolArtifact)
        return most_like(result_text(body, self.read), size, before, self.counting)


_State: TypeAlias = tuple[Decision, int, bool, int, tuple[RecordId, int] | None, bool, bool]
"""What an item depends on beside its record and the settings of the request.

The decision, its turn, whether that is over, its last use, what it is like, whether it waits, and whether its call is
there.
"""


def _asks(record: Record) -> bool:
    return isinstance(record.body, Message) and record.body.role is Role.USER


LATE = 3
"""Turns after which using a result counts as using it again."""

HIDDEN = frozenset({Reason.BRANCH, Reason.PARTICIPANT_PRIVATE, Reason.AUDIT_ONLY, Reason.NOT_RELEASED, Reason.ERASED})
"""Why a record was counted as hidden from a reader."""

SMALL = 120
"""Bytes of a result up to which repeating it costs no more than saying that it repeats."""

_GONE = frozenset({Level.REF, Level.SAFE, Level.STALE, Level.NONE})
_WHOLE = frozenset({Level.RAW, Level.DENSE})
_LEGIBLE = frozenset({Level.RAW, Level.DENSE, Level.FOCUS})
_SOFT = frozenset({Reason.STALE, Reason.SUPERSEDED})


def _since_asked(news: Sequence[Record]) -> Sequence[Record]:
    """The newest question and what follows it."""
    asked = [
        place for place, record in enumerate(news) if isinstance(record.body, Message) and record.body.role is Role.USER
    ]
    return news[asked[-1] :] if asked else news


def _narrower(item: Item, level: Level) -> bool:
    """Whether a hard verdict allows less than is shown."""
    return DETAIL[item.most_hard] > DETAIL[level]


def _concerned(record: Record) -> tuple[RecordId, ...]:
    """The records whose standing a change is about."""
    match record.body:
        case Superseded(replaced=ids) | MarkedStale(records=ids) | Reclassified(records=ids) | Erased(records=ids):
            return ids
        case Released(records=ids) | Withdrawn(records=ids) | Shared(records=ids) | Pinned(records=ids):
            return ids
        case RetentionApplied(records=ids):
            return ids
        case Conflicted(one=one, other=other):
            return (one, other)
        case Promoted(artifact=artifact):
            return (artifact,)
        case CallResolved(call=call):
            return (call,)
        case _:
            return ()
