"""Where names and results occur among what one reader may see: what is hidden counts for no limit.

So does what may be seen and whose content may not go to the provider. Without this, records that a reader may not see
would push those that it may see out of the newest few, and so change its request.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
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
    #: What was opened to it beside what scopes show it.
    opened: frozenset[RecordId] = frozenset()
    #: Those of some visible records whose content may not go to the provider; None: there are none along the lineage.
    silent: Callable[[Sequence[Record]], Collection[RecordId]] | None = None
    _seen: dict[RecordId, bool] = field(default_factory=dict)

    def postings(self, query: PostingQuery) -> list[Posting]:
        """The newest occurrences of each name, `query.limit` of each at most."""
        if not self.hides and self.silent is None:
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
        if unknown:
            self._seen.update((record.id, True) for record in self.told(self.ledger.get(self.key, unknown)))

    def told(self, records: Iterable[Record]) -> list[Record]:
        """Those that exist for the reader and whose content may go to the provider."""
        seen = [record for record in records if self._sees(record)]
        silent = self.silent(seen) if self.silent is not None else ()
        return [record for record in seen if record.id not in silent]

    def _sees(self, record: Record) -> bool:
        return refusal(record.header, self.boundary) is None or record.id in self.opened

    def nodes(self, query: NodeQuery) -> list[Record]:
        """The records of a query that has a limit, in order of position."""
        limit = query.limit
        found = self.ledger.nodes(self.key, query)
        shown = self.told(found)
        if limit is None or (not self.hides and self.silent is None):
            return shown
        wide = limit
        while len(found) >= wide and len(shown) < limit and wide < WIDEST:
            wide *= 4
            found = self.ledger.nodes(self.key, replace(query, limit=wide))
            shown = self.told(found)
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
