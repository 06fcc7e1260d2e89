"""Erasing records for good: their bodies, and of past requests the rendered blocks that hold their text."""

from collections.abc import Iterator, Sequence

from callsheet.audit.copies import copies_of
from callsheet.audit.holding import blocks_holding
from callsheet.audit.indexing import index_of
from callsheet.errors import NotFound
from callsheet.graph.changes import Erased
from callsheet.graph.effects import UNSETTLED
from callsheet.graph.ids import ROOT_BRANCH, RecordId
from callsheet.graph.nodes import ToolArtifact, ToolCall
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.graph.values import Value
from callsheet.runtime.personalising.book import Book
from callsheet.runtime.personalising.forgetting import forget_taken_from
from callsheet.runtime.session import Session, View


class Erasure(Value):
    """What was erased."""

    #: The record that says so.
    record: RecordId
    bodies: int
    #: Rendered blocks of past requests.
    blocks: int
    #: Memories and proposals of the user that were taken from them.
    memories: tuple[RecordId, ...] = ()


def erase(session: Session, records: Sequence[RecordId], *, by: str = "", reason: str = "") -> Erasure:
    """Erase records of a conversation: first the erasure is recorded, then bodies and blocks go, for good.

    With them goes what gives their words again: what was merged, reported or handed on of them, recalls of them, and
    what was derived of them or kept of the user from them, also where it rests on others too. Past requests keep their
    selections, sizes and reasons; what was sent of them is gone where it held the text. A message's calls, a call's
    result and what others said of any of them in their own words are records of their own. Erasing again what an
    interrupted erasure left is fine. Raises
    `NotFound` for a record that is not there; then nothing is erased.
    """
    ledger, conversation = session.ledger, session.conversation
    ids = tuple(dict.fromkeys(records))
    found = ledger.get(conversation.key, ids)
    missing = [id for id in ids if id not in {record.id for record in found}]
    if missing or not found:
        raise NotFound(f"there is no record {missing[0] if missing else ''!r} in conversation {conversation.name!r}")
    found = [*found, *copies_of(ledger, conversation.key, ids)]
    ids = tuple(record.id for record in found)
    living = [record for record in found if record.body is not None]
    blocks = dict.fromkeys((*blocks_holding(ledger, conversation, living), *_named_before(session, ids)))
    note = Erased(
        bodies=tuple((conversation.id, record.position) for record in found),
        records=ids,
        by=by,
        reason=reason,
        blocks=tuple(blocks),
        answered=tuple(_answered(living)),
    )
    made: list[RecordId] = []
    session.append(View(ROOT_BRANCH), lambda drafting: made.append(drafting.add(note, kind="erased")))
    ledger.erase_blocks(session.owner, note.blocks)
    ledger.erase_bodies(conversation.key, [record.position for record in living])
    if any(isinstance(record.body, ToolCall) for record in living):
        # What results are found by quotes what was asked for.
        ledger.rebuild(conversation.key, index_of(ledger))
    kept = _forgotten(session, ids, by)
    return Erasure(record=made[-1], bodies=len(living), blocks=len(note.blocks), memories=kept)


def _forgotten(session: Session, ids: Sequence[RecordId], by: str) -> tuple[RecordId, ...]:
    """Forget what was kept of the user from these records."""
    owner = session.owner
    if owner.user is None:
        return ()
    book = Book.of(session.ledger, session.ids, session.clock, owner.tenant, owner.user)
    return forget_taken_from(book, ids, by=by).gone


def _answered(records: Sequence[Record]) -> Iterator[tuple[RecordId, RecordId]]:
    """The results that settled a call, each with that call: what they did to it goes with their bodies."""
    for record in records:
        body = record.body
        if isinstance(body, ToolArtifact) and body.call is not None and body.status not in UNSETTLED:
            yield record.id, body.call


def _named_before(session: Session, ids: Sequence[RecordId]) -> tuple[str, ...]:
    """The blocks that earlier erasures of these records named: one that was interrupted may have left them."""
    notes = session.ledger.nodes(session.conversation.key, NodeQuery(kinds=("erased",)))
    bodies = (record.body for record in notes)
    wanted = frozenset(ids)
    return tuple(
        address
        for body in bodies
        if isinstance(body, Erased) and not wanted.isdisjoint(body.records)
        for address in body.blocks
    )
