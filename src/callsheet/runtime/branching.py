"""The branches of one open conversation, kept at hand, so that to begin another one does not read all there are."""

import threading
from dataclasses import dataclass, field

from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Branch
from callsheet.graph.ports import Ledger
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import StreamKey


@dataclass(kw_only=True)
class Branches:
    """What was read of them so far. Thread-safe: who was given them keeps them as they were then."""

    ledger: Ledger
    key: StreamKey
    _known: dict[RecordId, Branch] = field(default_factory=dict)
    _names: dict[str, None] = field(default_factory=dict)
    _upto: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def known(self) -> dict[RecordId, Branch]:
        """Every branch by id. Reads those that came since the last call."""
        with self._lock:
            records = self.ledger.nodes(self.key, NodeQuery(kinds=("branch",), after=self._upto))
            new = {record.id: record.body for record in records if isinstance(record.body, Branch)}
            if new:
                self._upto = records[-1].position
                # Another thread may be going through the ones before.
                self._known = {**self._known, **new}
                self._names = {**self._names, **dict.fromkeys(branch.name for branch in new.values())}
            return self._known

    def names(self) -> dict[str, None]:
        """The names that are taken, sub-agents' too."""
        self.known()
        return self._names
