"""What one request is gathered from, and on what terms: the same for everything that reads and decides for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from callsheet.assemble.contents import text_of
from callsheet.assemble.delta import Whole
from callsheet.graph.cut import Lineage
from callsheet.graph.enums import Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, Message, Selection
from callsheet.graph.ports import Ledger
from callsheet.graph.record import Record, StreamKey
from callsheet.graph.values import Digest, Payload, Text
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.visibility import refusal
from callsheet.runtime.alluding import Questions
from callsheet.runtime.desk import Desk, called
from callsheet.runtime.indexing import SAID
from callsheet.runtime.ruling import tool_of

NAMES = 64
"""Entities of a new record that are looked up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ground:
    """Where records are read, who reads them, and what the request goes on from."""

    ledger: Ledger
    key: StreamKey
    lineage: Lineage
    boundary: Boundary
    policy: PolicySetDocument
    #: The hash of the policy set.
    policy_hash: Digest
    desk: Desk
    read: Callable[[Payload], bytes]
    counting: Callable[[str], int]
    #: What was shown last; None: nothing, or nothing that can be gone on from.
    base: Whole | None
    #: Calls without a result.
    open: frozenset[RecordId] = frozenset()
    #: Tokens to which a request is shrunk.
    low: int = 0
    #: Records whose content may not go to the provider: they name nothing. See `Telling`.
    silent: frozenset[RecordId] = frozenset()
    #: What users ask, as vectors; None: what is meant plays no part in this request.
    questions: Questions | None = None

    def tool_of(self, id: RecordId) -> str | None:
        """The tool of a result, at hand or not; None: there is none that is known."""
        return tool_of(self.ledger, self.key, id)

    @property
    def view(self) -> tuple[Selection, ...]:
        """What stood in the request that this one goes on from."""
        return self.base.selected if self.base is not None else ()

    @property
    def seen(self) -> int:
        """The newest position that it saw."""
        return self.base.sheet.cut.at(self.boundary.conversation) if self.base is not None else 0

    def shows(self, record: Record) -> bool:
        """Whether the record exists for the reader: by its scope, or because it was opened to it."""
        return refusal(record.header, self.boundary) is None or record.id in self.desk.opened.shown

    def is_there(self, id: RecordId) -> bool:
        """Whether a record is at hand with its body."""
        record = self.desk.records.get(id)
        return record is not None and record.body is not None

    def words(self, record: Record) -> str:
        """What a message says; nothing where that may not go to the provider."""
        parts = record.body.parts if isinstance(record.body, Message) and record.id not in self.silent else ()
        return "\n".join(text_of(self.read(part.text)) for part in parts if isinstance(part, Text))

    def entities(self, record: Record) -> tuple[str, ...]:
        """What a new record names, its calls included."""
        if record.id in self.silent:
            return ()
        found: dict[str, None] = {}
        for id in (record.id, *called(record)):
            index = self.desk.indexes.get(id) if id not in self.silent else None
            if index is not None:
                found.update(dict.fromkeys(entity.removeprefix(SAID) for entity in index.entities[:NAMES]))
        return tuple(found)[:NAMES]


def asks(record: Record) -> bool:
    """Whether it is what the user says."""
    return isinstance(record.body, Message) and record.body.role is Role.USER


def since_asked(news: Sequence[Record]) -> Sequence[Record]:
    """The newest question and what follows it."""
    asked = [place for place, record in enumerate(news) if asks(record)]
    return news[asked[-1] :] if asked else news
