"""Which results mostly equal an earlier one in view, so that they can be told by what differs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from callsheet.assemble.contents import result_text
from callsheet.assemble.likeness import COMPARED, LONGEST, Earlier, most_like
from callsheet.assemble.material import earlier
from callsheet.graph.enums import Level
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection, ToolArtifact, ToolCall
from callsheet.graph.record import Record
from callsheet.runtime.ground import Ground

SMALL = 120
"""Bytes of a result up to which repeating it costs no more than saying that it repeats."""

_WHOLE = frozenset({Level.RAW, Level.DENSE})


@dataclass(frozen=True, kw_only=True, slots=True)
class Likening:
    """Compares results for one request."""

    ground: Ground
    calls: Mapping[RecordId, ToolCall]

    def likes(self, view: Sequence[Selection], news: Sequence[Record]) -> dict[RecordId, tuple[RecordId, int]]:
        """For results that mostly equal one in view: that one, and the tokens of what differs."""
        if self.ground.policy.verbatim:
            return {}
        found: dict[RecordId, tuple[RecordId, int]] = {}
        whole: list[RecordId] = []
        for selection in view:
            if selection.against is not None:
                if not self.ground.is_there(selection.against):
                    continue
                like = self._most_like(selection.record, [self._earlier(selection.against)], size=None)
                found |= {selection.record: like} if like is not None else {}
            elif selection.level in _WHOLE and not selection.note and self._comparable(selection.record):
                whole.append(selection.record)
        comparable = [record.id for record in news if self._comparable(record.id)]
        if whole and comparable:
            before = [self._earlier(id) for id in whole[-COMPARED:]]
            for id in comparable:
                derived = self.ground.desk.derived.get(id)
                like = self._most_like(id, before, size=derived.dense_tokens if derived is not None else 0)
                found |= {id: like} if like is not None else {}
        return found

    def _comparable(self, id: RecordId) -> bool:
        """Whether a result answers a call and may be told, and is of a length at which comparing it gains something."""
        body = self.ground.desk.records[id].body
        if id in self.ground.silent:
            return False
        return isinstance(body, ToolArtifact) and body.call is not None and SMALL < body.size <= LONGEST

    def _earlier(self, id: RecordId) -> Earlier:
        desk = self.ground.desk
        known = desk.earlier.get(id)
        if known is None:
            known = desk.earlier[id] = earlier(desk.records[id], self.calls, self.ground.read)
        return known

    def _most_like(self, id: RecordId, before: Sequence[Earlier], *, size: int | None) -> tuple[RecordId, int] | None:
        """The earlier result against which one of `size` tokens is best told; None: whatever it saves."""
        body = self.ground.desk.records[id].body
        assert isinstance(body, ToolArtifact)
        return most_like(result_text(body, self.ground.read), size, before, self.ground.counting)
