"""Composing what a request adds to the last one: of what both begin with nothing is composed or measured again.

Nothing here decides anything: composed from the beginning the same blocks come out.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields

from callsheet.assemble.compose import Before, Composed, compose
from callsheet.assemble.material import Material
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, Selection, ToolArtifact, ToolCall
from callsheet.graph.ports import TokenCounter
from callsheet.graph.record import Record
from callsheet.graph.values import CallRef

_APART = frozenset({"records", "calls", "read", "forms", "instead", "speakers"})
"""What of the material is compared record by record, or follows the rest and the format."""

_EQUAL = tuple(one.name for one in fields(Material) if one.name not in _APART)


@dataclass(kw_only=True, slots=True)
class Composition:
    """The blocks of one request, and what they were made of. Not thread-safe."""

    material: Material
    #: The format that they are for: what it cannot show has words in its place.
    wire: str
    blocks: list[Composed] = field(default_factory=list)
    _selections: tuple[Selection, ...] = ()
    _records: list[Record] = field(default_factory=list)
    #: The calls of all that was composed, as they were found; None: not there.
    _calls: dict[RecordId, ToolCall | None] = field(default_factory=dict)
    #: Of what stands in its place: the records, the calls of messages, and the calls of results.
    _placed: set[RecordId] = field(default_factory=set)
    _shown: set[RecordId] = field(default_factory=set)
    _named: set[RecordId] = field(default_factory=set)
    _before: Before = field(default_factory=Before)
    _counter: TokenCounter | None = None
    _sizes: list[int] = field(default_factory=list)

    def add(self, selections: Sequence[Selection], material: Material) -> None:
        """Compose what follows."""
        self.material = material
        self.blocks += compose(selections, material, self._before)
        self._selections += tuple(selections)
        records = [material.records[selection.record] for selection in selections]
        self._records += records
        self._calls.update((id, material.calls.get(id)) for found in map(_calls, records) for id in found)
        placed = _placed(selections, material)
        self._placed.update(record.id for record in placed)
        self._shown.update(_shown(placed))
        self._named.update(_named(placed))

    def rest(self, selections: Sequence[Selection], material: Material, wire: str) -> Sequence[Selection] | None:
        """What a request of these selections adds to these blocks; None: it does not begin with them as they are."""
        count = len(self._selections)
        if not count or tuple(selections[:count]) != self._selections or not self._same(material, wire):
            return None
        rest = selections[count:]
        if rest and rest[0].note and rest[0].note == self._selections[-1].note:
            return None
        placed = _placed(rest, material)
        shown = _shown(placed)
        # A result may belong to a call above, and a call may have its result there: then what is above changes.
        apart = (
            self._placed.isdisjoint(record.id for record in placed)
            and self._shown.isdisjoint(_named(placed))
            and self._named.isdisjoint(shown)
            and self._shown.isdisjoint(shown)
        )
        return rest if apart else None

    def _same(self, material: Material, wire: str) -> bool:
        before = self.material
        if self.wire != wire or before.forms is not material.forms:
            return False
        if any(getattr(before, name) != getattr(material, name) for name in _EQUAL):
            return False
        records, calls = material.records, material.calls
        named, now = before.speakers, material.speakers
        if (named or now) and any(named.get(one.record) != now.get(one.record) for one in self._selections):
            return False
        return all(
            records.get(selection.record) is record
            for selection, record in zip(self._selections, self._records, strict=True)
        ) and all(calls.get(id) is call for id, call in self._calls.items())

    def sizes(self, counter: TokenCounter, measure: Callable[[Sequence[Composed]], Sequence[int]]) -> list[int]:
        """The tokens of each block. `measure` tells them of some blocks; for the same counter always the same."""
        if self._counter != counter:
            self._counter, self._sizes = counter, []
        if len(self._sizes) < len(self.blocks):
            self._sizes = [*self._sizes, *measure(self.blocks[len(self._sizes) :])]
        return self._sizes


def composition(
    selections: Sequence[Selection], material: Material, wire: str, before: Composition | None
) -> Composition:
    """The blocks of a request: those that were composed `before` and what it adds, where it begins with them.

    `before` is used up, whether it helps or not.
    """
    rest = before.rest(selections, material, wire) if before is not None else None
    if before is not None and rest is not None:
        before.add(rest, material)
        return before
    made = Composition(material=material, wire=wire)
    made.add(selections, material)
    return made


def _placed(selections: Iterable[Selection], material: Material) -> list[Record]:
    return [material.records[selection.record] for selection in selections if not selection.note]


def _calls(record: Record) -> tuple[RecordId, ...]:
    """The calls that a message holds, or the one that a result names."""
    body = record.body
    if isinstance(body, Message):
        return tuple(part.call for part in body.parts if isinstance(part, CallRef))
    return (body.call,) if isinstance(body, ToolArtifact) and body.call is not None else ()


def _shown(records: Iterable[Record]) -> set[RecordId]:
    return {call for record in records if isinstance(record.body, Message) for call in _calls(record)}


def _named(records: Iterable[Record]) -> set[RecordId]:
    return {call for record in records if isinstance(record.body, ToolArtifact) for call in _calls(record)}
