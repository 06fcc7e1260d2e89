"""What a view keeps at hand between two requests, so that the next reads only what is new.

Nothing here decides anything: a desk that is empty, as after a restart, leads to the same request.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

import msgspec

from callsheet.assemble.bringing import Counted
from callsheet.assemble.delta import Whole
from callsheet.assemble.forms import Forms
from callsheet.assemble.likeness import Earlier
from callsheet.derive.calling import Asked
from callsheet.derive.derived import Derived, unpack
from callsheet.derive.redaction import Redaction
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Index
from callsheet.graph.nodes import Message, ToolCall
from callsheet.graph.ports import Ledger
from callsheet.graph.record import Record, StreamKey
from callsheet.graph.values import CallRef
from callsheet.runtime.episodes import Retold, State, Stated
from callsheet.runtime.judged import NOBODY, Judged
from callsheet.runtime.personalising.standing import Known
from callsheet.runtime.releasing import NOTHING, Opened
from callsheet.runtime.remembering import Remembered
from callsheet.runtime.rendering import Rendered
from callsheet.runtime.unseen import NONE, Unseen
from callsheet.wire.tokens import TokenCounter

_COUNTED = 4_096
"""Texts whose counts are kept."""

_TOOLSETS = 8
"""Lists of tools whose counts are kept."""

_LOOKED_AT = 512
"""Records that are not in view whose terms are kept."""

_SHEETS = 4
"""Sheets that are kept: several may be assembled before one is shown."""


Toolsets: TypeAlias = dict[tuple[TokenCounter, tuple[str, ...]], int]
"""Tokens of lists of tools, by the counter and the JSON text of each."""


_Read = TypeVar("_Read")


@dataclass(kw_only=True)
class Desk:
    """Records, indexes, texts and counts of what stands in view on one branch for one participant."""

    records: dict[RecordId, Record] = field(default_factory=dict)
    #: By run, the provider that was asked; None: that is not known.
    asked: dict[RecordId, str | None] = field(default_factory=dict)
    indexes: dict[RecordId, Index] = field(default_factory=dict)
    derived: dict[RecordId, Derived] = field(default_factory=dict)
    calls: dict[RecordId, Record] = field(default_factory=dict)
    #: Results to which new ones are compared.
    earlier: dict[RecordId, Earlier] = field(default_factory=dict)
    forms: dict[bool, Forms] = field(default_factory=dict)
    #: How secrets are marked in those texts; None: they are shown.
    redaction: Redaction | None = None
    sheets: list[Whole] = field(default_factory=list)
    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    toolsets: "Toolsets" = field(default_factory=dict)
    #: The terms of records that were looked at lately whether or not they stand in view, by position.
    looked_at: dict[int, Counted] = field(default_factory=dict)
    #: What calls ask for that were looked at lately, by position.
    asking_for: dict[int, Asked] = field(default_factory=dict)
    #: Addresses of the blocks of the last request.
    addresses: dict[bytes, str] = field(default_factory=dict)
    #: What was composed and rendered last.
    rendered: Rendered | None = None
    remembered: Remembered = field(default_factory=Remembered)
    #: What was released to the view and shared with it so far.
    opened: Opened = NOTHING
    #: How memories of the user stand that were looked at lately.
    personal: Known = field(default_factory=Known)
    #: Names of participants.
    names: dict[RecordId, str] = field(default_factory=dict)
    #: The changes so far that the view may not see.
    hidden: Unseen = NONE
    #: What was said so far of how useful records were.
    judged: Judged = NOBODY
    #: What was read of the view's compactions.
    retold: Retold = field(default_factory=Retold)
    #: How far these have come.
    compacted: State = field(default_factory=State)
    #: What questions were looked up among.
    stated: Stated = field(default_factory=Stated)
    #: The position at which a compaction that was due came to nothing; 0: none did.
    compaction_tried: int = 0
    #: The records that stand in each of the sheets.
    _standing: list[frozenset[RecordId]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, sheet: Whole) -> None:
        """Keep a sheet that was just assembled, and of the records those that stand in it."""
        self.sheets = [*self.sheets[1 - _SHEETS :], sheet]
        standing = frozenset(selection.record for selection in sheet.selected)
        self._standing = [*self._standing[1 - _SHEETS :], standing]
        wanted = frozenset(record.id for record in self.retold.records).union(*self._standing)
        left = not self.records.keys() <= wanted
        for id in self.records.keys() - wanted:
            del self.records[id]
        calls = {id for record in self.records.values() for id in called(record)}
        calls |= {call for record in self.records.values() if (call := getattr(record.body, "call", None)) is not None}
        # What a message names is also what its calls name.
        keeping: tuple[dict[RecordId, Any], ...] = (self.indexes, self.derived, self.earlier)
        for known in keeping:
            for id in known.keys() - wanted - calls:
                del known[id]
        if not left:
            return
        self.calls = {id: call for id, call in self.calls.items() if id in calls}
        self.remembered.forget(wanted)
        for forms in self.forms.values():
            forms.forget(wanted)

    def forget(self, ids: Iterable[RecordId]) -> None:
        """Have these records, and what was made of them, no longer at hand: their bodies were erased."""
        known: tuple[dict[RecordId, Any], ...] = (self.records, self.indexes, self.derived, self.earlier, self.calls)
        gone = set(ids)
        # What is known of a result quotes what was asked for.
        gone |= (
            {id for id, record in self.records.items() if getattr(record.body, "call", None) in gone} if gone else gone
        )
        for id in gone:
            for kept in known:
                kept.pop(id, None)
            # Lines of notes quote calls as well as records; texts are the keys of what was counted.
            self.forms.clear()
            self.counts.clear()
            self.looked_at.clear()
            self.asking_for.clear()
            self.addresses.clear()
            self.rendered = None
            self.retold = Retold()
            self.stated.clear()
            self.compacted = State()
            self.judged = NOBODY

    def under(self, redaction: Redaction | None) -> None:
        """Let go of texts that were made with secrets where they may not be shown now, and the other way round."""
        if redaction != self.redaction:
            self.redaction = redaction
            self.rendered = None
            self.forms.clear()
            self.earlier.clear()

    def forget_erased(self, ledger: Ledger, key: StreamKey) -> None:
        """Have at hand no longer what was erased since, by whomever and wherever that was recorded."""
        at_hand = (*self.records, *self.calls, *self.stated.records, *self.compacted.records)
        self.forget(ledger.erased(key, at_hand))

    def forms_for(self, references: bool) -> Forms:
        """The texts of results, with references or without."""
        if references not in self.forms:
            self.forms[references] = Forms(derived=self.derived, references=references, redaction=self.redaction)
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

    def counted(self, ledger: Ledger, key: StreamKey, positions: Sequence[int]) -> dict[int, Counted]:
        """The terms of the records at these positions; those that were looked at lately are at hand."""
        return _looked_at(self.looked_at, ledger, key, positions, Counted.of)

    def asking(self, ledger: Ledger, key: StreamKey, positions: Sequence[int]) -> dict[int, Asked]:
        """What the calls at these positions ask for; those that were looked at lately are at hand."""
        return _looked_at(
            self.asking_for, ledger, key, positions, lambda index: Asked.of([one for one, _ in index.terms])
        )

    def addressed(self, blocks: Sequence[bytes], address: Callable[[bytes], str]) -> tuple[str, ...]:
        """The addresses of the blocks of a request; most stood in the last one."""
        known = self.addresses
        self.addresses = {block: known.get(block) or address(block) for block in blocks}
        return tuple(self.addresses[block] for block in blocks)

    def counting(self, counter: TokenCounter) -> "Counting":
        """The counter, without counting again what was counted here."""
        if len(self.counts) > _COUNTED:
            self.counts.clear()
        if len(self.toolsets) > _TOOLSETS:
            self.toolsets.clear()
        return Counting(counter=counter, name=counter.name, known=self.counts, toolsets=self.toolsets)


def _looked_at(
    known: dict[int, _Read], ledger: Ledger, key: StreamKey, positions: Sequence[int], of: Callable[[Index], _Read]
) -> dict[int, _Read]:
    """What is read of the indexes at these positions; what is known is not read again, and kept within bounds."""
    missing = [position for position in positions if position not in known]
    if len(known) + len(missing) > _LOOKED_AT:
        wanted = {position: known[position] for position in positions if position in known}
        known.clear()
        known.update(wanted)
    read = ledger.indexed(key, missing) if missing else {}
    known.update((position, of(index)) for position, index in read.items())
    return {position: known[position] for position in positions if position in known}


@dataclass(frozen=True, kw_only=True, slots=True)
class Counting:
    """Counts texts as a counter does, each once."""

    counter: TokenCounter
    #: Of the counter.
    name: str
    known: dict[tuple[str, str], int]
    toolsets: "Toolsets"

    def __call__(self, text: str) -> int:
        key = (self.name, text)
        count = self.known.get(key)
        if count is None:
            count = self.known[key] = self.counter.count(text)
        return count

    def tools(self, tools: Iterable[object]) -> int:
        """The tokens of the tools that a request offers."""
        definitions = tuple(msgspec.json.encode(tool).decode() for tool in tools)
        count = self.toolsets.get((self.counter, definitions))
        if count is None:
            count = self.toolsets[self.counter, definitions] = self.counter.count_tools(definitions)
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
