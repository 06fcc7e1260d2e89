"""What composing draws on, and what may be said of a record besides its content."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from callsheet.assemble import blocks, standins
from callsheet.assemble.contents import Read, result_text, text_of
from callsheet.assemble.forms import Forms, asked
from callsheet.assemble.likeness import Earlier
from callsheet.derive.redaction import Redaction
from callsheet.graph.enums import Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolArtifact, ToolCall
from callsheet.graph.record import Record


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
    #: Messages of which the model does not take the thoughts back, which it had behind something else.
    bare: frozenset[RecordId] = frozenset()
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

    def call_of(self, body: ToolArtifact) -> ToolCall | None:
        """The call that a result answers; None: none that is known."""
        return self.calls.get(body.call) if body.call is not None else None

    def arguments(self, id: RecordId, call: ToolCall) -> str:
        """What a call asked for, as far as that may be shown."""
        return standins.NO_ARGUMENTS if id in self.withheld else text_of(self.read(call.arguments))

    def arguments_of(self, body: ToolArtifact) -> str:
        """The same of the call that a result answers; empty where none is known."""
        call = self.call_of(body)
        return self.arguments(body.call, call) if body.call is not None and call is not None else ""

    def hides(self, result: RecordId) -> bool:
        """Whether what was asked for a result may not be shown, as nothing is that others asked for."""
        if result in self.speakers:
            return True
        return getattr(self.records[result].body, "call", None) in self.withheld

    def rechecks_of(self, body: ToolArtifact) -> tuple[str, ...]:
        """How to learn whether a result still holds."""
        return self.rechecks.get(body.tool or "", ())


def earlier(result: Record, calls: Mapping[RecordId, ToolCall], read: Read) -> Earlier:
    """A result that stands in view in full, for a later one to be told against."""
    body = result.body
    assert isinstance(body, ToolArtifact)
    call = calls.get(body.call) if body.call is not None else None
    tool = (call.tool if call is not None else body.tool) or "tool"
    arguments = text_of(read(call.arguments)) if call is not None else ""
    return Earlier(record=result.id, text=result_text(body, read), asked=asked(tool, arguments))
