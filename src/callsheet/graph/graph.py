"""`Graph`: the fold of one stream's records. What it says after a record, every store must say after that record."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import islice

from msgspec.structs import replace

from callsheet.graph.cut import Lineage
from callsheet.graph.effects import StateSet, effects
from callsheet.graph.enums import Relation, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.index import (
    Index,
    IndexRow,
    Match,
    MatchQuery,
    Posting,
    PostingQuery,
    index_row,
    packed,
)
from callsheet.graph.query import (
    AroundQuery,
    LinkQuery,
    LinkRow,
    NodeQuery,
    NodeRow,
    Projection,
    Sides,
    StateQuery,
    StateRow,
    current,
)
from callsheet.graph.record import Findable, Record


class Graph:
    """The state of one stream, built by applying its records in order of position."""

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._by_id: dict[RecordId, Record] = {}
        self._nodes: list[NodeRow] = []
        #: Positions by kind, and by kind and branch, ascending.
        self._kinds: dict[str, list[int]] = defaultdict(list)
        self._places: dict[str, dict[RecordId | None, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._states: dict[tuple[StateField, str], list[StateRow]] = defaultdict(list)
        self._targets: dict[StateField, list[str]] = defaultdict(list)
        self._links: dict[tuple[Relation, RecordId], list[LinkRow]] = defaultdict(list)
        self._back: dict[tuple[Relation, RecordId], list[LinkRow]] = defaultdict(list)
        self._indexes: dict[int, Index] = {}
        self._entities: dict[str, list[int]] = defaultdict(list)
        self._terms: dict[str, list[int]] = defaultdict(list)

    @property
    def position(self) -> int:
        """The position of the last record applied; 0 before the first."""
        return len(self._records)

    def apply(self, record: Record, index: Index | None = None) -> None:
        """Add the next record of the stream with what it is found by.

        A record whose body was erased has lost its effects with it.

        Raises `ValueError` for a record out of order.
        """
        header = record.header
        if header.position != self.position + 1:
            raise ValueError(f"record {header.id} is at {header.position}, the graph is at {self.position}")
        self._records.append(record)
        self._by_id[header.id] = record
        branch = header.scope.branch
        self._nodes.append(NodeRow(position=header.position, id=header.id, kind=header.kind, branch=branch))
        self._kinds[header.kind].append(header.position)
        self._places[header.kind][branch].append(header.position)
        if record.body is None:
            return
        done = effects(header.id, record.body)
        for state in done.states:
            self._set(state, branch, header.position)
        for link in done.links:
            row = LinkRow(
                relation=link.relation, source=link.source, target=link.target, branch=branch, position=header.position
            )
            self._links[link.relation, link.source].append(row)
            self._back[link.relation, link.target].append(row)
        if index is not None:
            self._find_by(index, header.position)

    def _find_by(self, index: Index, position: int) -> None:
        self._indexes[position] = index
        for entity in dict.fromkeys(index.entities):
            self._entities[entity].append(position)
        for term in dict.fromkeys(term for term, _ in index.terms):
            self._terms[term].append(position)

    def _set(self, state: StateSet, branch: RecordId | None, position: int) -> None:
        rows = self._states[state.field, state.target]
        if not rows:
            self._targets[state.field].append(state.target)
        for index in range(len(rows) - 1, -1, -1):
            before = rows[index]
            if before.branch == branch and before.to_pos is None:
                rows[index] = replace(before, to_pos=position)
                break
        rows.append(
            StateRow(target=state.target, field=state.field, value=state.value, branch=branch, from_pos=position)
        )

    def get(self, ids: tuple[RecordId, ...]) -> list[Record]:
        """The records with these ids, in the order asked; unknown ones are left out."""
        return [self._by_id[id] for id in ids if id in self._by_id]

    def records(self, *, after: int = 0, upto: int | None = None) -> list[Record]:
        """All records with ``after < position <= upto``, ascending."""
        return self._records[after : len(self._records) if upto is None else upto]

    def nodes(self, query: NodeQuery) -> list[Record]:
        """See `NodeQuery`."""
        found: list[int] = []
        ends = _ends(query.lineage).items() if query.lineage is not None else ()
        for kind in dict.fromkeys(query.kinds):
            if query.lineage is None:
                found += _within(self._kinds.get(kind, []), query, len(self._records))
            own = self._places.get(kind, {})
            for branch, upto in ends:
                found += _within(own.get(branch, []), query, upto)
        found.sort()
        if query.limit is not None:
            found = found[max(0, len(found) - query.limit) :] if query.newest else found[: query.limit]
        return [self._records[position - 1] for position in found]

    def around(self, query: AroundQuery) -> dict[int, Sides]:
        """See `AroundQuery`."""
        return {position: self._sides(query, position) for position in query.positions}

    def _sides(self, query: AroundQuery, position: int) -> Sides:
        asked = NodeQuery(kinds=(query.kind,), lineage=query.lineage, limit=query.limit)
        before = self.nodes(replace(asked, before=position, newest=True))
        after = self.nodes(replace(asked, after=position))
        return Sides(tuple(record.position for record in reversed(before)), tuple(record.position for record in after))

    def states(self, query: StateQuery) -> list[StateRow]:
        """See `StateQuery`. Unset values are left out; ordered by target."""
        targets = self._targets[query.field] if query.targets is None else query.targets
        rows = [row for target in targets for row in self._states.get((query.field, target), ())]
        holding = current(rows, query.lineage)
        wanted = (row for row in holding.values() if row.value is not None)
        return sorted(
            (row for row in wanted if query.value is None or row.value == query.value), key=lambda row: row.target
        )

    def links(self, query: LinkQuery) -> list[LinkRow]:
        """See `LinkQuery`. Ordered by position, source, target."""
        index, ends = (self._links, query.sources) if query.sources is not None else (self._back, query.targets)
        rows = [row for end in dict.fromkeys(ends or ()) for row in index.get((query.relation, end), ())]
        return sorted(
            (row for row in rows if query.lineage.sees(row.branch, row.position)),
            key=lambda row: (row.position, row.source, row.target),
        )

    def postings(self, query: PostingQuery) -> list[Posting]:
        """See `PostingQuery`."""
        found: list[Posting] = []
        for entity in dict.fromkeys(query.entities):
            rows = self._occurrences(self._entities.get(entity, []), query)
            found += [Posting(entity=entity, position=row.position, record=row.id) for row in rows]
        for term in dict.fromkeys(query.terms):
            rows = self._occurrences(self._terms.get(term, []), query)
            found += [Posting(term=term, position=row.position, record=row.id) for row in rows]
        return found

    def matches(self, query: MatchQuery) -> list[Match]:
        """See `MatchQuery`."""
        counts = Counter(position for word in dict.fromkeys(query.words) for position in self._holding(word))
        behind = (-query.behind[0], -query.behind[1]) if query.behind is not None else (-len(query.words) - 1, 0)
        found = sorted((-words, -position) for position, words in counts.items() if words > 1)
        rows = ((-words, self._nodes[-position - 1]) for words, position in found if (words, position) > behind)
        seen = ((words, row) for words, row in rows if query.lineage.sees(row.branch, row.position))
        return [Match(words, row.position, row.id) for words, row in islice(seen, query.limit)]

    def _holding(self, word: Sequence[str]) -> set[int]:
        return {position for term in word for position in self._terms.get(term, ())}

    def _occurrences(self, positions: list[int], query: PostingQuery) -> list[NodeRow]:
        stop = len(positions) if query.before is None else bisect_left(positions, query.before)
        rows = (self._nodes[position - 1] for position in reversed(positions[:stop]))
        return list(islice((row for row in rows if query.lineage.sees(row.branch, row.position)), query.limit))

    def indexed(self, positions: Sequence[int]) -> dict[int, Index]:
        """The indexes of the records at these positions; those without one are left out."""
        return {position: self._indexes[position] for position in positions if position in self._indexes}

    def findable(self, positions: Sequence[int]) -> list[Findable]:
        """The records at these positions with what they are found by, ascending, each once."""
        places = sorted(position for position in set(positions) if 0 < position <= self.position)
        indexes = (self._indexes.get(place) for place in places)
        return [
            Findable(record=self._records[place - 1], index=packed(index) if index is not None else None)
            for place, index in zip(places, indexes, strict=True)
        ]

    def _index_rows(self) -> list[IndexRow]:
        return [index_row(position, packed(index)) for position, index in self._indexes.items()]

    def projection(self) -> Projection:
        """All rows, in the order that every store gives them."""
        states = [row for rows in self._states.values() for row in rows]
        links = [row for rows in self._links.values() for row in rows]
        return Projection(
            nodes=tuple(self._nodes),
            states=tuple(sorted(states, key=lambda s: (s.field, s.target, s.branch or "", s.from_pos))),
            links=tuple(sorted(links, key=lambda link: (link.relation, link.source, link.target, link.position))),
            indexes=tuple(self._index_rows()),
        )


def _ends(lineage: Lineage) -> dict[RecordId | None, int]:
    """Up to where the records of each branch count; None: those that belong to no branch."""
    ends: dict[RecordId | None, int] = {None: lineage.upto}
    for segment in lineage.segments:
        ends[segment.branch] = max(ends.get(segment.branch, 0), segment.upto)
    return ends


def _within(places: list[int], query: NodeQuery, upto: int) -> list[int]:
    """Of ascending positions those up to one that a query asks for, no more than its limit."""
    last = upto if query.before is None else min(upto, query.before - 1)
    start, stop = bisect_right(places, query.after), bisect_right(places, last)
    if query.limit is not None:
        start, stop = (
            (max(start, stop - query.limit), stop) if query.newest else (start, min(stop, start + query.limit))
        )
    return places[start:stop]
