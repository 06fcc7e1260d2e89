"""Which results the new messages make use of, and how long those had not been used."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from callsheet.assemble import bringing
from callsheet.assemble.needed import AGES, age_bin
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Posting, PostingQuery
from callsheet.graph.nodes import Message, Selection, ToolArtifact
from callsheet.graph.record import Record
from callsheet.runtime.citing import Citing
from callsheet.runtime.ground import Ground, asks
from callsheet.runtime.occurring import Occurring
from callsheet.runtime.reading import News

LATE = 3
"""Turns after which using a result counts as using it again."""

TOGETHER = 32
"""Messages whose names are looked up at once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reuse:
    """How results were used so far."""

    results: int
    #: Uses so far, by the bin of the age at which they came: see `callsheet.assemble.needed.AGES`.
    uses: tuple[int, ...]
    #: The turn of last use of each record, where that is later than its own.
    used: dict[RecordId, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reusing:
    """Looks what new messages make use of, for one request."""

    ground: Ground
    occurring: Occurring
    turns: Mapping[RecordId, int]

    def reuse(self, view: Sequence[Selection], news: News) -> Reuse:
        """Count on from the last request."""
        base = self.ground.base
        results = base.sheet.results if base is not None else 0
        results += sum(isinstance(record.body, ToolArtifact) for record in news.records)
        uses = list(base.sheet.uses) if base is not None and base.sheet.uses else [0] * (len(AGES) + 1)
        known = base.used if base is not None else {}
        used = {selection.record: known[selection.record] for selection in view if selection.record in known}
        if not self.ground.policy.verbatim:
            self._count(view, news.records, used, uses)
        first = news.unshown
        if first is not None and results:
            # What was not looked at is taken to be used again as often as what was.
            uses = [n + round(n * first.results / results) for n in uses]
            results += first.results
        return Reuse(results=results, uses=tuple(uses), used=used)

    def _count(
        self, view: Sequence[Selection], news: Sequence[Record], used: dict[RecordId, int], uses: list[int]
    ) -> None:
        """Note which results the new messages use, and how long they had not been used."""
        holders = {selection.record for selection in view} | {record.id for record in news}
        citing = Citing(ground=self.ground, holders=holders)
        said = [record for record in news if isinstance(record.body, Message)]
        for start in range(0, len(said), TOGETHER):
            for record, postings in self._held(said[start : start + TOGETHER]):
                now = self.turns[record.id]
                for id in bringing.used(postings, holders) | citing.cited(record):
                    own = self.turns.get(id, now)
                    if not asks(record):
                        uses[age_bin(max(0, now - max(own, used.get(id, own))))] += 1
                    used[id] = max(now, used.get(id, own))

    def _held(self, said: Sequence[Record]) -> Iterator[tuple[Record, list[Posting]]]:
        """For each message the newest occurrences of what it names among the results before it; looked up at once."""
        names = {record.id: self.ground.entities(record) for record in said}
        between = said[-1].position - said[0].position
        query = PostingQuery(
            entities=tuple(dict.fromkeys(name for found in names.values() for name in found)),
            lineage=self.ground.lineage,
            before=said[-1].position,
            # So that what came between the messages takes no place from what came before them.
            limit=bringing.COMMON + 1 + between,
        )
        held: dict[str | None, list[Posting]] = {}
        for posting in self.occurring.postings(query) if query.entities else ():
            held.setdefault(posting.entity, []).append(posting)
        for record in said:
            earlier = (
                [one for one in held.get(name, ()) if one.position < record.position] for name in names[record.id]
            )
            yield record, [posting for found in earlier for posting in found[: bringing.COMMON + 1]]
