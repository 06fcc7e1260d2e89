"""Which instructions for the conversation govern on a branch, told anew only as far as something was recorded since.

Internal; `callsheet.runtime.continuing` is its user.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from callsheet.assemble import blocks
from callsheet.graph import values
from callsheet.graph.canonical import tagged_digest
from callsheet.graph.changes import Superseded
from callsheet.graph.enums import InstructionScope, Relation, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message
from callsheet.graph.ports import Ledger
from callsheet.graph.query import LinkQuery, NodeQuery, StateQuery
from callsheet.graph.record import Record, StreamKey
from callsheet.graph.values import Digest, Payload
from callsheet.policy.visibility import hidden_from
from callsheet.runtime.drafting import text_bytes
from callsheet.runtime.tail import Tail

Governs: TypeAlias = dict[RecordId, Digest]
"""The instructions that govern, in order of position, each with a digest of what it says."""

_BRANCHES = 64
"""Branches whose instructions are kept at hand. The others are told from the store."""


@dataclass(kw_only=True)
class Governing:
    """Keeps at hand what governs on the branches of one conversation. One caller at a time."""

    ledger: Ledger
    key: StreamKey
    read: Callable[[Payload], bytes]
    _known: dict[RecordId, tuple[int, Governs]] = field(default_factory=dict)

    def on(self, tail: Tail) -> Governs:
        """What governs at the end of a branch."""
        position, governs = self._known.get(tail.branch) or (tail.position, self._from_store(tail))
        if position < tail.position:
            query = NodeQuery(kinds=("message", "superseded"), lineage=tail.lineage, after=position)
            governs = self._folded(governs, self.ledger.nodes(self.key, query))
        if len(self._known) >= _BRANCHES and tail.branch not in self._known:
            self._known.clear()
        self._known[tail.branch] = tail.position, governs
        return dict(governs)

    def _from_store(self, tail: Tail) -> Governs:
        scope = InstructionScope.CONVERSATION.value
        query = StateQuery(field=StateField.INSTRUCTION, value=scope, lineage=tail.lineage)
        every = tuple(RecordId(row.target) for row in self.ledger.states(self.key, query))
        replaced = LinkQuery(relation=Relation.SUPERSEDES, targets=every, lineage=tail.lineage)
        gone = {link.target for link in self.ledger.links(self.key, replaced)} if every else set()
        left = [id for id in every if id not in gone]
        found = self.ledger.get(self.key, left) if left else []
        return self._folded({}, sorted(found, key=lambda record: record.position))

    def _folded(self, governs: Governs, records: Iterable[Record]) -> Governs:
        now = dict(governs)
        for record in records:
            body = record.body
            if isinstance(body, Superseded):
                for id in body.replaced:
                    now.pop(id, None)
            elif isinstance(body, Message) and body.instruction is InstructionScope.CONVERSATION and _everyones(record):
                now[record.id] = digest_of(body.role.value, [self._content(part) for part in body.parts])
        return now

    def _content(self, part: values.Part) -> bytes:
        if isinstance(part, values.Text):
            return self.read(part.text)
        if isinstance(part, values.Reasoning | values.Opaque):
            return self.read(part.raw)
        if isinstance(part, values.Media):
            return self.read(part.data) if part.data is not None else text_bytes(part.url or "")
        return b""


def _everyones(record: Record) -> bool:
    scope = record.header.scope
    return scope.owner is None and hidden_from(scope, None) is None


def said_digest(said: blocks.Said) -> Digest:
    """A digest of what an instruction says, as `Governing` gives it of one that is recorded."""
    return digest_of(said.role.value, [_content(part) for part in said.parts])


def digest_of(role: str, content: Sequence[bytes]) -> Digest:
    """A digest of a role and the content of the parts."""
    return tagged_digest("instruction", role.encode(), *content)


def _content(part: blocks.Part) -> bytes:
    if isinstance(part, blocks.Text):
        return text_bytes(part.text)
    if isinstance(part, blocks.Reasoning | blocks.Opaque):
        return part.raw
    if isinstance(part, blocks.Media):
        return part.data if part.data is not None else text_bytes(part.url or "")
    return b""
