"""What the answer of a recall shows again, and the class that it has from what it shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from callsheet.assemble import blocks
from callsheet.derive.derived import unpack
from callsheet.errors import InvalidOption, NotFound
from callsheet.graph.enums import Privacy, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Episode, KnowledgeDocument, Message, ToolArtifact, ToolCall
from callsheet.graph.query import StateQuery
from callsheet.graph.record import Record
from callsheet.graph.values import DEFAULT_PRIVACY
from callsheet.policy.visibility import hidden_from
from callsheet.recall.tool import NAME as RECALL
from callsheet.recall.tool import parse
from callsheet.runtime.documenting.shelf import KINDS as KNOWLEDGE
from callsheet.runtime.drafting.drafts import Drafts
from callsheet.runtime.labels import strictest
from callsheet.runtime.naming import AROUND, means, named, turns_of
from callsheet.runtime.releasing import Reader, opened
from callsheet.runtime.turns import Turns


@dataclass(kw_only=True, slots=True)
class ShowingAgain(Drafts):
    """Looks up what stands behind an answer, as far as it may be seen where the answer is recorded."""

    #: The classes of data that contracts declare, by tool: what a recall shows keeps the class of its tool.
    declared: Mapping[str, Privacy] = field(default_factory=dict)

    def _original(self, call: ToolCall, text: str) -> Record | None:
        """What the answer of a recall shows: the visible record that it names, if that is what the call asked for."""
        id = named(text)
        if id is None:
            return None
        asked = self._asked(call)
        found = self._visible((id,)) if asked is not None else []
        return found[0] if found and asked is not None and _names(found[0], asked.strip(AROUND)) else None

    def _asked(self, call: ToolCall) -> str | None:
        """The reference that a call of the recall tool asks for."""
        try:
            return parse(self._read(call.arguments).decode("utf-8", "replace")).reference
        except InvalidOption:
            return None

    def _turns(self, call: ToolCall) -> list[Record]:
        """The visible messages and results of the turns that a recall asks for, whichever part of them it was given."""
        asked = self._asked(call)
        turns = turns_of(asked.strip(AROUND)) if asked is not None else None
        if turns is None:
            return []
        opened = self._opened()
        history = Turns(
            ledger=self.ledger,
            stream=self.stream,
            lineage=self.tail.lineage,
            shows=lambda record: self._sees(record) or record.id in opened,
        )
        try:
            return [record for _, record in history.between(*turns)]
        except NotFound:
            return []

    def _visible(self, ids: tuple[RecordId, ...]) -> list[Record]:
        """The messages and results among these records that may be seen here, and documents of the workspace."""
        own = self.ledger.get(self.stream, ids) if ids else []
        seen = [
            record
            for record in own
            if isinstance(record.body, Message | ToolArtifact | Episode)
            and (self._sees(record) or record.id in self._opened())
        ]
        known = {record.id for record in own}
        others = (self.ledger.find(self.stream.tenant, id) for id in ids if id not in known)
        return [*seen, *(one[1] for one in others if one is not None and one[1].header.kind in KNOWLEDGE)]

    def _sees(self, record: Record) -> bool:
        on_lineage = self.tail.lineage.sees(record.branch, record.position)
        return on_lineage and hidden_from(record.header.scope, self.participant, self.carries.sub_agent) is None

    def _opened(self) -> frozenset[RecordId]:
        """What was released to this view or shared with it."""
        reader = Reader(self.participant, self.carries.sub_agent)
        return opened(self.ledger, self.stream, self.tail.lineage, reader).records

    def class_of(self, records: Sequence[Record]) -> Privacy:
        """The strictest class of what an answer shows: what changes and the tools' contracts made of each record."""
        spans = [id for record in records if isinstance(record.body, Episode) for id in record.body.sources]
        records = [*records, *(self.ledger.get(self.stream, spans) if spans else ())]
        ids = tuple(record.id for record in records)
        query = StateQuery(field=StateField.PRIVACY, targets=ids, lineage=self.tail.lineage)
        rows = self.ledger.states(self.stream, query) if ids else []
        changed = {row.target: Privacy(row.value) for row in rows if row.value}
        found = [changed.get(record.id, record.header.privacy) for record in records]
        tools = [record.body.tool or "" for record in records if isinstance(record.body, ToolArtifact)]
        own = [record.position for record in records if record.header.stream == self.stream.stream]
        indexes = self.ledger.indexed(self.stream, own) if own else {}
        told = [derived.privacy for index in indexes.values() if (derived := unpack(index.derived)) is not None]
        told += [self.declared[tool] for tool in tools if tool in self.declared]
        return strictest([DEFAULT_PRIVACY, *found, *told])


def _names(record: Record, asked: str) -> bool:
    """Whether a reference means a record: by its id, or by the name of the document that it is."""
    body = record.body
    return means(record.id, asked) or (isinstance(body, KnowledgeDocument) and body.document == asked)


def text_of_recall(call: ToolCall, answer: blocks.Answer) -> str:
    """The text that answers a call of the recall tool; empty for any other."""
    part = answer.content[0] if call.tool == RECALL and len(answer.content) == 1 else None
    return part.text if isinstance(part, blocks.Text) else ""
