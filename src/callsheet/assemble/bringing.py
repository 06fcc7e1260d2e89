"""What is brought back into view: results that the newest turn names, those of a task that it returns to, and messages
in which what it asks for was spoken of.

Several signs are looked for. An entity of what is new is held by an older result and by none in view. Or the user's
turn matches old turns better than those in view: then it returns to their task, and the results that stood near them in
time are needed with them. Or it holds words that few records hold, of which the last are out of view.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import NamedTuple, TypeVar

from callsheet.derive.calling import MARK
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Index, Posting

_Near = TypeVar("_Near")

K1, B = 1.2, 0.75
"""As in `callsheet.recall.bm25`, for turns beside whole results of tools, which differ more in length."""

COMMON = 6
"""An entity that more results hold than this tells nothing about which of them is meant."""

NEWEST = 2
"""Of the results that hold an entity the newest so many are brought back: how it is now, and how it was before."""

OCCURRENCES = 64
"""Occurrences of a term that are looked at, the newest; a term that has more says little."""

SHIFTS = 1.5
"""How much better than the best turn in view an old turn must match, for the user's turn to be a return to it."""

COVERS = 0.5
"""What share of the weight of its terms an old turn must hold for that."""

ALIKE = 0.5
"""An old message that shares this much of its terms with the user's turn says the same again, whatever is in view."""

FEW = 3
"""Terms that a turn must share with an old record at least: a greeting returns to nothing."""

RARE = 6
"""One of them must be held by so few records at most: what is said all the time tells nothing about which is meant."""

NEW = 0.25
"""What share of the weight of a turn's terms everything in view must stay below for the turn to begin something new."""

SAYS = 5
"""Terms that a turn must have to begin something new: a yes or a thank-you goes on."""

ASKS = 4
"""Terms that a turn must have for what is about it to be looked for."""

LIKE = 0.4
"""What share of the weight of a turn's terms an old record must hold to be about it."""

ABOUT = 4
"""Old records about a turn whose results are brought back at most."""

UNTOLD = 2
"""Words of a turn that nothing in view tells and an old result must hold to be brought back for them."""

SPOKEN = 2
"""Messages in which what the user asks for was spoken of and that come back at most: how it is, and how it was."""

OF = 8
"""What the user speaks of is rare only where at most one of so many records holds it."""

QUESTION = 8
"""Terms that a turn may have to ask for what was spoken of: a longer one says itself what it is about."""

BEFORE = 3
"""What stood before the match is so many times as far away as what followed it: a task is told from its beginning."""

REACH = 16
"""Results behind the match among which those of its task are looked for."""


def named(postings: Iterable[Posting], in_view: Collection[RecordId]) -> list[RecordId]:
    """The results that hold an entity which no result in view holds, the newest of each first, without repeats."""
    holders: dict[str, list[Posting]] = {}
    for posting in postings:
        if posting.entity is not None:
            holders.setdefault(posting.entity, []).append(posting)
    found: dict[RecordId, None] = {}
    for held in holders.values():
        if len(held) > COMMON or any(posting.record in in_view for posting in held):
            continue
        newest = sorted(held, key=lambda posting: -posting.position)[:NEWEST]
        found.update(dict.fromkeys(posting.record for posting in newest))
    return list(found)


def asked_for(postings: Iterable[Posting]) -> list[RecordId]:
    """The results that hold what a person names: of each entity the newest, however many hold it, without repeats.

    Those that hold more of what is named come first, then the newer ones.
    """
    holders: dict[str, list[Posting]] = {}
    for posting in postings:
        if posting.entity is not None:
            holders.setdefault(posting.entity, []).append(posting)
    named: dict[RecordId, int] = {}
    places: dict[RecordId, int] = {}
    for held in holders.values():
        for posting in sorted(held, key=lambda posting: -posting.position)[:NEWEST]:
            named[posting.record] = named.get(posting.record, 0) + 1
            places[posting.record] = posting.position
    return sorted(named, key=lambda record: (-named[record], -places[record]))


def used(postings: Iterable[Posting], in_view: Collection[RecordId]) -> frozenset[RecordId]:
    """The results in view that hold an entity which few results hold: what is said now makes use of them."""
    holders: dict[str, list[RecordId]] = {}
    for posting in postings:
        if posting.entity is not None:
            holders.setdefault(posting.entity, []).append(posting.record)
    return frozenset(record for held in holders.values() if len(held) <= COMMON for record in held if record in in_view)


class Match(NamedTuple):
    """How well a record matches the user's turn."""

    record: RecordId
    position: int
    score: float
    #: The share of the weight of the query's terms that it holds.
    covers: float
    #: Terms that both have, of all that either has.
    alike: float
    shared: int
    #: One of the shared terms is rare.
    rare: bool


@dataclass(frozen=True, slots=True)
class Counted:
    """The terms of a record with how often each occurs, and how often all of them do."""

    counts: Mapping[str, int]
    length: int

    @classmethod
    def of(cls, index: Index) -> "Counted":
        """From what a record is found by."""
        counts = dict(index.terms)
        if index.terms and index.terms[-1][0].startswith(MARK):
            # What is said of a call as such is no part of what it says.
            counts = {term: often for term, often in counts.items() if not term.startswith(MARK)}
        return cls(counts, sum(counts.values()))


class Matching:
    """Scores records against the terms of a turn, by BM25 with the frequencies that were seen among `postings`."""

    def __init__(self, query: Collection[str], postings: Iterable[Posting], records: int) -> None:
        self._query = frozenset(query)
        held = [(one.term, one.position, one.record) for one in postings if one.term is not None]
        #: By position.
        self._records = {place: record for _, place, record in held}
        self._terms: Mapping[int, list[str]] = {place: [] for place in self._records}
        for term, place, _ in held:
            self._terms[place].append(term)
        self._frequency = frequency = Counter([term for term, _, _ in held])
        self._count = count = max(records, *frequency.values()) if frequency else records
        self._weight = {term: math.log1p((count - seen + 0.5) / (seen + 0.5)) for term, seen in frequency.items()}
        # What no record holds is asked for all the same.
        self._total = sum(self._weight.values()) + math.log1p((count + 0.5) / 0.5) * len(self._query - frequency.keys())

    def promising(self, limit: int) -> list[int]:
        """Positions of the records that hold most of the weight, at most `limit`."""
        weight = self._weight
        held = [(-round(sum([weight[term] for term in terms]), 9), -place) for place, terms in self._terms.items()]
        return [-place for _, place in nsmallest(limit, held)]

    def matches(self, records: Mapping[int, Counted]) -> list[Match]:
        """The records at these positions, best first, equal ones newest first."""
        weight, total, frequency = self._weight, self._total, self._frequency
        average = sum(counted.length for counted in records.values()) / len(records) if records else 1.0
        query, found = len(self._query), list[Match]()
        for place, counted in records.items():
            if place not in self._terms:
                continue
            norm = K1 * (1 - B + B * counted.length / (average or 1.0))
            counts = counted.counts
            held = [term for term in self._terms[place] if counts.get(term)]
            shared = len(held)
            score = sum([weight[term] * (K1 + 1) * counts[term] / (counts[term] + norm) for term in held])
            covers = sum([weight[term] for term in held]) / total if total else 0.0
            either = len(counts) + query - shared
            rare = min([frequency[term] for term in held], default=RARE + 1) <= RARE
            alike = shared / either if either else 0.0
            found.append(Match(self._records[place], place, score, covers, alike, shared, rare))
        return sorted(found, key=lambda match: (-round(match.score, 9), -match.position))

    def told(self, positions: Collection[int]) -> frozenset[str]:
        """The terms of the turn that the records at these positions hold."""
        return frozenset(term for place in positions for term in self._terms.get(place, ()))

    def latest(self) -> Mapping[str, Sequence[RecordId]]:
        """Of each rare term of a short turn the records that held it last, the newest first, at most `NEWEST`."""
        latest: dict[str, list[RecordId]] = {}
        if len(self._query) > QUESTION:
            return latest
        # In a short history all terms are held by few.
        rare = min(RARE, self._count // OF)
        for place in sorted(self._terms, reverse=True):
            for term in self._terms[place]:
                if self._frequency[term] <= rare and len(latest.setdefault(term, [])) < NEWEST:
                    latest[term].append(self._records[place])
        return latest

    def spoken(self, latest: Mapping[str, Sequence[RecordId]], away: Collection[RecordId]) -> list[RecordId]:
        """Of messages that are `away` out of view those in which something was spoken of last, at most `SPOKEN`.

        A term whose `latest` record is none of them is told of in view, or in a result. Those that hold most come
        first, the newer of equal ones.
        """
        weights: dict[RecordId, float] = {}
        for term, records in sorted(latest.items()):
            if records[0] in away:
                for record in records:
                    weights[record] = weights.get(record, 0.0) + self._weight[term]
        places = {record: place for place, record in self._records.items()}
        found = [record for record in weights if record in away]
        return sorted(found, key=lambda record: (-round(weights[record], 9), -places[record]))[:SPOKEN]

    def untold(self, results: Sequence[Match], told: Collection[str]) -> list[Match]:
        """Of old results those that hold terms of the turn which are not `told`, at most `ABOUT`.

        What holds most of their weight comes first, the newer of equal ones, and each next one must hold `UNTOLD` terms
        that those before it do not. A turn of less than `ASKS` terms asks for nothing.
        """
        missing = self._query.difference(told) if len(self._query) >= ASKS else frozenset()
        left, found = list(results), list[Match]()

        def gain(match: Match) -> tuple[float, int]:
            held = sorted(missing.intersection(self._terms.get(match.position, ())))
            return (round(sum(self._weight[term] for term in held), 9) if len(held) >= UNTOLD else 0.0, match.position)

        while left and len(found) < ABOUT:
            best = max(left, key=gain)
            if not gain(best)[0]:
                break
            found.append(best)
            left.remove(best)
            missing = missing.difference(self._terms[best.position])
        return found


def returns_to(matches: Sequence[Match], in_view: Collection[int]) -> Match | None:
    """The old record to whose task the turn returns; None: it goes on with what is in view, or begins something new.

    `in_view` are positions.
    """
    away = [match for match in matches if match.position not in in_view and match.shared >= FEW]
    alike = (match for match in away if match.rare or match.shared >= SAYS)
    again = max(alike, key=lambda match: (match.alike, match.position), default=None)
    away = [match for match in away if match.rare]
    if again is not None and again.alike >= ALIKE:
        return again
    seen = max((match.score for match in matches if match.position in in_view), default=0.0)
    best = next((match for match in away if match.covers >= COVERS), None)
    return best if best is not None and best.score > SHIFTS * seen else None


def about(matches: Sequence[Match], in_view: Collection[int], terms: int) -> list[Match]:
    """Of old records those that have more to do with a turn of so many terms than anything in view, best first.

    Records that match equally are taken for repeats of one another: the newest speaks for them.
    """
    if terms < ASKS:
        return []
    seen = max((match.covers for match in matches if match.position in in_view), default=0.0)
    found: dict[tuple[float, float], Match] = {}
    for match in matches:
        if match.position not in in_view and match.shared > 1 and match.covers > max(LIKE, seen):
            found.setdefault((round(match.score, 9), round(match.covers, 9)), match)
    return list(found.values())[:ABOUT]


def begins(matches: Sequence[Match], in_view: Collection[int], terms: int) -> bool:
    """Whether a turn of so many terms begins something new: nothing in view has much to do with it."""
    seen = max((match.covers for match in matches if match.position in in_view), default=0.0)
    return terms >= SAYS and seen < NEW


def tells(name: str) -> bool:
    """Whether a name has the form of an id, path or address, which stand for one thing, unlike dates and amounts."""
    return any(one.isalpha() for one in name) and any(one.isdigit() or one in "_@/" for one in name)


def nearest(around: Iterable[tuple[_Near, int]], position: int) -> list[_Near]:
    """Records, given with their positions, by how near they stood to a position, what followed it first."""

    def distance(entry: tuple[_Near, int]) -> int:
        away = entry[1] - position
        return away if away >= 0 else -BEFORE * away

    return [record for record, _ in sorted(around, key=distance)]


def within(records: Iterable[RecordId], sizes: Mapping[RecordId, int], *, total: int, each: int) -> list[RecordId]:
    """As many as fit into `total` tokens, in their order, none larger than `each`."""
    chosen: list[RecordId] = []
    left = total
    for record in records:
        size = sizes.get(record, 0)
        if size <= min(each, left):
            chosen.append(record)
            left -= size
    return chosen
