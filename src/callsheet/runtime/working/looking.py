"""Looking for what is to be done in each conversation, and not again before the conversation has changed."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

from callsheet.graph.ids import RecordId, StreamId
from callsheet.graph.record import Stream
from callsheet.runtime.working.work import Unit
from callsheet.runtime.working.workshop import Workshop


@dataclass(frozen=True, kw_only=True)
class Found:
    """What one look at a conversation finds. `due` is not worked out before it is asked for."""

    #: Changes whenever something new may be due.
    mark: Hashable
    due: Iterable[RecordId]


@dataclass(frozen=True, kw_only=True)
class Looking:
    """Looks for the units of one kind of work."""

    work: str
    workshop: Workshop
    #: The mark of a conversation of which nothing was due.
    _settled: dict[StreamId, Hashable] = field(default_factory=dict, repr=False)

    def pending(self, limit: int, look: Callable[[Stream], Found | None]) -> list[Unit]:
        """At most `limit` units, in the order of the conversations. `look` gives None where nothing can be due."""
        units: list[Unit] = []
        for stream in self.workshop.conversations():
            if len(units) >= limit:
                break
            found = look(stream)
            if found is None or self._settled.get(stream.id) == found.mark:
                continue
            due = [Unit(work=self.work, stream=stream.key, target=id) for id in found.due]
            if not due:
                self._settled[stream.id] = found.mark
            units += due
        return units[:limit]
