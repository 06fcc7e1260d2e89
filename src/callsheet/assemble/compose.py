"""From selected records to the blocks of a request that any provider's format can render.

What this guarantees to rendering: ids of calls are unique in the request; directly behind each message with calls
stands exactly one answer per call, in the order of the calls; the first turn is the user's; nothing is without visible
content. Ids and stand-ins are a function of the records before them alone, so appending records changes no earlier
block, except where a result arrives for a call that stood unanswered; if a model has spoken since, a line tells of it.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from msgspec.structs import replace

from callsheet.assemble import blocks, episodes, personal, speaking, standins, tabling
from callsheet.assemble.clearing import cleared
from callsheet.assemble.forms import Forms, asked, unsaid
from callsheet.assemble.lateness import late
from callsheet.assemble.legend import explained
from callsheet.assemble.likeness import Earlier
from callsheet.assemble.observing import Above, observed
from callsheet.assemble.pairing import Pairing, pair, shown_calls
from callsheet.assemble.stated import stated
from callsheet.derive.reading import read as read_document
from callsheet.derive.redaction import Redaction
from callsheet.derive.text import binary_standin, readable
from callsheet.graph import values
from callsheet.graph.effects import UNSETTLED
from callsheet.graph.enums import ArtifactStatus, Level, Reason, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import (
    Episode,
    Fact,
    Message,
    Milestone,
    Selection,
    ToolArtifact,
    ToolCall,
    ToolMemory,
    UserMemory,
)
from callsheet.graph.record import Record
from callsheet.graph.times import Instant, to_datetime

Read = Callable[[values.Payload], bytes]
"""Gives the bytes of a payload that has been fetched."""

INSTRUCTING = frozenset({Role.SYSTEM, Role.DEVELOPER})
"""Roles whose messages are instructions, not turns."""

BINARY = "application/octet-stream"
"""The type under which bytes that are not UTF-8 are recorded."""

_TOLD = (Level.DENSE, Level.FOCUS, Level.GIST)

FAILED = frozenset({ArtifactStatus.FAILED, ArtifactStatus.TIMED_OUT, ArtifactStatus.CANCELLED})


@dataclass(frozen=True, kw_only=True, slots=True)
class Composed:
    """A block and the record that it shows; None: a stand-in or a note."""

    block: blocks.Block
    source: RecordId | None
    #: The records whose lines stand in it, where it is a note.
    noted: tuple[RecordId, ...] = ()
    #: In how much detail the record stands.
    level: Level = Level.RAW


@dataclass(frozen=True, kw_only=True, slots=True)
class Material:
    """What composing draws on."""

    records: Mapping[RecordId, Record]
    calls: Mapping[RecordId, ToolCall]
    read: Read
    forms: Forms
    #: Whether what the user said stands with its time.
    times: bool = False
    #: Older records that no note lists, to be told where there is a note.
    unlisted: int = 0
    #: Calls whose arguments may not be shown.
    withheld: frozenset[RecordId] = frozenset()
    #: Calls that have their result, which may not be shown.
    hidden: frozenset[RecordId] = frozenset()
    #: Messages of which the provider cannot read what another one sealed: reasoning, and items of its own tools.
    sealed: frozenset[RecordId] = frozenset()
    #: The words that the request's format has in place of media in a message of this role, or for None in a result;
    #: where that is None, and without this, it shows them.
    instead: Callable[[blocks.Media, Role | None], str | None] | None = None
    #: What `read` gives has no secrets; nor may what stands beside it. None: secrets may be shown.
    redaction: Redaction | None = None
    #: The names, as they may be shown, of the others whose words and results some of the records are, by record; all
    #: else is the reader's own.
    speakers: Mapping[RecordId, str] = field(default_factory=dict)
    #: How to learn whether results of a tool still hold, by tool.
    rechecks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


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


def _plain(part: blocks.Content) -> blocks.Content:
    """A part without what its provider put beside it in the role that it was said in."""
    return blocks.Text(text=part.text) if isinstance(part, blocks.Text) else part


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
    records = [material.records[selection.record] for selection in selections if not selection.note]
    pairing = pair(records, shown_calls(records, material.calls))
    levels = {selection.record: selection for selection in selections if not selection.note}
    marks = observed(selections, material.records, material.calls, before.results)
    answers = frozenset(answer.id for answer in pairing.answers.values())
    came = late(records, answers, material.speakers)
    composer = _Composer(material=material, pairing=pairing, levels=levels, marks=marks, late=came)
    composed = composer.all(selections, before.ids)
    if not before.opened:
        before.opened = any(not _instructs(item) for item in composed)
        composed = _opened(composed)
    if not before.explained:
        told = _with_legend(composed)
        before.explained = told is not composed
        composed = told
    redaction = material.redaction
    if redaction is None:
        return composed
    return [_cleared(item, redaction) for item in composed]


def _cleared(item: Composed, redaction: Redaction) -> Composed:
    block = cleared(item.block, redaction)
    return item if block is item.block else dataclasses.replace(item, block=block)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Composer:
    material: Material
    pairing: Pairing
    levels: Mapping[RecordId, Selection]
    #: What stands before results that differ from another one of the same call above them.
    marks: Mapping[RecordId, str]
    #: Results that came when a model had gone on without them.
    late: frozenset[RecordId] = frozenset()

    @property
    def read(self) -> Read:
        return self.material.read

    def all(self, selections: Sequence[Selection], ids: CallIds) -> list[Composed]:
        composed: list[Composed] = []
        for note, members in groupby(selections, key=lambda selection: selection.note):
            if note:
                composed.append(self._note(tuple(members)))
                continue
            for selection in members:
                record = self.material.records[selection.record]
                body = record.body
                if isinstance(body, Message):
                    composed.extend(self._message(record.id, body, ids))
                elif isinstance(body, ToolArtifact) and not self._has_its_place(record.id):
                    quoted = self._unpaired(record.id, body)
                    composed.append(Composed(block=quoted, source=record.id, level=selection.level))
                elif isinstance(body, ToolArtifact) and record.id in self.late:
                    composed.append(self._came(record.id, body))
        return composed

    def _came(self, id: RecordId, body: ToolArtifact) -> Composed:
        """Where a result came late: that it stands at its call now, in place of what stood there."""
        call = self.material.calls.get(body.call) if body.call is not None else None
        text = standins.came((call.tool if call is not None else body.tool) or "a tool", self.material.forms.named(id))
        return Composed(block=blocks.Said(role=Role.USER, parts=(blocks.Text(text=text),)), source=None)

    def _note(self, members: tuple[Selection, ...]) -> Composed:
        if members[0].stream is not None:
            return self._personal(members)
        unlisted = self.material.unlisted if members[0].note == 1 else 0
        names = (self._speaker(selection.record) or "" for selection in members)
        marks = tuple(self._mark(one) + self._again(one) + name for one, name in zip(members, names, strict=True))
        text = self.material.forms.note(members, unlisted, lambda: self._lines(members), self.material.withheld, marks)
        said = blocks.Said(role=Role.USER, parts=(blocks.Text(text=text),))
        return Composed(block=said, source=None, noted=tuple(selection.record for selection in members))

    def _personal(self, members: tuple[Selection, ...]) -> Composed:
        """A note of what is kept about the user."""
        kept = ((one, self.material.records[one.record].body) for one in members)
        lines = [
            personal.line(one, body, text_of(self.read(body.value)))
            for one, body in kept
            if isinstance(body, UserMemory)
        ]
        said = blocks.Said(role=Role.USER, parts=(blocks.Text(text=personal.note(lines)),))
        return Composed(block=said, source=None, noted=tuple(selection.record for selection in members))

    def _lines(self, members: Sequence[Selection]) -> list[str]:
        lines = {one.record: self._told(one) for one in members}
        tables, within = tabling.tables(self._rows(members), lines)
        listed = [one for one in members if one.record not in within]
        days = self._dated(listed)
        return [days[one.record] + tables.get(one.record, lines[one.record]) for one in listed]

    def _told(self, selection: Selection) -> str:
        mark = self._mark(selection)
        return (f"{mark} " if mark else "") + self._line(selection) + self._again(selection)

    def _rows(self, members: Sequence[Selection]) -> dict[RecordId, tabling.Row]:
        """The results whose whole content stands in a note, and of which nothing but that is to be said."""
        rows: dict[RecordId, tabling.Row] = {}
        for one in members:
            record = self.material.records[one.record]
            body = record.body
            if not isinstance(body, ToolArtifact) or body.call is None or one.level not in (Level.RAW, Level.DENSE):
                continue
            call = self.material.calls.get(body.call)
            if call is None or self._speaker(one.record) is not None or self._mark(one) or self._again(one):
                continue
            rows[one.record] = tabling.Row(
                reference=self.material.forms.named(one.record),
                tool=call.tool or "tool",
                arguments=self._arguments(body.call, call),
                raw=result_text(body, self.read),
                day=f"{to_datetime(record.header.at):%Y-%m-%d}",
            )
        return rows

    def _mark(self, selection: Selection) -> str:
        """What stands before a result: that it was replaced, or which of two observations it is."""
        record = self.material.records[selection.record]
        told = selection.level in (Level.RAW, *_TOLD)
        if selection.reason is Reason.SUPERSEDED and told and isinstance(record.body, ToolArtifact):
            return standins.as_it_was(f"{to_datetime(record.header.at):%Y-%m-%d}")
        # A line that tells nothing needs none, also where the same result is told above it.
        return self.marks.get(selection.record, "") if told else ""

    def _again(self, selection: Selection) -> str:
        """Behind the line of a result in a note: how to learn how it is now, or on what terms it may be tried again."""
        body = self.material.records[selection.record].body
        if not isinstance(body, ToolArtifact) or selection.level is Level.SAFE:
            return ""
        tools = self.material.rechecks.get(body.tool or "", ()) if selection.level is Level.STALE else ()
        return f"; {standins.check_again(tools)}" if tools else f" {terms}" if (terms := retry_terms(body)) else ""

    def _dated(self, members: Sequence[Selection]) -> dict[RecordId, str]:
        """Before the line of a result the day it was observed, where that is not the day of the result before it.

        A memory may stand for what was seen long ago: its day is told anew behind the line of a message, too.
        """
        days: dict[RecordId, str] = {}
        last, said = "", False
        for selection in members:
            record = self.material.records[selection.record]
            seen = _observed(record)
            day = f"({to_datetime(seen):%Y-%m-%d}) " if seen is not None else last
            anew = said and isinstance(record.body, ToolMemory)
            days[selection.record] = day if day != last or anew else ""
            last, said = day, seen is None
        return days

    def _line(self, selection: Selection) -> str:
        body = self.material.records[selection.record].body
        speaker = self._speaker(selection.record)
        if isinstance(body, Message):
            words = (text_of(self.read(part.text)) for part in body.parts if isinstance(part, values.Text))
            line = self.material.forms.said(selection, body.role, "\n".join(words))
            if speaker is not None:
                return speaking.line(speaker, body.role, line)
            return line + self._asked(body) if selection.level is Level.DENSE else line
        if isinstance(body, ToolMemory):
            return self.material.forms.remembered(selection, body, memory_text(body, self.read))
        references = self.material.forms.references
        if isinstance(body, Episode):
            text = text_of(self.read(body.summary))
            return episodes.episode_line(selection.record, selection.level, body, text, references=references)
        if isinstance(body, Milestone | Fact):
            return episodes.stated_line(selection.level, body, stated(self.read(body.value)), references=references)
        assert isinstance(body, ToolArtifact)
        call = self.material.calls.get(body.call) if body.call is not None else None
        tool = (call.tool if call is not None else body.tool) or "tool"
        hides = self._hides(selection.record) and selection.level is Level.GIST
        return self.material.forms.found(
            replace(selection, level=Level.REF) if hides else selection,  # gists quote what was asked
            tool=speaking.tool(speaker, tool) if speaker is not None else tool,
            arguments=self._arguments(body.call, call) if call is not None and body.call is not None else "",
            raw=result_text(body, self.read) if selection.level is not Level.SAFE else "",
            size=body.size,
        )

    def _asked(self, body: Message) -> str:
        calls = self.material.calls
        called = ((part.call, calls.get(part.call)) for part in body.parts if isinstance(part, values.CallRef))
        lines = [asked(call.tool, self._arguments(id, call)) for id, call in called if call is not None]
        return standins.asked_for(lines) if lines else ""

    def _has_its_place(self, artifact: RecordId) -> bool:
        """Whether a result stands at its call, or gave way to the one that does."""
        return artifact in self.pairing.used or artifact in self.pairing.replaced

    def _message(self, id: RecordId, body: Message, ids: CallIds) -> list[Composed]:
        if (speaker := self._speaker(id)) is not None:
            return self._anothers(id, body, speaker)
        level = self.levels[id].level
        instead = unsaid(level)
        parts: list[blocks.Part] = [blocks.Text(text=instead)] if instead is not None else []
        answers: list[Composed] = []
        for part in body.parts:
            if not isinstance(part, values.CallRef):
                sealed = id in self.material.sealed and isinstance(part, values.Reasoning | values.Opaque)
                parts += [self._part(part, id, body.role)] if instead is None and not sealed else []
            elif (call := self.material.calls.get(part.call)) is not None:
                rendered = ids.unique(call.provider_id)
                parts.append(self._call(part.call, call, rendered))
                answers.append(self._answer(part.call, rendered, call.tool))
        shown = _visible(tuple(parts))
        if self.material.times and body.role is Role.USER:
            shown = _timed(shown, self.material.records[id].header.at)
        said = blocks.Said(
            role=body.role,
            parts=shown,
            form=body.form if instead is None else "string",
            wire=body.wire,
            name=body.name,
            extras=body.extras if instead is None else b"",
        )
        return [Composed(block=said, source=id, level=level), *answers]

    def _speaker(self, id: RecordId) -> str | None:
        """Whose words or result a record is; None: the reader's own, or nobody's in particular."""
        return self.material.speakers.get(id)

    def _anothers(self, id: RecordId, body: Message, speaker: str) -> list[Composed]:
        """What another speaker said, without its calls and thoughts; nothing where that is all there is."""
        level = self.levels[id].level
        instead = unsaid(level)
        kept = [part for part in body.parts if not isinstance(part, values.CallRef | values.Reasoning)]
        if not kept and body.parts:
            return []
        content = [self._content(part, id, Role.USER) for part in kept] if instead is None else []
        parts = (blocks.Text(text=instead),) if instead is not None else tuple(_plain(part) for part in content)
        return [Composed(block=speaking.said(speaker, _visible(parts)), source=id, level=level)]

    def _call(self, id: RecordId, call: ToolCall, rendered: str) -> blocks.Call:
        shown = id not in self.material.withheld
        return blocks.Call(
            id=rendered,
            tool=call.tool,
            arguments=self._arguments(id, call),
            kind=call.kind,
            wire=call.wire,
            extras=call.extras if shown else b"",
            defects=call.defects if shown else (),
        )

    def _arguments(self, id: RecordId, call: ToolCall) -> str:
        withheld = id in self.material.withheld
        return standins.NO_ARGUMENTS if withheld else text_of(self.read(call.arguments))

    def _answer(self, call: RecordId, rendered: str, tool: str) -> Composed:
        record = self.pairing.answers.get(call)
        if record is None:
            words = standins.NOT_SHOWN if call in self.material.hidden else standins.NO_RESULT
            standin = self._marked(call, (blocks.Text(text=words),))
            return Composed(block=blocks.Answer(call=rendered, tool=tool, content=standin), source=None)
        body = record.body
        assert isinstance(body, ToolArtifact)
        if body.status in UNSETTLED and not body.content:
            words, terms = standins.waiting(body.status.value), retry_terms(body)
            content: tuple[blocks.Content, ...] = (blocks.Text(text=f"{words} {terms}" if terms else words),)
        else:
            content = _visible_content(self._result(record.id, body))
        answer = blocks.Answer(
            call=rendered,
            tool=tool,
            content=self._marked(call, content),
            form=body.form,
            failed=True if body.status in FAILED else None,
            wire=body.wire,
            extras=body.extras if self.levels[record.id].level is not Level.SAFE else b"",
        )
        return Composed(block=answer, source=record.id, level=self.levels[record.id].level)

    def _hides(self, result: RecordId) -> bool:
        """Whether what was asked for a result may not be shown, as nothing is that others asked for."""
        if result in self.material.speakers:
            return True
        return getattr(self.material.records[result].body, "call", None) in self.material.withheld

    def _marked(self, call: RecordId, content: tuple[blocks.Content, ...]) -> tuple[blocks.Content, ...]:
        """An answer that says that the arguments of its call are not shown."""
        if call not in self.material.withheld:
            return content
        if len(content) == 1 and isinstance(content[0], blocks.Text):
            return (blocks.Text(text=f"{content[0].text}\n{standins.ARGUMENTS_WITHHELD}", extras=content[0].extras),)
        return (*content, blocks.Text(text=standins.ARGUMENTS_WITHHELD))

    def _result(self, id: RecordId, body: ToolArtifact) -> tuple[blocks.Content, ...]:
        """The content of a result at its level. Pictures stand whole, or are left out with the text around them."""
        selection = self.levels[id]
        level = selection.level
        if level is Level.RAW:
            return tuple(self._content(part, id) for part in body.content)
        if level is Level.SAFE:
            return (blocks.Text(text=self.material.forms.withheld(body.size)),)
        forms, raw = self.material.forms, result_text(body, self.read)
        if self._hides(id) and level is Level.GIST:
            text = forms.left_out(selection, raw)
        elif selection.against is not None and not self._hides(selection.against):
            text = forms.against(selection, raw, lambda: earlier(selection.against, self.material))
        elif level in (Level.DENSE, Level.FOCUS, Level.GIST):
            text = forms.text(selection, raw)
        else:
            text = forms.left_out(selection, raw, f"{to_datetime(self.material.records[id].header.at):%Y-%m-%d}")
            tools = self.material.rechecks.get(body.tool or "", ()) if level is Level.STALE else ()
            text = f"{text} ({standins.check_again(tools)})" if tools else text
        media = level in (Level.DENSE, Level.FOCUS)
        pictures = tuple(
            self._content(part, id)
            for part in body.content
            if media and isinstance(part, values.Media) and not _is_bytes(part)
        )
        mark = self._mark(selection) if selection.against is None else None
        terms = retry_terms(body)
        text = f"{mark}\n{text}" if mark else text
        return (blocks.Text(text=f"{text}\n{terms}" if terms else text), *pictures)

    def _unpaired(self, id: RecordId, body: ToolArtifact) -> blocks.Said:
        shown = _visible_content(self._result(id, body))
        texts = (_words(part) for part in shown if not isinstance(part, blocks.Media))
        text = "\n".join(texts) or standins.NO_OUTPUT
        if (speaker := self._speaker(id)) is not None:
            quoted = blocks.Text(text=speaking.found(speaker, body.tool, text))
        elif body.call is None and not body.defects:
            quoted = blocks.Text(text=standins.given(body.tool, text))
        else:
            again = body.call is not None and body.call in self.pairing.answers
            quoted = blocks.Text(text=standins.unpaired(body.tool, text, again=again))
        media = tuple(part for part in shown if isinstance(part, blocks.Media))
        return blocks.Said(role=Role.USER, parts=(quoted, *media), form="parts" if media else "string")

    def _part(
        self, part: values.Text | values.Reasoning | values.Media | values.Opaque, id: RecordId, role: Role
    ) -> blocks.Part:
        if isinstance(part, values.Reasoning):
            return blocks.Reasoning(wire=part.wire, raw=self.read(part.raw))
        return self._content(part, id, role)

    def _content(self, part: values.Content, id: RecordId, role: Role | None = None) -> blocks.Content:
        if isinstance(part, values.Text):
            return blocks.Text(text=text_of(self.read(part.text)), extras=part.extras)
        if isinstance(part, values.Opaque):
            return blocks.Opaque(wire=part.wire, raw=self.read(part.raw))
        data = self.read(part.data) if part.data is not None else None
        if data is not None and part.mime == BINARY:
            text = readable(data) or self.material.forms.unseen(id, binary_standin(part.mime, len(data)))
            return blocks.Text(text=text)
        media = blocks.Media(
            mime=part.mime,
            data=data,
            url=part.url,
            width=part.width,
            height=part.height,
            wire=part.wire,
            extras=part.extras,
        )
        words = self.material.instead(media, role) if self.material.instead is not None else None
        return media if words is None else blocks.Text(text=self.material.forms.unseen(id, words))


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


def _opened(composed: list[Composed]) -> list[Composed]:
    """The same, with a stand-in where the first turn behind the instructions is not the user's."""
    for place, item in enumerate(composed):
        if not _instructs(item):
            if isinstance(item.block, blocks.Said) and item.block.role is Role.USER:
                break
            opening = blocks.Said(role=Role.USER, parts=(blocks.Text(text=standins.BEGINNING),))
            return [*composed[:place], Composed(block=opening, source=None), *composed[place:]]
    return composed


def _words(part: blocks.Text | blocks.Opaque) -> str:
    return part.text if isinstance(part, blocks.Text) else text_of(part.raw)


def _blank(part: blocks.Part) -> bool:
    return isinstance(part, blocks.Text) and not part.text.strip()


def _visible(parts: tuple[blocks.Part, ...]) -> tuple[blocks.Part, ...]:
    """The parts without blank text. What another provider's format drops, that format's rendering stands in for."""
    kept = tuple(part for part in parts if not _blank(part))
    return kept or (blocks.Text(text=standins.EMPTY),)


def _visible_content(content: tuple[blocks.Content, ...]) -> tuple[blocks.Content, ...]:
    kept = tuple(part for part in content if not _blank(part))
    return kept or (blocks.Text(text=standins.NO_OUTPUT),)


def earlier(record: RecordId | None, material: Material) -> Earlier:
    """A result that stands in view in full, for a later one to be told against."""
    body = material.records[record].body if record is not None else None
    assert isinstance(body, ToolArtifact)
    call = material.calls.get(body.call) if body.call is not None else None
    tool = (call.tool if call is not None else body.tool) or "tool"
    arguments = text_of(material.read(call.arguments)) if call is not None else ""
    return Earlier(record=RecordId(record or ""), text=result_text(body, material.read), asked=asked(tool, arguments))


def retry_terms(body: ToolArtifact) -> str:
    """On what terms a result that is no success may be tried again; empty where none are known."""
    retry = body.retry
    if retry is None or body.status in (ArtifactStatus.OK, ArtifactStatus.PARTIAL, ArtifactStatus.CANCELLED):
        return ""
    after = f"{to_datetime(retry.retry_after):%Y-%m-%d %H:%M} UTC" if retry.retry_after is not None else None
    return standins.terms(retry.attempts, retry.limit, after, safe=retry.safe)


def _timed(parts: tuple[blocks.Part, ...], at: Instant) -> tuple[blocks.Part, ...]:
    """What was said, behind the time at which it was."""
    stamp = f"[{to_datetime(at):%Y-%m-%d %H:%M} UTC]"
    first = parts[0] if parts else None
    if isinstance(first, blocks.Text):
        return (dataclasses.replace(first, text=f"{stamp} {first.text}"), *parts[1:])
    return (blocks.Text(text=stamp), *parts)


def _observed(record: Record) -> Instant | None:
    """When what a line tells was observed; None: it tells what was said."""
    if isinstance(record.body, ToolMemory):
        return record.body.observed
    return record.header.at if isinstance(record.body, ToolArtifact) else None


def memory_text(body: ToolMemory, read: Read) -> str:
    """What a memory tells: its summary, and its structured content where it has any."""
    summary = text_of(read(body.summary))
    if body.payload is None:
        return summary
    return f"{summary}\n{read_document(text_of(read(body.payload)), 'application/json').dense()}"


def result_text(body: ToolArtifact, read: Read) -> str:
    """What of a result can be read as text, its parts one below the other."""
    words: list[str] = []
    for part in body.content:
        if isinstance(part, values.Text):
            words.append(text_of(read(part.text)))
        elif isinstance(part, values.Opaque):
            words.append(text_of(read(part.raw)))
        elif part.data is not None and _is_bytes(part):
            data = read(part.data)
            words.append(readable(data) or binary_standin(part.mime, len(data)))
    return "\n".join(words)


def _is_bytes(part: values.Media) -> bool:
    """Whether it was recorded as bytes of no known type, which may be text after all."""
    return part.mime == BINARY and part.data is not None


def content_payload(part: values.Content) -> values.Payload | None:
    """Where the bytes of a result's part are; None for media by address."""
    if isinstance(part, values.Text):
        return part.text
    return part.raw if isinstance(part, values.Opaque) else part.data


def text_of(content: bytes) -> str:
    """Recorded text as it came, lone surrogates included."""
    return content.decode("utf-8", "surrogatepass")
