"""Calls whose arguments follow what was reclassified: a result, a message or the call itself that may not be shown."""

from collections.abc import Iterator, Sequence

from callsheet.graph.changes import Erased
from callsheet.graph.cut import Lineage
from callsheet.graph.enums import Level, Privacy, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, Message, ToolArtifact, ToolCall
from callsheet.graph.ports import Ledger
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record, StreamKey
from callsheet.graph.values import CallRef
from callsheet.policy.candidate import Candidate
from callsheet.policy.privacy import judge
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.visibility import refusal
from callsheet.runtime.unseen import Unseen, Visible, unseen

CALLS = 1_024
"""Calls of one message that are looked for, at most."""


def withheld_calls(
    ledger: Ledger,
    key: StreamKey,
    lineage: Lineage,
    boundary: Boundary,
    policy: PolicySetDocument,
    *,
    hidden: Unseen | None = None,
) -> frozenset[RecordId]:
    """The calls whose arguments may not go to the provider, because what they belong to was put into such a class.

    A record or change that the reader does not see withholds nothing. Reads one state for each record ever
    reclassified. `hidden` are the changes that it does not see, where they were looked for already.
    """

    def shows(record: Record) -> bool:
        return refusal(record.header, boundary) is None

    known = hidden if hidden is not None else unseen(ledger, key, lineage, shows)
    visible = Visible(ledger=ledger, key=key, lineage=lineage, shows=shows, hidden=known)
    classes = {
        RecordId(id): Privacy(value) for id, value in visible.states((StateField.PRIVACY,))[StateField.PRIVACY].items()
    }
    refused = [id for id, privacy in classes.items() if _refused(id, privacy, boundary, policy)]
    records = [record for record in (ledger.get(key, refused) if refused else []) if shows(record)]
    gone = [record for record in records if record.body is None]
    withheld = {call for record in records for call in calls_of(record)}
    return frozenset(withheld.union(_calls_of_erased(ledger, key, gone)) if gone else withheld)


def _calls_of_erased(ledger: Ledger, key: StreamKey, gone: Sequence[Record]) -> Iterator[RecordId]:
    """The calls that erased results answered and erased messages held: their arguments stay withheld."""
    ids = {record.id for record in gone}
    for note in ledger.nodes(key, NodeQuery(kinds=("erased",))):
        pairs = note.body.answered if isinstance(note.body, Erased) else ()
        yield from (call for result, call in pairs if result in ids)
    for record in gone:
        if record.header.kind == "message":
            # Calls are recorded right behind their message.
            behind = ledger.nodes(key, NodeQuery(kinds=("call",), after=record.position, limit=CALLS))
            yield from (one.id for one in behind if isinstance(one.body, ToolCall) and one.body.message == record.id)


def _refused(id: RecordId, privacy: Privacy, boundary: Boundary, policy: PolicySetDocument) -> bool:
    verdict = judge(Candidate(record=id, kind="call", privacy=privacy), boundary, policy)
    return verdict.most in (Level.SAFE, Level.NONE)


def calls_of(record: Record) -> tuple[RecordId, ...]:
    """The calls that a record is, holds or answers."""
    body = record.body
    if isinstance(body, ToolCall):
        return (record.id,)
    if isinstance(body, ToolArtifact):
        return (body.call,) if body.call is not None else ()
    if isinstance(body, Message):
        return tuple(part.call for part in body.parts if isinstance(part, CallRef))
    return ()
