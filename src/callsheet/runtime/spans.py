"""The part of a history that no episode stands for, as compaction reads it: what each record says, and its classes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from callsheet.assemble import speaking
from callsheet.assemble.compacting import Entry
from callsheet.assemble.contents import text_of
from callsheet.assemble.sizes import WITHHELD, estimated_tokens
from callsheet.derive.derived import Derived, unpack
from callsheet.graph.effects import UNSETTLED
from callsheet.graph.enums import INSTRUCTING, Freshness, Level, Privacy, Relation, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Index
from callsheet.graph.nodes import Message, Participant, ToolArtifact, ToolCall
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.graph.values import Text
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.settings import Retention
from callsheet.recall.tool import NAME as RECALL
from callsheet.runtime.admitting import Admitting
from callsheet.runtime.attributing import NAMELESS
from callsheet.runtime.deciding import read_standings
from callsheet.runtime.desk import called
from callsheet.runtime.episodes import Mark
from callsheet.runtime.labels import strictest
from callsheet.runtime.seeing import Sight
from callsheet.runtime.withholding import withheld_calls

_AT_A_TIME = 500

_GONE = frozenset({Retention.REDACT, Retention.HASH_ONLY, Retention.DELETE})

_LONGEST = 60
"""Characters of the name of a tool before what it gave."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Voices:
    """Who says what the records of a span say, and in which words results are told."""

    indexes: Mapping[int, Index]
    #: Calls whose arguments may not be shown.
    withheld: frozenset[RecordId]
    #: Who answered, of what other participants said.
    names: Mapping[RecordId, str]

    @classmethod
    def of(cls, seen: Sight, policy: PolicySetDocument, records: Sequence[Record]) -> "Voices":
        """Those of some records, as far as their content may be shown at the boundary."""
        session, key = seen.session, seen.session.conversation.key
        places = [record.position for record in records if isinstance(record.body, ToolArtifact)]
        return cls(
            indexes=session.ledger.indexed(key, places) if places else {},
            withheld=withheld_calls(session.ledger, key, seen.lineage, seen.boundary, policy),
            names=_names(seen, records),
        )

    def derived(self, record: Record) -> Derived | None:
        """What is known of a result beside its content."""
        index = self.indexes.get(record.position)
        return unpack(index.derived) if index is not None else None

    def speaker(self, record: Record) -> str:
        """Who says what a record says, as it stands before it. No tool can pass for a person."""
        body = record.body
        if isinstance(body, ToolArtifact):
            name = " ".join((body.tool or "a tool").split())[:_LONGEST]
            return f"result of {name}"
        owner = record.header.scope.owner
        if owner is not None and owner in self.names:
            return speaking.label(self.names[owner])[:-1]
        return body.role.value if isinstance(body, Message) else ""

    def gist(self, record: Record) -> str:
        """The line that stands for a result; what was asked for may not be in it where that is withheld."""
        body, derived = record.body, self.derived(record)
        assert isinstance(body, ToolArtifact)
        if derived is None or not derived.gist or body.call in self.withheld:
            return f"{body.size:,} bytes"
        return derived.gist


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """What there is to compact."""

    entries: tuple[Entry, ...]
    #: The newest turn.
    turn: int
    records: Mapping[RecordId, Record]
    voices: Voices
    privacy: Mapping[RecordId, Privacy]
    freshness: Mapping[RecordId, Freshness]
    #: What contradicts each record.
    against: Mapping[RecordId, Collection[RecordId]]

    def strictest(self, ids: Sequence[RecordId]) -> Privacy:
        """The strictest class of some records."""
        return strictest([self.privacy[id] for id in ids])

    def shortest(self, ids: Sequence[RecordId]) -> Freshness:
        """The shortest-lived freshness of some records."""
        return min((self.freshness[id] for id in ids), key=list(Freshness).index)


def read(seen: Sight, policy: PolicySetDocument, mark: Mark) -> Span:
    """The messages and results behind a mark, with those that it left, as the reader sees them by its own scope.

    What was merely opened to it counts as a turn and is not compacted: it may be taken back. Nor is what was erased or
    replaced, or is of a class that the set gives out by metadata alone.
    """
    session, key = seen.session, seen.session.conversation.key
    shown = _shown(seen, mark)
    opened = seen.opened()
    turn, turns = mark.turn, dict[RecordId, int]()
    for record in shown:
        body = record.body
        if record.id in mark.left:
            turns[record.id] = mark.turn
            continue
        if isinstance(body, Message):
            turn += body.role not in INSTRUCTING
        asked = turns.get(body.message) if isinstance(body, ToolArtifact) and body.message is not None else None
        turns[record.id] = asked if asked is not None else turn
    own = [record for record in shown if record.body is not None and record.id not in opened]
    ids = tuple(record.id for record in own)
    calls = _calls(seen, own)
    standings = read_standings(session.ledger, key, seen.lineage, ids, seen.shows)
    admitting = Admitting(seen=seen, policy=policy)
    admitting.look(own)
    voices = Voices.of(seen, policy, own)
    # As in a request, no figure tells of arguments that may not be shown.
    told = {id: call for id, call in calls.items() if id not in voices.withheld}
    waiting = frozenset(session.tail(seen.view).open)
    entries: list[Entry] = []
    privacy: dict[RecordId, Privacy] = {}
    freshness: dict[RecordId, Freshness] = {}
    for record in own:
        candidate = admitting.judged(record).candidate
        derived = voices.derived(record)
        privacy[record.id] = strictest([candidate.privacy, *([derived.privacy] if derived is not None else [])])
        freshness[record.id] = candidate.freshness or _ages(derived)
        apart = (
            admitting.judged(record).refusal is not None
            or policy.privacy.of(privacy[record.id]) is not Level.RAW
            or candidate.marked_stale
            or bool(candidate.superseded_by)
            or candidate.retention in _GONE
            or candidate.erased
        )
        entries.append(_entry(record, turns[record.id], told, waiting, apart=apart))
    return Span(
        entries=tuple(entries),
        turn=turn,
        records={record.id: record for record in own},
        voices=voices,
        privacy=privacy,
        freshness=freshness,
        against={
            id: standings.linked(Relation.CONFLICTS_WITH, id)
            for id in ids
            if standings.linked(Relation.CONFLICTS_WITH, id)
        },
    )


def text(seen: Sight, record: Record) -> str:
    """What a message says, with markers in the place of secrets."""
    return "\n".join(said for _, said in texts(seen, record))


def texts(seen: Sight, record: Record) -> list[tuple[int, str]]:
    """The same by part, each with its place among the parts."""
    body = record.body
    parts = body.parts if isinstance(body, Message) else ()
    redacting = seen.session.redacting
    return [(place, text_of(redacting(part.text))) for place, part in enumerate(parts) if isinstance(part, Text)]


def _shown(seen: Sight, mark: Mark) -> list[Record]:
    """What was left, then all that stands behind the mark, in order of position."""
    session, key = seen.session, seen.session.conversation.key
    found = session.ledger.get(key, mark.left) if mark.left else []
    after = mark.upto
    while True:
        query = NodeQuery(kinds=("message", "artifact"), lineage=seen.lineage, after=after, limit=_AT_A_TIME)
        portion = session.ledger.nodes(key, query)
        found += portion
        if len(portion) < _AT_A_TIME:
            break
        after = portion[-1].position
    unique = {record.id: record for record in found if seen.shows(record)}
    return sorted(unique.values(), key=lambda record: record.position)


def _calls(seen: Sight, records: Sequence[Record]) -> dict[RecordId, ToolCall]:
    wanted = [id for record in records for id in called(record)]
    found = seen.session.ledger.get(seen.session.conversation.key, wanted) if wanted else []
    return {record.id: record.body for record in found if isinstance(record.body, ToolCall)}


def _names(seen: Sight, records: Sequence[Record]) -> dict[RecordId, str]:
    """The names of other participants that said some of it."""
    owners = {record.header.scope.owner for record in records if isinstance(record.body, Message)}
    others = sorted(owner for owner in owners if owner is not None and owner != seen.view.participant)
    found = seen.session.ledger.get(seen.session.conversation.key, others) if others else []
    known = {record.id: record.body.name for record in found if isinstance(record.body, Participant)}
    return {owner: known.get(owner, NAMELESS) for owner in others}


def _entry(
    record: Record, turn: int, calls: Mapping[RecordId, ToolCall], waiting: frozenset[RecordId], *, apart: bool
) -> Entry:
    body = record.body
    role: Role | None = body.role if isinstance(body, Message) else None
    asking = called(record)
    pending = isinstance(body, ToolArtifact) and body.status in UNSETTLED and body.call in waiting
    group = body.message if isinstance(body, ToolArtifact) and body.message is not None else record.id
    return Entry(
        id=record.id,
        position=record.position,
        turn=turn,
        group=group,
        role=role,
        # As in a request, no figure tells of what may not be shown.
        tokens=WITHHELD if apart else estimated_tokens(record, calls),
        instruction=role in INSTRUCTING,
        open=pending or any(call in waiting for call in asking),
        # What was shown again is told where it was found.
        apart=apart or getattr(body, "tool", None) == RECALL,
    )


def _ages(derived: Derived | None) -> Freshness:
    """How what nothing is declared about ages: what was said stands; of results clear signs of change alone count."""
    return Freshness.DURABLE if derived is None or derived.freshness is Freshness.TIME_BOUNDED else derived.freshness
