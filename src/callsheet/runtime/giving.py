"""What the owner of a record does for others: share it, release it, take a release back, merge a branch's results."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from callsheet.errors import InvalidOption, NotFound
from callsheet.graph.changes import BranchMerged, Released, Shared, Withdrawn
from callsheet.graph.enums import Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, PolicyDecision
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.graph.values import CallRef, Digest
from callsheet.runtime.drafting import Drafting, Release
from callsheet.runtime.options import label
from callsheet.runtime.originals import source
from callsheet.runtime.participating import people
from callsheet.runtime.resolving import resolve
from callsheet.runtime.seeing import Sight, sight
from callsheet.runtime.session import Session, View
from callsheet.runtime.tail import branches


@dataclass(frozen=True, kw_only=True, slots=True)
class Gift:
    """Which records are given, to whom, and under which policy set that is decided."""

    references: tuple[str, ...]
    #: Participants by name or id; of a release also branches.
    to: tuple[str, ...]
    reason: str
    policy_set: Digest


def share(session: Session, view: View, gift: Gift) -> RecordId:
    """Put own records on the share list of participants. Returns the id of the record that says so."""
    records, readers = _owned(session, view, gift.references), people(session, gift.to)
    return _given(session, view, gift, Shared(records=records, participants=readers), "shared")


def release(session: Session, view: View, gift: Gift) -> RecordId:
    """Let participants, or whoever is on a branch, see own private records from here on."""
    records, readers = _owned(session, view, gift.references), _readers(session, gift.to)
    return _given(session, view, gift, Released(records=records, to=readers, reason=gift.reason), "released")


def withdraw(session: Session, view: View, gift: Gift) -> RecordId:
    """Take a release or a share back; what a request has shown already stays shown there."""
    records, readers = _owned(session, view, gift.references), _readers(session, gift.to)
    return _given(session, view, gift, Withdrawn(records=records, from_=readers, reason=gift.reason), "withdrawn")


def _given(session: Session, view: View, gift: Gift, change: Shared | Released | Withdrawn, kind: str) -> RecordId:
    """Record the change with the decision behind it, in one transaction."""
    ids: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        decision = PolicyDecision(kind="release", verdict=kind, policy_set=gift.policy_set, governs=change.records)
        drafting.add(decision, kind="decision")
        ids[:] = [drafting.add(change, kind=kind)]

    session.append(view, draft)
    return ids[0]


def _owned(session: Session, view: View, references: Sequence[str]) -> tuple[RecordId, ...]:
    """The records, all of which belong to this view. Raises `NotFound`, `InvalidOption`."""
    if not references:
        raise InvalidOption("at least one reference is needed")
    seen = sight(session, view)
    records = [resolve(seen, label(one, "a reference")) for one in references]
    for record in records:
        owner = record.header.scope.owner
        if owner != view.participant:
            raise InvalidOption(f"{record.id} belongs to {owner or 'nobody in particular'}; its owner gives it on")
    return tuple(dict.fromkeys(record.id for record in records))


def _readers(session: Session, named: Sequence[str]) -> tuple[RecordId, ...]:
    """Participants and branches, by name or id."""
    paths = branches(session.ledger, session.conversation.key)
    by_name = {body.name: id for id, body in paths.items()}
    readers: list[RecordId] = []
    for one in named:
        branch = by_name.get(one) or (RecordId(one) if RecordId(one) in paths else None)
        readers += (branch,) if branch is not None else people(session, (one,))
    if not readers:
        raise InvalidOption("to whom? name at least one participant or branch")
    return tuple(dict.fromkeys(readers))


# ---------------------------------------------------------------------------------------------- merging


def merge(session: Session, view: View, branch: RecordId, references: Sequence[str]) -> tuple[RecordId, ...]:
    """Bring results of another branch here, in one transaction. Returns the ids of the results that stand here now.

    Without references its newest finished answer. Each stands as labelled data of its own, with the class of what it
    was; the branch itself stays as it is. What was merged here before is not brought a second time.
    """
    other = sight(session, View(branch, view.participant, view.carries))
    if branch == view.branch:
        raise InvalidOption("a branch cannot be merged into itself: what it holds stands here")
    found = [resolve(other, label(one, "a reference")) for one in references] or [_answer(other, branch)]
    records = list({record.id: record for record in found}.values())
    name = branches(session.ledger, session.conversation.key)[branch].name
    made: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        known = _merged(session, drafting)
        made[:] = [known[record.id] for record in records if record.id in known]
        new = [record for record in records if record.id not in known]
        if not new:
            return
        merged = BranchMerged(branch=branch, records=tuple(record.id for record in new))
        drafting.add(merged, kind="branch_merged")
        beside = session.beside(drafting, View(branch, view.participant, view.carries))
        for record in new:
            given = Release(
                source=f"branch {name}",
                text=source(other, record).text or "",
                privacy=beside.class_of([record]),
                metadata=json.dumps({"branch": branch, "record": record.id}).encode(),
                copies=(record.id,),
            )
            made.append(drafting.released(given, None))

    session.append(view, draft)
    return tuple(made)


def _merged(session: Session, drafting: Drafting) -> dict[RecordId, RecordId]:
    """What was merged here before, with the result that shows each: they stand right behind the record that says so."""
    key, seen = session.conversation.key, drafting.tail.lineage
    found: dict[RecordId, RecordId] = {}
    for merged in session.ledger.nodes(key, NodeQuery(kinds=("branch_merged",), lineage=seen)):
        if isinstance(merged.body, BranchMerged):
            wanted = merged.body.records
            behind = NodeQuery(kinds=("artifact",), lineage=seen, after=merged.position, limit=len(wanted))
            shown = session.ledger.nodes(key, behind)
            found.update(zip(wanted, (record.id for record in shown), strict=False))
    return found


def _answer(seen: Sight, branch: RecordId) -> Record:
    for record in seen.newest():
        body = record.body
        if (
            record.branch == branch
            and isinstance(body, Message)
            and body.role is Role.ASSISTANT
            and not any(isinstance(part, CallRef) for part in body.parts)
        ):
            return record
    raise NotFound(f"branch {branch!r} has no finished answer of its own; name what is to be merged")
