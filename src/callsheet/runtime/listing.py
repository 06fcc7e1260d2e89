"""The tool memories that a view may see, and how each stands: current, replaced, contradicted, out of date."""

from dataclasses import dataclass
from datetime import datetime

from callsheet.graph.enums import ConfidenceSource, Freshness, Level, Privacy, Relation, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolMemory
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.graph.times import Instant, to_datetime
from callsheet.policy.verdict import DETAIL
from callsheet.runtime.deciding import Standings, read_standings
from callsheet.runtime.seeing import newest_sheet, sight
from callsheet.runtime.session import Session, View


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedMemory:
    """A tool memory without what it says."""

    id: RecordId
    #: The results that it rests on, and the tools that gave them.
    sources: tuple[RecordId, ...]
    tools: tuple[str, ...]
    owner: RecordId | None
    privacy: Privacy
    freshness: Freshness
    observed: datetime
    stale_after: datetime | None
    confidence: float
    confidence_source: ConfidenceSource
    #: It rests on untrusted output of tools.
    tainted: bool
    replaced_by: tuple[RecordId, ...]
    conflicts_with: tuple[RecordId, ...]
    #: Somebody said that it no longer holds.
    marked_stale: bool
    erased: bool
    #: In how much detail the newest sheet of the view shows it; `Level.NONE`: not at all.
    level: Level


def memories(session: Session, view: View) -> list[ListedMemory]:
    """The tool memories that a view may see, oldest first. Takes time in proportion to their number."""
    seen = sight(session, view)
    key = session.conversation.key
    query = NodeQuery(kinds=("tool_memory",), lineage=seen.lineage)
    records = [record for record in session.ledger.nodes(key, query) if seen.shows(record)]
    if not records:
        return []
    standings = read_standings(session.ledger, key, seen.lineage, tuple(record.id for record in records), seen.shows)
    levels = _levels(session, view)
    return [
        _listed(record, record.body, standings, levels.get(record.id, Level.NONE))
        for record in records
        if isinstance(record.body, ToolMemory)
    ]


def _levels(session: Session, view: View) -> dict[RecordId, Level]:
    sheet = newest_sheet(session, view)
    found: dict[RecordId, Level] = {}
    for one in sheet.selected if sheet is not None else ():
        before = found.get(one.record, Level.NONE)
        found[one.record] = min(before, one.level, key=lambda level: DETAIL[level])
    return found


def _listed(record: Record, body: ToolMemory, standings: Standings, level: Level) -> ListedMemory:
    id = record.id
    changed = standings.state(StateField.PRIVACY, id)
    return ListedMemory(
        id=id,
        sources=body.sources,
        tools=body.tools,
        owner=record.header.scope.owner,
        privacy=Privacy(changed) if changed is not None else record.header.privacy,
        freshness=body.freshness,
        observed=to_datetime(body.observed),
        stale_after=_time(body.stale_after),
        confidence=body.confidence,
        confidence_source=body.confidence_source,
        tainted=body.tainted,
        replaced_by=standings.linked(Relation.SUPERSEDES, id),
        conflicts_with=standings.linked(Relation.CONFLICTS_WITH, id),
        marked_stale=standings.state(StateField.STALE, id) is not None,
        erased=standings.state(StateField.ERASED, id) is not None,
        level=level,
    )


def _time(moment: Instant | None) -> datetime | None:
    return to_datetime(moment) if moment is not None else None
