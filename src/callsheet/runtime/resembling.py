"""For a set that fills by score: how much of what the newest turns say each record holds, and how long it rested."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from callsheet.assemble.items import Item
from callsheet.graph.enums import Level
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message
from callsheet.graph.record import Record
from callsheet.policy.freshness import SECOND
from callsheet.policy.settings import Fill
from callsheet.recall.bm25 import TermDocument, rank
from callsheet.runtime.ground import Ground, asks

_MINUTE = 60 * SECOND

_MUTE = (Level.SAFE, Level.NONE)


def resembling(ground: Ground, items: dict[RecordId, Item], news: Sequence[Record]) -> dict[RecordId, Item]:
    """The items with their likeness by words and their rest in minutes; as they are where the set does not ask.

    Rarity is told from these items alone. The newest turns are the user's newest and the messages that are new. A
    record that was used rests since the newest record at hand of the turn in which that was.
    """
    if ground.policy.fill is not Fill.SORTED or ground.policy.verbatim:
        return items
    records, now = ground.desk.records, ground.boundary.now
    similar = _similar(ground, items, news)
    turns: dict[int, int] = {}
    for id, item in items.items():
        turns[item.turn] = max(turns.get(item.turn, 0), records[id].header.at)
    since = {id: max(records[id].header.at, turns.get(item.used, 0)) for id, item in items.items()}
    return {
        id: replace(item, similar=similar.get(id, 0.0), minutes=max(0, now - since[id]) / _MINUTE)
        for id, item in items.items()
    }


def _similar(ground: Ground, items: Mapping[RecordId, Item], news: Sequence[Record]) -> dict[RecordId, float]:
    """The share of the newest turns' words, weighed by their rarity, that each record holds."""
    records = ground.desk.records
    newest = max(filter(asks, (records[id] for id in items)), key=lambda record: record.position, default=None)
    said = {record.id for record in news if isinstance(record.body, Message)}
    said |= {newest.id} if newest is not None else set()
    # What may not be shown has no part in it, nor in how rare a word is.
    legible = [records[id] for id, item in items.items() if item.most_hard not in _MUTE and id in ground.desk.indexes]
    terms = {record.id: dict(ground.desk.indexes[record.id].terms) for record in legible}
    asked = dict.fromkeys(term for id in terms if id in said for term in terms[id])
    documents = [
        TermDocument(id=record.id, terms=terms[record.id], length=sum(terms[record.id].values()))
        for record in sorted(legible, key=lambda record: record.position)
        if record.id not in said
    ]
    found = rank([(term,) for term in asked], documents)
    return {one.id: one.share for one in found}
