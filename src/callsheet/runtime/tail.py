"""What recording needs to know of a branch as one participant sees it: which calls are open, what was said last.

A tail is the state as of one position of the stream. Whoever records appends at exactly that position, so a tail that
another writer has overtaken is noticed by the store and read anew; nothing else need be read to record.
"""

from collections.abc import Callable, Collection, Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from callsheet.errors import Damaged
from callsheet.graph.changes import CallResolved, Erased, ToolsOffered
from callsheet.graph.cut import Lineage, Segment, earlier_than, lineage
from callsheet.graph.effects import StateSet, effects
from callsheet.graph.enums import CallStatus, Lifecycle, Role, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Branch, Message, ToolArtifact, ToolCall
from callsheet.graph.ports import Ledger
from callsheet.graph.query import NodeQuery, StateQuery
from callsheet.graph.record import Draft, Record, StreamKey
from callsheet.graph.values import CallRef, Digest, Scope
from callsheet.policy.visibility import hidden_from
from callsheet.runtime.branching import Branches
from callsheet.runtime.layered import Layered


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownCall:
    """A call that a result may answer."""

    id: RecordId
    body: ToolCall
    scope: Scope


@dataclass(kw_only=True, slots=True)
class Tail:
    """The newest state of a branch for one participant. Other participants' own records leave no trace in it.

    Whoever drafts records lets a copy `see` each of them, so that it knows what stands when they are appended.
    """

    position: int
    branch: RecordId
    #: What the branch inherits, root first.
    inherited: tuple[Segment, ...] = ()
    #: Calls without a final result, oldest first.
    open: Layered[RecordId, KnownCall] = field(default_factory=Layered)
    #: Calls of the newest message that have their result.
    answered: Layered[RecordId, KnownCall] = field(default_factory=Layered)
    last_message: RecordId | None = None
    #: Position of the newest message or artifact; 0 before the first.
    last_shown: int = 0
    #: Position of the newest message of a model; 0 before the first.
    last_said: int = 0
    status: Lifecycle = Lifecycle.OPENED
    #: False: a call that was settled is open again, and only the store still knows it.
    complete: bool = True
    #: Hash of the tools that were offered last.
    tools: Digest | None = None
    #: Open calls by their provider's id, oldest first.
    _named: Layered[str, tuple[RecordId, ...]] = field(default_factory=Layered)

    @property
    def lineage(self) -> Lineage:
        """What the branch sees as of this position."""
        own = Segment(branch=self.branch, upto=self.position)
        return Lineage(segments=(*self.inherited, own), upto=self.position)

    def copy(self) -> "Tail":
        """A tail that can see drafts without this one changing. It costs little, however many calls are open."""
        return replace(self, open=self.open.copy(), answered=self.answered.copy(), _named=self._named.copy())

    def know(self, known: KnownCall) -> None:
        """Note an open call."""
        self.open.put(known.id, known)
        if name := known.body.provider_id:
            self._named.put(name, (*self._named.get(name, ()), known.id))

    def named(self, provider_id: str) -> list[KnownCall]:
        """The open calls with this id, oldest first."""
        return [self.open[call] for call in self._named.get(provider_id, ())]

    def see(self, draft: Draft) -> None:
        """Take in the next record of this branch."""
        self.position += 1
        body = draft.body
        if isinstance(body, Message):
            self.last_message, self.last_shown, self.answered = draft.id, self.position, Layered()
            if body.role is Role.ASSISTANT:
                self.last_said = self.position
        elif isinstance(body, ToolCall):
            self.know(KnownCall(id=draft.id, body=body, scope=draft.scope))
        elif isinstance(body, ToolsOffered):
            self.tools = body.hash
        else:
            if isinstance(body, ToolArtifact):
                self.last_shown = self.position
            for state in effects(draft.id, body).states:
                if state.field is StateField.STATUS:
                    self._set(state)

    def _set(self, state: StateSet) -> None:
        if state.target == "":
            self.status = _lifecycle(state.value)
        elif state.value != CallStatus.OPEN:
            self._settle(RecordId(state.target))
        elif state.target not in self.open:
            self.complete = False

    def _settle(self, call: RecordId) -> None:
        known = self.open.drop(call)
        if known is None:
            return
        if name := known.body.provider_id:
            left = tuple(one for one in self._named[name] if one != call)
            if left:
                self._named.put(name, left)
            else:
                self._named.drop(name)
        if known.body.message == self.last_message:
            self.answered.put(call, known)


def _lifecycle(value: str | None) -> Lifecycle:
    try:
        return Lifecycle(value or Lifecycle.OPENED)
    except ValueError:
        raise Damaged(f"a conversation has the status {value!r}, which there is not. Run callsheet verify.") from None


def load(known: Branches, branch: RecordId, participant: RecordId | None, run: RecordId | None = None) -> Tail:
    """Read the tail of a branch from the store, as a participant, or the sub-agent with this run, sees it.

    Raises `NotFound` for a branch that is not there.
    """
    ledger, key = known.ledger, known.key
    head = ledger.head(key)
    position = head.position if head is not None else 0
    seen = lineage(known.known(), branch, position)
    pending = unanswered(ledger, key, seen, lambda record: hidden_from(record.header.scope, participant, run) is None)
    open_calls = _calls(ledger, key, pending, participant, run)
    look = _Newest(ledger, key, seen, participant, run)
    last, shown = look.of("message"), look.of("message", "artifact")
    answered: tuple[KnownCall, ...] = ()
    if last is not None and isinstance(last.body, Message):
        still = {call.id for call in open_calls}
        wanted = [part.call for part in last.body.parts if isinstance(part, CallRef) and part.call not in still]
        answered = _calls(ledger, key, wanted, participant, run)
    status = ledger.states(key, StateQuery(field=StateField.STATUS, targets=("",), lineage=seen))
    tail = Tail(
        position=position,
        branch=branch,
        inherited=seen.segments[:-1],
        answered=Layered((call.id, call) for call in answered),
        last_message=last.id if last is not None else None,
        last_shown=shown.position if shown is not None else 0,
        last_said=look.said(),
        status=_lifecycle(status[0].value) if status else Lifecycle.OPENED,
        tools=_tools_hash(ledger, key, seen),
    )
    for call in open_calls:
        tail.know(call)
    return tail


@dataclass(frozen=True, slots=True)
class _Newest:
    """Finds the newest records that a participant may see, a few at a time from the end."""

    ledger: Ledger
    key: StreamKey
    lineage: Lineage
    participant: RecordId | None
    run: RecordId | None

    def of(self, *kinds: str) -> Record | None:
        return next(self._all(kinds), None)

    def said(self) -> int:
        """The position of the newest message of a model; 0: there is none among those looked at."""
        newest = islice(self._all(("message",)), _LOOKED_AT)
        said = (record for record in newest if model_said(record))
        found = next(said, None)
        return found.position if found is not None else 0

    def _all(self, kinds: tuple[str, ...]) -> Iterator[Record]:
        before: int | None = None
        while True:
            query = NodeQuery(kinds=kinds, lineage=self.lineage, newest=True, limit=_AT_A_TIME, before=before)
            found = self.ledger.nodes(self.key, query)
            for record in reversed(found):
                if hidden_from(record.header.scope, self.participant, self.run) is None:
                    yield record
            if len(found) < _AT_A_TIME:
                return
            before = found[0].position


_AT_A_TIME = 4
"""Records read at once in search of the newest; nearly always the first is it."""

_LOOKED_AT = 256
"""Messages looked at for the newest one of a model; where that many of others followed it, nothing of it is cached."""


def unanswered(ledger: Ledger, key: StreamKey, seen: Lineage, shows: Callable[[Record], bool]) -> list[RecordId]:
    """The calls without a final result along a lineage; what a hidden record says of one does not count."""
    rows = ledger.states(key, StateQuery(field=StateField.STATUS, value=CallStatus.OPEN, lineage=seen))
    waiting = {RecordId(row.target): None for row in rows}
    said = ledger.nodes(key, NodeQuery(kinds=("call_resolved",), lineage=seen))
    hidden = {
        record.position: record.body.call
        for record in said
        if isinstance(record.body, CallResolved) and not shows(record)
    }
    for call in hidden.values():
        waiting.pop(call, None)
        if _status(ledger, key, call, seen, hidden) == CallStatus.OPEN:
            waiting[call] = None
    if waiting:
        for call, position in settled_by_erased(ledger, key, seen, shows).items():
            if call in waiting and _opened(ledger, key, call, seen) < position:
                del waiting[call]
    return list(waiting)


def settled_by_erased(
    ledger: Ledger, key: StreamKey, seen: Lineage, shows: Callable[[Record], bool]
) -> dict[RecordId, int]:
    """The calls along a lineage that were answered by a result that is erased now, with the position of that result."""
    notes = (record.body for record in ledger.nodes(key, NodeQuery(kinds=("erased",))))
    answered = {result: call for body in notes if isinstance(body, Erased) for result, call in body.answered}
    results = ledger.get(key, tuple(answered)) if answered else []
    there = (one for one in results if one.body is None and seen.sees(one.branch, one.position) and shows(one))
    return {answered[one.id]: one.position for one in there}


def _opened(ledger: Ledger, key: StreamKey, call: RecordId, seen: Lineage) -> int:
    """Where the present status of a call was given to it."""
    rows = ledger.states(key, StateQuery(field=StateField.STATUS, targets=(call,), lineage=seen))
    return rows[0].from_pos if rows else 0


def _status(ledger: Ledger, key: StreamKey, call: RecordId, seen: Lineage, hidden: Container[int]) -> str | None:
    """The newest status of a call that nothing hidden gave it."""
    while rows := ledger.states(key, StateQuery(field=StateField.STATUS, targets=(call,), lineage=seen)):
        if rows[0].from_pos not in hidden:
            return rows[0].value
        seen = earlier_than(seen, rows[0].from_pos)
    return None


def model_said(record: Record) -> bool:
    """Whether a message is a model's; of one whose body is erased its scope tells: a run produced it."""
    body = record.body
    if body is None:
        return record.header.kind == "message" and record.header.scope.run is not None
    return isinstance(body, Message) and body.role is Role.ASSISTANT


def _tools_hash(ledger: Ledger, key: StreamKey, seen: Lineage) -> Digest | None:
    rows = ledger.states(key, StateQuery(field=StateField.TOOLS, targets=("",), lineage=seen))
    found = ledger.get(key, (RecordId(rows[0].value),)) if rows and rows[0].value else []
    return found[0].body.hash if found and isinstance(found[0].body, ToolsOffered) else None


def free_name(kind: str, taken: Collection[str]) -> str:
    """The first name of a kind, numbered, that is not taken."""
    number = len(taken)
    while f"{kind}-{number}" in taken:
        number += 1
    return f"{kind}-{number}"


def branches(ledger: Ledger, key: StreamKey) -> dict[RecordId, Branch]:
    """Every branch of a conversation by id."""
    found = ledger.nodes(key, NodeQuery(kinds=("branch",)))
    return {record.id: record.body for record in found if isinstance(record.body, Branch)}


def own_branches(ledger: Ledger, key: StreamKey, sub_agent: RecordId | None) -> dict[RecordId, Branch]:
    """The branches of a sub-agent by id; None: those of the conversation itself, without any sub-agent's."""
    return {
        record.id: record.body
        for record in ledger.nodes(key, NodeQuery(kinds=("branch",)))
        if isinstance(record.body, Branch) and record.header.scope.sub_agent == sub_agent
    }


def _calls(
    ledger: Ledger, key: StreamKey, ids: Sequence[RecordId], participant: RecordId | None, run: RecordId | None
) -> tuple[KnownCall, ...]:
    found = sorted(ledger.get(key, ids), key=lambda record: record.position) if ids else []
    return tuple(
        KnownCall(id=record.id, body=record.body, scope=record.header.scope)
        for record in found
        if isinstance(record.body, ToolCall)
        and hidden_from(record.header.scope, participant, run) is None
        and record.header.scope.owner in (None, participant)  # however open another's work is
    )
