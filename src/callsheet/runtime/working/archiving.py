"""Putting conversations away in which nothing has happened for a while."""

from dataclasses import dataclass, field

from callsheet.graph.enums import Lifecycle
from callsheet.graph.ids import RecordId, StreamId
from callsheet.graph.times import Instant
from callsheet.runtime.living import Activity, activity, archive_idle
from callsheet.runtime.working.work import Outcome, Unit
from callsheet.runtime.working.workshop import Workshop

NAME = "archiving"
_SECOND = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Archiving:
    """Archives conversations that have been idle for so many seconds, the longest idle first.

    A unit names the newest thing that happened. Whatever happens after it makes the unit nothing: it is looked at again
    in the transaction that archives.
    """

    workshop: Workshop
    idle: float
    #: Until when a conversation need not be looked at: what happens to it puts that off.
    _not_before: dict[StreamId, Instant] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, workshop: Workshop) -> "Archiving | None":
        """The work where the runtime says after how long a conversation is idle."""
        return cls(workshop=workshop, idle=workshop.idle) if workshop.idle is not None else None

    @property
    def name(self) -> str:
        """See `Work.name`."""
        return NAME

    def pending(self, limit: int) -> list[Unit]:
        """See `Work.pending`."""
        now = self.workshop.clock.now()
        found: list[tuple[Instant, Unit]] = []
        for stream in self.workshop.conversations():
            if self._not_before.get(stream.id, now) > now:
                continue
            last = activity(self.workshop.ledger, stream.key)
            if last is None:
                continue
            due = self._due(last, now)
            self._not_before[stream.id] = due
            if due <= now:
                found.append((last.at, Unit(work=NAME, stream=stream.key, target=last.record)))
        return [unit for _, unit in sorted(found, key=lambda one: one[0])[:limit]]

    def _due(self, last: Activity, now: Instant) -> Instant:
        """When a conversation can be put away at the earliest. One that is archived would have to be taken up first."""
        since = now if last.status is Lifecycle.ARCHIVED else last.at
        return Instant(since + max(1, round(self.idle * _SECOND)))

    def do(self, unit: Unit) -> Outcome:
        """See `Work.do`."""
        done = archive_idle(self.workshop.session(unit.stream), RecordId(unit.target))
        return Outcome.DONE if done else Outcome.NOTHING
