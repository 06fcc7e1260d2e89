"""Counting what a branch has come to, without counting anything twice.

A figure is kept at hand and taken forward by what is new. From time to time the figures are recorded with what is
appended, so that a process that opens the conversation later begins there, not at the first record.
"""

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec.structs import replace

from callsheet.graph.changes import Counted, Erased
from callsheet.graph.cut import Lineage
from callsheet.graph.enums import Role, RunStatus, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ContextAssembly, Message, ModelRun, ToolArtifact, ToolCall
from callsheet.graph.ports import Ledger
from callsheet.graph.query import NodeQuery, StateQuery
from callsheet.graph.record import Body, Draft, Record, StreamKey
from callsheet.graph.times import Instant
from callsheet.graph.values import CallRef, Media

EVERY = 1_024
"""Records of a conversation between two looks whether the figures of a branch are to be recorded, which they are where
half as many of them count: about what a process that opens the conversation reads to know them.
"""

_KINDS = ("message", "run", "call", "artifact")
_AT_A_TIME = 1_000
_SPEAKERS = (Role.USER, Role.ASSISTANT)
_UNSENT = frozenset({RunStatus.STARTED, RunStatus.FAILED, RunStatus.TIMED_OUT, RunStatus.CANCELLED})
"""Runs of which it is not known whether what they were to be sent was read."""


class _One(NamedTuple):
    """One record, stored or about to be."""

    id: RecordId
    run: RecordId | None
    at: Instant
    body: Body | None


@dataclass(slots=True)
class Tally:
    """The figures of one branch, and the newest run that reported its usage: what it said is counted with it."""

    counted: Counted
    reported: RecordId | None = None

    def take(self, one: _One, sent: Mapping[RecordId, int]) -> None:
        """Count one more record, in order of position. `sent` has what the sheets took that runs did not report."""
        body, now = one.body, self.counted
        if isinstance(body, Message):
            turn = body.role in _SPEAKERS
            self.counted = replace(
                now,
                messages=now.messages + 1,
                turns=now.turns + turn,
                last_turn=one.at if turn else now.last_turn,
                tokens_out=now.tokens_out + (_said(body) if self._counts(body.role, one.run) else 0),
            )
        elif isinstance(body, ToolCall):
            tokens = body.o200k if self._counts(Role.ASSISTANT, one.run) else 0
            self.counted = replace(now, calls=now.calls + 1, tokens_out=now.tokens_out + tokens)
        elif isinstance(body, ToolArtifact):
            self.counted = replace(now, artifacts=now.artifacts + 1)
        elif isinstance(body, ModelRun):
            self._ran(one.id, body, sent)

    def _counts(self, role: Role, run: RecordId | None) -> bool:
        """Whether what was said is counted here: by a model whose run did not report it."""
        return role is Role.ASSISTANT and (run is None or run != self.reported)

    def _ran(self, id: RecordId, body: ModelRun, sent: Mapping[RecordId, int]) -> None:
        now, usage = self.counted, body.usage
        unreported = _unreported(body)
        read = sent.get(unreported, 0) if unreported is not None else 0
        self.counted = replace(
            now,
            runs=now.runs + 1,
            tokens_in=now.tokens_in + (usage.input if usage is not None else read),
            tokens_out=now.tokens_out + (usage.output if usage is not None else 0),
            cached_in=now.cached_in + (usage.cached_input if usage is not None else 0),
        )
        self.reported = id if usage is not None else None


def _records(counted: Counted) -> int:
    """The records that figures rest on."""
    return counted.messages + counted.runs + counted.calls + counted.artifacts


def _said(body: Message) -> int:
    return sum(part.o200k for part in body.parts if not isinstance(part, CallRef | Media))


@dataclass(kw_only=True, slots=True)
class Tallying:
    """The figures of the branches of one open conversation. Thread-safe."""

    ledger: Ledger
    conversation: StreamKey
    sheets: StreamKey
    _known: dict[RecordId, Tally] = field(default_factory=dict)
    #: The figures of each branch as they are recorded, or were when somebody looked last.
    _recorded: dict[RecordId, Counted] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def figures(self, branch: RecordId, lineage: Lineage) -> Counted:
        """What a branch has come to. Takes time in proportion to what is new since they were counted or recorded.

        What is erased does not count, so that behind an erasure everything is counted once more.
        """
        with self._lock:
            return self._figures(branch, lineage)

    def due(self, branch: RecordId, lineage: Lineage) -> Counted | None:
        """The figures up to here, where they were not recorded for a while; None: they need not be."""
        with self._lock:
            if branch not in self._recorded:
                self._recorded[branch] = self._stored(lineage) or Counted(upto=0)
            recorded = self._recorded[branch]
            if lineage.upto - recorded.upto < EVERY:
                return None
            figures = self._figures(branch, lineage)
            if abs(_records(figures) - _records(recorded)) < EVERY // 2:
                self._recorded[branch] = replace(recorded, upto=lineage.upto)  # little of what came was this branch's
                return None
            return figures

    def appended(self, before: int, drafts: Sequence[Draft], after: int) -> None:
        """Take in what was appended from `before` to `after`, as far as the figures were at hand up to there."""
        with self._lock:
            if any(isinstance(draft.body, Erased) for draft in drafts):
                self._known.clear()  # what is erased next was counted
            for branch, tally in self._known.items():
                if tally.counted.upto != before:
                    continue
                own = [draft for draft in drafts if draft.scope.branch == branch]
                if any(_unreported(draft.body) is not None for draft in own):
                    continue  # what it was sent is read when the figures are asked for
                for draft in own:
                    tally.take(_One(draft.id, draft.scope.run, draft.at, draft.body), {})
                tally.counted = replace(tally.counted, upto=after)
            for draft in drafts:
                if isinstance(draft.body, Counted) and draft.scope.branch is not None:
                    self._recorded[draft.scope.branch] = draft.body

    def _figures(self, branch: RecordId, lineage: Lineage) -> Counted:
        tally = self._known.get(branch)
        if tally is None or tally.counted.upto > lineage.upto or self._erased_since(tally.counted.upto):
            stored = self._stored(lineage)
            kept = stored is not None and not self._erased_since(stored.upto)
            tally = Tally(stored if stored is not None and kept else Counted(upto=0))
        else:
            tally = Tally(tally.counted, tally.reported)  # one that could not be taken forward stays as it was
        self._forward(tally, lineage)
        self._known[branch] = tally
        return tally.counted

    def _stored(self, lineage: Lineage) -> Counted | None:
        """The newest figures that are recorded along a lineage."""
        query = StateQuery(field=StateField.COUNTED, targets=("",), lineage=lineage)
        rows = self.ledger.states(self.conversation, query)
        found = self.ledger.get(self.conversation, (RecordId(rows[0].value),)) if rows and rows[0].value else []
        body = found[0].body if found else None
        return body if isinstance(body, Counted) else None

    def _erased_since(self, position: int) -> bool:
        query = NodeQuery(kinds=("erased",), after=position, limit=1)
        return bool(self.ledger.nodes(self.conversation, query))

    def _forward(self, tally: Tally, lineage: Lineage) -> None:
        after = tally.counted.upto
        while after < lineage.upto:
            query = NodeQuery(kinds=_KINDS, lineage=lineage, after=after, limit=_AT_A_TIME)
            records = self.ledger.nodes(self.conversation, query)
            sent = self._sent(records)
            for record in records:
                tally.take(_One(record.id, record.header.scope.run, record.header.at, record.body), sent)
            if len(records) < _AT_A_TIME:
                break
            after = records[-1].position
        tally.counted = replace(tally.counted, upto=lineage.upto)

    def _sent(self, records: Iterable[Record]) -> Mapping[RecordId, int]:
        """The tokens that each sheet took that one of these runs answers without having reported them."""
        wanted = dict.fromkeys(sheet for record in records if (sheet := _unreported(record.body)) is not None)
        found = self.ledger.get(self.sheets, tuple(wanted)) if wanted else []
        return {one.id: one.body.tokens.total for one in found if isinstance(one.body, ContextAssembly)}


def _unreported(body: Body | None) -> RecordId | None:
    """The sheet that a run was sent without reporting what it took; None: it reported it, or was perhaps not sent."""
    return body.sheet if isinstance(body, ModelRun) and body.usage is None and body.status not in _UNSENT else None
