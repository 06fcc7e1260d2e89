"""Where names and results occur among what one reader may see: what is hidden counts for no limit.

Without this, records that a reader may not see would push those that it may see out of the newest few, and so change
its request.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from msgspec.structs import replace

from callsheet.graph.ids import RecordId
from callsheet.graph.index import Posting, PostingQuery
from callsheet.graph.nodes import Boundary
from callsheet.graph.ports import Ledger
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record, StreamKey
from callsheet.policy.visibility import refusal

WIDEST = 4_096
"""Occurrences of a name, hidden ones included, that are looked at."""


@dataclass(kw_only=True)
class Occurring:
    """Looks along a lineage for one reader."""

    ledger: Ledger
    key: StreamKey
    boundary: Boundary
    #: Whether anything along the lineage is hidden from the reader: where nothing is, nothing need be asked.
    hides: bool
    _seen: dict[RecordId, bool] = field(default_factory=dict)

    def postings(self, query: PostingQuery) -> list[Posting]:
        """The newest occurrences of each name, `query.limit` of each at most."""
        if not self.hides:
            return self.ledger.postings(self.key, query)
        limit = query.limit
        while True:
            found = self.ledger.postings(self.key, replace(query, limit=limit))
            self._look(found)
            shown = _by_name(posting for posting in found if self._seen[posting.record])
            short = [
                name for name, held in _by_name(found).items() if len(held) >= limit and _short(shown, name, query)
            ]
            if not short or limit >= WIDEST:
                return [posting for held in shown.values() for posting in held[: query.limit]]
            limit *= 4

    def _look(self, postings: Iterable[Posting]) -> None:
        unknown = [id for id in dict.fromkeys(posting.record for posting in postings) if id not in self._seen]
        self._seen.update(dict.fromkeys(unknown, False))
        for record in self.ledger.get(self.key, unknown) if unknown else ():
            self._seen[record.id] = self._sees(record)

    def _sees(self, record: Record) -> bool:
        return refusal(record.header, self.boundary) is None

    def nodes(self, query: NodeQuery) -> list[Record]:
        """The records of a query that has a limit, in order of position."""
        limit = query.limit
        found = self.ledger.nodes(self.key, query)
        if limit is None or not self.hides:
            return [record for record in found if self._sees(record)]
        wide = limit
        while len(found) >= wide and sum(map(self._sees, found)) < limit and wide < WIDEST:
            wide *= 4
            found = self.ledger.nodes(self.key, replace(query, limit=wide))
        shown = [record for record in found if self._sees(record)]
        return shown[-limit:] if query.newest else shown[:limit]


def _by_name(postings: Iterable[Posting]) -> dict[tuple[str | None, str | None], list[Posting]]:
    held: dict[tuple[str | None, str | None], list[Posting]] = {}
    for posting in postings:
        held.setdefault((posting.entity, posting.term), []).append(posting)
    return held


def _short(
    shown: dict[tuple[str | None, str | None], list[Posting]], name: tuple[str | None, str | None], query: PostingQuery
) -> bool:
    return len(shown.get(name, ())) < query.limit
