"""What the policies say about giving exact evidence to a model: judged from classes, before any content is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from callsheet.derive.derived import Derived, unpack
from callsheet.errors import BodyErased, NotFound, PolicyError, RecallRefused
from callsheet.graph.enums import Policy, Privacy, Reason, Relation, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, ContextAssembly, Message, ToolArtifact
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.graph.times import isoformat
from callsheet.graph.values import Digest
from callsheet.policy.candidate import Candidate
from callsheet.policy.conditions import written
from callsheet.policy.contracts import ToolContract, classes, contracts, stale_from
from callsheet.policy.deciding import decide
from callsheet.policy.sets import BALANCED, PolicySetDocument
from callsheet.policy.settings import Retention
from callsheet.policy.verdict import Decision, Verdict
from callsheet.recall.tool import NAME as RECALL
from callsheet.runtime.deciding import Standings, ages, read_standings
from callsheet.runtime.labels import of_result
from callsheet.runtime.policies import policy_by_hash
from callsheet.runtime.ruling import ruling, shown
from callsheet.runtime.seeing import Sight
from callsheet.runtime.session import Session
from callsheet.runtime.unseen import Unseen, Visible, unseen

_FINAL = (Policy.ATTRIBUTION, Policy.VISIBILITY, Policy.PRIVACY)


class Judged(NamedTuple):
    """One record as the policies see it, and what they say."""

    candidate: Candidate
    decision: Decision

    @property
    def refusal(self) -> Reason | None:
        """Why its content may not be given at all; None: it may. What is merely shown shorter may be asked for."""
        found = self.refusing
        return found.reason if found is not None else None

    @property
    def refusing(self) -> Verdict | None:
        """The verdict that says so."""
        for verdict in self.decision.verdicts:
            hard = verdict.policy in _FINAL or verdict.policy is Policy.RETENTION
            if hard and verdict.hard and verdict.most is not None:
                return verdict
        return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Admitting:
    """Judges records for the boundary of one sheet. An `Admit`; keeps what it judged for one recall or search."""

    seen: Sight
    policy: PolicySetDocument
    _judged: dict[RecordId, Judged] = field(default_factory=dict)

    def __call__(self, record: Record, boundary: Boundary) -> Reason | None:
        return self.judged(record).refusal

    def judged(self, record: Record) -> Judged:
        """What the policies say of one record."""
        if record.id not in self._judged:
            self.look((record,))
        return self._judged[record.id]

    def look(self, records: Sequence[Record]) -> None:
        """Judge several records with few look-ups."""
        new = [record for record in records if record.id not in self._judged]
        if not new:
            return
        session = self.seen.session
        standings = read_standings(
            session.ledger,
            session.conversation.key,
            self.seen.lineage,
            tuple(record.id for record in new),
            shown(self.policy, self.seen.boundary, self._visible()),
            hidden=self._hidden(),
        )
        positions = [record.position for record in new if isinstance(record.body, ToolArtifact)]
        indexes = session.ledger.indexed(session.conversation.key, positions) if positions else {}
        declared = contracts((), self.policy.tools)
        ruled = ruling(self.policy, self.seen.boundary)
        for record in new:
            index = indexes.get(record.position)
            candidate = self._candidate(record, standings, unpack(index.derived) if index else None, declared)
            self._judged[record.id] = Judged(candidate, decide(candidate, self.seen.boundary, self.policy, ruled))

    def _visible(self) -> Visible:
        session, seen = self.seen.session, self.seen
        key = session.conversation.key
        return Visible(ledger=session.ledger, key=key, lineage=seen.lineage, shows=seen.shows, hidden=self._hidden())

    def _hidden(self) -> Unseen:
        """The changes that the view may not see; kept at hand, so that only later ones are read again."""
        session, seen = self.seen.session, self.seen
        desk = session.desk(seen.view)
        desk.hidden = unseen(session.ledger, session.conversation.key, seen.lineage, seen.shows, desk.hidden)
        return desk.hidden

    def _candidate(
        self,
        record: Record,
        standings: Standings,
        derived: Derived | None,
        declared: Mapping[str, ToolContract],
    ) -> Candidate:
        body, header = record.body, record.header
        state = standings.state
        artifact = body if isinstance(body, ToolArtifact) else None
        tool = self._tool(artifact) if artifact is not None else None
        contract = declared.get(tool) if tool is not None else None
        privacy = Privacy(state(StateField.PRIVACY, record.id) or header.privacy)
        freshness = None
        if artifact is not None:
            changed = state(StateField.PRIVACY, record.id)
            content = of_result(header.privacy, changed, derived, self.policy, self.seen.boundary.provider)
            privacy, freshness = classes(contract, content, ages(derived))
        return Candidate(
            record=record.id,
            kind=header.kind,
            scope=header.scope,
            privacy=privacy,
            freshness=freshness,
            observed=header.at if artifact is not None else None,
            stale_after=stale_from(contract, header.at),
            marked_stale=state(StateField.STALE, record.id) is not None,
            tool=tool,
            contract=contract,
            superseded_by=standings.linked(Relation.SUPERSEDES, record.id),
            released=True if record.id in self.seen.opened() else None,
            erased=body is None or state(StateField.ERASED, record.id) is not None,
            retention=Retention(state(StateField.RETENTION, record.id) or Retention.KEEP),
            attributes=getattr(body, "attributes", ()),
            tainted=getattr(body, "tainted", None),
            role=body.role if isinstance(body, Message) else None,
            bytes=artifact.size if artifact is not None else 0,
            exact_wanted=True,
        )

    def _tool(self, artifact: ToolArtifact) -> str | None:
        """Whose declaration holds for a result; for the answer of a recall, that of what it shows."""
        original = self.seen.get(artifact.recalls) if artifact.recalls is not None else None
        shown = original.body if original is not None else None
        return shown.tool if isinstance(shown, ToolArtifact) else artifact.tool

    def refuse(self, record: Record) -> None:
        """Raise what says why the content of a record may not be given; nothing when it may.

        Raises `RecallRefused` with the class, the provider and the safe form, `BodyErased`, or `NotFound`.
        """
        judged = self.judged(record)
        refusing = judged.refusing
        if refusing is None:
            return
        if refusing.reason is Reason.ERASED:
            raise BodyErased(f"the content of {record.id} was erased")
        if refusing.policy is Policy.VISIBILITY:
            # Who may not see a record may see no form of it.
            raise NotFound(f"{record.id} may not be read here")
        candidate = judged.candidate
        raise RecallRefused(
            privacy=candidate.privacy.value,
            provider=self.seen.boundary.provider,
            safe=safe_form(record, candidate),
            rule=written(refusing.rule),
        )

    def note(self, record: Record) -> str:
        """A line about how far what is given still holds; empty where there is nothing to say."""
        judged = self.judged(record)
        said = [_LIMITS[verdict.reason] for verdict in judged.decision.verdicts if verdict.reason in _LIMITS]
        contract = judged.candidate.contract
        if not said and not (contract is not None and contract.shared_world):
            return ""
        if judged.candidate.superseded_by:
            said.append(f"now {judged.candidate.superseded_by[-1]}")
        return "(" + "; ".join([f"observed {isoformat(record.header.at)}", *said, *_recheck(contract)]) + ")"

    def room(self, sheet: ContextAssembly) -> int:
        """Bytes of exact evidence that may still be given for a sheet: the set's budget less what was recorded since.

        Answers that were given and not recorded do not count.
        """
        session = self.seen.session
        after = sheet.cut.at(session.conversation.id)
        query = NodeQuery(kinds=("artifact",), lineage=self.seen.lineage, after=after)
        given = (record.body for record in session.ledger.nodes(session.conversation.key, query) if self._own(record))
        return self.policy.rehydrate - sum(body.size for body in given if isinstance(body, ToolArtifact))

    def _own(self, record: Record) -> bool:
        return isinstance(record.body, ToolArtifact) and record.body.tool == RECALL and self.seen.shows(record)


_LIMITS: Mapping[Reason, str] = {
    Reason.STALE: "out of date: no claim about now",
    Reason.SUPERSEDED: "replaced since",
}


def _recheck(contract: ToolContract | None) -> tuple[str, ...]:
    tools = contract.recheck if contract is not None else None
    return (f"to check again: {', '.join(tools)}",) if tools else ()


def safe_form(record: Record, candidate: Candidate) -> str:
    """What may be told of a record whose class is refused: metadata alone."""
    body = record.body
    at = isoformat(record.header.at)
    if isinstance(body, ToolArtifact):
        told = [
            f"a result of {body.tool or 'a tool'}",
            f"{body.size:,} bytes",
            f"of {at}",
            *_recheck(candidate.contract),
        ]
    else:
        told = [f"a {record.header.kind}", f"of {at}"]
    return f"{record.id}, {', '.join(told)}"


def policy_of(session: Session, hash: Digest) -> PolicySetDocument:
    """The policy set with this hash, built in or stored; `BALANCED` where it is neither.

    That one lets out no class of data that its operator did not open: what is not known is treated restrictively.
    """
    try:
        return policy_by_hash(session.ledger, session.conversation.tenant, hash)
    except PolicyError:
        return BALANCED
