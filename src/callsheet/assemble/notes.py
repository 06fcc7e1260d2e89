"""The text of a note: a line for each of its members, with results of one shape in a table."""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from callsheet.assemble import episodes, personal, speaking, standins, tabling
from callsheet.assemble.contents import memory_text, result_text, text_of
from callsheet.assemble.forms import asked
from callsheet.assemble.marking import Marks, day
from callsheet.assemble.material import Material
from callsheet.assemble.stated import stated
from callsheet.derive.notation import tool_name
from callsheet.graph import values
from callsheet.graph.enums import Level
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import (
    Episode,
    Fact,
    Message,
    Milestone,
    Selection,
    ToolArtifact,
    ToolMemory,
    UserMemory,
)
from callsheet.graph.record import Record
from callsheet.graph.times import Instant


@dataclass(frozen=True, kw_only=True, slots=True)
class Notes:
    """Writes the notes of one request."""

    material: Material
    marks: Marks

    def text(self, members: tuple[Selection, ...]) -> str:
        """The note of these members: of the conversation, or of what is kept about the user."""
        if members[0].stream is not None:
            return self._personal(members)
        material = self.material
        unlisted = material.unlisted if members[0].note == 1 else 0
        marks = tuple(
            self.marks.before(one) + self.marks.behind(one) + material.speakers.get(one.record, "") for one in members
        )
        return material.forms.note(members, unlisted, lambda: self._lines(members), material.withheld, marks)

    def _personal(self, members: tuple[Selection, ...]) -> str:
        kept = ((one, self.material.records[one.record].body) for one in members)
        return personal.note(
            [
                personal.line(one, body, text_of(self.material.read(body.value)))
                for one, body in kept
                if isinstance(body, UserMemory)
            ]
        )

    def _lines(self, members: Sequence[Selection]) -> list[str]:
        lines = {one.record: self._told(one) for one in members}
        tables, within = tabling.tables(self._rows(members), lines)
        listed = [one for one in members if one.record not in within]
        days = self._dated(listed)
        return [days[one.record] + tables.get(one.record, lines[one.record]) for one in listed]

    def _told(self, selection: Selection) -> str:
        mark = self.marks.before(selection)
        return (f"{mark} " if mark else "") + self._line(selection) + self.marks.behind(selection)

    def _rows(self, members: Sequence[Selection]) -> dict[RecordId, tabling.Row]:
        """The results whose whole content stands in a note, and of which nothing but that is to be said."""
        material = self.material
        rows: dict[RecordId, tabling.Row] = {}
        for one in members:
            record = material.records[one.record]
            body = record.body
            if not isinstance(body, ToolArtifact) or body.call is None or one.level not in (Level.RAW, Level.DENSE):
                continue
            call = material.call_of(body)
            if call is None or one.record in material.speakers or self.marks.before(one) or self.marks.behind(one):
                continue
            rows[one.record] = tabling.Row(
                reference=material.forms.named(one.record),
                tool=call.tool or "tool",
                arguments=material.arguments_of(body),
                raw=result_text(body, material.read),
                day=day(record.header.at),
            )
        return rows

    def _dated(self, members: Sequence[Selection]) -> dict[RecordId, str]:
        """Before the line of a result the day it was observed, where that is not the day of the result before it.

        A memory may stand for what was seen long ago: its day is told anew behind the line of a message, too.
        """
        days: dict[RecordId, str] = {}
        last, said = "", False
        for selection in members:
            record = self.material.records[selection.record]
            seen = _observed(record)
            told = f"({day(seen)}) " if seen is not None else last
            anew = said and isinstance(record.body, ToolMemory)
            days[selection.record] = told if told != last or anew else ""
            last, said = told, seen is None
        return days

    def _line(self, selection: Selection) -> str:
        body, read, forms = self.material.records[selection.record].body, self.material.read, self.material.forms
        if isinstance(body, Message):
            return self._said(selection, body)
        if isinstance(body, ToolMemory):
            return forms.remembered(selection, body, memory_text(body, read))
        if isinstance(body, Episode):
            text = text_of(read(body.summary))
            return episodes.episode_line(selection.record, selection.level, body, text, references=forms.references)
        if isinstance(body, Milestone | Fact):
            return episodes.stated_line(selection.level, body, stated(read(body.value)), references=forms.references)
        assert isinstance(body, ToolArtifact)
        return self._found(selection, body)

    def _said(self, selection: Selection, body: Message) -> str:
        words = (text_of(self.material.read(part.text)) for part in body.parts if isinstance(part, values.Text))
        line = self.material.forms.said(selection, body.role, "\n".join(words))
        speaker = self.material.speakers.get(selection.record)
        if speaker is not None:
            return speaking.line(speaker, body.role, line)
        return line + self._asked(body) if selection.level is Level.DENSE else line

    def _asked(self, body: Message) -> str:
        called = (part.call for part in body.parts if isinstance(part, values.CallRef))
        known = ((id, call) for id in called if (call := self.material.calls.get(id)) is not None)
        lines = [asked(call.tool, self.material.arguments(id, call)) for id, call in known]
        return standins.asked_for(lines) if lines else ""

    def _found(self, selection: Selection, body: ToolArtifact) -> str:
        call = self.material.call_of(body)
        tool = tool_name((call.tool if call is not None else body.tool) or "") or "tool"
        speaker = self.material.speakers.get(selection.record)
        # A gist quotes what was asked.
        hides = self.material.hides(selection.record) and selection.level is Level.GIST
        return self.material.forms.found(
            replace(selection, level=Level.REF) if hides else selection,
            tool=speaking.tool(speaker, tool) if speaker is not None else tool,
            arguments=self.material.arguments_of(body),
            raw=result_text(body, self.material.read) if selection.level is not Level.SAFE else "",
            size=body.size,
        )


def _observed(record: Record) -> Instant | None:
    """When what a line tells was observed; None: it tells what was said."""
    if isinstance(record.body, ToolMemory):
        return record.body.observed
    return record.header.at if isinstance(record.body, ToolArtifact) else None
