"""Which records may not go to the provider with what they hold: for the request they name nothing and are like nothing.

Without this, content that is never shown would still choose what is shown of other records. Asked in the usual case,
where nothing of the kind occurs, of new records alone and from what is at hand.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from callsheet.derive.derived import unpack
from callsheet.graph.enums import Level, Privacy
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Episode, Fact, Message, Milestone, Selection, ToolArtifact, ToolCall, ToolMemory
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.policy.candidate import Candidate
from callsheet.policy.contracts import ToolContract, classes, contracts
from callsheet.policy.privacy import judge
from callsheet.policy.verdict import withheld
from callsheet.runtime.deciding import Deciding, Standings
from callsheet.runtime.desk import called
from callsheet.runtime.ground import Ground
from callsheet.runtime.labels import SILENT
from callsheet.runtime.redacting import form_of
from callsheet.runtime.unshown import Unshown

_JUDGED = (Message, ToolArtifact, ToolMemory, Episode, Milestone, Fact)
"""What can stand in a request."""

_CHANGES = ("reclassified", "retention_applied")
"""Kinds of record that make another one's content go out, or stay in."""


@dataclass(frozen=True, kw_only=True)
class Telling:
    """Tells for one request."""

    ground: Ground
    #: What changes have made of records, as far as the reader sees it.
    standings: Callable[[tuple[RecordId, ...]], Standings]
    #: Calls whose arguments may not be shown, as far as changes say so.
    withheld: frozenset[RecordId]
    #: Whether anything was ever changed along the lineage.
    changed: bool

    #: Whether classes of data may not go to the provider with values, as far as it was asked.
    _refused: dict[Privacy, bool] = field(default_factory=dict)

    def _refuses(self, privacy: Privacy) -> bool:
        known = self._refused.get(privacy)
        if known is None:
            asked = Candidate(record=RecordId(""), kind="artifact", privacy=privacy)
            verdict = judge(asked, self.ground.boundary, self.ground.policy)
            known = self._refused[privacy] = verdict.most in (Level.SAFE, Level.NONE)
        return known

    @cached_property
    def _contracts(self) -> Mapping[str, ToolContract]:
        return contracts((), self.ground.policy.tools)

    @cached_property
    def asks_policies(self) -> bool:
        """Whether the class that a record was recorded in, and its tool's contract, do not tell all."""
        ground = self.ground
        if ground.policy.rules or form_of(ground.policy, ground.boundary.provider) is Level.NONE:
            return True
        query = NodeQuery(kinds=_CHANGES, lineage=ground.lineage, newest=True, limit=1)
        return self.changed and bool(ground.ledger.nodes(ground.key, query))

    @cached_property
    def _unknown(self) -> bool:
        """Whether there were such records before, or it is not known whether there were under these settings."""
        base, ground = self.ground.base, self.ground
        if base is None:
            return False
        pinned, before = base.sheet.pins.policy_set, base.sheet.boundary.provider
        same = pinned == ground.policy_hash and (before == ground.boundary.provider or not ground.policy.providers)
        if same:
            return any(code == SILENT for code, _ in base.sheet.decisions)
        return any(map(self._refuses, Privacy))

    def of_request(self, news: Sequence[Record], view: Sequence[Selection]) -> frozenset[RecordId]:
        """Those among what is new and what is in view, and all calls whose arguments may not be shown."""
        records = self.ground.desk.records
        shown = view if self._unknown or self.asks_policies else ()
        there = [records[one.record] for one in shown if self.ground.is_there(one.record)]
        return self.silent([*there, *news]) | self.withheld

    def occurs(self, silent: frozenset[RecordId], unshown: Unshown | None) -> bool:
        """Whether there are any so far, as the next request must know; `silent` are those of this one."""
        return self._unknown or not silent <= self.withheld or bool(unshown is not None and unshown.silent)

    def anywhere(self, silent: frozenset[RecordId], unshown: Unshown | None) -> bool:
        """Whether any older record may have to be kept from steering."""
        return bool(silent) or self.asks_policies or self.occurs(silent, unshown)

    def silent(self, records: Sequence[Record]) -> frozenset[RecordId]:
        """Those of these visible records whose content, or whose arguments, may not go to the provider."""
        if self.asks_policies:
            return self._judged(records)
        found = [record for record in records if self._class_refused(record)]
        return frozenset(id for record in found for id in (record.id, *called(record)))

    def _class_refused(self, record: Record) -> bool:
        found = record.header.privacy
        if self._contracts and isinstance(record.body, ToolArtifact) and record.body.tool is not None:
            found, _ = classes(self._contracts.get(record.body.tool), found, None)
        return self._refuses(found)

    def _judged(self, records: Sequence[Record]) -> frozenset[RecordId]:
        """By all that policies say."""
        ground = self.ground
        calls = {record.id: record.body.message for record in records if isinstance(record.body, ToolCall)}
        asking = ground.ledger.get(ground.key, sorted(set(calls.values()))) if calls else []
        shown = {record.id: record for record in (*asking, *records)}
        judged = [one for one in shown.values() if isinstance(one.body, _JUDGED)]
        results = [record.position for record in judged if isinstance(record.body, ToolArtifact)]
        indexes = ground.ledger.indexed(ground.key, results) if results else {}
        deciding = Deciding(
            boundary=ground.boundary,
            policy=ground.policy,
            standings=self.standings(tuple(record.id for record in judged)),
            calls={},
            open=ground.open,
            turn=ground.base.sheet.turns if ground.base is not None else 0,
            tool_of=ground.tool_of,
            opened=ground.desk.opened.shown,
        )
        found: set[RecordId] = set()
        for record in judged:
            index = indexes.get(record.position)
            derived = unpack(index.derived) if index is not None else None
            if withheld(deciding.decide(record, 0, derived=derived, resolved=False, newest=False)):
                found.update((record.id, *called(record)))
        said = {call for call, message in calls.items() if message in found}
        return frozenset(found | said | (self.withheld & calls.keys()))
