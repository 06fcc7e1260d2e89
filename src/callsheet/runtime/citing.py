"""Which results in view a message cites: by a recorded citation, or by the reference that requests show."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

from callsheet.assemble.forms import reference
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, ToolArtifact
from callsheet.graph.record import Record
from callsheet.runtime.ground import Ground

_SHORTEST = 6
"""Characters of a reference: fewer in brackets are a footnote."""

_NAMED = re.compile(rf"\[([0-9A-Za-z_-]{{{_SHORTEST},64}})\]")


@dataclass(frozen=True, kw_only=True)
class Citing:
    """Looks for citations in new messages."""

    ground: Ground
    #: The records that may be cited: those in view and the new ones.
    holders: Collection[RecordId]

    def cited(self, record: Record) -> frozenset[RecordId]:
        """The results before a message that it cites."""
        body = record.body
        if not isinstance(body, Message):
            return frozenset()
        found = {id for id in body.cites if id in self.holders}
        words = self.ground.words(record)
        if "[" in words:
            found |= {id for name in _NAMED.findall(words) if (id := self._names.get(name)) is not None}
        return frozenset(self._results(found, record.position))

    @cached_property
    def _names(self) -> dict[str, RecordId | None]:
        """The records by id and by reference; a reference that several have names none of them."""
        names: dict[str, RecordId | None] = {}
        for id in self.holders:
            short = reference(id)
            names[short] = id if short not in names else None
        return names | {id: id for id in self.holders}

    def _results(self, ids: Iterable[RecordId], before: int) -> Iterable[RecordId]:
        records = self.ground.desk.records
        for id in ids:
            record = records.get(id)
            if record is not None and isinstance(record.body, ToolArtifact) and record.position < before:
                yield id
