"""From selected records to the blocks of a request that any provider's format can render.

What this guarantees to rendering: ids of calls are unique in the request; directly behind each message with calls
stands exactly one answer per call, in the order of the calls; the first turn is the user's; nothing is without visible
content. Ids and stand-ins are a function of the records before them alone, so appending records changes no earlier
block, except where a result arrives for a call that stood unanswered; if a model has spoken since, a line tells of it.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from callsheet.assemble import blocks, speaking, standins
from callsheet.assemble.clearing import cleared
from callsheet.assemble.forms import unsaid
from callsheet.assemble.lateness import late
from callsheet.assemble.legend import explained
from callsheet.assemble.marking import Marks, retry_terms
from callsheet.assemble.material import Material
from callsheet.assemble.notes import Notes
from callsheet.assemble.observing import Above, observed
from callsheet.assemble.pairing import Pairing, pair, shown_calls
from callsheet.assemble.showing import Showing, plain, timed, without_blank, words
from callsheet.derive.redaction import Redaction
from callsheet.graph import values
from callsheet.graph.effects import UNSETTLED
from callsheet.graph.enums import FAILURES, INSTRUCTING, Level, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, Selection, ToolArtifact, ToolCall


@dataclass(frozen=True, kw_only=True, slots=True)
class Composed:
    """A block and the record that it shows; None: a stand-in or a note."""

    block: blocks.Block
    source: RecordId | None
    #: The records whose lines stand in it, where it is a note.
    noted: tuple[RecordId, ...] = ()
    #: In how much detail the record stands.
    level: Level = Level.RAW


class CallIds:
    """Ids of a request's calls, unique, in order of appearance: the provider's id at its first use, then numbered."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._next: dict[str, int] = {}

    def unique(self, wanted: str | None) -> str:
        base = wanted or "call"
        candidate = base
        number = self._next.get(base, 2 if wanted else 1)
        if base in self._next or not wanted:
            candidate = f"{base}_{number}"
            number += 1
        while candidate in self._used:
            candidate = f"{base}_{number}"
            number += 1
        self._next[base] = number
        self._used.add(candidate)
        return candidate


@dataclass(kw_only=True, slots=True)
class Before:
    """What composing must know of the blocks before those that it makes; it is told of these in turn."""

    ids: CallIds = field(default_factory=CallIds)
    results: Above = field(default_factory=dict)
    #: A table stands there, with the line that tells how it is read.
    explained: bool = False
    #: Something stands there that is no instruction.
    opened: bool = False


def compose(selections: Sequence[Selection], material: Material, before: Before | None = None) -> list[Composed]:
    """Compose the selected records, in the order of the selections: those in their place by position, and notes.

    With `before` they follow others, none of which has a call or a result that belongs with one of these.
    """
    before = before if before is not None else Before()
    composed = _composer(selections, material, before).all(selections, before.ids)
    if not before.opened:
        before.opened = any(not _instructs(item) for item in composed)
        composed = _opened(composed, material)
    if not before.explained:
        told = _with_legend(composed)
        before.explained = told is not composed
        composed = told
    redaction = material.redaction
    return composed if redaction is None else [_cleared(item, redaction) for item in composed]


def _composer(selections: Sequence[Selection], material: Material, before: Before) -> "_Composer":
    placed = [selection for selection in selections if not selection.note]
    records = [material.records[selection.record] for selection in placed]
    pairing = pair(records, shown_calls(records, material.calls))
    marks = Marks(
        material=material,
        observed=observed(selections, material.records, material.calls, before.results),
    )
    answers = frozenset(answer.id for answer in pairing.answers.values())
    return _Composer(
        material=material,
        pairing=pairing,
        levels={selection.record: selection for selection in placed},
        late=late(records, answers, material.speakers),
        showing=Showing(material=material, marks=marks),
        notes=Notes(material=material, marks=marks),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Composer:
    material: Material
    pairing: Pairing
    levels: Mapping[RecordId, Selection]
    #: Results that came when a model had gone on without them.
    late: frozenset[RecordId]
    showing: Showing
    notes: Notes

    def all(self, selections: Sequence[Selection], ids: CallIds) -> list[Composed]:
        composed: list[Composed] = []
        for note, members in groupby(selections, key=lambda selection: selection.note):
            if note:
                composed.append(self._note(tuple(members)))
                continue
            for selection in members:
                body = self.material.records[selection.record].body
                if isinstance(body, Message):
                    composed.extend(self._message(selection, body, ids))
                elif isinstance(body, ToolArtifact) and not self._has_its_place(selection.record):
                    composed.append(self._unpaired(selection, body))
                elif isinstance(body, ToolArtifact) and selection.record in self.late:
                    composed.append(self._came(selection.record, body))
        return composed

    def _note(self, members: tuple[Selection, ...]) -> Composed:
        said = _said(self.notes.text(members))
        return Composed(block=said, source=None, noted=tuple(selection.record for selection in members))

    def _came(self, id: RecordId, body: ToolArtifact) -> Composed:
        """Where a result came late: that it stands at its call now, in place of what stood there."""
        call = self.material.call_of(body)
        tool = (call.tool if call is not None else body.tool) or "a tool"
        return Composed(block=_said(standins.came(tool, self.material.forms.named(id))), source=None)

    def _has_its_place(self, artifact: RecordId) -> bool:
        """Whether a result stands at its call, or gave way to the one that does."""
        return artifact in self.pairing.used or artifact in self.pairing.replaced

    def _message(self, selection: Selection, body: Message, ids: CallIds) -> list[Composed]:
        id, level = selection.record, selection.level
        if (speaker := self.material.speakers.get(id)) is not None:
            return self._anothers(selection, body, speaker)
        instead = unsaid(level)
        parts: list[blocks.Part] = [blocks.Text(text=instead)] if instead is not None else []
        answers: list[Composed] = []
        for part in body.parts:
            if not isinstance(part, values.CallRef):
                stands = instead is None and self._takes(id, part)
                parts += [self.showing.part(part, id, body.role)] if stands else []
            elif (call := self.material.calls.get(part.call)) is not None:
                rendered = ids.unique(call.provider_id)
                parts.append(self._call(part.call, call, rendered))
                answers.append(self._answer(part.call, rendered, call.tool))
        shown = without_blank(tuple(parts), standins.EMPTY)
        if self.material.times and body.role is Role.USER:
            shown = timed(shown, self.material.records[id].header.at)
        said = blocks.Said(
            role=body.role,
            parts=shown,
            form=body.form if instead is None else "string",
            wire=body.wire,
            name=body.name,
            extras=body.extras if instead is None else b"",
        )
        return [Composed(block=said, source=id, level=level), *answers]

    def _takes(self, id: RecordId, part: values.Part) -> bool:
        """Whether the provider takes a part back."""
        if id in self.material.sealed and isinstance(part, values.Reasoning | values.Opaque):
            return False
        return not (id in self.material.bare and isinstance(part, values.Reasoning))

    def _anothers(self, selection: Selection, body: Message, speaker: str) -> list[Composed]:
        """What another speaker said, without its calls and thoughts; nothing where that is all there is."""
        instead = unsaid(selection.level)
        kept = [part for part in body.parts if not isinstance(part, values.CallRef | values.Reasoning)]
        if not kept and body.parts:
            return []
        content = [self.showing.content(part, selection.record, Role.USER) for part in kept] if instead is None else []
        parts = (blocks.Text(text=instead),) if instead is not None else tuple(map(plain, content))
        said = speaking.said(speaker, without_blank(parts, standins.EMPTY))
        return [Composed(block=said, source=selection.record, level=selection.level)]

    def _call(self, id: RecordId, call: ToolCall, rendered: str) -> blocks.Call:
        shown = id not in self.material.withheld
        return blocks.Call(
            id=rendered,
            tool=call.tool,
            arguments=self.material.arguments(id, call),
            kind=call.kind,
            wire=call.wire,
            extras=call.extras if shown else b"",
            defects=call.defects if shown else (),
        )

    def _answer(self, call: RecordId, rendered: str, tool: str) -> Composed:
        record = self.pairing.answers.get(call)
        if record is None:
            none = standins.NOT_SHOWN if call in self.material.hidden else standins.NO_RESULT
            standin = self._marked(call, (blocks.Text(text=none),))
            return Composed(block=blocks.Answer(call=rendered, tool=tool, content=standin), source=None)
        body, selection = record.body, self.levels[record.id]
        assert isinstance(body, ToolArtifact)
        if body.status in UNSETTLED and not body.content:
            waiting, terms = standins.waiting(body.status.value), retry_terms(body)
            content: tuple[blocks.Content, ...] = (blocks.Text(text=f"{waiting} {terms}" if terms else waiting),)
        else:
            content = self.showing.result(selection, body)
        answer = blocks.Answer(
            call=rendered,
            tool=tool,
            content=self._marked(call, content),
            form=body.form,
            failed=True if body.status in FAILURES else None,
            wire=body.wire,
            extras=body.extras if selection.level is not Level.SAFE else b"",
        )
        return Composed(block=answer, source=record.id, level=selection.level)

    def _marked(self, call: RecordId, content: tuple[blocks.Content, ...]) -> tuple[blocks.Content, ...]:
        """An answer that says that the arguments of its call are not shown."""
        if call not in self.material.withheld:
            return content
        if len(content) == 1 and isinstance(content[0], blocks.Text):
            return (blocks.Text(text=f"{content[0].text}\n{standins.ARGUMENTS_WITHHELD}", extras=content[0].extras),)
        return (*content, blocks.Text(text=standins.ARGUMENTS_WITHHELD))

    def _unpaired(self, selection: Selection, body: ToolArtifact) -> Composed:
        """A result without a call in view, as quoted text of the user."""
        shown = self.showing.result(selection, body)
        text = words(shown) or standins.NO_OUTPUT
        if (speaker := self.material.speakers.get(selection.record)) is not None:
            quoted = speaking.found(speaker, body.tool, text)
        elif body.call is None and not body.defects:
            quoted = standins.given(body.tool, text)
        else:
            again = body.call is not None and body.call in self.pairing.answers
            quoted = standins.unpaired(body.tool, text, again=again)
        media = tuple(part for part in shown if isinstance(part, blocks.Media))
        said = blocks.Said(
            role=Role.USER, parts=(blocks.Text(text=quoted), *media), form="parts" if media else "string"
        )
        return Composed(block=said, source=selection.record, level=selection.level)


def _said(text: str) -> blocks.Said:
    return blocks.Said(role=Role.USER, parts=(blocks.Text(text=text),))


def _cleared(item: Composed, redaction: Redaction) -> Composed:
    block = cleared(item.block, redaction)
    return item if block is item.block else dataclasses.replace(item, block=block)


def _with_legend(composed: list[Composed]) -> list[Composed]:
    """The same, with the line that tells how tables are read before the first one, whatever follows it."""
    for place, item in enumerate(composed):
        derived = item.source is not None and item.level in (Level.DENSE, Level.FOCUS)
        block = explained(item.block, noted=bool(item.noted)) if derived or item.noted else None
        if block is not None:
            return [*composed[:place], dataclasses.replace(item, block=block), *composed[place + 1 :]]
    return composed


def _instructs(item: Composed) -> bool:
    return isinstance(item.block, blocks.Said) and item.block.role in INSTRUCTING


def _opened(composed: list[Composed], material: Material) -> list[Composed]:
    """The same, with a stand-in where the first turn behind the instructions is not the user's."""
    for place, item in enumerate(composed):
        if not _instructs(item):
            if isinstance(item.block, blocks.Said) and item.block.role is Role.USER:
                break
            words = standins.before(material.unlisted, references=material.forms.references)
            opening = blocks.Said(role=Role.USER, parts=(blocks.Text(text=words),))
            return [*composed[:place], Composed(block=opening, source=None), *composed[place:]]
    return composed
