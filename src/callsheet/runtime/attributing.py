"""Whose words and results stand in a request: the reader's own, or another participant's under its name."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from callsheet.assemble import speaking
from callsheet.assemble.items import Item
from callsheet.graph.enums import Level, Role, RuntimeMode, Visibility
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, Message, Participant, ToolArtifact, ToolCall
from callsheet.graph.record import Record
from callsheet.graph.values import Media
from callsheet.runtime.ground import Ground
from callsheet.runtime.withholding import calls_of

SPEAKING = frozenset({RuntimeMode.COMPARISON, RuntimeMode.DISCUSSION})
"""Modes in which every participant is named, also to a reader who is none of them."""

NAMELESS = "another participant"
"""Whose name is not there any more."""


def anothers(record: Record, boundary: Boundary) -> bool:
    """Whether a record is another participant's own work: what it asked of tools and got, and what it noted."""
    scope = record.header.scope
    if scope.visibility is not Visibility.PARTICIPANT or scope.owner is None or scope.owner == boundary.participant:
        return False
    return isinstance(record.body, ToolArtifact | ToolCall) or _model_said(record)


def named(record: Record, boundary: Boundary) -> bool:
    """Whether a record stands under another participant's name.

    Own work of others always does; what they finally answered does where the reader is a participant itself, and in
    discussions and comparisons.
    """
    owner = record.header.scope.owner
    if owner is None or owner == boundary.participant:
        return False
    if anothers(record, boundary):
        return True
    return _model_said(record) and (boundary.participant is not None or boundary.mode in SPEAKING)


def _model_said(record: Record) -> bool:
    return isinstance(record.body, Message) and record.body.role is Role.ASSISTANT


def speakers(ground: Ground, ids: Iterable[RecordId]) -> dict[RecordId, str]:
    """The name under which each of these records stands, of those that stand under another's."""
    records = (ground.desk.records[id] for id in ids)
    owners = {record.id: record.header.scope.owner for record in records if named(record, ground.boundary)}
    known = ground.desk.names
    missing = sorted({owner for owner in owners.values() if owner is not None and owner not in known})
    for record in ground.ledger.get(ground.key, missing) if missing else ():
        if isinstance(record.body, Participant):
            known[record.id] = record.body.name
    return {id: known.get(owner, NAMELESS) for id, owner in owners.items() if owner is not None}


def renamed(ground: Ground, view: Iterable[RecordId]) -> bool:
    """Whether something in view stood under a name and does not any more, or the other way round."""
    base, now = ground.base, ground.boundary
    if base is None or (base.sheet.boundary.mode in SPEAKING) is (now.mode in SPEAKING):
        return False
    records = (ground.desk.records[id] for id in view)
    return any(named(record, now) is not named(record, base.sheet.boundary) for record in records)


def hidden_calls(ground: Ground, ids: Iterable[RecordId]) -> frozenset[RecordId]:
    """The calls of others behind their messages and results among these: what was asked never stands in a request."""
    records = (ground.desk.records[id] for id in ids)
    return frozenset(call for record in records if named(record, ground.boundary) for call in calls_of(record))


def attributed(ground: Ground, items: Mapping[RecordId, Item], names: Mapping[RecordId, str]) -> dict[RecordId, Item]:
    """The items with what a name takes before them; others' own work gives way to all else and is never protected."""
    # Nothing is told by its difference from another's: that would tell what the other asked for.
    apart = {id: replace(item, like=None) if item.like in names else item for id, item in items.items()}
    return {id: _attributed(ground, item, names[id]) if id in names else item for id, item in apart.items()}


def _attributed(ground: Ground, item: Item, name: str) -> Item:
    record = ground.desk.records[item.id]
    body = record.body
    size = ground.counting(speaking.label(name)) + 1
    standing = {level: tokens + size for level, tokens in item.standing.items()}
    if not anothers(record, ground.boundary):
        return replace(item, standing=standing)
    if isinstance(body, Message) and not any(isinstance(part, Media) for part in body.parts):
        # Without its calls, which are not shown.
        standing[Level.RAW] = size + ground.counting(ground.words(record))
    elif isinstance(body, ToolArtifact):
        # In its place it is quoted, line by line.
        standing = {level: tokens * 5 // 4 for level, tokens in standing.items()}
    # A result of another stands by itself, whatever message asked for it.
    return replace(item, standing=standing, group=item.id, least=Level.NONE, like=None, open=False, given=True)
