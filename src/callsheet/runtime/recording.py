"""Recording: from a provider's shapes to one transaction on a branch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from callsheet.assemble import blocks
from callsheet.errors import AmbiguousSheet, InvalidOption
from callsheet.graph.canonical import content_digest
from callsheet.graph.changes import ToolsOffered
from callsheet.graph.cut import earlier_than
from callsheet.graph.enums import ArtifactStatus, Privacy, Role, RunStatus, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ContextAssembly
from callsheet.graph.query import StateQuery
from callsheet.graph.record import Record
from callsheet.graph.times import Instant
from callsheet.graph.values import DEFAULT_PRIVACY
from callsheet.policy.visibility import hidden_from
from callsheet.runtime import calibrating
from callsheet.runtime.drafting import Drafting, Shown
from callsheet.runtime.session import Session, View
from callsheet.runtime.stages import turn_begins
from callsheet.runtime.stored import own_sheets
from callsheet.runtime.whole_sheets import read_sheet

NO_TOOLS = content_digest(b"[]")
"""The hash of an empty list of tools."""

Item = blocks.Block | blocks.Reply


@dataclass(frozen=True, kw_only=True, slots=True)
class Recording:
    """What is recorded in one call, and on what terms."""

    items: Sequence[Item]
    shown: Shown | None = None
    status: ArtifactStatus | None = None
    at: Instant | None = None
    event: str | None = None
    #: The class of what it takes the place of.
    least: Privacy = DEFAULT_PRIVACY
    #: The classes of data that contracts declare, by tool.
    declared: Mapping[str, Privacy] = field(default_factory=dict)

    def draft(self, drafting: Drafting) -> None:
        """Draft all records; none when the event is known already."""
        drafting.event, drafting.declared, drafting.least = self.event, self.declared, self.least
        if self.status is not None and not any(isinstance(item, blocks.Answer) for item in self.items):
            raise InvalidOption("status= goes with a tool's result; this value holds none")
        if self.at is not None:
            drafting.at = self.at
        if self.event is not None and _known(self.event, drafting):
            return
        if self.items:
            turn_begins(drafting)  # before the turn; whatever else is said and done has it behind
        for item in self.items:
            self._draft(drafting, item)

    def _draft(self, drafting: Drafting, item: Item) -> None:
        if isinstance(item, blocks.Answer):
            drafting.answered(item, self.status)
        elif isinstance(item, blocks.Said) and _is_answer(item) and self.shown is not None:
            drafting.replied(blocks.Reply(said=item, status=RunStatus.COMPLETED), self.shown)
            _note_tools(drafting, self.shown.record)
        elif isinstance(item, blocks.Said):
            drafting.said(item)
        else:
            drafting.replied(item, self.shown)
            if self.shown is not None:
                _note_tools(drafting, self.shown.record)
                _learn(drafting, item, self.shown.record)


def _known(event: str, drafting: Drafting) -> bool:
    """Whether the event was recorded before, as far as whoever records it now may see: what is hidden is another."""
    seen = drafting.tail.lineage
    while True:
        query = StateQuery(field=StateField.EVENT, targets=(event,), lineage=seen)
        rows = drafting.ledger.states(drafting.stream, query)
        if not rows:
            return False
        found = drafting.ledger.get(drafting.stream, (RecordId(rows[0].value or ""),))
        reader, run = drafting.participant, drafting.carries.sub_agent
        if any(hidden_from(record.header.scope, reader, run) is None for record in found):
            return True
        seen = earlier_than(seen, rows[0].from_pos)


def _note_tools(drafting: Drafting, sheet: ContextAssembly) -> None:
    before = drafting.tail.tools or NO_TOOLS
    now = sheet.tools or NO_TOOLS
    if now != before:
        offered = ToolsOffered(names=sheet.boundary.tools, hash=now, tokens=sheet.tokens.tools)
        drafting.add(offered, kind="tools_offered")


def _learn(drafting: Drafting, reply: blocks.Reply, sheet: ContextAssembly) -> None:
    if reply.usage is None:
        return
    lesson = calibrating.lesson(
        drafting.ledger,
        drafting.stream,
        drafting.tail.lineage,
        sheet.boundary,
        estimated=sheet.tokens.total,
        reported=reply.usage.input,
    )
    if lesson is not None:
        drafting.add(lesson, kind="calibrated")


def _is_answer(item: Item) -> bool:
    """Whether it is what a model said, in the shape of a message."""
    return isinstance(item, blocks.Said) and item.role is Role.ASSISTANT


def check_sheet(session: Session, view: View, items: Sequence[Item], sheet: Shown | None) -> Shown | None:
    """The sheet that is to be joined to the response among the items, if there is one.

    Raises `InvalidOption` for a sheet that does not fit the value, or that was assembled for another participant or
    sub-agent, or a branch that this one does not come from.
    """
    if sheet is None:
        return None
    if not any(isinstance(item, blocks.Reply) or _is_answer(item) for item in items):
        raise InvalidOption("sheet= goes with a provider's response or an assistant's message; this value holds none")
    return own_sheet(session, view, sheet)


def own_sheet(session: Session, view: View, sheet: Shown) -> Shown:
    """The sheet, where a view can have sent it: see `check_sheet`."""
    boundary = sheet.boundary
    if boundary.conversation != session.conversation.id:
        raise InvalidOption(f"sheet {sheet.sheet} belongs to another conversation")
    lines = {segment.branch for segment in session.tail(view).lineage.segments}
    own = (boundary.participant, boundary.run) == (view.participant, view.carries.sub_agent)
    if boundary.branch not in lines or not own:
        raise InvalidOption(f"sheet {sheet.sheet} was assembled for another branch or participant, or a sub-agent")
    return sheet


def waiting_sheet(session: Session, view: View) -> Shown | None:
    """The one sheet of a view that saw all there is and has no reply yet; None: there is none.

    Raises `AmbiguousSheet` for several with different requests.
    """
    newest = session.tail(view, fresh=True).last_shown
    head = session.ledger.head(session.sheets.key)
    if head is None:
        return None
    own = own_sheets(session.ledger, session.sheets.key, view.branch, view.participant, head.position)
    # Each sheet saw as much as those before it, or more.
    waiting = takewhile(lambda one: one[1].cut.at(session.conversation.id) >= newest, own)
    found = list(waiting)[::-1]
    if not found:
        return None
    if len(found) > 1 and len({_request(session, record) for record, _ in found}) > 1:
        names = ", ".join(record.id for record, _ in found)
        raise AmbiguousSheet(f"{len(found)} sheets are unanswered ({names}): pass the one that was sent as sheet=")
    record, body = found[-1]
    return Shown(sheet=record.id, record=body)


def _request(session: Session, record: Record) -> tuple[str, ...]:
    return read_sheet(session.place, record).blocks
