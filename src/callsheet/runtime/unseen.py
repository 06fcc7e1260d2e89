"""Changes that a reader may not see: for it nothing has changed.

What a state of a record is along a lineage the store tells, whoever caused it. Where a change is hidden from the
reader, its states are told again here from the changes that it may see, and the links that it made do not count.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from callsheet.graph.cut import Lineage
from callsheet.graph.effects import StateSet, effects
from callsheet.graph.enums import StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.ports import Ledger
from callsheet.graph.query import LinkRow, NodeQuery, StateQuery
from callsheet.graph.record import Record, StreamKey

CHANGES = (
    "superseded", "conflicted", "released", "withdrawn", "shared", "call_resolved", "marked_stale", "promoted",
    "reclassified", "retention_applied", "erased", "pinned", "feedback",
)  # fmt: skip
"""Kinds of record that change the standing of others, or say how useful they were."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unseen:
    """The changes along a lineage that are hidden from one reader, up to a position."""

    upto: int = 0
    positions: frozenset[int] = frozenset()
    states: frozenset[tuple[StateField, str]] = frozenset()


NONE = Unseen()


def unseen(
    ledger: Ledger, key: StreamKey, lineage: Lineage, shows: Callable[[Record], bool], known: Unseen = NONE
) -> Unseen:
    """Go on from what is known of the same reader: only later changes are read."""
    later = ledger.nodes(key, NodeQuery(kinds=CHANGES, lineage=lineage, after=known.upto))
    hidden = [record for record in later if not shows(record)]
    return Unseen(
        upto=lineage.upto,
        positions=known.positions.union(record.position for record in hidden),
        states=known.states.union((set_.field, set_.target) for record in hidden for set_ in _states(record)),
    )


def _states(record: Record) -> Iterable[StateSet]:
    return effects(record.id, record.body).states if record.body is not None else ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Visible:
    """What changes along a lineage have made of records, as far as a reader sees them."""

    ledger: Ledger
    key: StreamKey
    lineage: Lineage
    shows: Callable[[Record], bool]
    hidden: Unseen

    def states(
        self, fields: Collection[StateField], ids: tuple[RecordId, ...] | None = None
    ) -> dict[StateField, dict[str, str]]:
        """The values of some states of some records; None: of all. Unset ones are left out."""
        found = {
            field: {
                row.target: row.value
                for row in self.ledger.states(self.key, StateQuery(field=field, targets=ids, lineage=self.lineage))
                if row.value is not None
            }
            for field in fields
        }
        wanted = frozenset(ids) if ids is not None else None
        again = {
            (field, id) for field, id in self.hidden.states if field in fields and (wanted is None or id in wanted)
        }
        for field, id in again:
            found[field].pop(id, None)
        for (field, id), value in self._told(again).items():
            if value is not None:
                found[field][id] = value
        return found

    def _told(self, wanted: Collection[tuple[StateField, str]]) -> Mapping[tuple[StateField, str], str | None]:
        """The last word of the visible changes on these states."""
        if not wanted:
            return {}
        told: dict[tuple[StateField, str], str | None] = {}
        for record in self.ledger.nodes(self.key, NodeQuery(kinds=CHANGES, lineage=self.lineage)):
            if record.position not in self.hidden.positions and self.shows(record):
                told |= {(set_.field, set_.target): set_.value for set_ in _states(record)}
        return {state: told[state] for state in wanted if state in told}

    def links(self, rows: Iterable[LinkRow]) -> list[LinkRow]:
        """Those that come from a record that the reader sees, and that no hidden change made."""
        made = [row for row in rows if row.position not in self.hidden.positions]
        sources = self.ledger.get(self.key, [row.source for row in made]) if made else []
        seen = {record.id for record in sources if self.shows(record)}
        return [row for row in made if row.source in seen]
