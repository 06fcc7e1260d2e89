"""The parts of messages and results as content of blocks, each in the detail that it was selected in."""

import dataclasses
from dataclasses import dataclass
from typing import TypeVar

from callsheet.assemble import blocks, standins
from callsheet.assemble.clearing import cleared_media
from callsheet.assemble.contents import is_bytes, result_text, text_of
from callsheet.assemble.marking import Marks, day, retry_terms
from callsheet.assemble.material import Material, earlier
from callsheet.derive.text import binary_standin, readable
from callsheet.graph import values
from callsheet.graph.enums import Level, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection, ToolArtifact
from callsheet.graph.times import Instant, to_datetime

Shown = TypeVar("Shown", bound=blocks.Part)


@dataclass(frozen=True, kw_only=True, slots=True)
class Showing:
    """Shows what stands in its own place in one request."""

    material: Material
    marks: Marks

    def result(self, selection: Selection, body: ToolArtifact) -> tuple[blocks.Content, ...]:
        """The content of a result at its level, never empty. Pictures stand whole, or go with the text around them."""
        return without_blank(self._result(selection, body), standins.NO_OUTPUT)

    def part(
        self, part: values.Text | values.Reasoning | values.Media | values.Opaque, id: RecordId, role: Role
    ) -> blocks.Part:
        """A part of a message but its calls, with what its provider sealed."""
        if isinstance(part, values.Reasoning):
            return blocks.Reasoning(wire=part.wire, raw=self.material.read(part.raw))
        return self.content(part, id, role)

    def content(self, part: values.Content, id: RecordId, role: Role | None = None) -> blocks.Content:
        """A part of the record `id`: of a message in this role, or (None) of a result."""
        read, forms = self.material.read, self.material.forms
        if isinstance(part, values.Text):
            return blocks.Text(text=text_of(read(part.text)), extras=part.extras)
        if isinstance(part, values.Opaque):
            return blocks.Opaque(wire=part.wire, raw=read(part.raw))
        data = read(part.data) if part.data is not None else None
        if data is not None and is_bytes(part):
            return blocks.Text(text=readable(data) or forms.unseen(id, binary_standin(part.mime, len(data))))
        media = blocks.Media(
            mime=part.mime,
            data=data,
            url=part.url,
            width=part.width,
            height=part.height,
            wire=part.wire,
            extras=part.extras,
        )
        if self.material.redaction is not None:
            media = cleared_media(media, self.material.redaction)
        words = self.material.instead(media, role) if self.material.instead is not None else None
        return media if words is None else blocks.Text(text=forms.unseen(id, words))

    def _result(self, selection: Selection, body: ToolArtifact) -> tuple[blocks.Content, ...]:
        level = selection.level
        if level is Level.RAW:
            return tuple(self.content(part, selection.record) for part in body.content)
        if level is Level.SAFE:
            return (blocks.Text(text=self.material.forms.withheld(body.size)),)
        text = self._told(selection, body)
        media = level in (Level.DENSE, Level.FOCUS)
        pictures = tuple(
            self.content(part, selection.record)
            for part in body.content
            if media and isinstance(part, values.Media) and not is_bytes(part)
        )
        mark = self.marks.before(selection) if selection.against is None else None
        terms = retry_terms(body)
        text = f"{mark}\n{text}" if mark else text
        return (blocks.Text(text=f"{text}\n{terms}" if terms else text), *pictures)

    def _told(self, selection: Selection, body: ToolArtifact) -> str:
        """The text of a result that stands neither by its exact bytes nor withheld."""
        material, level, against = self.material, selection.level, selection.against
        raw = result_text(body, material.read)
        if level is Level.GIST and material.hides(selection.record):
            return material.forms.left_out(selection, raw)
        if against is not None and not material.hides(against):
            first = material.records[against]
            return material.forms.against(selection, raw, lambda: earlier(first, material.calls, material.read))
        if level in (Level.DENSE, Level.FOCUS, Level.GIST):
            return material.forms.text(selection, raw)
        text = material.forms.left_out(selection, raw, day(material.records[selection.record].header.at))
        tools = material.rechecks_of(body) if level is Level.STALE else ()
        return f"{text} ({standins.check_again(tools)})" if tools else text


def without_blank(parts: tuple[Shown, ...], standin: str) -> tuple[Shown | blocks.Text, ...]:
    """The parts that show something, or else the stand-in. Rendering stands in for what its format cannot show."""
    kept = tuple(part for part in parts if not (isinstance(part, blocks.Text) and not part.text.strip()))
    return kept or (blocks.Text(text=standin),)


def words(parts: tuple[blocks.Content, ...]) -> str:
    """What of these parts is text."""
    shown = (part for part in parts if not isinstance(part, blocks.Media))
    return "\n".join(part.text if isinstance(part, blocks.Text) else text_of(part.raw) for part in shown)


def plain(part: blocks.Content) -> blocks.Content:
    """A part without what its provider put beside it in the role that it was said in."""
    return blocks.Text(text=part.text) if isinstance(part, blocks.Text) else part


def timed(parts: tuple[blocks.Part, ...], at: Instant) -> tuple[blocks.Part, ...]:
    """What was said, behind the time at which it was."""
    stamp = f"[{to_datetime(at):%Y-%m-%d %H:%M} UTC]"
    first = parts[0] if parts else None
    if isinstance(first, blocks.Text):
        return (dataclasses.replace(first, text=f"{stamp} {first.text}"), *parts[1:])
    return (blocks.Text(text=stamp), *parts)
