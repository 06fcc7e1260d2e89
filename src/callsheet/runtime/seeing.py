"""What one view may see: its records along its lineage, and which of them may be read.

A record that is hidden from the view is not there, in what is found and in the texts of errors.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from callsheet.assemble.delta import Whole
from callsheet.graph.cut import Lineage
from callsheet.graph.enums import Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.graph.times import Instant
from callsheet.graph.values import Payload
from callsheet.policy.visibility import refusal
from callsheet.runtime.releasing import opened
from callsheet.runtime.session import Session, View
from callsheet.runtime.stored import own_sheets
from callsheet.runtime.whole_sheets import read_sheet

Admit: TypeAlias = Callable[[Record, Boundary], Reason | None]
"""Why the content of a record that may be seen may not be read at a boundary; None: it may."""

_AT_A_TIME = 512
"""Records read at once on the way back."""

READ = 4_096
"""Characters of a reference that an error looks at: what is no reference may be a secret in the wrong place."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sight:
    """What one view may see now, and of that what it may read."""

    session: Session
    view: View
    boundary: Boundary
    lineage: Lineage
    admit: Admit | None = None
    #: Whether secrets are read as they are.
    secrets: bool = False
    #: Calls whose arguments may not be read.
    withheld: frozenset[RecordId] = frozenset()

    @property
    def read(self) -> Callable[[Payload], bytes]:
        """Content as it may be shown: with markers in the place of secrets, unless they may be read."""
        return self.session.read if self.secrets else self.session.redacting

    def told(self, asked: str) -> str:
        """What was asked for, as an answer may tell it again."""
        return asked if self.secrets else self.session.redacting.redaction.text(asked[:READ])

    def shows(self, record: Record) -> bool:
        """Whether the record exists for this view."""
        if not self.lineage.sees(record.branch, record.position):
            return False
        return refusal(record.header, self.boundary) is None or record.id in self.opened()

    def refused(self, record: Record) -> Reason | None:
        """Why the content of a record that exists for this view may not be read."""
        return self.admit(record, self.boundary) if self.admit is not None else None

    def newest(self, *kinds: str) -> Iterator[Record]:
        """The records of these kinds that exist for this view, newest first, read a few at a time.

        Without any, the messages and artifacts.
        """
        before: int | None = None
        while True:
            query = NodeQuery(
                kinds=kinds or ("message", "artifact"),
                lineage=self.lineage,
                newest=True,
                limit=_AT_A_TIME,
                before=before,
            )
            found = self.session.ledger.nodes(self.session.conversation.key, query)
            for record in reversed(found):
                if self.shows(record):
                    yield record
            if len(found) < _AT_A_TIME:
                return
            before = found[0].position

    def listed(self) -> tuple[RecordId, ...]:
        """The records of the newest sheet of this view: what short references come from."""
        sheet = newest_sheet(self.session, self.view)
        return tuple(dict.fromkeys(selection.record for selection in sheet.selected)) if sheet is not None else ()

    def get(self, id: RecordId) -> Record | None:
        """The record with this id, unless it does not exist for this view."""
        found = self.session.ledger.get(self.session.conversation.key, (id,))
        return found[0] if found and (self.shows(found[0]) or id in self.opened()) else None

    def opened(self) -> frozenset[RecordId]:
        """The records that were released to this view or shared with it, wherever they stand."""
        session, desk = self.session, self.session.desk(self.view)
        desk.opened = opened(session.ledger, session.conversation.key, self.lineage, self.boundary, desk.opened)
        return desk.opened.records


def sight(session: Session, view: View, *, boundary: Boundary | None = None, admit: Admit | None = None) -> Sight:
    """What a view may see as of now. Without a boundary, visibility alone decides, for the view's participant."""
    own = boundary or own_boundary(session, view, session.clock.now())
    lineage = session.tail(view, fresh=True).lineage
    return Sight(session=session, view=view, boundary=own, lineage=lineage, admit=admit)


def own_boundary(session: Session, view: View, now: Instant) -> Boundary:
    """The boundary of a view that reads for itself, to send nothing to any provider."""
    return Boundary(
        conversation=session.conversation.id,
        branch=view.branch,
        participant=view.participant,
        run=view.carries.sub_agent,
        provider="",
        model="",
        budget=0,
        now=now,
    )


def newest_sheet(session: Session, view: View) -> Whole | None:
    """The newest sheet of a view, shown or not, on its branch or those that it inherits from; None: it has none."""
    at_hand = session.desk(view).sheets
    if at_hand:
        return at_hand[-1]
    head = session.ledger.head(session.sheets.key)
    if head is None or not head.position:
        return None
    for segment in reversed(session.tail(view).lineage.segments):
        own = own_sheets(session.ledger, session.sheets.key, segment.branch, view.participant, head.position)
        for record, body in own:
            if body.cut.at(session.conversation.id) <= segment.upto:
                return read_sheet(session.place, record)
    return None
