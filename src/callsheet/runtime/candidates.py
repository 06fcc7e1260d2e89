"""Candidates of a search: from what names and words occur in, the newest that the view may see and read.

What is hidden takes no place among them: of each name the newest visible occurrences count, however many hidden ones
lie between. So time grows with what a query names, not with the history.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from callsheet.assemble.contents import text_of
from callsheet.derive.derived import MORE
from callsheet.graph.counting import Asked, count_terms, joined
from callsheet.graph.enums import INSTRUCTING, Relation
from callsheet.graph.ids import RecordId
from callsheet.graph.index import MatchQuery, Posting, PostingQuery, Weighed, weighed
from callsheet.graph.nodes import Message, ToolArtifact, ToolCall
from callsheet.graph.query import LinkQuery
from callsheet.graph.record import Record
from callsheet.graph.values import Text
from callsheet.recall.bm25 import TermDocument
from callsheet.recall.finding import Candidate, weighed_candidate
from callsheet.recall.tool import NAME as RECALL
from callsheet.runtime.admitting import Admitting
from callsheet.runtime.indexing import SAID
from callsheet.runtime.meaning import Near
from callsheet.runtime.naming import SEARCHED, TOLD
from callsheet.runtime.seeing import Sight

OCCURRENCES = 10
"""Visible occurrences of each term that count, the newest; more where more findings than that are wanted."""

NAMED = 64
"""The same of each name: what it is about may be older than much that mentions it."""

MOST_OCCURRENCES = 1_024
"""The same, however many findings are wanted."""

TOGETHER = 32
"""Visible records that count because most words of the query occur in them together, however old they are."""

_OVERFULL = 16
"""Newest results with more entities than an index holds that are looked at."""

_LONGEST_ANSWER = 65_536

_ANSWERS = (SEARCHED, *TOLD, "(recall: ")
"""How answers of recalls begin that serve no one record."""


@dataclass(kw_only=True, slots=True)
class Candidates:
    """Collects the candidates of one search."""

    seen: Sight
    #: Where the turn begins that waits for its answer: its messages are what is asked, not what is looked for.
    present: int | None = None
    #: Occurrences of each term that count, if more than usual.
    most: int = OCCURRENCES
    #: Records that may be found, by id.
    records: dict[RecordId, Record] = field(default_factory=dict)
    #: Calls that a query names, by the message that made them and by the results that answer them.
    calls: dict[RecordId, list[Record]] = field(default_factory=dict)
    #: Of each record that occurred, the one that would be found; None: it may not be.
    _found: dict[RecordId, RecordId | None] = field(default_factory=dict)
    #: Those that may be found, taken or not; and the calls among what occurred, those that were taken noted.
    _known: dict[RecordId, Record] = field(default_factory=dict)
    _asked: dict[RecordId, Record] = field(default_factory=dict)
    _taken: set[RecordId] = field(default_factory=set)
    _made: dict[RecordId, Candidate] = field(default_factory=dict)
    #: Of these as much as is asked for.
    _documents: dict[RecordId, TermDocument] = field(default_factory=dict)
    _wanted: Asked | None = None
    #: What the records that were looked at are found by, and the messages among them that say something, by position.
    _indexes: dict[int, bytes | None] = field(default_factory=dict)
    _speaking: dict[int, RecordId] = field(default_factory=dict)
    #: The records that were taken, oldest first. None is ever given back.
    _ordered: list[RecordId] = field(default_factory=list)

    def collect(self, names: Sequence[str], terms: Sequence[str] = ()) -> None:
        """Take the newest records in which these entities, found or said, and these terms occur."""
        wanted = tuple(dict.fromkeys(form for name in names for form in (name, SAID + name) if name))
        more = [*self._page(wanted, (), None), *self._page((), tuple(terms), None)]
        for name, entity, before, counted in more:
            self._read_on(name, entity, before, counted)

    def _most(self, *, entity: bool) -> int:
        return max(self.most, NAMED) if entity else self.most

    def _page(
        self, names: tuple[str, ...], terms: tuple[str, ...], before: int | None, counted: int = 0
    ) -> list[tuple[str, bool, int, int]]:
        """Read one page of each name, of which `counted` count already, and take what may count beside those.

        Returns the names with more to read: name, entity or term, from where, counted.
        """
        if not names and not terms:
            return []
        session = self.seen.session
        most = self._most(entity=bool(names))
        query = PostingQuery(entities=names, terms=terms, lineage=self.seen.lineage, before=before, limit=most)
        postings = session.ledger.postings(session.conversation.key, query)
        self.look([posting.position for posting in postings])
        by_name: dict[tuple[str, bool], list[Posting]] = {}
        for posting in postings:
            entity = posting.entity is not None
            by_name.setdefault((posting.entity or posting.term or "", entity), []).append(posting)
        more: list[tuple[str, bool, int, int]] = []
        taken: list[RecordId] = []
        for (name, entity), found in by_name.items():
            # A page that holds something hidden is followed by another, whose rest must not count: it would tell.
            ids, counts = self._within([one.record for one in found], most - counted)
            taken += ids
            if len(found) == most and counted + counts < most:
                more.append((name, entity, found[-1].position, counted + counts))
        self.take(taken)
        return more

    def _within(self, ids: Sequence[RecordId], room: int) -> tuple[list[RecordId], int]:
        """The first of these records of which so many may be found, and how many those are.

        Among them are calls of the present turn, which are not found themselves and tell what their results are about.
        """
        taken: list[RecordId] = []
        counted = 0
        for id in ids:
            if counted == room:
                break
            counted += self._found.get(id) is not None
            taken.append(id)
        return taken, counted

    def _read_on(self, name: str, entity: bool, before: int, counted: int) -> None:
        """Read further pages of one name until enough of it counts."""
        more = [(name, entity, before, counted)]
        while more:
            _, _, before, counted = more[0]
            more = self._page((name,) if entity else (), () if entity else (name,), before, counted)

    def collect_together(self, words: Sequence[tuple[str, ...]]) -> None:
        """Take the records in which most of these words occur together."""
        if len(words) < 2:
            return
        session, behind, counted = self.seen.session, None, 0
        while counted < TOGETHER:
            query = MatchQuery(words=tuple(words), lineage=self.seen.lineage, behind=behind, limit=TOGETHER)
            matches = session.ledger.matches(session.conversation.key, query)
            self.look([match.position for match in matches])
            taken, visible = self._within([match.record for match in matches], TOGETHER - counted)
            self.take(taken)
            counted += visible
            if len(matches) < TOGETHER:
                return
            behind = (matches[-1].words, matches[-1].position)

    def those(self, near: Sequence[Near]) -> list[Near]:
        """Those of these records that may be found; they are taken."""
        self.look([one.position for one in near])
        self.take([one.record for one in near])
        return [one for one in near if self._found.get(one.record) is not None]

    def spoken(self, positions: Iterable[int]) -> Iterator[RecordId]:
        """Those messages among what was looked at that may be found and say something."""
        return filter(None, map(self._speaking.get, positions))

    def look(self, positions: Iterable[int]) -> None:
        """Learn which of the records at these positions may be found, without taking them."""
        session = self.seen.session
        new = [position for position in dict.fromkeys(positions) if position not in self._indexes]
        if not new:
            return
        read = session.ledger.findable(session.conversation.key, new)
        self._indexes.update((one.record.position, one.index) for one in read)
        self._learn([one.record for one in read])

    def _look_up(self, ids: Sequence[RecordId]) -> None:
        """The same of the records with these ids."""
        session = self.seen.session
        new = [id for id in dict.fromkeys(ids) if id not in self._found]
        if new:
            self._learn(session.ledger.get(session.conversation.key, new))

    def _learn(self, read: Sequence[Record]) -> None:
        session, seen = self.seen.session, self.seen
        records = [record for record in read if seen.shows(record) and record.id not in seen.withheld]
        others = [record for record in records if not isinstance(record.body, ToolCall)]
        calls = self._told([record for record in records if isinstance(record.body, ToolCall)])
        askers = [call.body.message for call in calls if isinstance(call.body, ToolCall)]
        wanted = [id for id in dict.fromkeys(askers) if id not in self._found]
        messages = session.ledger.get(session.conversation.key, wanted) if wanted else []
        self._found.update((id, None) for id in (*(record.id for record in read), *wanted))
        self._know([*others, *filter(seen.shows, messages)])
        for call in calls:
            body = call.body
            self._asked[call.id] = call
            if isinstance(body, ToolCall) and self._found.get(body.message) is not None:
                self._found[call.id] = body.message

    def _told(self, calls: Sequence[Record]) -> Sequence[Record]:
        """Those whose messages may be read: what a message may not tell, its calls do not tell either."""
        session, seen = self.seen.session, self.seen
        if seen.admit is None or not calls:
            return calls
        asking = {call.id: call.body.message for call in calls if isinstance(call.body, ToolCall)}
        messages = session.ledger.get(session.conversation.key, sorted(set(asking.values())))
        if isinstance(seen.admit, Admitting):
            seen.admit.look(messages)
        silent = {one.id for one in messages if one.body is not None and seen.refused(one) is not None}
        return [call for call in calls if asking.get(call.id) not in silent]

    def take(self, ids: Iterable[RecordId]) -> None:
        """Take of these records those that may be found; with a call, what made it and what answers it."""
        distinct = dict.fromkeys(ids)
        calls = [self._asked[id] for id in distinct if id in self._asked and id not in self._taken]
        self._taken.update(call.id for call in calls)
        for id in distinct:
            found = self._found.get(id)
            if found is not None:
                self.records[found] = self._known[found]
        results = self._results(calls)
        for call in calls:
            asker = self._found[call.id]
            for record in (*((asker,) if asker is not None else ()), *results.get(call.id, ())):
                self._made_by(record, call)

    def _results(self, calls: Sequence[Record]) -> dict[RecordId, list[RecordId]]:
        """The results of these calls that may be found: what was asked for tells what a result is about."""
        session, seen = self.seen.session, self.seen
        key, asked = session.conversation.key, tuple(call.id for call in calls)
        if not asked:
            return {}
        links = session.ledger.links(key, LinkQuery(relation=Relation.ANSWERS, targets=asked, lineage=seen.lineage))
        self._look_up([link.source for link in links])
        self.take([link.source for link in links])
        found: dict[RecordId, list[RecordId]] = {}
        for link in links:
            if link.source in self.records:
                found.setdefault(link.target, []).append(link.source)
        return found

    def _made_by(self, record: RecordId, call: Record) -> None:
        self.calls.setdefault(record, []).append(call)
        self._made.pop(record, None)
        self._documents.pop(record, None)

    def _know(self, records: Sequence[Record]) -> None:
        """Note which of these visible records may be found."""
        searchable = [record for record in records if self._searchable(record)]
        if isinstance(self.seen.admit, Admitting):
            self.seen.admit.look(searchable)
        for record in searchable:
            if self.seen.refused(record) is None:
                self._found[record.id] = record.id
                self._known[record.id] = record
                if said(record):
                    self._speaking[record.position] = record.id

    def _searchable(self, record: Record) -> bool:
        """Instructions and the present turn stand in the request; the answers of recalls only repeat others."""
        body = record.body
        if isinstance(body, Message):
            return body.role not in INSTRUCTING and (self.present is None or record.position < self.present)
        return isinstance(body, ToolArtifact) and body.recalls is None and not self._repeats(body)

    def _repeats(self, body: ToolArtifact) -> bool:
        """Whether a result is what a recall answered without serving a reference."""
        part = body.content[0] if body.tool == RECALL and len(body.content) == 1 else None
        if not isinstance(part, Text) or body.size > _LONGEST_ANSWER:
            return False
        return text_of(self.seen.read(part.text)).startswith(_ANSWERS)

    # ------------------------------------------------------------------ what they are found by

    def made(self) -> dict[RecordId, Candidate]:
        """What each candidate is found by, oldest first; a message also by the calls that it makes.

        A result is also found by the call that it answers, and that comes first: it says what the result is about.
        """
        session = self.seen.session
        new = [record for id, record in self.records.items() if id not in self._made]
        asking = [call for record in new for call in self.calls.get(record.id, ())]
        unread = [record.position for record in (*new, *asking) if record.position not in self._indexes]
        if unread:
            read = session.ledger.findable(session.conversation.key, unread)
            self._indexes.update((one.record.position, one.index) for one in read)
        for record in new:
            calls = self.calls.get(record.id, [])
            together = [*calls, record] if isinstance(record.body, ToolArtifact) else [record, *calls]
            index = _joined([self._index(one.position) for one in together])
            self._made[record.id] = weighed_candidate(record.id, index)
        if len(self._ordered) < len(self.records):
            self._ordered = sorted(self.records, key=lambda id: self.records[id].header.position)
        return {id: self._made[id] for id in self._ordered}

    def _index(self, position: int) -> Weighed:
        index = self._indexes.get(position)
        return weighed(index) if index is not None else _NOTHING

    def documents(self, asked: Asked) -> dict[RecordId, TermDocument]:
        """The candidates with those of their terms that are asked for, oldest first."""
        made = self.made()
        if asked is not self._wanted:
            self._wanted, self._documents = asked, {}
        known = self._documents
        known.update((id, one.document(asked)) for id, one in made.items() if id not in known)
        return {id: known[id] for id in made}

    def beyond(self) -> Iterator[Record]:
        """The newest results that hold more entities than their index, which says so; newest first."""
        session, before, given = self.seen.session, None, 0
        while given < _OVERFULL:
            query = PostingQuery(entities=(MORE,), lineage=self.seen.lineage, before=before, limit=_OVERFULL)
            postings = session.ledger.postings(session.conversation.key, query)
            self.look([posting.position for posting in postings])
            for posting in postings:
                if posting.record in self._known and given < _OVERFULL:
                    given += 1
                    self.take([posting.record])
                    yield self.records[posting.record]
            if len(postings) < _OVERFULL:
                return
            before = postings[-1].position


_NOTHING = Weighed((), count_terms(()))


def _joined(indexes: Sequence[Weighed]) -> Weighed:
    first, *others = indexes
    # Asked of all at once, for most candidates have no such name or nothing else.
    if not others and SAID not in "".join(first.entities):
        return first
    names = dict.fromkeys(name.removeprefix(SAID) for one in indexes for name in one.entities)
    return Weighed(tuple(names), joined([one.terms for one in indexes]))


def said(record: Record) -> bool:
    """Whether a record is a message in which something is said."""
    body = record.body
    return isinstance(body, Message) and any(isinstance(part, Text) and part.text.size for part in body.parts)
