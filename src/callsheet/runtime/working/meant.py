"""What a record says, as it is embedded: its text with markers in the place of secrets."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from callsheet.assemble.contents import result_text, text_of
from callsheet.derive.redaction import Redaction
from callsheet.errors import BodyErased
from callsheet.graph.enums import INSTRUCTING
from callsheet.graph.nodes import (
    Episode,
    Fact,
    KnowledgeChunk,
    Message,
    Milestone,
    ToolArtifact,
    ToolMemory,
    UserMemory,
)
from callsheet.graph.ports import Ledger
from callsheet.graph.record import Record, Stream
from callsheet.graph.values import Payload, Text
from callsheet.ledger.prepare import owner_of
from callsheet.runtime.documenting.indexing import BETWEEN, above
from callsheet.runtime.documenting.texts import Texts
from callsheet.runtime.redacting import redaction_of

KINDS = ("message", "artifact", "tool_memory", "user_memory", "fact", "milestone", "episode", "chunk")
"""The kinds of record that have a vector."""

LONGEST = 4_000
"""Characters that are embedded: no model reads more at once, and the beginning tells what a text is about."""


@dataclass(frozen=True, kw_only=True)
class Meant:
    """Reads the records of one stream."""

    ledger: Ledger
    stream: Stream

    def text(self, record: Record) -> str:
        """What is embedded of a record; empty where there is nothing, or it was erased."""
        try:
            return "\n".join(filter(None, self._said(record)))[:LONGEST]
        except BodyErased:
            return ""

    def _said(self, record: Record) -> Iterator[str]:
        body = record.body
        if isinstance(body, Message):
            if body.role not in INSTRUCTING:
                yield from (self._read(part.text) for part in body.parts if isinstance(part, Text))
        elif isinstance(body, ToolArtifact):
            if body.recalls is None:
                yield self._redaction.text(result_text(body, self._raw))
        elif isinstance(body, ToolMemory | Episode):
            yield self._read(body.summary)
        elif isinstance(body, UserMemory):
            yield self._redaction.text(" ".join(filter(None, (body.entity, body.attribute))))
            yield self._read(body.value)
        elif isinstance(body, Fact):
            yield self._redaction.text(f"{body.subject} {body.predicate}")
            yield self._read(body.value)
        elif isinstance(body, Milestone):
            yield self._read(body.value)
        elif isinstance(body, KnowledgeChunk):
            key = self.stream.key
            document = self._texts.document(key, body.document)
            under = above(document, body, self._texts.marked(key, body.document))
            yield BETWEEN.join(filter(None, under))
            yield self._texts.piece(key, body)

    @cached_property
    def _redaction(self) -> Redaction:
        return redaction_of(self.stream)

    @cached_property
    def _texts(self) -> Texts:
        return Texts(ledger=self.ledger, owner=owner_of(self.stream))

    def _raw(self, payload: Payload) -> bytes:
        return self.ledger.fetch(owner_of(self.stream), payload)

    def _read(self, payload: Payload) -> str:
        return self._redaction.text(text_of(self._raw(payload)))
