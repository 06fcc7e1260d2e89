"""Results that the user means by what they were asked for: ``day 14`` means what a tool was asked with ``{"day": 14}``.

Looked for among the calls that the reader may see and whose arguments may go to the provider, and nowhere else.
"""

from collections.abc import Sequence

from callsheet.derive.calling import Said
from callsheet.graph.enums import Relation
from callsheet.graph.ids import RecordId
from callsheet.graph.index import PostingQuery
from callsheet.graph.query import LinkQuery
from callsheet.graph.record import Record
from callsheet.runtime.ground import Ground
from callsheet.runtime.occurring import Occurring

CALLS = 48
"""Calls that are looked at, those that hold most of what is said and of equal ones the newest."""

TERMS = 64
"""Of what a turn says of calls, so much is looked up."""

OCCURRENCES = 64
"""Occurrences of each of these that are looked at, the newest."""


def meant(ground: Ground, occurring: Occurring, said: Record, before: int) -> list[RecordId]:
    """The results of the calls that this turn of the user says, of calls that ask for the same the newest."""
    told = Said(ground.words(said))
    if not told.terms:
        return []
    query = PostingQuery(terms=told.terms[:TERMS], lineage=ground.lineage, before=before, limit=OCCURRENCES)
    held: dict[RecordId, int] = {}
    places: dict[RecordId, int] = {}
    for posting in occurring.postings(query):
        held[posting.record] = held.get(posting.record, 0) + 1
        places[posting.record] = posting.position
    promising = sorted(held, key=lambda id: (-held[id], -places[id]))[:CALLS]
    calls = ground.desk.asking(ground.ledger, ground.key, [places[id] for id in promising])
    asked: dict[frozenset[str], list[RecordId]] = {}
    for id in promising:
        call = calls.get(places[id])
        if call is not None and id not in ground.silent and told.means(call):
            asked.setdefault(call.terms, []).append(id)
    return _newest(ground, occurring, list(asked.values()))


def _newest(ground: Ground, occurring: Occurring, calls: Sequence[Sequence[RecordId]]) -> list[RecordId]:
    """Of each of these groups of calls the newest result that may be shown."""
    targets = tuple(sorted(id for group in calls for id in group))
    if not targets:
        return []
    links = ground.ledger.links(
        ground.key, LinkQuery(relation=Relation.ANSWERS, targets=targets, lineage=ground.lineage)
    )
    found = ground.ledger.get(ground.key, [link.source for link in links]) if links else []
    seen = {record.id: record.position for record in occurring.told(found)}
    results: list[RecordId] = []
    for group in calls:
        answers = [link.source for link in links if link.target in group and link.source in seen]
        if answers:
            results.append(max(answers, key=lambda id: seen[id]))
    return results
