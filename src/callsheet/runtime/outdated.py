"""What is found and was replaced since: marked with what replaced it, and told behind that."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from callsheet.graph.enums import Relation
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolMemory
from callsheet.graph.query import LinkQuery
from callsheet.runtime.seeing import Sight
from callsheet.runtime.unseen import Visible, unseen

_F = TypeVar("_F")

Replaced = Mapping[RecordId, tuple[RecordId, ...]]
"""By record: the messages and results that say now what it said."""


def replaced(seen: Sight, ids: Sequence[RecordId]) -> Replaced:
    """Which of these records were replaced, and by what, as far as the view sees it.

    A result is replaced by a word about itself, or where every memory of it was.
    """
    if not ids:
        return {}
    session, desk = seen.session, seen.session.desk(seen.view)
    ledger, key = session.ledger, session.conversation.key
    desk.hidden = unseen(ledger, key, seen.lineage, seen.shows, desk.hidden)
    visible = Visible(ledger=ledger, key=key, lineage=seen.lineage, shows=seen.shows, hidden=desk.hidden)

    def sources(relation: Relation, targets: Sequence[RecordId]) -> dict[RecordId, list[RecordId]]:
        query = LinkQuery(relation=relation, targets=tuple(targets), lineage=seen.lineage)
        found: dict[RecordId, list[RecordId]] = {}
        for row in visible.links(ledger.links(key, query)) if targets else ():
            found.setdefault(row.target, []).append(row.source)
        return found

    rests = sources(Relation.DERIVED_FROM, ids)
    memories = {id for found in rests.values() for id in found} & _memories(seen, rests)
    newer = sources(Relation.SUPERSEDES, [*ids, *sorted(memories)])
    told: dict[RecordId, tuple[RecordId, ...]] = {}
    for id in ids:
        own = [one for one in rests.get(id, ()) if one in memories]
        by = newer.get(id) or ([now for one in own for now in newer[one]] if own and newer.keys() >= set(own) else [])
        if by:
            told[id] = tuple(one for one in dict.fromkeys(_said_in(seen, by)) if one != id)
    return {id: by for id, by in told.items() if by}


def _memories(seen: Sight, rests: Mapping[RecordId, Sequence[RecordId]]) -> set[RecordId]:
    ids = list(dict.fromkeys(id for found in rests.values() for id in found))
    found = seen.session.ledger.get(seen.session.conversation.key, ids) if ids else []
    return {record.id for record in found if isinstance(record.body, ToolMemory)}


def _said_in(seen: Sight, ids: Sequence[RecordId]) -> list[RecordId]:
    """The records themselves; of memories, what they rest on."""
    found = seen.session.ledger.get(seen.session.conversation.key, ids)
    rest = {record.id: record.body.sources for record in found if isinstance(record.body, ToolMemory)}
    return [source for id in ids for source in rest.get(id, (id,))]


def behind(found: Sequence[_F], reference: Callable[[_F], RecordId], replaced: Replaced) -> list[_F]:
    """The same in order, but each that was replaced behind what replaced it, where that was found too."""
    waiting = {reference(one) for one in found}
    told: list[_F] = []
    left = list(found)
    while left:
        ready = [one for one in left if waiting.isdisjoint(replaced.get(reference(one), ()))] or left[:1]
        waiting.discard(reference(ready[0]))
        told.append(ready[0])
        left.remove(ready[0])
    return told
