"""Candidates of a search: from what names and terms occur in, the newest that the view may see and read.

What is hidden takes no place among them: of each name the newest visible occurrences count, however many hidden ones
lie between. So time grows with what a query names, not with the history.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from callsheet.assemble.compose import INSTRUCTING, text_of
from callsheet.derive import entities
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Index, Posting, PostingQuery
from callsheet.graph.nodes import Message, ToolArtifact, ToolCall
from callsheet.graph.record import Record
from callsheet.graph.values import Text
from callsheet.recall.tool import NAME as RECALL
from callsheet.runtime.admitting import Admitting
from callsheet.runtime.indexing import SAID
from callsheet.runtime.naming import SEARCHED
from callsheet.runtime.seeing import Sight

OCCURRENCES = 64
"""Visible occurrences of each name and term that count, the newest."""

_NEWEST = 256
"""Newest records among which results with more entities than an index holds are looked for."""

_ANSWERS = (SEARCHED, "(recall: ")
"""How answers of recalls begin that serve no reference."""


@dataclass(kw_only=True, slots=True)
class Candidates:
    """Collects the candidates of one search."""

    seen: Sight
    #: Where the turn begins that waits for its answer: its messages are what is asked, not what is looked for.
    present: int | None = None
    #: Records that may be found, by id.
    records: dict[RecordId, Record] = field(default_factory=dict)
    #: Calls that a query names, by the message that made them.
    calls: dict[RecordId, list[Record]] = field(default_factory=dict)
    #: Of each record that occurred, the one that would be found; None: it may not be.
    _found: dict[RecordId, RecordId | None] = field(default_factory=dict)

    def collect(self, names: Sequence[str], terms: Sequence[str]) -> None:
        """Take the newest records in which these entities, found or said, and these terms occur."""
        wanted = tuple(dict.fromkeys(form for name in names for form in (name, SAID + name) if name))
        more = self._page(wanted, tuple(terms), None)
        for name, entity, before, counted in more:
            self._read_on(name, entity, before, counted)

    def _page(
        self, names: tuple[str, ...], terms: tuple[str, ...], before: int | None
    ) -> list[tuple[str, bool, int, int]]:
        """Read one page of each name. Returns those with more to read: name, entity or term, from where, counted."""
        if not names and not terms:
            return []
        session = self.seen.session
        query = PostingQuery(entities=names, terms=terms, lineage=self.seen.lineage, before=before, limit=OCCURRENCES)
        postings = session.ledger.postings(session.conversation.key, query)
        self._admit([posting.record for posting in postings])
        by_name: dict[tuple[str, bool], list[Posting]] = {}
        for posting in postings:
            entity = posting.entity is not None
            by_name.setdefault((posting.entity or posting.term or "", entity), []).append(posting)
        more: list[tuple[str, bool, int, int]] = []
        for (name, entity), found in by_name.items():
            counted = sum(self._found.get(posting.record) is not None for posting in found)
            if len(found) == OCCURRENCES and counted < OCCURRENCES:
                more.append((name, entity, found[-1].position, counted))
        return more

    def _read_on(self, name: str, entity: bool, before: int, counted: int) -> None:
        """Read further pages of one name until enough of it counts."""
        while counted < OCCURRENCES:
            more = self._page((name,) if entity else (), () if entity else (name,), before)
            if not more:
                return
            before = more[0][2]
            counted += more[0][3]

    def _admit(self, ids: Sequence[RecordId]) -> None:
        session, seen = self.seen.session, self.seen
        new = [id for id in dict.fromkeys(ids) if id not in self._found]
        records = [record for record in session.ledger.get(session.conversation.key, new) if seen.shows(record)]
        records = [record for record in records if record.id not in seen.withheld]
        calls = [record for record in records if isinstance(record.body, ToolCall)]
        askers = [call.body.message for call in calls if isinstance(call.body, ToolCall)]
        wanted = [id for id in dict.fromkeys(askers) if id not in self._found]
        messages = session.ledger.get(session.conversation.key, wanted) if wanted else []
        self._found.update((id, None) for id in (*new, *wanted))
        self.take([*(record for record in records if record not in calls), *filter(seen.shows, messages)])
        for call in calls:
            body = call.body
            if isinstance(body, ToolCall) and self._found.get(body.message) is not None:
                self._found[call.id] = body.message
                self.calls.setdefault(body.message, []).append(call)

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

    # ------------------------------------------------------------------ indexes

    def indexes(self) -> list[tuple[RecordId, Index]]:
        """What each candidate is found by, oldest first; a message also by the calls that it makes."""
        session = self.seen.session
        ordered = sorted(self.records.values(), key=lambda record: record.position)
        calls = {call.id: call for found in self.calls.values() for call in found}
        places = [record.position for record in (*ordered, *calls.values())]
        stored = session.ledger.indexed(session.conversation.key, places) if places else {}
        together = [(record, *self.calls.get(record.id, ())) for record in ordered]
        return [(each[0].id, _joined([stored.get(one.position, Index()) for one in each])) for each in together]

    def beyond(self) -> Iterator[Record]:
        """Results among the newest records that hold more entities than their index; newest first."""
        session = self.seen.session
        newest = islice(self.seen.newest(), _NEWEST)
        large = [record for record in newest if isinstance(record.body, ToolArtifact) and record.body.size > _FULL]
        positions = [record.position for record in large]
        stored = session.ledger.indexed(session.conversation.key, positions) if positions else {}
        full = [r for r in large if len(stored.get(r.position, Index()).entities) >= entities.LIMIT]
        self.take([record for record in full if record.id not in self._found])
        yield from (record for record in full if record.id in self.records)


_FULL = 2 * entities.LIMIT
"""Bytes below which no result holds as many entities as an index does."""

_LONGEST_ANSWER = 65_536


def _joined(indexes: Sequence[Index]) -> Index:
    names = dict.fromkeys(name.removeprefix(SAID) for index in indexes for name in index.entities)
    return Index(entities=tuple(names), terms=tuple(term for index in indexes for term in index.terms))
