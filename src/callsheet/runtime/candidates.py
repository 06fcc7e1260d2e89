"""Candidates of a search: from what names and words occur in, the newest that the view may see and read.

What is hidden takes no place among them: of each name the newest visible occurrences count, however many hidden ones
lie between. So time grows with what a query names, not with the history.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from callsheet.assemble.compose import INSTRUCTING, text_of
from callsheet.derive.derived import MORE
from callsheet.graph.enums import Relation
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Index, MatchQuery, Posting, PostingQuery
from callsheet.graph.nodes import Message, ToolArtifact, ToolCall
from callsheet.graph.query import LinkQuery
from callsheet.graph.record import Record
from callsheet.graph.values import Text
from callsheet.recall.finding import Candidate, candidate
from callsheet.recall.tool import NAME as RECALL
from callsheet.runtime.admitting import Admitting
from callsheet.runtime.indexing import SAID
from callsheet.runtime.naming import SEARCHED
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

_ANSWERS = (SEARCHED, "(recall: ")
"""How answers of recalls begin that serve no reference."""


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
    _made: dict[RecordId, Candidate] = field(default_factory=dict)

    def collect(self, names: Sequence[str], terms: Sequence[str] = ()) -> None:
        """Take the newest records in which these entities, found or said, and these terms occur."""
        wanted = tuple(dict.fromkeys(form for name in names for form in (name, SAID + name) if name))
        more = [*self._page(wanted, (), None), *self._page((), tuple(terms), None)]
        for name, entity, before, counted in more:
            self._read_on(name, entity, before, counted)

    def _most(self, *, entity: bool) -> int:
        return max(self.most, NAMED) if entity else self.most

    def _page(
        self, names: tuple[str, ...], terms: tuple[str, ...], before: int | None
    ) -> list[tuple[str, bool, int, int]]:
        """Read one page of each name. Returns those with more to read: name, entity or term, from where, counted."""
        if not names and not terms:
            return []
        session = self.seen.session
        most = self._most(entity=bool(names))
        query = PostingQuery(entities=names, terms=terms, lineage=self.seen.lineage, before=before, limit=most)
        postings = session.ledger.postings(session.conversation.key, query)
        self._admit([posting.record for posting in postings])
        by_name: dict[tuple[str, bool], list[Posting]] = {}
        for posting in postings:
            entity = posting.entity is not None
            by_name.setdefault((posting.entity or posting.term or "", entity), []).append(posting)
        more: list[tuple[str, bool, int, int]] = []
        for (name, entity), found in by_name.items():
            counted = sum(self._found.get(posting.record) is not None for posting in found)
            if len(found) == most and counted < most:
                more.append((name, entity, found[-1].position, counted))
        return more

    def _read_on(self, name: str, entity: bool, before: int, counted: int) -> None:
        """Read further pages of one name until enough of it counts."""
        while counted < self._most(entity=entity):
            more = self._page((name,) if entity else (), () if entity else (name,), before)
            if not more:
                return
            before = more[0][2]
            counted += more[0][3]

    def collect_together(self, words: Sequence[tuple[str, ...]]) -> None:
        """Take the records in which most of these words occur together."""
        if len(words) < 2:
            return
        session, behind, counted = self.seen.session, None, 0
        while counted < TOGETHER:
            query = MatchQuery(words=tuple(words), lineage=self.seen.lineage, behind=behind, limit=TOGETHER)
            matches = session.ledger.matches(session.conversation.key, query)
            self._admit([match.record for match in matches])
            counted += sum(self._found.get(match.record) is not None for match in matches)
            if len(matches) < TOGETHER:
                return
            behind = (matches[-1].words, matches[-1].position)

    def at(self, position: int) -> RecordId | None:
        """The record that is found by what stands at a position, which is taken; None: there is none that may be."""
        session = self.seen.session
        (record,) = session.ledger.records(session.conversation.key, after=position - 1, upto=position)
        self.admit([record])
        return self._found[record.id]

    def admit(self, records: Sequence[Record]) -> None:
        """Take those of these records that may be seen and found."""
        new = {record.id: record for record in records if record.id not in self._found}
        self._admit(tuple(new), tuple(new.values()))

    def _admit(self, ids: Sequence[RecordId], known: Sequence[Record] = ()) -> None:
        session, seen = self.seen.session, self.seen
        new = [id for id in dict.fromkeys(ids) if id not in self._found]
        if not new:
            return
        read = known or session.ledger.get(session.conversation.key, new)
        records = [record for record in read if seen.shows(record) and record.id not in seen.withheld]
        calls = [record for record in records if isinstance(record.body, ToolCall)]
        askers = [call.body.message for call in calls if isinstance(call.body, ToolCall)]
        wanted = [id for id in dict.fromkeys(askers) if id not in self._found]
        messages = session.ledger.get(session.conversation.key, wanted) if wanted else []
        self._found.update((id, None) for id in (*new, *wanted))
        self.take([*(record for record in records if record not in calls), *filter(seen.shows, messages)])
        results = self._results(calls)
        for call in calls:
            body = call.body
            if isinstance(body, ToolCall) and self._found.get(body.message) is not None:
                self._found[call.id] = body.message
                self._made_by(body.message, call)
            for result in results.get(call.id, ()):
                self._made_by(result, call)

    def _results(self, calls: Sequence[Record]) -> dict[RecordId, list[RecordId]]:
        """The results of these calls that may be found: what was asked for tells what a result is about."""
        session, seen = self.seen.session, self.seen
        key, asked = session.conversation.key, tuple(call.id for call in calls)
        if not asked:
            return {}
        links = session.ledger.links(key, LinkQuery(relation=Relation.ANSWERS, targets=asked, lineage=seen.lineage))
        self.admit(session.ledger.get(key, [link.source for link in links if link.source not in self._found]))
        found: dict[RecordId, list[RecordId]] = {}
        for link in links:
            if link.source in self.records:
                found.setdefault(link.target, []).append(link.source)
        return found

    def _made_by(self, record: RecordId, call: Record) -> None:
        self.calls.setdefault(record, []).append(call)
        self._made.pop(record, None)

    def take(self, records: Sequence[Record]) -> None:
        """Take those of these visible records that may be found."""
        searchable = [record for record in records if self._searchable(record)]
        if isinstance(self.seen.admit, Admitting):
            self.seen.admit.look(searchable)
        for record in searchable:
            if self.seen.refused(record) is None:
                self._found[record.id] = record.id
                self.records[record.id] = record

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
        places = [record.position for record in (*new, *asking)]
        stored = session.ledger.indexed(session.conversation.key, places) if places else {}
        for record in new:
            calls = self.calls.get(record.id, [])
            together = [*calls, record] if isinstance(record.body, ToolArtifact) else [record, *calls]
            index = _joined([stored.get(one.position, _NOTHING) for one in together])
            self._made[record.id] = candidate(record.id, index)
        ordered = sorted(self.records.values(), key=lambda record: record.position)
        return {record.id: self._made[record.id] for record in ordered}

    def beyond(self) -> Iterator[Record]:
        """The newest results that hold more entities than their index, which says so; newest first."""
        session, before, given = self.seen.session, None, 0
        while given < _OVERFULL:
            query = PostingQuery(entities=(MORE,), lineage=self.seen.lineage, before=before, limit=_OVERFULL)
            postings = session.ledger.postings(session.conversation.key, query)
            self._admit([posting.record for posting in postings])
            for posting in postings:
                if posting.record in self.records and given < _OVERFULL:
                    given += 1
                    yield self.records[posting.record]
            if len(postings) < _OVERFULL:
                return
            before = postings[-1].position


_NOTHING = Index()


def _joined(indexes: Sequence[Index]) -> Index:
    first = indexes[0]
    if len(indexes) == 1 and not any(name.startswith(SAID) for name in first.entities):
        return first
    names = dict.fromkeys(name.removeprefix(SAID) for index in indexes for name in index.entities)
    return Index(entities=tuple(names), terms=tuple(term for index in indexes for term in index.terms))


def said(record: Record) -> bool:
    """Whether a record is a message in which something is said."""
    body = record.body
    return isinstance(body, Message) and any(isinstance(part, Text) and part.text.size for part in body.parts)
