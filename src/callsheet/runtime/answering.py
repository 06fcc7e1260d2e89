"""Which calls have a result that exists for the reader, whether or not anything of it is shown."""

from collections.abc import Iterable

from callsheet.graph.enums import Relation
from callsheet.graph.ids import RecordId
from callsheet.graph.query import LinkQuery
from callsheet.policy.visibility import refusal
from callsheet.runtime.terms import Terms


def answered(terms: Terms, calls: Iterable[RecordId]) -> frozenset[RecordId]:
    """Those of the calls that have one. What is hidden from the reader answers nothing for it."""
    place = terms.place
    query = LinkQuery(relation=Relation.ANSWERS, targets=tuple(sorted(calls)), lineage=terms.lineage)
    rows = place.ledger.links(place.conversation.key, query)
    found = place.ledger.get(place.conversation.key, [row.source for row in rows]) if rows else []
    there = {record.id for record in found if refusal(record.header, terms.order.boundary) is None}
    return frozenset(row.target for row in rows if row.source in there)
