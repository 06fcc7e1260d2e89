"""The text of a result at each level of detail, and its line in a note."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from callsheet.assemble import standins
from callsheet.assemble.likeness import Earlier, told_against
from callsheet.derive.derived import Derived
from callsheet.derive.document import ContentKind, Document
from callsheet.derive.notation import indented, is_noted, of_tool, tool_name
from callsheet.derive.reading import read
from callsheet.derive.redaction import Redaction
from callsheet.graph.enums import Level, Reason, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection, ToolMemory

SAID = 200
"""Characters of what was said that stand in a note."""

_SOURCES = 3
"""References of the results that a memory rests on that stand in its line."""

_ASKED = 240
"""Characters of a call's arguments that stand in a note."""


def reference(id: RecordId) -> str:
    """How a record is referred to in a request: a few characters, few tokens. Recall takes it as it takes the id."""
    kind, _, rest = id.partition("_")
    return rest[:6] if rest else kind


def in_short(text: str) -> str:
    """What the line of a message in a note shows of what it says."""
    folded = " ".join(text[: 4 * SAID].split())
    return folded if len(folded) <= SAID and len(text) <= 4 * SAID else folded[:SAID].rstrip() + " …"


@dataclass(kw_only=True, slots=True)
class Forms:
    """Texts of results by level. What was read once is kept, so that the same form is made once."""

    derived: Mapping[RecordId, Derived]
    #: Whether references are shown: they are when the model can use them.
    references: bool = True
    #: What is made of content may have undone an escape that hid a secret. None: secrets may be shown.
    redaction: Redaction | None = None
    _kept: dict[tuple[RecordId, Level, tuple[int, ...]], str] = field(default_factory=dict)
    _differing: dict[tuple[RecordId, RecordId], str] = field(default_factory=dict)
    _notes: dict[tuple[tuple[Selection, ...], int, frozenset[RecordId], tuple[str, ...]], str] = field(
        default_factory=dict
    )

    def text(self, selection: Selection, raw: str, mime: str = "") -> str:
        """The text of a result that stands at the level of its selection."""
        level = selection.level
        if level is Level.RAW:
            return raw
        key = (selection.record, level, selection.segments)
        kept = self._kept.get(key)
        if kept is None:
            made = self._made(selection, raw, mime)
            kept = self._kept[key] = self.redaction.text(made) if self.redaction is not None else made
        return kept

    def against(self, selection: Selection, raw: str, earlier: Callable[[], Earlier]) -> str:
        """The text of a result that stands by what differs from an earlier one."""
        key = (selection.record, selection.against or selection.record)
        kept = self._differing.get(key)
        if kept is None:
            told = told_against(raw, earlier())
            kept = self._differing[key] = told if told is not None else self.text(selection, raw)
        return kept

    def forget(self, but: Collection[RecordId]) -> None:
        """Let go of the texts of all records but these."""
        for key in [key for key in self._kept if key[0] not in but]:
            del self._kept[key]
        for pair in [pair for pair in self._differing if pair[0] not in but]:
            del self._differing[pair]
        for note in [note for note in self._notes if any(member.record not in but for member in note[0])]:
            del self._notes[note]

    def _made(self, selection: Selection, raw: str, mime: str) -> str:
        known = self.derived.get(selection.record)
        match selection.level:
            case Level.DENSE:
                return read(raw, mime).dense()
            case Level.FOCUS:
                return self._more(selection.record, excerpt(read(raw, mime), selection.segments))
            case Level.GIST:
                return self._more(selection.record, known.gist if known is not None else "")
            case _:
                return raw

    def _more(self, record: RecordId, text: str) -> str:
        return f"{text}\n[{standins.SHORTENED}{self._where(record)}]"

    def named(self, record: RecordId) -> str:
        """The reference of a record; empty where references are not shown."""
        return reference(record) if self.references else ""

    def _where(self, record: RecordId) -> str:
        return standins.all_of_it(reference(record)) if self.references else ""

    def unseen(self, record: RecordId, words: str) -> str:
        """The words that stand for what cannot be shown, with the reference under which it is kept."""
        return f"{words.removesuffix(')')}; {standins.kept(reference(record))})" if self.references else words

    def left_out(self, selection: Selection, raw: str, day: str = "") -> str:
        """What stands in the place of a result whose content is not shown; with the day on which it was observed."""
        known = self.derived.get(selection.record)
        size = _amount(known, raw)
        replaced = selection.reason is Reason.SUPERSEDED and selection.level is Level.REF
        what = standins.REPLACED if replaced else _GONE.get(selection.level, standins.LEFT_OUT)
        where = self._where(selection.record)
        seen = standins.seen_on(day) if day and (replaced or selection.level is Level.STALE) else ""
        return f"({size}, {what}{seen}{where})"

    @staticmethod
    def withheld(size: int) -> str:
        """What stands in the place of a result whose content may not be shown: its size, and nothing that it holds."""
        return f"({_bytes(size)}, {standins.WITHHELD})"

    # ------------------------------------------------------------------ notes and their lines

    def note(
        self,
        members: tuple[Selection, ...],
        unlisted: int,
        lines: Callable[[], list[str]],
        withheld: frozenset[RecordId],
        marks: tuple[str, ...] = (),
    ) -> str:
        """The text of a note: a line for each of its members, and how many older records no note lists.

        `marks` are what else its lines depend on beside its members.
        """
        kept = self._notes.get((members, unlisted, withheld, marks))
        if kept is None:
            again = members[0].note > 1
            kept = standins.note(lines(), references=self.references, left_out=unlisted, again=again)
            self._notes[members, unlisted, withheld, marks] = kept
        return kept

    def said(self, selection: Selection, role: Role, text: str) -> str:
        """The line of a message in a note."""
        if selection.level in _GONE:
            where = self._where(selection.record) if selection.level is Level.REF and role is Role.ASSISTANT else ""
            return f"{role.value}: ({_GONE[selection.level]}{where})"
        return indented(f"{role.value}: {text}") if selection.level is Level.RAW else f"{role.value}: {in_short(text)}"

    def found(self, selection: Selection, *, tool: str, arguments: str, raw: str, size: int = 0, mime: str = "") -> str:
        """The line, or lines, of a result in a note."""
        mark = f"[{reference(selection.record)}] " if self.references else ""
        known = self.derived.get(selection.record)
        match selection.level:
            case Level.GIST if known is not None:
                return indented(f"{mark}{of_tool(known.gist)}")
            case Level.RAW | Level.DENSE | Level.FOCUS:
                return indented(f"{mark}{asked(tool, arguments)}:\n{self._body(selection, raw, mime)}")
            case Level.SAFE:
                # What was asked may be of the class that is withheld.
                return f"{tool}: {_bytes(size)}, {standins.WITHHELD}"
            case Level.STALE:
                return f"{mark}{asked(tool, arguments)}: {standins.OUT_OF_DATE}"
            case _:
                replaced = f", {standins.REPLACED}" if selection.reason is Reason.SUPERSEDED else ""
                return f"{mark}{asked(tool, arguments)}: {_amount(known, raw)}{replaced}"

    def remembered(self, selection: Selection, body: ToolMemory, text: str) -> str:
        """The line of a tool memory in a note, with the references of the results that it rests on."""
        sources = ", ".join(reference(source) for source in body.sources[:_SOURCES])
        mark = f"[{sources}{', …' if len(body.sources) > _SOURCES else ''}] " if self.references else ""
        tools = ", ".join(map(tool_name, body.tools)) or "tool"
        again = f"; {standins.check_again(body.recheck_tools)}" if body.recheck_tools else ""
        match selection.level:
            case Level.SAFE:
                return f"{tools}: {standins.WITHHELD}{again}"
            case Level.STALE:
                return f"{mark}{tools}: {standins.OUT_OF_DATE}{again}"
            case Level.REF:
                why = standins.REPLACED if selection.reason is Reason.SUPERSEDED else standins.LEFT_OUT
                return f"{mark}{tools}: {why}"
            case _:
                # Behind a reference, too, it could pass for what somebody said.
                told = f"{tools}: {text}" if is_noted(text) else text
                return indented(f"{mark}{told}{standins.CONTRADICTED if selection.reason is Reason.CONFLICT else ''}")

    def _body(self, selection: Selection, raw: str, mime: str) -> str:
        if selection.level is Level.FOCUS:
            text = excerpt(read(raw, mime), selection.segments)
        else:
            text = self.text(selection, raw, mime)
        escaped = text.translate(_BREAKS)
        return escaped if escaped != text and read(raw, mime).kind in _JSON else text


_JSON = frozenset({ContentKind.JSON, ContentKind.JSON_LINES})
_BREAKS = {place: f"\\u{place:04x}" for place in (0x85, 0x2028, 0x2029)}
"""What breaks lines and may stand in JSON: within strings alone, where the escape is the same value. A note would set
what follows one space in."""

_GONE = {Level.STALE: standins.OUT_OF_DATE, Level.SAFE: standins.WITHHELD, Level.REF: standins.LEFT_OUT}
"""What is said instead at the levels that show nothing of the content."""


def unsaid(level: Level) -> str | None:
    """What stands in the place of a message whose content is not shown at this level; None: it is shown."""
    return f"({_GONE[level]})" if level in _GONE else None


def _bytes(size: int) -> str:
    return f"{size:,} byte{'' if size == 1 else 's'}"


def _amount(known: Derived | None, raw: str) -> str:
    if known is None or not known.unit:
        return f"{len(raw):,} characters"
    return f"{known.total:,} {known.unit if known.total != 1 else known.unit.removesuffix('s')}"


def asked(tool: str, arguments: str) -> str:
    """A call in a line: the tool and its arguments, shortened where they are long."""
    folded = " ".join(arguments[: 4 * _ASKED].split())
    short = folded if len(folded) <= _ASKED and len(arguments) <= 4 * _ASKED else folded[:_ASKED] + " …"
    return f"{' '.join(tool.split())}({'' if short == '{}' else short})"


def excerpt(document: Document, segments: tuple[int, ...]) -> str:
    """The chosen segments of a document; where it has none, what is known of its shape."""
    usable = tuple(index for index in segments if index < len(document.segments))
    return document.excerpt(usable) if document.segments else document.outline()
