"""What a view keeps at hand between two requests, so that the next reads only what is new.

Nothing here decides anything: a desk that is empty, as after a restart, leads to the same request.
"""

import threading
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from callsheet.assemble.delta import Whole
from callsheet.assemble.forms import Forms
from callsheet.assemble.likeness import Earlier
from callsheet.derive.derived import Derived, unpack
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Index
from callsheet.graph.nodes import Message, ToolCall
from callsheet.graph.ports import Ledger, TokenCounter
from callsheet.graph.record import Record, StreamKey
from callsheet.graph.values import CallRef
from callsheet.runtime.remembering import Remembered

_COUNTED = 4_096
"""Texts whose counts are kept."""

_SHEETS = 4
"""Sheets that are kept: several may be assembled before one is shown."""


@dataclass(kw_only=True)
class Desk:
    """Records, indexes, texts and counts of what stands in view on one branch for one participant."""

    records: dict[RecordId, Record] = field(default_factory=dict)
    indexes: dict[RecordId, Index] = field(default_factory=dict)
    derived: dict[RecordId, Derived] = field(default_factory=dict)
    calls: dict[RecordId, Record] = field(default_factory=dict)
    #: Results to which new ones are compared.
    earlier: dict[RecordId, Earlier] = field(default_factory=dict)
    forms: dict[bool, Forms] = field(default_factory=dict)
    sheets: list[Whole] = field(default_factory=list)
    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    remembered: Remembered = field(default_factory=Remembered)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, sheet: Whole) -> None:
        """Keep a sheet that was just assembled, and of the records those that stand in it."""
        self.sheets = [*self.sheets[1 - _SHEETS :], sheet]
        wanted = {selection.record for kept in self.sheets for selection in kept.selected}
        keeping: tuple[dict[RecordId, Any], ...] = (self.records, self.indexes, self.derived, self.earlier)
        for known in keeping:
            for id in [id for id in known if id not in wanted]:
                del known[id]
        standing = {id for record in self.records.values() for id in called(record)}
        standing |= {
            call for record in self.records.values() if (call := getattr(record.body, "call", None)) is not None
        }
        self.calls = {id: call for id, call in self.calls.items() if id in standing}
        self.remembered.forget(wanted)
        for forms in self.forms.values():
            forms.forget(wanted)

    def forget(self, ids: Iterable[RecordId]) -> None:
        """Have these records, and what was made of them, no longer at hand: their bodies were erased."""
        known: tuple[dict[RecordId, Any], ...] = (self.records, self.indexes, self.derived, self.earlier, self.calls)
        for id in ids:
            for kept in known:
                kept.pop(id, None)
            # Lines of notes quote calls as well as records.
            self.forms.clear()

    def forms_for(self, references: bool) -> Forms:
        """The texts of results, with references or without."""
        if references not in self.forms:
            self.forms[references] = Forms(derived=self.derived, references=references)
        return self.forms[references]

    def fetch(self, ledger: Ledger, key: StreamKey, ids: Iterable[RecordId]) -> None:
        """Have these records at hand, with their indexes and the calls that go with them."""
        missing = [id for id in dict.fromkeys(ids) if id not in self.records]
        found = ledger.get(key, missing) if missing else []
        self.take(ledger, key, found)

    def take(self, ledger: Ledger, key: StreamKey, records: Collection[Record]) -> None:
        """Have records that were read at hand, with their indexes and the calls that go with them."""
        new = [record for record in records if record.id not in self.records]
        self.records.update((record.id, record) for record in new)
        wanted = {id for record in new for id in called(record)}
        wanted |= {call for record in new if (call := getattr(record.body, "call", None)) is not None}
        wanted -= self.calls.keys()
        calls = ledger.get(key, sorted(wanted)) if wanted else []
        self.calls.update((record.id, record) for record in calls)
        places = {record.position: record for record in (*new, *calls)}
        for position, index in (ledger.indexed(key, sorted(places)) if places else {}).items():
            id = places[position].id
            self.indexes[id] = index
            derived = unpack(index.derived)
            if derived is not None:
                self.derived[id] = derived

    def counting(self, counter: TokenCounter) -> "Counting":
        """The counter, without counting again what was counted here."""
        if len(self.counts) > _COUNTED:
            self.counts.clear()
        return Counting(counter=counter, known=self.counts)


@dataclass(frozen=True, kw_only=True, slots=True)
class Counting:
    """Counts texts as a counter does, each once."""

    counter: TokenCounter
    known: dict[tuple[str, str], int]

    def __call__(self, text: str) -> int:
        key = (self.counter.name, text)
        count = self.known.get(key)
        if count is None:
            count = self.known[key] = self.counter.count(text)
        return count


def called(record: Record) -> tuple[RecordId, ...]:
    """The calls that a message holds."""
    body = record.body
    if not isinstance(body, Message):
        return ()
    return tuple(part.call for part in body.parts if isinstance(part, CallRef))


def bodies(calls: Mapping[RecordId, Record]) -> dict[RecordId, ToolCall]:
    """The calls whose bodies are there."""
    return {id: record.body for id, record in calls.items() if isinstance(record.body, ToolCall)}
