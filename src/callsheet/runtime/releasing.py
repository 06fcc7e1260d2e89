"""What releases and share lists open to one reader, beside what its lineage and the scopes of records show it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from callsheet.graph.changes import Released, Shared, Withdrawn
from callsheet.graph.cut import Lineage
from callsheet.graph.enums import INSTRUCTING, Reason, Visibility
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, Message
from callsheet.graph.ports import Ledger
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record, StreamKey
from callsheet.policy.visibility import hidden_from, refusal

_KINDS = ("released", "shared", "withdrawn")


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """What has been opened to one reader up to a position; gone on from, so that only later changes are read."""

    upto: int = 0
    #: As whom it may be given something.
    readers: frozenset[RecordId] = frozenset()
    #: What is given now: each record with the one of the readers that it is given to.
    given: frozenset[tuple[RecordId, RecordId]] = frozenset()
    #: Whether anything was ever given to it or taken back.
    ever: bool = False
    #: What it may read.
    records: frozenset[RecordId] = frozenset()
    #: Of these, what may stand in its requests: another's instructions govern nobody else.
    shown: frozenset[RecordId] = frozenset()
    #: Of these, what stands on no branch that it inherits from, such as the work of a sub-agent; the newest last.
    elsewhere: tuple[RecordId, ...] = ()
    #: Of each record that was looked at: whether it can be opened, whether it instructs, and where it stands if that is
    #: elsewhere.
    places: Mapping[RecordId, "Place"] = field(default_factory=dict)


class Place(NamedTuple):
    """What opening asks of a record."""

    opens: bool
    instructs: bool
    #: Its position, where it stands on no branch that the reader inherits from.
    away: int | None


NOTHING = Opened()


class Reader(NamedTuple):
    """Who reads: a participant, or a sub-agent in its run; None: nobody in particular."""

    participant: RecordId | None = None
    run: RecordId | None = None


def readers(reader: "Reader", lineage: Lineage) -> frozenset[RecordId]:
    """As whom a reader may be given something: its participant, its sub-agent's run, and the branches it stands on."""
    own = (reader.participant, reader.run, *(segment.branch for segment in lineage.segments))
    return frozenset(reader for reader in own if reader is not None)


def opened(
    ledger: Ledger, key: StreamKey, lineage: Lineage, reader: Reader | Boundary, known: Opened = NOTHING
) -> Opened:
    """What is released to a reader or shared with it along its lineage, and was not taken back.

    A change counts where the reader may see it. Audit-only records never are opened. `known` is what was found for the
    same reader before; where nothing has changed since, one look for later changes is all that it costs.
    """
    reader = Reader(reader.participant, reader.run)
    who = readers(reader, lineage)
    if known.readers != who or known.upto > lineage.upto:
        known = Opened(readers=who)
    if known.upto == lineage.upto:
        return known
    later = ledger.nodes(key, NodeQuery(kinds=_KINDS, lineage=lineage, after=known.upto))
    given = set(known.given)
    ever = known.ever
    for record in later:
        if hidden_from(record.header.scope, *reader) is None:
            ever = _apply(record, who, given) or ever
    if given == known.given:
        return replace(known, upto=lineage.upto, ever=ever)
    places = dict(known.places)
    wanted = frozenset(record for record, _ in given)
    new = sorted(wanted - places.keys())
    places |= {record.id: _place(record, lineage) for record in (ledger.get(key, new) if new else ())}
    found = frozenset(id for id in wanted if id in places and places[id].opens)
    shown = frozenset(id for id in found if not places[id].instructs)
    away = sorted((place, id) for id in shown if (place := places[id].away) is not None)
    return Opened(
        upto=lineage.upto,
        readers=who,
        given=frozenset(given),
        ever=ever,
        records=found,
        shown=shown,
        elsewhere=tuple(id for _, id in away),
        places=places,
    )


def _place(record: Record, lineage: Lineage) -> Place:
    away = None if lineage.sees(record.branch, record.position) else record.position
    return Place(opens=may_open(record), instructs=instructs(record), away=away)


def _apply(change: Record, who: frozenset[RecordId], given: set[tuple[RecordId, RecordId]]) -> bool:
    """Let a change speak; whether it is about this reader."""
    match change.body:
        case Released(records=records, to=to) | Shared(records=records, participants=to):
            pairs = {(record, reader) for record in records for reader in to if reader in who}
            given |= pairs
        case Withdrawn(records=records, from_=to):
            pairs = {(record, reader) for record in records for reader in to if reader in who}
            given -= pairs
        case _:
            pairs = set()
    return bool(pairs)


def may_open(record: Record) -> bool:
    """Whether a release can open a record at all."""
    return record.header.scope.visibility is not Visibility.AUDIT


def instructs(record: Record) -> bool:
    """Whether a record is an instruction."""
    return isinstance(record.body, Message) and record.body.role in INSTRUCTING


def refused(record: Record, boundary: Boundary, known: Opened) -> Reason | None:
    """Why a record may not stand in this reader's requests; None: it may, by its scope or because it was opened."""
    if record.body is None:
        return Reason.ERASED
    reason = refusal(record.header, boundary)
    if reason is not None and record.id in known.shown:
        return None
    return reason
