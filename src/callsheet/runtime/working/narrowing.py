"""Having long results summarised, in the background, whose tools are narrowed that way; extracts stand until then."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from callsheet.assemble.contents import result_text
from callsheet.derive.guarding import Material
from callsheet.errors import CallsheetError
from callsheet.graph.enums import Level
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, ContextAssembly, ToolArtifact
from callsheet.graph.ports import Summariser
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record, Stream
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.settings import Manner
from callsheet.runtime.abstracting import keep_in_mind, rejected, was_rejected
from callsheet.runtime.admitting import Admitting, policy_of
from callsheet.runtime.drafting import Drafting
from callsheet.runtime.memorising import Promotion
from callsheet.runtime.promoting import promotes
from callsheet.runtime.seeing import Sight, sight
from callsheet.runtime.session import Session, View
from callsheet.runtime.spans import Voices
from callsheet.runtime.summarising import summarised
from callsheet.runtime.whole_sheets import read_sheet
from callsheet.runtime.working.looking import Found, Looking
from callsheet.runtime.working.work import Outcome, Unit
from callsheet.runtime.working.workshop import Workshop

NAME = "narrowing"

_MODEL = "model:"
"""Before the name of a summariser, where a memory says what made it."""


@dataclass(frozen=True, kw_only=True)
class Narrowing:
    """Has results summarised that the newest request of a conversation shows narrowed, by their tools' manner.

    A summary becomes a memory of its result, under all that holds for memories; so it stands in its place at the next
    rewrite, says what made it, and the result stays. A unit names a result.
    """

    workshop: Workshop
    summariser: Summariser
    looking: Looking

    @classmethod
    def of(cls, workshop: Workshop) -> "Narrowing | None":
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

    def _look(self, stream: Stream) -> Found | None:
        session = self.workshop.session(stream.key)
        sheet = _newest(session)
        return Found(mark=sheet.id, due=self._due(session, sheet)) if sheet is not None else None

    def _due(self, session: Session, sheet: Record) -> Iterator[RecordId]:
        """The results that a request shows narrowed and that are to be summarised."""
        assert isinstance(sheet.body, ContextAssembly)
        policy = policy_of(session, sheet.body.pins.policy_set)
        manners = {contract.name: contract.narrowing for contract in policy.tools}
        if policy.narrowing.manner is not Manner.SUMMARY and Manner.SUMMARY not in manners.values():
            return
        seen = sight(session, _view(sheet.body.boundary))
        shown = read_sheet(session.place, sheet).selected
        narrowed = tuple(dict.fromkeys(one.record for one in shown if one.level is Level.FOCUS))
        for record in session.ledger.get(session.conversation.key, narrowed) if narrowed else ():
            tool = getattr(record.body, "tool", None)
            manner = manners.get(tool or "") or policy.narrowing.manner
            if manner is Manner.SUMMARY and not self._settled(seen, record.id):
                yield record.id

    def _settled(self, seen: Sight, id: RecordId) -> bool:
        """Whether this summariser's summary of a result is there, or was rejected."""
        session = seen.session
        query = NodeQuery(kinds=("tool_memory",), lineage=seen.lineage)
        memories = (
            record.body for record in session.ledger.nodes(session.conversation.key, query) if seen.shows(record)
        )
        made = any(
            id in getattr(body, "sources", ()) and getattr(body, "extractor", "") == f"{_MODEL}{self.summariser.name}"
            for body in memories
        )
        return made or was_rejected(seen, id, self.summariser)

    def do(self, unit: Unit) -> Outcome:
        """See `Work.do`."""
        session, id = self.workshop.session(unit.stream), RecordId(unit.target)
        sheet = _newest(session)
        if sheet is None or id not in tuple(self._due(session, sheet)):
            return Outcome.NOTHING
        assert isinstance(sheet.body, ContextAssembly)
        view = _view(sheet.body.boundary)
        policy = policy_of(session, sheet.body.pins.policy_set)
        seen = sight(session, view, boundary=_boundary(session, view, self.summariser))
        record = seen.get(id)
        if record is None or not isinstance(record.body, ToolArtifact):
            return Outcome.NOTHING
        if Admitting(seen=seen, policy=policy).judged(record).refusal is not None:
            return self._rejected(session, view, record, policy, "not_allowed")
        speaker = Voices.of(seen, policy, (record,)).speaker(record)
        material = Material(speaker, result_text(record.body, session.redacting), untrusted=True)
        made = summarised(self.summariser, (material,), limit=policy.narrowing.limit)
        if made.flaw is not None:
            return self._rejected(session, view, record, policy, made.flaw.value)
        promoting = promotes(session, view, self._promotion(id, made.text, policy))
        try:
            return self._unless_settled(session, view, id, promoting, Outcome.DONE)
        except CallsheetError as problem:
            return self._rejected(session, view, record, policy, problem.code)

    def _promotion(self, id: RecordId, text: str, policy: PolicySetDocument) -> Promotion:
        return Promotion(
            references=(id,),
            summary=text,
            payload=None,
            extractor=f"{_MODEL}{self.summariser.name}",
            confidence=None,
            attributes={},
            policy_set=policy.hash,
        )

    def _rejected(
        self, session: Session, view: View, record: Record, policy: PolicySetDocument, reason: str
    ) -> Outcome:
        def draft(drafting: Drafting) -> None:
            rejected(drafting, record, reason, self.summariser, policy)

        return self._unless_settled(session, view, record.id, draft, Outcome.REFUSED)

    def _unless_settled(
        self, session: Session, view: View, id: RecordId, draft: Callable[[Drafting], object], outcome: Outcome
    ) -> Outcome:
        """Append what is drafted, unless somebody else was first: that is looked for in the same transaction."""
        done: list[Outcome] = []

        def drafts(drafting: Drafting) -> None:
            done[:] = [Outcome.NOTHING]
            if not self._settled(sight(session, view), id):
                draft(drafting)
                done[:] = [outcome]

        session.append(view, drafts)
        if done[0] is Outcome.REFUSED:
            keep_in_mind(id, self.summariser)
        return done[0]


def _newest(session: Session) -> Record | None:
    """The newest request of a conversation, of whichever view; None: it has none."""
    found = session.ledger.nodes(session.sheets.key, NodeQuery(kinds=("assembly",), newest=True, limit=1))
    return found[0] if found and isinstance(found[0].body, ContextAssembly) else None


def _view(boundary: Boundary) -> View:
    return View(branch=boundary.branch, participant=boundary.participant)


def _boundary(session: Session, view: View, summariser: Summariser) -> Boundary:
    return Boundary(
        conversation=session.conversation.id,
        branch=view.branch,
        participant=view.participant,
        provider=summariser.provider,
        model=summariser.name,
        budget=summariser.window,
        now=session.clock.now(),
    )
