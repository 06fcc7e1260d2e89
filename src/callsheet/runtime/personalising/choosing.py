"""Which memories of the user one request shows: those that the newest turns call for, and those that are always shown.

What is called for is what the user's words and the model's own calls name; what tools return calls for nothing, so that
no page that is read can choose what of the user goes to a provider. Bounded by what is named, not by how much is kept.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from msgspec.structs import replace

from callsheet.assemble import personal
from callsheet.assemble.contents import text_of
from callsheet.assemble.plans import Plan, Rewrite
from callsheet.derive import terms
from callsheet.graph.enums import INSTRUCTING, Level, Privacy, Reason
from callsheet.graph.ids import RecordId, StreamId
from callsheet.graph.nodes import Message, Selection, UserMemory
from callsheet.graph.record import Record
from callsheet.policy.verdict import DETAIL
from callsheet.runtime.ground import asks
from callsheet.runtime.personalising.looking import Looking
from callsheet.runtime.personalising.once import told_once
from callsheet.runtime.personalising.relevance import Called, called_for
from callsheet.runtime.personalising.repeating import repeated
from callsheet.runtime.personalising.standing import Held

SHARE = 16
"""Memories of the user take at most this part of a request."""

LARGEST = 1_000
"""And at most so many tokens, whatever the budget."""

MOST = 6
"""Memories that one turn calls for, at most."""

ANEW = 24
"""Memories that a request shows that is written anew, at most."""

MEANT = 3
"""Messages of the user, the newest, whose meaning calls for memories."""

AROUND = 8
"""Tokens around a note, about."""

_TELLING = frozenset({Level.RAW, Level.DENSE, Level.FOCUS, Level.GIST})
"""Levels at which what was said can be read."""

_SHOWN = frozenset({Level.GIST, Level.STALE})


@dataclass(kw_only=True)
class Choosing(Looking):
    """Chooses for one request. Made once, and asked for what a request adds or, written anew, shows."""

    #: What the request goes on from shows, memories and all.
    before: tuple[Selection, ...]
    #: Tokens that the whole request may take.
    room: int
    news: Sequence[Record]
    _refused: dict[RecordId, Reason] = field(default_factory=dict)

    # ------------------------------------------------------------------ what the request is made of

    @property
    def stream(self) -> StreamId:
        return self.shelf.stream.id

    @cached_property
    def hard(self) -> bool:
        """Whether something that stands may stand no more, or not with what it says."""
        gone = [one.record for one in self._standing if one.record not in self._held]
        if gone:
            self.ground.desk.forget(gone)
            return True
        shown = (one for one in self._standing if one.level is Level.GIST)
        return any(DETAIL[self._decision(one.record).most_hard] > DETAIL[Level.GIST] for one in shown)

    @cached_property
    def appended(self) -> tuple[Selection, ...]:
        """What a request adds that goes on from the one before: what has changed, and what is called for now."""
        if self.hard:
            return ()
        notices = tuple(self._notices())
        following = [id for one in notices for id in self._instead(one.record)]
        last = self._last
        wanted = [id for id in (*following, *self._always, *self._called(self._asked)) if id not in last]
        must = frozenset(following)
        left = self.most - self._size((*self._standing, *notices))
        return (*notices, *self._within(wanted, left, MOST, must=must))

    @cached_property
    def anew(self) -> tuple[Selection, ...]:
        """What a request shows that is written anew: what is always shown, and what the last turns call for."""
        over = tuple(self._over())
        wanted = [*self._always, *self._called((*self._recent, *self._asked))]
        left = self.most - (self._size(over) if over else 0)
        return (*over, *self._within(wanted, left, ANEW))

    @property
    def most(self) -> int:
        """Tokens that memories may take."""
        return min(self.room // SHARE, LARGEST)

    def size(self, rewrite: Rewrite | None) -> int:
        """Tokens that the memories of the request take, when it is known beforehand that it is written anew or not."""
        return self._size(self.anew if rewrite is not None else (*self._standing, *self.appended))

    def placed(self, plan: Plan) -> tuple[Selection, ...]:
        """All that stands in the request, memories in their notes."""
        records = self.ground.desk.records
        if not any(one.note or not _instructs(records[one.record]) for one in plan.selections):
            return plan.selections
        chosen = self.appended if plan.rewrite is None else self.anew
        for one in (*self._standing, *chosen):
            if one.record in self._held:
                records.setdefault(one.record, self._held[one.record].record)
        if plan.rewrite is not None:
            return personal.anew(plan.selections, chosen, lambda id: _instructs(records[id]))
        return personal.appended(plan.selections, self.before, chosen, lambda id: asks(records[id]))

    def left_out(self, selections: Iterable[Selection]) -> dict[Reason, int]:
        """Why memories that were looked at do not stand in the request, with how many for each reason."""
        stand = {one.record for one in selections if one.stream is not None and one.level in _SHOWN}
        counts: dict[Reason, int] = {}
        for id, reason in self._refused.items():
            if id not in stand:
                counts[reason] = counts.get(reason, 0) + 1
        return counts

    def passed_over(self, id: RecordId) -> Reason | None:
        """Why a memory that the request looked at and might show is not shown; None: it did not look at it."""
        return self._refused.get(id)

    def class_of(self, id: RecordId) -> Privacy:
        """The class of a memory that was looked at."""
        return self._held[id].privacy

    # ------------------------------------------------------------------ what stands

    @cached_property
    def _standing(self) -> tuple[Selection, ...]:
        return tuple(one for one in self.before if one.stream == self.stream)

    def _stood(self) -> Iterable[RecordId]:
        return [one.record for one in self._standing]

    @cached_property
    def _last(self) -> dict[RecordId, Selection]:
        """As what each memory stands there last."""
        return {one.record: one for one in self._standing}

    def _notices(self) -> Iterator[Selection]:
        """What has to be said of what stands: that it was replaced, is out of date or contradicted, or no more so."""
        for id, last in self._last.items():
            now = self._selection(id)
            replaced = self._decision(id).reason is Reason.SUPERSEDED
            if replaced and last.reason is not Reason.SUPERSEDED and not self._repeated(id):
                yield self._named(id, Level.REF, Reason.SUPERSEDED)
            elif not replaced and now is not None and now.reason is not last.reason:
                yield now

    def _over(self) -> Iterator[Selection]:
        """That what was shown holds no more, for as long as an answer stands that says some of it after it was shown.

        What replaced it may be gone: what was said by it would pass for what holds.
        """
        ended = (self._held[id] for id in self._last if id in self._held)
        for one in ended:
            if (
                one.ended is None
                or one.ended > self._now
                or DETAIL[self._decision(one.id).most_hard] > DETAIL[Level.REF]
                or self._repeated(one.id)
            ):
                continue
            last = self._last[one.id]
            turn = last.turn if last.reason is Reason.SUPERSEDED else self.turn
            told = (each for each in self.ground.view if each.stream is None and each.level in _TELLING)
            if any(each.turn < turn and self._says_of(one, each.record) for each in told):
                yield replace(self._named(one.id, Level.REF, Reason.SUPERSEDED), turn=turn)

    def _says_of(self, one: Held, id: RecordId) -> bool:
        """Whether a record is an answer that has a word of what a memory says; so it is where its words are unknown."""
        desk = self.ground.desk
        record, index = desk.records.get(id), desk.indexes.get(id)
        if record is None or not _says(record) or asks(record):
            return False
        kept = terms.compared(terms.terms(self._text(one.body)))
        return index is None or not kept.isdisjoint(terms.compared(term for term, _ in index.terms))

    def _repeated(self, id: RecordId) -> bool:
        """Whether what holds in the place of a memory says the same: nothing of what was shown holds no more."""
        one, current = self._held[id], self._current(id)
        return bool(current) and repeated(self._held[current[0]].body, one.body)

    def _instead(self, id: RecordId) -> list[RecordId]:
        """What is to be told beside a notice: what holds now, and the other side of a contradiction."""
        there = self._held[id]
        current = [one for one in self._current(id) if one != id]
        return [*current, *(other for other in there.conflicts if other in self._held and self._holds(other))]

    # ------------------------------------------------------------------ what is called for

    @cached_property
    def _always(self) -> list[RecordId]:
        ids = self.shelf.pinned()
        self._know(ids)
        there = [self._held[id] for id in ids if id in self._held]
        return [one.id for one in sorted(there, key=lambda one: one.order) if self._holds(one.id)]

    @cached_property
    def _asked(self) -> tuple[Record, ...]:
        return tuple(record for record in self.news if _says(record))

    @cached_property
    def _recent(self) -> tuple[Record, ...]:
        """What was said in the last turns and stands there."""
        since = self.turn - self.ground.policy.turns
        records = self.ground.desk.records
        there = (one.record for one in self.ground.view if not one.note and one.turn > since)
        return tuple(records[id] for id in there if id in records and _says(records[id]))

    def _called(self, said: Sequence[Record]) -> list[RecordId]:
        """The memories that these messages call for, as what holds now, the best first."""
        matched = called_for(self.shelf, self._names(said))
        meant = self._meant(said)
        self._know((*matched.records, *meant))
        there = [self._held[id] for id in matched.records if id in self._held]
        alluded = [id for id in meant if id in self._held]
        currents = {id: self._current(id) for id in dict.fromkeys((*(one.id for one in there), *alluded))}
        named = matched.named()
        among: dict[RecordId, tuple[int, list[RecordId]]] = {}
        called = [*matched.ranked(self._indexes(there), currents), *(id for id in alluded if currents[id])]
        for found in dict.fromkeys(called):
            first = currents[found][0]
            # What may not stand takes no place, and none from what says the same.
            if first not in among and self._selection(first) is not None:
                among[first] = (named.get(found, 0), currents[found])
        indexes = self._indexes([self._held[id] for id in among])
        names = {id: count for id, (count, _) in among.items() if count}
        told = told_once(tuple(among), self._held, indexes, named=names, text=self._text)
        return [id for first in told for id in among[first][1]]

    def _meant(self, said: Sequence[Record]) -> list[RecordId]:
        """What the newest of the user's words mean the like of, the newest of them first."""
        ground = self.ground
        if ground.questions is None:
            return []
        asking = [record for record in said if asks(record) and record.id not in ground.silent][-MEANT:]
        alluding = (ground.questions.alluding(record, ground.lineage.upto) for record in reversed(asking))
        near = (one.kept(self.shelf) for one in alluding if one is not None)
        return list(dict.fromkeys(id for found in near for id in found[: ground.policy.meaning]))

    def _text(self, body: UserMemory) -> str:
        return text_of(self.ground.read(body.value))

    def _names(self, said: Sequence[Record]) -> Called:
        """What the user's words name, and of the model's the identifiers alone."""
        ground = self.ground
        entities = [name for record in said for name in ground.entities(record)]
        asking = [record for record in said if asks(record) and record.id not in ground.silent]
        indexes = (ground.desk.indexes.get(record.id) for record in asking)
        words = [term for index in indexes if index is not None for term, _ in index.terms]
        return Called.of(entities, words)

    # ------------------------------------------------------------------ what may stand, and fits

    def _selection(self, id: RecordId) -> Selection | None:
        """As what a memory may stand; None: it may not, or would say nothing."""
        decision = self._decision(id)
        if DETAIL[decision.most] <= DETAIL[Level.GIST]:
            against = any(verdict.reason is Reason.CONFLICT for verdict in decision.verdicts)
            return self._named(id, Level.GIST, Reason.CONFLICT if against else Reason.INCLUDED)
        if decision.most is Level.STALE:
            return self._named(id, Level.STALE, Reason.STALE)
        self._refused[id] = decision.reason
        return None

    def _named(self, id: RecordId, level: Level, reason: Reason) -> Selection:
        return Selection(record=id, level=level, reason=reason, turn=self.turn, stream=self.stream)

    def _within(
        self, ids: Iterable[RecordId], room: int, most: int, must: frozenset[RecordId] = frozenset()
    ) -> Iterator[Selection]:
        """Those that may stand, in their order, as far as there is room; what must be told stands in any case."""
        count = 0
        room -= self._around
        for id in dict.fromkeys(ids):
            selection = self._selection(id)
            if selection is None:
                continue
            size = self._size_of(selection)
            if id not in must and (size > room or count >= most):
                self._refused[id] = Reason.OVER_BUDGET
                continue
            count += 1
            room -= size
            yield selection

    def _size(self, selections: Sequence[Selection]) -> int:
        """Tokens of some memories in one note."""
        return self._around + sum(self._size_of(one) for one in selections) if selections else 0

    @cached_property
    def _around(self) -> int:
        return AROUND + self.ground.counting(personal.HEAD)

    def _size_of(self, selection: Selection) -> int:
        one = self._held.get(selection.record)
        if one is None:
            return 0
        key = (one.id, selection.level, selection.reason, self.ground.desk.redaction is None)
        line = self.known.lines.get(key)
        if line is None:
            line = personal.line(selection, one.body, text_of(self.ground.read(one.body.value)))
            self.known.lines[key] = line
        return 1 + self.ground.counting(line)


def _says(record: Record) -> bool:
    return isinstance(record.body, Message) and record.body.role not in INSTRUCTING


def _instructs(record: Record) -> bool:
    return isinstance(record.body, Message) and record.body.role in INSTRUCTING
