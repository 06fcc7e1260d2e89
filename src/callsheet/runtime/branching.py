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
    """What was read of them so far. Thread-safe: what is there is only added to."""

    ledger: Ledger
    key: StreamKey
    _known: dict[RecordId, Branch] = field(default_factory=dict)
    _names: dict[str, None] = field(default_factory=dict)
    _upto: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def known(self) -> dict[RecordId, Branch]:
        """Every branch by id. Reads those that came since the last call; who is given them changes nothing in them."""
        with self._lock:
            for record in self.ledger.nodes(self.key, NodeQuery(kinds=("branch",), after=self._upto)):
                self._upto = record.position
                if isinstance(record.body, Branch):
                    self._known[record.id] = record.body
                    self._names[record.body.name] = None
            return self._known

    def names(self) -> dict[str, None]:
        """The names that are taken, sub-agents' too."""
        self.known()
        return self._names
