"""What recording needs to know of a branch as one participant sees it: which calls are open, what was said last.

A tail is a value as of one position of the stream. Whoever records appends at exactly that position, so a tail that
another writer has overtaken is noticed by the store and read anew; nothing else need be read to record.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from callsheet.graph.changes import ToolsOffered
from callsheet.graph.cut import Lineage, Segment, lineage
from callsheet.graph.effects import effects
from callsheet.graph.enums import CallStatus, Lifecycle, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Branch, Message, ToolArtifact, ToolCall
from callsheet.graph.ports import Ledger
from callsheet.graph.query import NodeQuery, StateQuery
from callsheet.graph.record import Draft, Record, StreamKey
from callsheet.graph.values import CallRef, Digest
from callsheet.policy.visibility import private_to_another


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownCall:
    """A call that a result may answer."""

    id: RecordId
    body: ToolCall


@dataclass(frozen=True, kw_only=True, slots=True)
class Tail:
    """The newest state of a branch for one participant. Other participants' own records leave no trace in it."""

    position: int
    branch: RecordId
    lineage: Lineage
    #: Calls without a final result, oldest first.
    open: tuple[KnownCall, ...] = ()
    #: Calls of the newest message that have their result.
    answered: tuple[KnownCall, ...] = ()
    last_message: RecordId | None = None
    #: Position of the newest message or artifact; 0 before the first.
    last_shown: int = 0
    status: Lifecycle = Lifecycle.OPENED
    #: Hash of the tools that were offered last.
    tools: Digest | None = None

    def after(self, drafts: Sequence[Draft]) -> "Tail":
        """The tail once the drafts have been appended to this branch."""
        tail = self
        for offset, draft in enumerate(drafts, start=1):
            tail = _after(tail, draft, self.position + offset)
        position = self.position + len(drafts)
        segments = (*self.lineage.segments[:-1], Segment(branch=self.branch, upto=position))
        return replace(tail, position=position, lineage=Lineage(segments=segments, upto=position))


def _after(tail: Tail, draft: Draft, position: int) -> Tail:
    if isinstance(draft.body, Message):
        return replace(tail, last_message=draft.id, last_shown=position, answered=())
    if isinstance(draft.body, ToolCall):
        return replace(tail, open=(*tail.open, KnownCall(id=draft.id, body=draft.body)))
    if isinstance(draft.body, ToolsOffered):
        return replace(tail, tools=draft.body.hash)
    if isinstance(draft.body, ToolArtifact):
        tail = replace(tail, last_shown=position)
    for state in effects(draft.id, draft.body).states:
        if state.field is StateField.STATUS and state.target == "":
            tail = replace(tail, status=Lifecycle(state.value or Lifecycle.OPENED))
        elif state.field is StateField.STATUS and state.value != CallStatus.OPEN:
            tail = _settled(tail, RecordId(state.target))
    return tail


def _settled(tail: Tail, call: RecordId) -> Tail:
    done = tuple(known for known in tail.open if known.id == call and known.body.message == tail.last_message)
    return replace(tail, open=tuple(known for known in tail.open if known.id != call), answered=(*tail.answered, *done))


def load(ledger: Ledger, key: StreamKey, branch: RecordId, participant: RecordId | None) -> Tail:
    """Read the tail of a branch from the store. Raises `NotFound` for a branch that is not there."""
    head = ledger.head(key)
    position = head.position if head is not None else 0
    seen = lineage(branches(ledger, key), branch, position)
    pending = ledger.states(key, StateQuery(field=StateField.STATUS, value=CallStatus.OPEN, lineage=seen))
    open_calls = _calls(ledger, key, [RecordId(row.target) for row in pending], participant)
    look = _Newest(ledger, key, seen, participant)
    last, shown = look.of("message"), look.of("message", "artifact")
    answered: tuple[KnownCall, ...] = ()
    if last is not None and isinstance(last.body, Message):
        still = {known.id for known in open_calls}
        wanted = [part.call for part in last.body.parts if isinstance(part, CallRef) and part.call not in still]
        answered = _calls(ledger, key, wanted, participant)
    status = ledger.states(key, StateQuery(field=StateField.STATUS, targets=("",), lineage=seen))
    return Tail(
        position=position,
        branch=branch,
        lineage=seen,
        open=open_calls,
        answered=answered,
        last_message=last.id if last is not None else None,
        last_shown=shown.position if shown is not None else 0,
        status=Lifecycle(status[0].value or Lifecycle.OPENED) if status else Lifecycle.OPENED,
        tools=_tools_hash(ledger, key, seen),
    )


@dataclass(frozen=True, slots=True)
class _Newest:
    """Finds the newest records that a participant may see, a few at a time from the end."""

    ledger: Ledger
    key: StreamKey
    lineage: Lineage
    participant: RecordId | None

    def of(self, *kinds: str) -> Record | None:
        before: int | None = None
        while True:
            query = NodeQuery(kinds=kinds, lineage=self.lineage, newest=True, limit=_AT_A_TIME, before=before)
            found = self.ledger.nodes(self.key, query)
            for record in reversed(found):
                if not private_to_another(record.header.scope, self.participant):
                    return record
            if len(found) < _AT_A_TIME:
                return None
            before = found[0].position


_AT_A_TIME = 4
"""Records read at once in search of the newest; nearly always the first is it."""


def _tools_hash(ledger: Ledger, key: StreamKey, seen: Lineage) -> Digest | None:
    rows = ledger.states(key, StateQuery(field=StateField.TOOLS, targets=("",), lineage=seen))
    found = ledger.get(key, (RecordId(rows[0].value),)) if rows and rows[0].value else []
    return found[0].body.hash if found and isinstance(found[0].body, ToolsOffered) else None


def branches(ledger: Ledger, key: StreamKey) -> dict[RecordId, Branch]:
    """Every branch of a conversation by id."""
    found = ledger.nodes(key, NodeQuery(kinds=("branch",)))
    return {record.id: record.body for record in found if isinstance(record.body, Branch)}


def _calls(
    ledger: Ledger, key: StreamKey, ids: Sequence[RecordId], participant: RecordId | None
) -> tuple[KnownCall, ...]:
    found = sorted(ledger.get(key, ids), key=lambda record: record.position) if ids else []
    return tuple(
        KnownCall(id=record.id, body=record.body)
        for record in found
        if isinstance(record.body, ToolCall) and not private_to_another(record.header.scope, participant)
    )
