"""From records and what changes have made of them to what the nine policies say."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from callsheet.derive.derived import Derived
from callsheet.graph.cut import Lineage
from callsheet.graph.effects import UNSETTLED
from callsheet.graph.enums import ArtifactStatus, CallStatus, Freshness, Privacy, Relation, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, Message, ToolArtifact, ToolCall
from callsheet.graph.ports import Ledger
from callsheet.graph.query import LinkQuery, LinkRow, StateQuery
from callsheet.graph.record import Record, StreamKey
from callsheet.policy.candidate import Candidate
from callsheet.policy.contracts import ToolContract, classes, contracts
from callsheet.policy.deciding import decide
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.settings import Retention
from callsheet.policy.verdict import Decision


@dataclass(frozen=True, kw_only=True, slots=True)
class Standings:
    """What changes have made of records: states by field and target, and links to them."""

    states: Mapping[StateField, Mapping[str, str]] = field(default_factory=dict)
    links: Mapping[Relation, Sequence[LinkRow]] = field(default_factory=dict)

    @property
    def targets(self) -> frozenset[str]:
        """The records of which changes have made something."""
        states = (target for held in self.states.values() for target in held)
        return frozenset((*states, *(row.target for rows in self.links.values() for row in rows)))

    def state(self, name: StateField, id: RecordId) -> str | None:
        """The value of a state; None: not set."""
        return self.states.get(name, {}).get(id)

    def linked(self, relation: Relation, id: RecordId) -> tuple[RecordId, ...]:
        """What bears on a record by a relation."""
        return tuple(row.source for row in self.links.get(relation, ()) if row.target == id)


_STATES = (
    StateField.PRIVACY,
    StateField.STALE,
    StateField.PINNED,
    StateField.PROMOTION,
    StateField.RETENTION,
    StateField.ERASED,
)
_RELATIONS = (Relation.SUPERSEDES, Relation.CONFLICTS_WITH)


def read_standings(
    ledger: Ledger, key: StreamKey, lineage: Lineage, ids: tuple[RecordId, ...], shows: Callable[[Record], bool]
) -> Standings:
    """What changes along a lineage have made of these records.

    A relation counts only where the record that it comes from is shown to the reader: a hidden replacement replaces
    nothing.
    """
    if not ids:
        return Standings()
    states = {
        state: {
            row.target: row.value
            for row in ledger.states(key, StateQuery(field=state, targets=ids, lineage=lineage))
            if row.value is not None
        }
        for state in _STATES
    }
    links: dict[Relation, list[LinkRow]] = {}
    for relation in _RELATIONS:
        rows = ledger.links(key, LinkQuery(relation=relation, targets=ids, lineage=lineage))
        sources = ledger.get(key, [row.source for row in rows]) if rows else []
        seen = {record.id for record in sources if shows(record)}
        links[relation] = [row for row in rows if row.source in seen]
    return Standings(states=states, links=links)


@dataclass(frozen=True, kw_only=True)
class Deciding:
    """Asks the policies about one record after another, for one request."""

    boundary: Boundary
    policy: PolicySetDocument
    standings: Standings
    calls: Mapping[RecordId, ToolCall]
    #: Calls without a result.
    open: frozenset[RecordId]
    turn: int
    declared: tuple[ToolContract, ...] = ()
    _contracts: Mapping[str, ToolContract] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_contracts", contracts(self.declared, self.policy.tools))

    def resolved(self, records: Iterable[Record]) -> frozenset[RecordId]:
        """The failed results that a later success of the same tool has settled."""
        settled: set[str] = set()
        found: set[RecordId] = set()
        for record in sorted(records, key=lambda record: -record.position):
            body = record.body
            if not isinstance(body, ToolArtifact) or body.tool is None:
                continue
            if body.status is ArtifactStatus.OK:
                settled.add(body.tool)
            elif body.tool in settled:
                found.add(record.id)
        return frozenset(found)

    def decide(self, record: Record, turn: int, *, derived: Derived | None, resolved: bool, newest: bool) -> Decision:
        """What the policies say of one record that stands in this turn. `newest`: it is the newest user turn."""
        return decide(self._candidate(record, turn, derived, resolved, newest), self.boundary, self.policy)

    def _candidate(self, record: Record, turn: int, derived: Derived | None, resolved: bool, newest: bool) -> Candidate:
        body, header = record.body, record.header
        standings = self.standings
        privacy = Privacy(standings.state(StateField.PRIVACY, record.id) or header.privacy)
        age = 0 if newest else max(0, self.turn - turn)
        marked = standings.state(StateField.STALE, record.id) is not None
        pinned = standings.state(StateField.PINNED, record.id) is not None
        erased = body is None or standings.state(StateField.ERASED, record.id) is not None
        if isinstance(body, Message):
            return Candidate(
                record=record.id,
                kind="message",
                scope=header.scope,
                privacy=privacy,
                role=body.role,
                turn_age=age,
                marked_stale=marked,
                pinned=pinned,
                erased=erased,
            )
        assert isinstance(body, ToolArtifact)
        contract = self._contracts.get(body.tool) if body.tool is not None else None
        content = derived.privacy if derived is not None and derived.privacy is Privacy.SECRET else privacy
        shown_as, freshness = classes(contract, content, _ages(derived))
        promotion = standings.state(StateField.PROMOTION, record.id)
        return Candidate(
            record=record.id,
            kind="artifact",
            scope=header.scope,
            privacy=shown_as,
            turn_age=age,
            freshness=freshness,
            observed=header.at,
            marked_stale=marked,
            tool=body.tool,
            contract=contract,
            call=CallStatus.OPEN if body.status in UNSETTLED else CallStatus.ANSWERED,
            outcome=body.status,
            retry=body.retry,
            resolved=resolved,
            superseded_by=standings.linked(Relation.SUPERSEDES, record.id),
            conflicts_with=standings.linked(Relation.CONFLICTS_WITH, record.id),
            pinned=pinned,
            promoted=bool(promotion) if promotion is not None else None,
            erased=erased,
            retention=Retention(standings.state(StateField.RETENTION, record.id) or Retention.KEEP),
            tokens=derived.raw_tokens if derived is not None else 0,
            bytes=body.size,
        )


def _ages(derived: Derived | None) -> Freshness | None:
    """How a result ages by what its content shows: only clear signs of change count, else its date tells enough.

    That a result is merely old makes it no less the newest that is known; without a contract it is shown with its date.
    """
    if derived is None or derived.freshness is not Freshness.VOLATILE:
        return None
    return derived.freshness
