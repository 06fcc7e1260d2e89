"""What all views of one open conversation share: its streams, the tails of its branches, and how it is appended to."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from callsheet.assemble.delta import Whole
from callsheet.errors import PositionConflict
from callsheet.graph.ids import RecordId
from callsheet.graph.ports import Append, Clock, Ids, Ledger, Owner
from callsheet.graph.record import Record, Stream
from callsheet.runtime.assembling import Place
from callsheet.runtime.drafting import Drafting
from callsheet.runtime.tail import Tail, load

_ATTEMPTS = 200
"""Times that recording begins anew because other writers were first; each time at least one of them got through."""


@dataclass(kw_only=True)
class Session:
    """One open conversation. Thread-safe."""

    ledger: Ledger
    ids: Ids
    clock: Clock
    owner: Owner
    conversation: Stream
    sheets: Stream
    _tails: dict[RecordId, Tail] = field(default_factory=dict)
    _sheets: dict[tuple[RecordId, RecordId | None], Whole] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def place(self) -> Place:
        """Where its sheets are read from and written to."""
        return Place(
            ledger=self.ledger,
            ids=self.ids,
            owner=self.owner,
            conversation=self.conversation,
            sheets=self.sheets,
        )

    def tail(self, branch: RecordId, *, fresh: bool = False) -> Tail:
        """The newest known state of a branch; with `fresh`, read anew unless it is still the newest."""
        known = self._tails.get(branch)
        if known is not None and fresh:
            head = self.ledger.head(self.conversation.key)
            if head is not None and head.position != known.position:
                known = None
        if known is None:
            known = load(self.ledger, self.conversation.key, branch)
            self._tails[branch] = known
        return known

    def append(self, branch: RecordId, draft: Callable[[Drafting], object]) -> tuple[Drafting, list[Record]]:
        """Let `draft` collect records on the newest state of a branch and append them, all or none.

        When another writer was first, the branch is read anew and `draft` is called again.
        """
        at = self.clock.now()
        for attempt in range(_ATTEMPTS):
            with self._lock:
                tail = self.tail(branch)
            drafting = Drafting(
                ledger=self.ledger,
                stream=self.conversation.key,
                ids=self.ids,
                owner=self.owner,
                tail=tail,
                at=at,
            )
            draft(drafting)
            if not drafting.drafts:
                return drafting, []
            append = Append(stream=self.conversation, drafts=tuple(drafting.drafts), expect=tail.position)
            try:
                records = self.ledger.append([append])
            except PositionConflict:
                with self._lock:
                    self._tails.pop(branch, None)
                if attempt == _ATTEMPTS - 1:
                    raise
                continue
            with self._lock:
                self._tails[branch] = drafting.tail
            return drafting, records
        raise AssertionError("unreachable")

    def last_sheet(self, branch: RecordId, participant: RecordId | None) -> Whole | None:
        """The newest sheet assembled here; None: none yet in this process."""
        return self._sheets.get((branch, participant))

    def remember_sheet(self, branch: RecordId, participant: RecordId | None, sheet: Whole) -> None:
        """Let the next sheet of this branch and participant extend this one."""
        self._sheets[branch, participant] = sheet
