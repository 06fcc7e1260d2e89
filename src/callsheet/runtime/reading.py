"""What has come since the last request, or all there is before the first, and what changes have made of records."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from callsheet.graph.changes import (
    CallResolved,
    Conflicted,
    Erased,
    MarkedStale,
    Pinned,
    Promoted,
    Reclassified,
    Released,
    RetentionApplied,
    Shared,
    Superseded,
    Withdrawn,
)
from callsheet.graph.enums import INSTRUCTING, Reason, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, Selection, ToolArtifact
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.runtime.deciding import Standings, read_standings
from callsheet.runtime.ground import Ground
from callsheet.runtime.judged import NOBODY, Judged, judged, newly_pinned
from callsheet.runtime.recollecting import memories_of
from callsheet.runtime.releasing import refused as refused_to
from callsheet.runtime.ruling import shown
from callsheet.runtime.telling import Telling
from callsheet.runtime.unseen import CHANGES, Unseen, Visible, unseen
from callsheet.runtime.unshown import Unshowing, Unshown
from callsheet.runtime.withholding import withheld_calls

FIRST = 600
"""Records of a history that the first request looks at, the newest, and of older ones those that policy protects.

What the newest question names of the rest is brought back.
"""

_AT_A_TIME = 500
"""Records of other branches that are counted at once."""

HIDDEN = frozenset({Reason.PARTICIPANT_PRIVATE, Reason.AUDIT_ONLY, Reason.NOT_RELEASED, Reason.ERASED, Reason.RULE})
"""Why a record along its lineage was counted as hidden from a reader."""


@dataclass(frozen=True, kw_only=True, slots=True)
class News:
    """The visible records that are new, in order of position; before a first request those that it looks at."""

    records: Sequence[Record]
    #: Before a first request: how much more there is.
    unshown: Unshown | None = None
    refused: Mapping[Reason, int] = field(default_factory=dict)
    #: New records on branches that the reader does not stand on, counted apart from all else that is left out.
    aside: int = 0


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Reads for one request."""

    ground: Ground

    def news(self) -> News:
        """What the last request did not see."""
        ground = self.ground
        if ground.base is None and not ground.policy.verbatim:
            first = self._unshown()
            return News(records=first.records, unshown=first, refused=first.refused, aside=self._aside())
        query = NodeQuery(kinds=("message", "artifact"), lineage=ground.lineage, after=ground.seen)
        refused: dict[Reason, int] = {}
        records: list[Record] = []
        for record in ground.ledger.nodes(ground.key, query):
            reason = refused_to(record, ground.boundary, ground.desk.opened)
            if reason is None:
                records.append(record)
            else:
                refused[reason] = refused.get(reason, 0) + 1
        return News(records=records, refused=refused, aside=self._aside())

    def _aside(self) -> int:
        """New messages and results on branches that the reader does not stand on; read only where there are any."""
        ground = self.ground
        if len(ground.ledger.nodes(ground.key, NodeQuery(kinds=("branch",), limit=2))) < 2:
            return 0
        after, number = ground.seen, 0
        while True:
            query = NodeQuery(
                kinds=("message", "artifact"), after=after, before=ground.lineage.upto + 1, limit=_AT_A_TIME
            )
            found = ground.ledger.nodes(ground.key, query)
            number += sum(not ground.lineage.sees(record.branch, record.position) for record in found)
            if len(found) < _AT_A_TIME:
                return number
            after = found[-1].position

    def _unshown(self) -> Unshown:
        """The newest of a history of which nothing is in view, with what of the rest is protected."""
        ground = self.ground
        pinned = self._pinned()
        return Unshowing(
            ledger=ground.ledger,
            key=ground.key,
            lineage=ground.lineage,
            boundary=ground.boundary,
            newest=FIRST,
            turns=max(1, ground.policy.turns),
            pinned=pinned,
            open=ground.open,
            opened=ground.desk.opened,
            silent=self.telling.silent,
        ).read()

    @cached_property
    def telling(self) -> Telling:
        """Which records may not go to the provider with what they hold."""
        return Telling(
            ground=self.ground,
            standings=self.standings,
            withheld=self.withheld,
            changed=self._ever_changed,
        )

    def _pinned(self) -> set[str]:
        visible = self.visible()
        return set(visible.states((StateField.PINNED,))[StateField.PINNED]) if visible is not None else set()

    def visible(self) -> Visible | None:
        """What changes have made of records, as far as the reader sees them; None: there never were any."""
        if not self._ever_changed:
            return None
        ground = self.ground
        return Visible(
            ledger=ground.ledger, key=ground.key, lineage=ground.lineage, shows=ground.shows, hidden=self._hidden
        )

    # ------------------------------------------------------------------ changes

    @cached_property
    def _hidden(self) -> Unseen:
        """The changes that the reader may not see; kept at hand, so that only later ones are read again."""
        ground = self.ground
        ground.desk.hidden = unseen(ground.ledger, ground.key, ground.lineage, ground.shows, ground.desk.hidden)
        return ground.desk.hidden

    def memories(self, results: Iterable[RecordId]) -> list[Record]:
        """The memories that these results call for; promotion is a change, so without any there are none."""
        ground = self.ground
        if not self._ever_changed or ground.policy.verbatim:
            return []
        shows = self._shows()
        visible = Visible(
            ledger=ground.ledger, key=ground.key, lineage=ground.lineage, shows=shows, hidden=self._hidden
        )
        return memories_of(ground, results, visible)

    def _shows(self) -> Callable[[Record], bool]:
        """Whether the reader is shown what a relation comes from."""
        ground = self.ground
        visible = Visible(
            ledger=ground.ledger, key=ground.key, lineage=ground.lineage, shows=ground.shows, hidden=self._hidden
        )
        return shown(ground.policy, ground.boundary, visible)

    @cached_property
    def _ever_changed(self) -> bool:
        query = NodeQuery(kinds=CHANGES, lineage=self.ground.lineage, newest=True, limit=1)
        return bool(self.ground.ledger.nodes(self.ground.key, query))

    def changed(self) -> tuple[Record, ...]:
        """The changes that the last request did not see."""
        if self.ground.base is None or not self._ever_changed:
            return ()
        query = NodeQuery(kinds=CHANGES, lineage=self.ground.lineage, after=self.ground.seen)
        found = self.ground.ledger.nodes(self.ground.key, query)
        # What is erased is gone for everyone, whoever recorded it.
        return tuple(record for record in found if self.ground.shows(record) or isinstance(record.body, Erased))

    def judged(self, changed: Sequence[Record]) -> Judged:
        """The feedback there ever was; kept at hand, so that mostly only that of the new changes is added."""
        if not self._ever_changed:
            return NOBODY
        ground, known = self.ground, self.ground.desk.judged
        if ground.base is not None and known.upto >= ground.seen:
            known = known.after(changed, ground.lineage.upto)
        else:
            known = judged(ground.ledger, ground.key, ground.lineage, ground.boundary, known)
        ground.desk.judged = known
        return known

    def pinned(self, changed: Sequence[Record]) -> tuple[RecordId, ...]:
        """What was pinned since the last request, or before a first one ever."""
        if self.ground.base is not None:
            return newly_pinned(changed)
        return tuple(sorted(map(RecordId, self._pinned())))

    def standings(self, ids: tuple[RecordId, ...]) -> Standings:
        """What all changes there ever were have made of records, as far as it is visible."""
        if not self._ever_changed:
            return Standings()
        ground = self.ground
        shows = self._shows()
        return read_standings(ground.ledger, ground.key, ground.lineage, ids, shows, hidden=self._hidden)

    @cached_property
    def withheld(self) -> frozenset[RecordId]:
        """The calls whose arguments may not be shown."""
        ground = self.ground
        if not self._ever_changed:
            return frozenset()
        return withheld_calls(
            ground.ledger, ground.key, ground.lineage, ground.boundary, ground.policy, hidden=self._hidden
        )


def numbered(ground: Ground, view: Sequence[Selection], news: News) -> tuple[dict[RecordId, int], int]:
    """The turn of each record in view and of each new one, and the turn that the request answers."""
    turns = {selection.record: selection.turn for selection in view}
    turn = ground.base.sheet.turns if ground.base is not None else 0
    if news.unshown is not None:
        turn = news.unshown.turn
        turns.update(news.unshown.turns)
    for record in news.records:
        if record.id in turns:
            continue
        body = record.body
        if isinstance(body, Message):
            turn += body.role not in INSTRUCTING
            turns[record.id] = turn
        elif isinstance(body, ToolArtifact):
            asked = turns.get(body.message) if body.message is not None else None
            turns[record.id] = asked if asked is not None else turn
    return turns, turn


def concerned(record: Record) -> tuple[RecordId, ...]:
    """The records whose standing a change is about."""
    match record.body:
        case Superseded(replaced=ids) | MarkedStale(records=ids) | Reclassified(records=ids) | Erased(records=ids):
            return ids
        case Released(records=ids) | Withdrawn(records=ids) | Shared(records=ids) | Pinned(records=ids):
            return ids
        case RetentionApplied(records=ids):
            return ids
        case Conflicted(one=one, other=other):
            return (one, other)
        case Promoted(artifact=artifact):
            return (artifact,)
        case CallResolved(call=call):
            return (call,)
        case _:
            return ()
