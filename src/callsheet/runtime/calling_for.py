"""What a request is to show because somebody calls for it: to the letter, by opening or pinning it, or by its name."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from callsheet.assemble.exactness import asks_for_exact
from callsheet.assemble.forms import reference
from callsheet.graph.changes import Released, Shared
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, ToolArtifact, ToolMemory
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.policy import rehydration
from callsheet.policy.context import UNSETTLED
from callsheet.runtime.deciding import settled
from callsheet.runtime.ground import Ground, asks
from callsheet.runtime.reading import News, Reading
from callsheet.runtime.returning import Returning

LATELY = 16
"""Results, the newest, among which the one that is meant is looked for where nothing is named."""

AWAY = 64
"""Released records from elsewhere, the newest, among which what is named is looked for."""

FETCHED = 4
"""Of these, so many are brought at most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Called:
    """What a request is called upon to show."""

    #: The results whose exact bytes are wanted.
    exact: tuple[RecordId, ...]
    #: What was opened to the reader on its own lineage, and what was pinned, since the last request.
    opened: tuple[RecordId, ...]
    pinned: tuple[RecordId, ...]
    #: Of all this, and of what is named elsewhere, what does not stand in view.
    brought: tuple[RecordId, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class CallingFor:
    """Looks for what one request is called upon to show."""

    ground: Ground
    reading: Reading
    news: News
    #: The turn of each record that stands in view or is new.
    turns: Mapping[RecordId, int]

    def called(self, changed: Sequence[Record], returning: Returning) -> Called:
        """All of it, read into the desk; a set that replays brings nothing back but what was opened."""
        ground, desk, verbatim = self.ground, self.ground.desk, self.ground.policy.verbatim
        wanted = self._exact(returning)
        desk.fetch(ground.ledger, ground.key, wanted)
        exact = self._within(id for id in wanted if ground.is_there(id) and ground.shows(desk.records[id]))
        opened = self._opened(changed)
        named = () if verbatim else self._named_elsewhere()
        pinned = () if verbatim else self.reading.pinned(changed)
        pins = self._pins(pinned) if pinned else ()
        away = (id for id in exact if id not in self.turns)
        return Called(exact=exact, opened=opened, pinned=pinned, brought=(*opened, *named, *away, *pins))

    def _exact(self, returning: Returning) -> tuple[RecordId, ...]:
        """The results whose exact bytes are wanted: by the caller, or by the newest turn of the user."""
        ground = self.ground
        asked = [record for record in self.news.records if asks(record)][-1:]
        if ground.policy.verbatim or not any(asks_for_exact(ground.words(record)) for record in asked):
            return () if ground.policy.verbatim else ground.boundary.exact
        named = returning.named or tuple(record.id for record in self._newest_result(asked[0]))
        return tuple(dict.fromkeys([*ground.boundary.exact, *named]))

    def _within(self, ids: Iterable[RecordId]) -> tuple[RecordId, ...]:
        """As many of them as the byte budget of the set lets one request load together, in their order."""
        records = [self.ground.desk.records[id] for id in ids]
        done = settled(records)
        results = {record.id: record.body for record in records if isinstance(record.body, ToolArtifact)}
        failed = {id for id, body in results.items() if body.status in UNSETTLED} - done
        # What is no result is text, and loads nothing.
        sizes = {record.id: results[record.id].size if record.id in results else 0 for record in records}
        wanted = [rehydration.Wanted(id, size, unsettled=id in failed) for id, size in sizes.items()]
        return rehydration.within_budget(wanted, self.ground.policy)

    def _opened(self, changed: Sequence[Record]) -> tuple[RecordId, ...]:
        """What stands on this lineage, was passed over and has been opened to the reader since the last request."""
        ground, known = self.ground, self.ground.desk.opened
        told = (record.body for record in changed)
        ids = {id for body in told if isinstance(body, Released | Shared) for id in body.records}
        wanted = [id for id in ids & known.shown if id not in self.turns and id not in known.elsewhere]
        ground.desk.fetch(ground.ledger, ground.key, sorted(wanted))
        there = [ground.desk.records[id] for id in wanted if ground.is_there(id)]
        return tuple(record.id for record in sorted(there, key=lambda record: record.position))

    def _pins(self, pinned: Iterable[RecordId]) -> tuple[RecordId, ...]:
        """The messages, results and memories that were pinned out of view; what is told at second hand is not here."""
        ground, known = self.ground, self.ground.desk
        ids = [id for id in pinned if id not in self.turns]
        known.fetch(ground.ledger, ground.key, ids)
        there = [known.records[id] for id in ids if ground.is_there(id) and ground.shows(known.records[id])]
        seen = (one for one in there if ground.lineage.sees(one.branch, one.position) or one.id in known.opened.shown)
        return tuple(one.id for one in seen if isinstance(one.body, Message | ToolArtifact | ToolMemory))

    def _named_elsewhere(self) -> tuple[RecordId, ...]:
        """Of what was released from elsewhere, such as by a sub-agent, that which the new messages name."""
        ground, desk = self.ground, self.ground.desk
        away = [id for id in desk.opened.elsewhere[-AWAY:] if id not in self.turns]
        said = [record for record in self.news.records if isinstance(record.body, Message)] if away else []
        if not said:
            return ()
        desk.fetch(ground.ledger, ground.key, away)
        names = {name for record in said for name in ground.entities(record)}
        words = "\n".join(map(ground.words, said))
        found = [
            id
            for id in away
            if ground.is_there(id)
            and (reference(id) in words or not names.isdisjoint(ground.entities(desk.records[id])))
        ]
        return tuple(found[-FETCHED:])

    def _newest_result(self, before: Record) -> list[Record]:
        """The newest result before a turn that the reader may see: what is meant where nothing is named."""
        query = NodeQuery(
            kinds=("artifact",), lineage=self.ground.lineage, before=before.position, newest=True, limit=LATELY
        )
        found = self.ground.ledger.nodes(self.ground.key, query)
        return [record for record in found if self.ground.shows(record)][-1:]
