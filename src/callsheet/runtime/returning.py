"""What comes back into view: older results that the newest turn names, and those of a task that it returns to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from callsheet.assemble import bringing
from callsheet.graph.enums import Level, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Posting, PostingQuery
from callsheet.graph.nodes import Message, Selection, ToolArtifact
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.graph.values import Text
from callsheet.recall.bm25 import Scored
from callsheet.recall.tool import NAME as RECALL
from callsheet.runtime.alluding import Alluding
from callsheet.runtime.desk import called
from callsheet.runtime.ground import NAMES, Ground, asks
from callsheet.runtime.indexing import SAID
from callsheet.runtime.meant import meant
from callsheet.runtime.occurring import Occurring
from callsheet.runtime.overfull import holding

TELLING = 24
"""A result with more entities than this names everything and so nothing; it brings nothing back."""

QUERY = 48
"""Terms of a user's turn that are looked up."""

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

SAID_BEFORE = 8
"""Older messages of the user that a first request brings back at most, where it did not look at all there is."""

SHARED = 2
"""Terms that such a message and the question must share."""

TASKS = 64
"""Beginnings of tasks that are kept in mind."""

SEEDS = 4
"""Named results whose neighbours come back too, at most."""

_GONE = frozenset({Level.REF, Level.SAFE, Level.STALE, Level.NONE})
_LEGIBLE = frozenset({Level.RAW, Level.DENSE, Level.FOCUS})


@dataclass(kw_only=True, slots=True)
class Returning:
    """Looks for what one request brings back."""

    ground: Ground
    occurring: Occurring
    turns: Mapping[RecordId, int]
    #: Records before the newest question that the request shows or could show.
    earlier: int
    #: The turn in which the present task began; set anew where the newest turn begins one or returns to one.
    episode: int
    #: Whether there are older records that the request does not look at.
    beyond: bool = False
    #: What the user said there of what is asked now.
    said: tuple[RecordId, ...] = ()
    #: Where tasks began, as positions, the newest `TASKS` of them, ascending; the present one is added.
    tasks: tuple[int, ...] = ()
    #: Results about what the user says now, where it returns to no task.
    about: tuple[RecordId, ...] = ()
    #: The results of the task that the newest turn returns to, also those in view.
    task: tuple[RecordId, ...] = ()
    #: The results that the newest turn of the user names, also those in view.
    named: tuple[RecordId, ...] = ()
    #: What the newest turn of the user means; None: that plays no part.
    alluding: Alluding | None = None
    #: What holds its words, the best first.
    worded: tuple[Scored, ...] = ()
    #: What means the like of it and is brought back.
    alluded: tuple[RecordId, ...] = ()
    #: Messages in which something that it asks for was spoken of last, and that are out of view.
    spoken: tuple[RecordId, ...] = ()

    def brought(self, view: Sequence[Selection], news: Sequence[Record]) -> list[RecordId]:
        """Older results that the new records name, or whose task they return to, within what a note may take."""
        if not news:
            return []
        ground, low = self.ground, self.ground.low
        shown = {selection.record for selection in view if selection.level not in _GONE}
        first = news[0].position
        found: dict[RecordId, int] = {}
        returned = self._returned(view, news)
        self.task = tuple(returned)
        if _recalls(news):
            # What the model asks recall for it gets from recall; a note behind that would pass for the next question.
            self.task, self.spoken = (), ()
            return []
        mean = [id for said in news if asks(said) for id in meant(ground, self.occurring, said, first)]
        self._find(found, mean[:ASKED], shown, each=low // HALF, total=low // HALF)
        if not mean:
            # What is only about the turn is no match for what the turn says itself.
            self._find(found, self.about, shown, each=low // EIGHTH, total=low // EIGHTH)
        self._find(found, returned, shown, each=low // HALF, total=low // HALF)
        person = dict.fromkeys(entity for record in news if asks(record) for entity in ground.entities(record))
        names = dict.fromkeys(entity for record in news for entity in self._telling(record))
        called_for, told = tuple(person)[:NAMES], tuple(names)[: 2 * NAMES]
        held = self._held((*called_for, *told), before=first)
        asked = bringing.asked_for(posting for name in called_for for posting in held.get(name, ()))
        unknown = [name for name in called_for if not held.get(name)]
        asked += [id for id in holding(ground, self.occurring, unknown, first) if id not in asked]
        asked = list(dict.fromkeys([*mean, *asked]))
        self.named = tuple(asked[:ASKED])
        self._find(found, asked[:ASKED], shown, each=low // HALF, total=low // HALF)
        told_of = (posting for name in told for posting in held.get(name, ()))
        named = bringing.named(told_of, shown | found.keys())
        seeds = self._find(found, named[:LOOKED_UP], shown, each=low // HALF, total=low // HALF)
        for seed in seeds[:SEEDS]:
            place = ground.desk.records[seed].position
            around = self._of_task(self._around(place, NEAR, NEAR), place)
            self._find(found, around, shown, each=low // EIGHTH, total=low // QUARTER)
        self.alluded = tuple(self._alluded(found, shown, before=first))
        found.update(dict.fromkeys(self.spoken, 0))
        return sorted(found, key=lambda id: ground.desk.records[id].position)

    def _telling(self, record: Record) -> tuple[str, ...]:
        entities = self.ground.entities(record)
        return entities if isinstance(record.body, Message) or len(entities) <= TELLING else ()

    def _held(self, names: Sequence[str], *, before: int) -> dict[str, list[Posting]]:
        """The newest occurrences of each name."""
        query = PostingQuery(
            entities=tuple(dict.fromkeys(names)),
            lineage=self.ground.lineage,
            before=before,
            limit=bringing.COMMON + 1,
        )
        held: dict[str, list[Posting]] = {}
        for posting in self.occurring.postings(query) if names else ():
            held.setdefault(posting.entity or "", []).append(posting)
        return held

    def _find(
        self, found: dict[RecordId, int], ids: Iterable[RecordId], shown: set[RecordId], *, each: int, total: int
    ) -> list[RecordId]:
        """Add the results among `ids` that may come back, in order, as far as they fit. Returns what was added."""
        ground, desk = self.ground, self.ground.desk
        wanted = [id for id in dict.fromkeys(ids) if id not in shown and id not in found]
        desk.fetch(ground.ledger, ground.key, wanted)
        sizes: dict[RecordId, int] = {}
        for id in wanted:
            record = desk.records.get(id)
            if record is None or not isinstance(record.body, ToolArtifact) or not self._comes_back(record):
                continue
            derived = desk.derived.get(id)
            size = derived.dense_tokens if derived is not None else record.body.size // 3
            sizes[id] = min(size, ground.policy.narrowing.limit)
        chosen = bringing.within([id for id in wanted if id in sizes], sizes, total=total, each=each)
        found.update((id, sizes[id]) for id in chosen)
        return chosen

    def _comes_back(self, record: Record | None) -> bool:
        """Whether it is a result that may be brought back; what recall showed stands where it was found."""
        if record is None or not isinstance(record.body, ToolArtifact):
            return False
        return self.ground.shows(record) and record.body.tool != RECALL

    def _alluded(self, found: dict[RecordId, int], shown: set[RecordId], *, before: int) -> list[RecordId]:
        """Messages and results that mean the like of what the user says, as far as they fit beside the rest."""
        if self.alluding is None:
            return []
        ground, desk = self.ground, self.ground.desk
        near = self.alluding.near(ground.key, ground.lineage, self.occurring.told, before, self.worded)
        near = [id for id in near if id not in shown and id not in found][: ground.policy.meaning]
        desk.fetch(ground.ledger, ground.key, near)
        results = [id for id in near if isinstance(desk.records[id].body, ToolArtifact)]
        taken = self._find(found, results, shown, each=ground.low // EIGHTH, total=ground.low // EIGHTH)
        said = [id for id in near if id not in results]
        # A message stands in the note with its beginning alone, so that it always fits.
        found.update(dict.fromkeys(said, 0))
        return [id for id in near if id in taken or id in said]

    # ------------------------------------------------------------------ a task that is returned to

    def _returned(self, view: Sequence[Selection], news: Sequence[Record]) -> list[RecordId]:
        """The results of the task that what the user says now returns to."""
        said = [record for record in news if asks(record)]
        if not said:
            return []
        for record in reversed(said[-MESSAGES:]):
            again = self._named_again(record, view, news[0].position)
            if again:
                self._begun(record)
                return again
        shown = self._shown(view)
        for record in said[-MESSAGES:]:
            terms = self._terms(record)
            matching = self._matching(terms, news[0].position, len(news))
            matches = self._matches(matching)
            self.worded = tuple(Scored(id=one.record, score=one.score, share=one.covers) for one in matches)
            if self.beyond:
                self.said = self._said(matches)
            # Several turns may have come since the last request: what was said in them counts, too.
            since = matching if record is said[0] else self._matching(terms, record.position, len(news))
            self.spoken = tuple(self._spoken(since, view))
            match = bringing.returns_to(matches, shown)
            if match is not None:
                around = self._around(match.position, bringing.REACH, bringing.REACH // bringing.BEFORE)
                self._begun(record)
                return self._of_task(around, match.position)
            if bringing.begins(matches, shown, len(terms)) or self._names_new(record, view):
                self._begun(record)
            untold = self._untold(matching, matches, view, news)
            near = (self._around(one.position, NEAR, 1) for one in bringing.about(matches, shown, len(terms)))
            self.about = tuple(dict.fromkeys([*self.about, *untold, *(one.id for found in near for one in found)]))
        return []

    def _begun(self, record: Record) -> None:
        """Note that a task began: behind the last result before what the user says, since greetings belong to it."""
        self.episode = self.turns[record.id]
        query = NodeQuery(
            kinds=("artifact",), lineage=self.ground.lineage, before=record.position, newest=True, limit=1
        )
        before = self.occurring.nodes(query)
        start = before[-1].position + 1 if before else 1
        if not self.tasks or self.tasks[-1] < start:
            self.tasks = (*self.tasks, start)[-TASKS:]

    def _named_again(self, record: Record, view: Sequence[Selection], before: int) -> list[RecordId]:
        """The results of the task in which something was last spoken of that the user names by its id now.

        Spoken of, not only listed in a result, which may be one of many things there. A call speaks of what it asks
        for, so that a profile that does not hold the id of its user is found too.
        """
        for name in self._unseen(record, view):
            held = self._held((name, SAID + name), before=before)
            spoken = held.get(SAID + name, ())
            if not spoken:
                continue
            last = max(posting.position for posting in (*spoken, *held.get(name, ())))
            found = self._of_task(self._around(last, bringing.REACH, bringing.REACH), last)
            holding = [posting.record for posting in held.get(name, ()) if posting.record in found]
            if found:
                return list(dict.fromkeys([*holding, *found]))
        return []

    def _names_new(self, record: Record, view: Sequence[Selection]) -> bool:
        """Whether the user names something by an id that nothing in view holds."""
        return bool(self._unseen(record, view))

    def _unseen(self, record: Record, view: Sequence[Selection]) -> list[str]:
        """The ids that the user names and nothing in view holds."""
        names = [name for name in self.ground.entities(record) if bringing.tells(name)]
        if not names:
            return []
        # As indexes hold them: all that is in view is gone through, so as fast as can be.
        forms = {SAID + name: name for name in names} | {name: name for name in names if not name.startswith(SAID)}
        seen: set[str] = set()
        for one in view:
            index = self.ground.desk.indexes.get(one.record)
            if index is not None and not forms.keys().isdisjoint(index.entities) and not self._said_in_note(one):
                seen.update(forms[name] for name in index.entities if name in forms)
        return [name for name in names if name not in seen]

    def _of_task(self, around: Sequence[Record], position: int) -> list[RecordId]:
        """Of results near a position those between where its task began and where the next one did; now at hand."""
        start = max((one for one in self.tasks if one <= position), default=0)
        end = min((one for one in self.tasks if one > position), default=None)
        there = [one for one in around if start <= one.position and (end is None or one.position < end)]
        self.ground.desk.take(self.ground.ledger, self.ground.key, there)
        return [one.id for one in there]

    def _said(self, matches: Sequence[bringing.Match]) -> tuple[RecordId, ...]:
        """What the user said among the matches that the request does not look at, best first."""
        ground, desk = self.ground, self.ground.desk
        away = [match.record for match in matches if match.shared >= SHARED and match.record not in self.turns]
        desk.fetch(ground.ledger, ground.key, away)
        there = [desk.records[id] for id in away if ground.is_there(id)]
        return tuple(record.id for record in there if asks(record) and ground.shows(record))[:SAID_BEFORE]

    def _shown(self, view: Sequence[Selection]) -> set[int]:
        """The positions of what can be read in view, calls included."""
        desk = self.ground.desk
        shown = {
            desk.records[selection.record].position
            for selection in view
            if not selection.note or (selection.level in _LEGIBLE and not self._said_in_note(selection))
        }
        # Of what is at hand only that counts which stands in view: the rest is there by chance.
        standing = (selection.record for selection in view if not selection.note)
        calls = (call for id in standing for call in called(desk.records[id]))
        return shown | {desk.calls[call].position for call in calls if call in desk.calls}

    def _said_in_note(self, selection: Selection) -> bool:
        """Whether it is what was said in a task that need not be in view for that, with what it found."""
        record = self.ground.desk.records.get(selection.record)
        return bool(selection.note) and record is not None and isinstance(record.body, Message)

    def _terms(self, said: Record) -> list[str]:
        index = self.ground.desk.indexes.get(said.id) if said.id not in self.ground.silent else None
        return [term for term, _ in index.terms[:QUERY]] if index is not None else []

    def _matching(self, terms: Sequence[str], before: int, new: int) -> bringing.Matching:
        """Where the terms of a turn stood before it."""
        base = self.ground.base
        records = (base.sheet.messages_replayed if base is not None else self.earlier) + new
        query = PostingQuery(terms=tuple(terms), lineage=self.ground.lineage, before=before, limit=bringing.OCCURRENCES)
        return bringing.Matching(terms, self.occurring.postings(query) if terms else (), records)

    def _matches(self, matching: bringing.Matching) -> list[bringing.Match]:
        """The older records that hold terms of a turn, best first."""
        promising = matching.promising(PROMISING)
        if not promising:
            return []
        return matching.matches(self.ground.desk.counted(self.ground.ledger, self.ground.key, promising))

    def _untold(
        self,
        matching: bringing.Matching,
        matches: Sequence[bringing.Match],
        view: Sequence[Selection],
        news: Sequence[Record],
    ) -> list[RecordId]:
        """The results that hold what the user asks for and nothing in view tells; what users said tells nothing."""
        ground, desk = self.ground, self.ground.desk
        standing = [record for one in view if (record := desk.records.get(one.record)) is not None]
        told = set(matching.told(self._shown(view) - {record.position for record in standing if asks(record)}))
        found = [desk.indexes[record.id] for record in news if record.id in desk.indexes and not asks(record)]
        told.update(term for index in found for term, _ in index.terms)
        stand = {one.record for one in view if one.level not in _GONE}
        away = [one for one in matches if one.record not in stand]
        away = [one for one in away if len(matching.told([one.position]) - told) >= bringing.UNTOLD]
        desk.fetch(ground.ledger, ground.key, [one.record for one in away])
        results = [one for one in away if self._comes_back(desk.records.get(one.record))]
        return [one.record for one in matching.untold(results, told)]

    def _spoken(self, matching: bringing.Matching, view: Sequence[Selection]) -> list[RecordId]:
        """What people said, out of view, where a rare word of the question stood last."""
        ground, desk = self.ground, self.ground.desk
        stand = {one.record for one in view if one.level not in _GONE}
        latest = matching.latest()
        ids = list(dict.fromkeys(id for records in latest.values() for id in records if id not in stand))
        desk.fetch(ground.ledger, ground.key, ids)
        there = (desk.records[id] for id in ids if ground.is_there(id))
        sizes = {record.id: _size(record.body) for record in there if _speaks(record) and ground.shows(record)}
        return bringing.within(matching.spoken(latest, sizes), sizes, total=ground.low // EIGHTH, each=ground.low)

    def _around(self, position: int, behind: int, before: int) -> list[Record]:
        """Results that stood near a position, the nearest first; what followed it counts as nearer."""
        kinds, lineage = ("artifact",), self.ground.lineage
        followed = NodeQuery(kinds=kinds, lineage=lineage, after=position - 1, limit=behind)
        preceded = NodeQuery(kinds=kinds, lineage=lineage, before=position, limit=before, newest=True)
        # Counted in results: positions would tell of records that this reader may not see.
        ranked = [(record, rank) for rank, record in enumerate(self.occurring.nodes(followed))]
        ranked += [(record, -rank) for rank, record in enumerate(reversed(self.occurring.nodes(preceded)), start=1)]
        return bringing.nearest(ranked, 0)


def _recalls(news: Sequence[Record]) -> bool:
    """Whether the newest results, behind which nothing was said, are or hold what recall showed."""
    results = takewhile(lambda record: isinstance(record.body, ToolArtifact), reversed(news))
    return any(isinstance(record.body, ToolArtifact) and record.body.tool == RECALL for record in results)


def _size(body: object) -> int:
    """Tokens of a message."""
    return sum(part.o200k for part in body.parts if isinstance(part, Text)) if isinstance(body, Message) else 0


def _speaks(record: Record) -> bool:
    """Whether it is what a person said: decisions are theirs, and models go by what they were told."""
    body = record.body
    return isinstance(body, Message) and body.instruction is None and body.role is Role.USER
