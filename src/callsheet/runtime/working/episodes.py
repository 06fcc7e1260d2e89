"""Having a summariser write what extracts stand for, in the background: no request waits for it."""

from collections.abc import Iterator
from dataclasses import dataclass

from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Episode
from callsheet.graph.ports import Summariser
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record, Stream
from callsheet.graph.values import Scope
from callsheet.policy.sets import BALANCED
from callsheet.runtime.abstracting import abstract, was_rejected
from callsheet.runtime.admitting import policy_of
from callsheet.runtime.seeing import newest_sheet, sight
from callsheet.runtime.session import Session, View
from callsheet.runtime.working.looking import Found, Looking
from callsheet.runtime.working.work import Outcome, Unit
from callsheet.runtime.working.workshop import Workshop

NAME = "episodes"

_LOOKED_AT = 256
"""Episodes of a conversation, the newest, that are looked at: older ones stand in no request."""


@dataclass(frozen=True, kw_only=True)
class Episodes:
    """Has the spans of extractive episodes summarised, those of each view that requests may still show.

    A unit names an extract. What was rejected once is not asked for again.
    """

    workshop: Workshop
    summariser: Summariser
    looking: Looking

    @classmethod
    def of(cls, workshop: Workshop) -> "Episodes | None":
        """The work where the runtime was opened with a summariser."""
        summariser = workshop.summariser
        if summariser is None:
            return None
        return cls(workshop=workshop, summariser=summariser, looking=Looking(work=NAME, workshop=workshop))

    @property
    def name(self) -> str:
        """See `Work.name`."""
        return NAME

    def pending(self, limit: int) -> list[Unit]:
        """See `Work.pending`."""
        return self.looking.pending(limit, self._look)

    def _look(self, stream: Stream) -> Found:
        head = self.workshop.ledger.head(stream.key)
        return Found(mark=head.position if head is not None else 0, due=(one.id for one in self._due(stream)))

    def _due(self, stream: Stream) -> Iterator[Record]:
        """The extracts of a conversation that nothing has taken the place of, oldest first."""
        query = NodeQuery(kinds=("episode",), newest=True, limit=_LOOKED_AT)
        spans: dict[tuple[RecordId | None, RecordId | None, int, int], Record] = {}
        for record in self.workshop.ledger.nodes(stream.key, query):
            scope, body = record.header.scope, record.body
            if isinstance(body, Episode) and scope.branch is not None and scope.sub_agent is None:
                spans[scope.branch, scope.owner, body.first, body.last] = record
        extracts = [one for one in spans.values() if isinstance(one.body, Episode) and one.body.method != "abstractive"]
        if not extracts:
            return
        session = self.workshop.session(stream.key)
        shown: dict[tuple[RecordId | None, RecordId | None], int] = {}
        due: list[Record] = []
        for record in sorted(extracts, key=lambda one: -one.position):
            scope = record.header.scope
            whose = (scope.branch, scope.owner)
            shown[whose] = shown.get(whose, 0) + 1
            seen = sight(session, _view(scope))
            if shown[whose] <= BALANCED.compaction.episodes and not was_rejected(seen, record.id, self.summariser):
                due.append(record)
        yield from reversed(due)

    def do(self, unit: Unit) -> Outcome:
        """See `Work.do`."""
        session = self.workshop.session(unit.stream)
        found = session.ledger.get(unit.stream, (RecordId(unit.target),))
        if not found or not isinstance(found[0].body, Episode):
            return Outcome.NOTHING
        view = _view(found[0].header.scope)
        if was_rejected(sight(session, view), found[0].id, self.summariser):
            return Outcome.NOTHING
        policy = policy_of(session, shown_under(session, view))
        return abstract(session, view, policy, found[0].id, self.summariser).outcome


def shown_under(session: Session, view: View) -> str:
    """The hash of the policy set of the newest sheet of a view; that of the default where it has none."""
    sheet = newest_sheet(session, view)
    return sheet.sheet.pins.policy_set if sheet is not None else BALANCED.hash


def _view(scope: Scope) -> View:
    assert scope.branch is not None
    return View(branch=scope.branch, participant=scope.owner)
