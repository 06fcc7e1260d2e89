"""What may be given to an embedder or a reranker that runs elsewhere: what the policy set lets go to its provider.

One that runs on this machine names no provider and gets all there is, with markers in the place of secrets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from callsheet.derive.derived import unpack
from callsheet.derive.redaction import Redaction
from callsheet.graph.changes import Reclassified
from callsheet.graph.enums import Level, Policy, Privacy, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, Message, ToolArtifact
from callsheet.graph.ports import Ledger
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record, StreamKey
from callsheet.policy.candidate import Candidate
from callsheet.policy.contracts import ToolContract, classes, contracts
from callsheet.policy.deciding import decide
from callsheet.policy.sets import BALANCED, PolicySetDocument
from callsheet.policy.verdict import DETAIL, Verdict
from callsheet.runtime.labels import of_result, strictest
from callsheet.runtime.ruling import ruling

_UNMARKED = Redaction()


def provider_of(given: object) -> str:
    """Whom an embedder or a reranker gives texts to, as policy sets name providers; empty: nobody."""
    return str(getattr(given, "provider", "") or "")


@dataclass(frozen=True, kw_only=True)
class Entrusting:
    """Judges records for one provider under one policy set, from their classes, before anything is read."""

    ledger: Ledger
    provider: str = ""
    policy: PolicySetDocument = BALANCED

    def query(self, text: str) -> str:
        """What is searched for, as it may be given."""
        return _UNMARKED.text(text) if self.provider else text

    def refused(self, key: StreamKey, records: Sequence[Record]) -> frozenset[RecordId]:
        """Those of these records whose content may not be given."""
        if not self.provider or not records:
            return frozenset()
        changed = self._changed(key, records)
        positions = [record.position for record in records if isinstance(record.body, ToolArtifact)]
        indexes = self.ledger.indexed(key, positions) if positions else {}
        refused: set[RecordId] = set()
        for record in records:
            index = indexes.get(record.position)
            derived = unpack(index.derived) if index is not None else None
            again = changed.get(record.id)
            privacy = again or record.header.privacy
            contract: ToolContract | None = None
            if isinstance(record.body, ToolArtifact):
                contract = self._contracts.get(record.body.tool or "")
                shown = of_result(record.header.privacy, again, derived, self.policy, self.provider)
                privacy, _ = classes(contract, shown, None)
            if self._refuses(key, record, privacy, contract):
                refused.add(record.id)
        return frozenset(refused)

    @cached_property
    def _contracts(self) -> Mapping[str, ToolContract]:
        return contracts((), self.policy.tools)

    def _changed(self, key: StreamKey, records: Sequence[Record]) -> dict[RecordId, Privacy]:
        """The strictest class that any branch has put each of these into since."""
        wanted = {record.id for record in records}
        found: dict[RecordId, list[Privacy]] = {}
        first = min(record.position for record in records)
        for later in self.ledger.nodes(key, NodeQuery(kinds=("reclassified",), after=first)):
            if isinstance(later.body, Reclassified):
                for id in wanted.intersection(later.body.records):
                    found.setdefault(id, []).append(later.body.privacy)
        return {id: strictest(given) for id, given in found.items()}

    def _refuses(self, key: StreamKey, record: Record, privacy: Privacy, contract: ToolContract | None) -> bool:
        body, scope = record.body, record.header.scope
        boundary = Boundary(
            conversation=key.stream,
            branch=scope.branch or RecordId(""),
            # Who sees it in a conversation is asked elsewhere.
            participant=scope.owner,
            run=scope.sub_agent,
            provider=self.provider,
            model="",
            budget=0,
            now=record.header.at,
        )
        candidate = Candidate(
            record=record.id,
            kind=record.header.kind,
            scope=scope,
            privacy=privacy,
            tool=body.tool if isinstance(body, ToolArtifact) else None,
            contract=contract,
            attributes=getattr(body, "attributes", ()),
            tainted=getattr(body, "tainted", None),
            role=body.role if isinstance(body, Message) else None,
            bytes=body.size if isinstance(body, ToolArtifact) else 0,
            exact_wanted=True,
        )
        decision = decide(candidate, boundary, self.policy, ruling(self.policy, boundary))
        return any(map(_keeps, decision.verdicts))


def _keeps(verdict: Verdict) -> bool:
    """Whether a verdict keeps content from the provider, for its class or by a rule of the set."""
    speaks = verdict.policy is Policy.PRIVACY or verdict.reason is Reason.RULE
    return speaks and verdict.hard and verdict.most is not None and DETAIL[verdict.most] >= DETAIL[Level.SAFE]
