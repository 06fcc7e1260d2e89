"""Records about other records that a program in charge of a history writes itself, with no call of the public face.

They are appended through the store, as another process would do it.
"""

from collections.abc import Sequence

from callsheet.errors import NotFound
from callsheet.graph.changes import Change, Conflicted, LocatorsRepaired, MarkedStale, Pinned, Reclassified, Superseded
from callsheet.graph.enums import Privacy, StreamKind, Visibility
from callsheet.graph.ids import RecordId, TenantId
from callsheet.graph.nodes import ToolMemory
from callsheet.graph.ports import Append, Clock, Ids
from callsheet.graph.record import Draft, Record, Stream
from callsheet.graph.values import Locator, Scope
from callsheet.runtime.conversation import Conversation
from callsheet.runtime.runtime import Runtime


class Marking:
    """Writes such records into one conversation."""

    def __init__(self, runtime: Runtime, ids: Ids, clock: Clock) -> None:
        self._runtime = runtime
        self._ids = ids
        self._clock = clock

    def supersede(self, talk: Conversation, current: str, replaced: Sequence[str], reason: str) -> None:
        """One record replaces others."""
        body = Superseded(current=RecordId(current), replaced=_ids(replaced), reason=reason)
        self._append(talk, body, "superseded")

    def conflict(self, talk: Conversation, one: str, other: str, reason: str) -> None:
        """Two records contradict each other."""
        self._append(talk, Conflicted(one=RecordId(one), other=RecordId(other), reason=reason), "conflicted")

    def stale(self, talk: Conversation, records: Sequence[str], reason: str) -> None:
        """Records no longer speak for the present."""
        self._append(talk, MarkedStale(records=_ids(records), reason=reason), "marked_stale")

    def reclassify(self, talk: Conversation, records: Sequence[str], privacy: str) -> None:
        """Records belong to another class. Raises `ValueError` for one that there is not."""
        self._append(talk, Reclassified(records=_ids(records), privacy=Privacy(privacy)), "reclassified")

    def pin(self, talk: Conversation, records: Sequence[str]) -> None:
        """Records are kept in view."""
        self._append(talk, Pinned(records=_ids(records), pinned=True), "pinned")

    def misplace(self, talk: Conversation, memory: str) -> None:
        """Every locator of a memory points at the beginning of its source, where its values do not stand."""
        record = self._get(talk, memory)
        if not isinstance(record.body, ToolMemory) or not record.body.locators:
            raise NotFound(f"{memory} is no memory with locators")
        moved = tuple(
            Locator(source=one.source, part=one.part, byte_range=(0, 1), digest=one.digest)
            for one in record.body.locators
        )
        body = LocatorsRepaired(memory=record.id, locators=moved, attempt=0, found=True)
        self._append(talk, body, "locators_repaired")

    def _append(self, talk: Conversation, body: Change, kind: str) -> None:
        scope = Scope(branch=talk.branch_id, owner=talk.participant_id, visibility=Visibility.BRANCH)
        draft = Draft(id=self._ids.record(kind), at=self._clock.now(), body=body, nonce=self._ids.nonce(), scope=scope)
        self._runtime.ledger.append([Append(stream=self._stream(talk), drafts=(draft,))])

    def _get(self, talk: Conversation, id: str) -> Record:
        found = self._runtime.ledger.get(self._stream(talk).key, (RecordId(id),))
        if not found:
            raise NotFound(f"no record {id!r}")
        return found[0]

    def _stream(self, talk: Conversation) -> Stream:
        found = self._runtime.ledger.stream(TenantId(self._runtime.tenant), StreamKind.CONVERSATION, talk.name)
        if found is None:
            raise NotFound(f"no conversation {talk.name!r}")
        return found


def _ids(records: Sequence[str]) -> tuple[RecordId, ...]:
    return tuple(RecordId(record) for record in records)
