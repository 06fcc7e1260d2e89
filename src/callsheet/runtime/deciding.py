"""From records and what changes have made of them to what the nine policies say."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from callsheet.derive.derived import Derived
from callsheet.graph.cut import Lineage
from callsheet.graph.effects import UNSETTLED
from callsheet.graph.enums import ArtifactStatus, CallStatus, Freshness, Privacy, Relation, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import (
    Boundary,
    Episode,
    Fact,
    Message,
    Milestone,
    ToolArtifact,
    ToolCall,
    ToolMemory,
    UserMemory,
)
from callsheet.graph.ports import Ledger
from callsheet.graph.query import LinkQuery, LinkRow
from callsheet.graph.record import Record, StreamKey
from callsheet.policy.candidate import Candidate
from callsheet.policy.conditions import Ruling
from callsheet.policy.contracts import ToolContract, classes, contracts, stale_from
from callsheet.policy.deciding import decide
from callsheet.policy.promotion import METADATA_ONLY
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.settings import Retention
from callsheet.policy.verdict import Decision
from callsheet.runtime.labels import of_result
from callsheet.runtime.ruling import ruling
from callsheet.runtime.unseen import Unseen, Visible, unseen


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


LIFETIME = "lifetime"
"""The attribute of a memory that says how long it holds: see `SHORT_LIVED`."""

TASK = frozenset({"task", "tentative"})
"""Of those, the ones that hold for the task alone."""

SHORT_LIVED = TASK | {"session"}
"""Values of `LIFETIME` of what is no fact any more once its session, or its task, is over."""

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
    ledger: Ledger,
    key: StreamKey,
    lineage: Lineage,
    ids: tuple[RecordId, ...],
    shows: Callable[[Record], bool],
    *,
    hidden: Unseen | None = None,
) -> Standings:
    """What changes along a lineage have made of these records, as far as they are shown to the reader.

    A relation counts only where the record that it comes from is shown too: a hidden replacement replaces nothing.
    `hidden` are the changes that are not shown, where they were looked for already.
    """
    if not ids:
        return Standings()
    known = hidden if hidden is not None else unseen(ledger, key, lineage, shows)
    visible = Visible(ledger=ledger, key=key, lineage=lineage, shows=shows, hidden=known)
    links = {
        relation: visible.links(ledger.links(key, LinkQuery(relation=relation, targets=ids, lineage=lineage)))
        for relation in _RELATIONS
    }
    return Standings(states=visible.states(_STATES, ids), links=links)


def settled(records: Iterable[Record]) -> frozenset[RecordId]:
    """The failed results that a later success of the same tool has settled."""
    good: set[str] = set()
    found: set[RecordId] = set()
    for record in sorted(records, key=lambda record: -record.position):
        body = record.body
        if not isinstance(body, ToolArtifact) or body.tool is None:
            continue
        if body.status is ArtifactStatus.OK:
            good.add(body.tool)
        elif body.tool in good:
            found.add(record.id)
    return frozenset(found)


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
    #: The tool of a result that a recall gave again; None: it is not looked up, and rules that ask for it leave it out.
    tool_of: Callable[[RecordId], str | None] | None = None
    #: What was released to the reader or shared with it, and was not taken back.
    opened: frozenset[RecordId] = frozenset()
    #: The position where the conversation was put away last; 0: it never was.
    archived: int = 0
    #: The turn in which the present task began.
    episode: int = 0
    _contracts: Mapping[str, ToolContract] = field(init=False, default_factory=dict)
    _ruling: Ruling | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_contracts", contracts(self.declared, self.policy.tools))
        object.__setattr__(self, "_ruling", ruling(self.policy, self.boundary))

    def resolved(self, records: Iterable[Record]) -> frozenset[RecordId]:
        """The failed results that a later success of the same tool settled; what waited and has its result since."""
        known = tuple(records)
        return settled(known) | frozenset(record.id for record in known if self._came_since(record.body))

    def _came_since(self, body: object) -> bool:
        """Whether it says that a call waits which has its final result by now, wherever that stands."""
        return isinstance(body, ToolArtifact) and body.status in UNSETTLED and body.call not in (None, *self.open)

    def decide(
        self,
        record: Record,
        turn: int,
        *,
        derived: Derived | None,
        resolved: bool,
        newest: bool,
        exact: bool = False,
    ) -> Decision:
        """What the policies say of one record that stands in this turn.

        `newest`: it is the newest user turn. `exact`: its exact bytes are wanted.
        """
        candidate = self._candidate(record, turn, derived, resolved, newest)
        if exact:
            candidate = replace(candidate, exact_wanted=True)
        if record.id in self.opened:
            candidate = replace(candidate, released=True)
        return decide(candidate, self.boundary, self.policy, self._ruling)

    def _tool(self, body: ToolArtifact) -> str | None:
        """The tool whose result it shows: rules that users write follow what a recall gave again."""
        if body.recalls is None or not self.policy.rules:
            return body.tool
        return self.tool_of(body.recalls) if self.tool_of is not None else None

    def over(self, record: Record, turn: int) -> bool:
        """Whether the session that a record of this turn belongs to is over: its conversation's, run's or task's."""
        scope, body = record.header.scope, record.body
        if record.position < self.archived or (scope.task is not None and scope.task != self.boundary.task):
            return True
        if scope.sub_agent is not None and scope.sub_agent != self.boundary.run:
            return True
        if not isinstance(body, ToolMemory) or turn >= self.episode:
            return False
        return any(one.name == LIFETIME and one.value in TASK for one in body.attributes)

    def class_of(self, record: Record, derived: Derived | None) -> Privacy:
        """The class of a record now: what changes, its tool's contract and its content made of it."""
        body, header = record.body, record.header
        changed = self.standings.state(StateField.PRIVACY, record.id)
        if not isinstance(body, ToolArtifact):
            return Privacy(changed or header.privacy)
        contract = self._contracts.get(body.tool) if body.tool is not None else None
        content = of_result(header.privacy, changed, derived, self.policy, self.boundary.provider)
        return classes(contract, content, None)[0]

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
                superseded_by=standings.linked(Relation.SUPERSEDES, record.id),
                turn_age=age,
                observed=header.at,
                marked_stale=marked,
                pinned=pinned,
                erased=erased,
            )
        if isinstance(body, ToolMemory):
            return self._memory(record, body, age, over=self.over(record, turn))
        if isinstance(body, Episode | Milestone | Fact):
            return self._second_hand(record, body, age, marked=marked, pinned=pinned, erased=erased)
        if isinstance(body, UserMemory):
            return self._personal(record, body)
        assert isinstance(body, ToolArtifact)
        contract = self._contracts.get(body.tool) if body.tool is not None else None
        changed = standings.state(StateField.PRIVACY, record.id)
        content = of_result(header.privacy, changed, derived, self.policy, self.boundary.provider)
        shown_as, freshness = classes(contract, content, ages(derived))
        promotion = standings.state(StateField.PROMOTION, record.id)
        return Candidate(
            record=record.id,
            kind="artifact",
            scope=header.scope,
            privacy=shown_as,
            turn_age=age,
            freshness=freshness,
            observed=header.at,
            stale_after=stale_from(contract, header.at),
            marked_stale=marked,
            session_over=freshness is Freshness.SESSION and self.over(record, turn),
            tool=self._tool(body),
            contract=contract,
            call=CallStatus.OPEN if body.status in UNSETTLED else CallStatus.ANSWERED,
            outcome=body.status,
            retry=body.retry,
            resolved=resolved,
            superseded_by=standings.linked(Relation.SUPERSEDES, record.id) or self._result_since(body),
            conflicts_with=standings.linked(Relation.CONFLICTS_WITH, record.id),
            pinned=pinned,
            promoted=bool(promotion) if promotion is not None else None,
            erased=erased,
            retention=Retention(standings.state(StateField.RETENTION, record.id) or Retention.KEEP),
            tokens=derived.raw_tokens if derived is not None else 0,
            bytes=body.size,
        )

    def _result_since(self, body: ToolArtifact) -> tuple[RecordId, ...]:
        """For an empty result that only says that its call waits: the call, where the final one has come."""
        return (body.call,) if body.call is not None and not body.content and self._came_since(body) else ()

    def _second_hand(
        self, record: Record, body: Episode | Milestone | Fact, age: int, *, marked: bool, pinned: bool, erased: bool
    ) -> Candidate:
        """An episode, milestone or fact: it tells how it was, with its day where that does not last, at any age."""
        return Candidate(
            record=record.id,
            kind=record.header.kind,
            scope=record.header.scope,
            privacy=Privacy(self.standings.state(StateField.PRIVACY, record.id) or record.header.privacy),
            turn_age=max(age, self.policy.turns),
            observed=body.observed,
            marked_stale=marked,
            pinned=pinned,
            erased=erased,
            superseded_by=self.standings.linked(Relation.SUPERSEDES, record.id),
            conflicts_with=self.standings.linked(Relation.CONFLICTS_WITH, record.id),
            tainted=body.tainted,
        )

    def _personal(self, record: Record, body: UserMemory) -> Candidate:
        """A memory of the user: what ends at a time that is known is out of date from then on."""
        standings = self.standings
        ends = [moment for moment in (body.stale_after, body.valid_until) if moment is not None]
        return Candidate(
            record=record.id,
            kind="user_memory",
            promoted=not body.proposed,
            scope=record.header.scope,
            privacy=Privacy(standings.state(StateField.PRIVACY, record.id) or record.header.privacy),
            turn_age=self.policy.turns,
            freshness=body.freshness,
            observed=body.observed,
            stale_after=min(ends, default=None),
            marked_stale=standings.state(StateField.STALE, record.id) is not None,
            superseded_by=standings.linked(Relation.SUPERSEDES, record.id),
            conflicts_with=standings.linked(Relation.CONFLICTS_WITH, record.id),
            pinned=standings.state(StateField.PINNED, record.id) is not None,
            attributes=body.attributes,
            tainted=body.tainted,
        )

    def _memory(self, record: Record, body: ToolMemory, age: int, *, over: bool) -> Candidate:
        """A memory: its classes are those that it was made with, which follow the strictest of what it rests on."""
        standings = self.standings
        return Candidate(
            record=record.id,
            kind="tool_memory",
            scope=record.header.scope,
            privacy=Privacy(standings.state(StateField.PRIVACY, record.id) or record.header.privacy),
            # The last turns stay in view as what was said and found in them, not as what was remembered of it.
            turn_age=max(age, self.policy.turns),
            freshness=body.freshness,
            observed=body.observed,
            stale_after=body.stale_after,
            marked_stale=standings.state(StateField.STALE, record.id) is not None,
            session_over=over,
            tool=body.tools[0] if len(body.tools) == 1 else None,
            superseded_by=standings.linked(Relation.SUPERSEDES, record.id),
            conflicts_with=standings.linked(Relation.CONFLICTS_WITH, record.id),
            pinned=standings.state(StateField.PINNED, record.id) is not None,
            promoted=METADATA_ONLY not in body.limits,
            erased=standings.state(StateField.ERASED, record.id) is not None,
            attributes=body.attributes,
            tainted=body.tainted,
        )


def ages(derived: Derived | None) -> Freshness | None:
    """How a result ages by what its content shows: only clear signs of change count, else its date tells enough.

    That a result is merely old makes it no less the newest that is known; without a contract it is shown with its date.
    """
    if derived is None or derived.freshness is not Freshness.VOLATILE:
        return None
    return derived.freshness
