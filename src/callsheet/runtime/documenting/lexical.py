"""Chunks that hold a name or a word, of the documents that count: candidates of a search, with what they are found by.

What does not count takes no place among them: of each name and word the newest chunks that count are looked at,
however many others lie between.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from callsheet.graph.cut import Lineage
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Index, MatchQuery, Posting, PostingQuery
from callsheet.graph.ports import Ledger
from callsheet.graph.record import StreamKey
from callsheet.runtime.documenting.indexing import ABOVE

OCCURRENCES = 256
"""Chunks that count of each name and word, the newest; and of each word those under a title or heading that has it."""

TOGETHER = 256
"""Chunks that count because most words of the query occur in them together, however old they are."""


@dataclass(kw_only=True, slots=True)
class Occurring:
    """Collects the candidates of one search."""

    ledger: Ledger
    key: StreamKey
    #: The last position that counts.
    upto: int
    #: Whether what stands at a position counts.
    counts: Callable[[int], bool]
    #: The candidates by position.
    found: dict[int, RecordId] = field(default_factory=dict)

    def collect(self, names: Sequence[str]) -> None:
        """Take the chunks in which these names occur."""
        for name in dict.fromkeys(filter(None, names)):
            self._occurrences(name, entity=True)

    def collect_words(self, words: Sequence[Sequence[str]]) -> None:
        """Take the chunks in which these words occur, each by any of its terms, or in what they stand under."""
        for term in dict.fromkeys(term for word in words for term in word):
            self._occurrences(term, entity=False)
            self._occurrences(ABOVE + term, entity=True)
        if len(words) > 1:
            self._together(tuple(map(tuple, words)))

    def _occurrences(self, name: str, *, entity: bool) -> None:
        before, room = None, OCCURRENCES
        while room > 0:
            postings = self._page(name, before, entity=entity)
            living = [posting for posting in postings if self.counts(posting.position)][:room]
            self.found.update((posting.position, posting.record) for posting in living)
            if len(postings) < OCCURRENCES:
                return
            before, room = postings[-1].position, room - len(living)

    def _page(self, name: str, before: int | None, *, entity: bool) -> list[Posting]:
        query = PostingQuery(
            entities=(name,) if entity else (),
            terms=() if entity else (name,),
            lineage=self._lineage,
            before=before,
            limit=OCCURRENCES,
        )
        return self.ledger.postings(self.key, query)

    def _together(self, words: tuple[tuple[str, ...], ...]) -> None:
        behind, room = None, TOGETHER
        while room > 0:
            query = MatchQuery(words=words, lineage=self._lineage, behind=behind, limit=TOGETHER)
            matches = self.ledger.matches(self.key, query)
            living = [match for match in matches if self.counts(match.position)][:room]
            self.found.update((match.position, match.record) for match in living)
            if len(matches) < TOGETHER:
                return
            behind, room = (matches[-1].words, matches[-1].position), room - len(living)

    @property
    def _lineage(self) -> Lineage:
        return Lineage(segments=(), upto=self.upto)

    def indexes(self) -> list[tuple[RecordId, Index]]:
        """What each candidate is found by, oldest first."""
        places = sorted(self.found)
        stored = self.ledger.indexed(self.key, places) if places else {}
        return [(self.found[place], stored.get(place, Index())) for place in places]
