"""Fits what is known of other conversations: ``callsheet/assemble/needed.json``, and tables to check it by.

usage: python tools/fit_needed.py RECORDINGS... [--out FOLDER]

RECORDINGS are files of recorded trajectories. Each is walked turn by turn as assembly walks a conversation.

`uses`: how often a result is used at each age, for each result that grows so old, counted as
`callsheet.runtime.reusing` counts it: what the model says uses the results that it names, if few hold the name; where
the user names one, it is younger again, and nothing is counted. Each original source weighs the same.

`size`: at every third step each finished result that is out of the newest turns is one observation, and counts as
needed when one of the next `HORIZON` steps uses a value that stands in it, in nothing newer, and in nothing but
results. The rate is fitted as a product of a factor per bin (iterative proportional fitting of a log-linear rate) of
age, size, reuse and task, so that size is not given what the others explain. Its factors are moved half-way to the
mean, in logarithms: other sources differ from these by more than the counts of these can tell.

Written are ``needed.json`` (all sources) and, into FOLDER, one table without each original source: figures for a file
are measured with the table that has not seen its source.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from callsheet.assemble import bringing
from callsheet.assemble.bringing import COMMON
from callsheet.assemble.needed import AGES, SIZES, Habit, Needed, age_bin
from callsheet.derive.derived import index_message, index_result, unpack
from callsheet.evaluate import files
from callsheet.evaluate.evidence import Evidence
from callsheet.evaluate.messages import Message, Role, copyable_text
from callsheet.evaluate.trajectory import Trajectory
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Posting
from callsheet.runtime.returning import PROMISING, QUERY
from callsheet.runtime.reusing import LATE
from callsheet.wire.tokens import count

HORIZON = 20
"""Steps within which a result counts as needed."""

OUT_OF_VIEW = 3
"""Turns after which a result is looked at: younger ones stand in view anyway."""

EVERY = 3
"""Steps between two observations."""

IN_VIEW = 20
"""Turns since its last use in which a record is taken to stand in view."""

REUSES = (0.1, 0.3, 0.5)
"""Upper bounds of the bins of reuse: the share of a conversation's results that were used again late."""

ROUNDS = 60
SHIPPED = Path(__file__).parent.parent / "src" / "callsheet" / "assemble" / "needed.json"

Bins = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Seen:
    """One result at one step."""

    bins: Bins
    needed: bool


class Walk:
    """A recording, walked as assembly would."""

    def __init__(self, trajectory: Trajectory) -> None:
        self.messages = trajectory.messages
        self.steps = trajectory.steps
        self.turn_of = list(_turns(self.messages))
        self.entities = [_entities(message) for message in self.messages]
        self.sizes = [_size(message) for message in self.messages]
        self.needed_at = _needed_at(trajectory)
        self.last_use = list(self.turn_of)
        self.holders: dict[str, list[int]] = {}
        self.reused: set[int] = set()
        self.indexes = [index_message(copyable_text(message)) for message in self.messages]
        self.terms: dict[str, list[int]] = {}
        self.task = 0
        #: Uses of results by the bin of the age at which they came.
        self.uses: Counter[int] = Counter()

    @property
    def habit(self) -> Habit:
        """How many results there were, and over how many turns."""
        return Habit(turns=max(self.turn_of[-1], 1), results=sum(one.role == Role.TOOL for one in self.messages))

    def observations(self) -> Iterator[Seen]:
        """Every result at every third step, from the moment that it is out of view."""
        at = 0
        for number, step in enumerate(self.steps):
            while at < step:
                self._take(at)
                at += 1
            if number % EVERY == 0:
                yield from self._now(step, self.steps[number : number + HORIZON])
        for rest in range(at, len(self.messages)):
            self._take(rest)

    def _take(self, at: int) -> None:
        if self.messages[at].role == Role.USER and at:
            self._judge(at)
        for term, _ in self.indexes[at].terms:
            self.terms.setdefault(term, []).append(at)
        if self.messages[at].role == Role.TOOL:
            for entity in self.entities[at]:
                self.holders.setdefault(entity, []).append(at)
            return
        turn = self.turn_of[at]
        held = [self.holders.get(entity, ()) for entity in self.entities[at]]
        for result in {result for results in held if len(results) <= COMMON for result in results}:
            self.uses[age_bin(turn - self.last_use[result])] += self.messages[at].role != Role.USER
            self.last_use[result] = turn
            if turn - self.turn_of[result] > LATE:
                self.reused.add(result)

    def _judge(self, at: int) -> None:
        """Whether a user's turn begins another task, or returns to one."""
        terms = [term for term, _ in self.indexes[at].terms[:QUERY]]
        postings = [
            Posting(term=term, position=place, record=RecordId(str(place)))
            for term in terms
            for place in reversed(self.terms.get(term, [])[-bringing.OCCURRENCES :])
        ]
        matching = bringing.Matching(terms, postings, at)
        indexes = {place: bringing.Counted.of(self.indexes[place]) for place in matching.promising(PROMISING)}
        turn = self.turn_of[at]
        view = {place for place in indexes if turn - self.last_use[place] <= IN_VIEW}
        matches = matching.matches(indexes)
        if bringing.returns_to(matches, view) is not None or bringing.begins(matches, view, len(terms)):
            self.task = turn

    def _now(self, step: int, coming: Sequence[int]) -> Iterator[Seen]:
        turn = self.turn_of[step - 1]
        results = [at for at in range(step) if self.messages[at].role == Role.TOOL]
        reuse = len(self.reused) / len(results) if results else 0.0
        for at in results:
            if turn - self.turn_of[at] > OUT_OF_VIEW:
                bins = (
                    age_bin(turn - self.last_use[at]),
                    age_bin(self.sizes[at], SIZES),
                    age_bin(reuse, REUSES),
                    int(self.last_use[at] >= self.task),
                )
                wanted = self.needed_at.get(at, ())
                yield Seen(bins, any(coming[0] <= use <= coming[-1] for use in wanted))


def _turns(messages: Iterable[Message]) -> Iterator[int]:
    turn = 0
    for message in messages:
        turn += message.role in (Role.USER, Role.ASSISTANT)
        yield turn


def _entities(message: Message) -> frozenset[str]:
    return frozenset(index_message(copyable_text(message)).entities)


def _size(message: Message) -> int:
    if message.role != Role.TOOL:
        return 0
    derived = unpack(index_result(message.text, tool="", arguments="", count=count_o200k).derived)
    return derived.dense_tokens if derived is not None else 0


def count_o200k(text: str) -> int:
    return count(text, "o200k_base")


def _needed_at(trajectory: Trajectory) -> Mapping[int, list[int]]:
    """Of each result the steps that use a value of it that stands in nothing newer and in results alone."""
    found: dict[int, list[int]] = {}
    for step, needs in Evidence(trajectory).needs.items():
        for need in needs:
            if need.hard:
                found.setdefault(need.sources[-1], []).append(step)
    return found


def source_of(trajectory: Trajectory, origins: Mapping[str, str]) -> str:
    """The repository that a recording comes from; a session made of recordings names them, and comes from theirs."""
    kind, _, parts = trajectory.source.partition(": ")
    known = [origins[part] for part in parts.split(", ") if part in origins]
    return known[0] if known else kind.split("@")[0]


@dataclass(slots=True)
class Tally:
    """What was counted in one source."""

    #: Observations by bins, and those of them that were needed.
    seen: Counter[Bins] = field(default_factory=Counter)
    needed: Counter[Bins] = field(default_factory=Counter)
    #: By bin of age: uses, and results that grew old enough for it.
    uses: Counter[int] = field(default_factory=Counter)
    reached: list[float] = field(default_factory=lambda: [0.0] * (len(AGES) + 1))

    def add(self, walk: Walk) -> None:
        """Count one recording."""
        for observation in walk.observations():
            self.seen[observation.bins] += 1
            self.needed[observation.bins] += observation.needed
        self.uses += walk.uses
        self.reached = [before + walk.habit.reached(place) for place, before in enumerate(self.reached)]

    def rate(self, place: int) -> float | None:
        """Uses in a bin of age for each result that grew old enough; None: not one did."""
        return self.uses[place] / self.reached[place] if self.reached[place] >= 1 else None


def fit(name: str, tallies: Sequence[Tally]) -> Needed:
    """One table from what was counted in several sources; those that used nothing again tell nothing about when."""
    used = [tally for tally in tallies if tally.uses.total()]
    uses = tuple(round(_mean(tally.rate(place) for tally in used), 4) for place in range(len(AGES) + 1))
    return Needed(name=name, uses=uses, size=_sizes([tally for tally in tallies if tally.needed.total()]))


def _mean(rates: Iterable[float | None]) -> float:
    known = [rate for rate in rates if rate is not None]
    return sum(known) / len(known) if known else 0.0


def _sizes(tallies: Iterable[Tally]) -> tuple[float, ...]:
    """The factors of size, beside those of age, reuse and task."""
    seen, needed = Counter[Bins](), Counter[Bins]()
    for tally in tallies:
        seen += tally.seen
        needed += tally.needed
    base = needed.total() / seen.total()
    factors = [*([1.0] * (len(bounds) + 1) for bounds in (AGES, SIZES, REUSES)), [1.0, 1.0]]
    for _ in range(ROUNDS):
        for axis in range(len(factors)):
            _scale(factors, axis, base, seen, needed)
    return tuple(round(factor**TEMPER, 3) for factor in factors[1])


TEMPER = 0.5
"""How much of what was fitted is kept, in logarithms."""

PRIOR = 1.0
"""Expected needs added to both sides of each bin, so that a bin that was hardly seen stays near the mean."""


def _scale(
    factors: list[list[float]], axis: int, base: float, seen: Mapping[Bins, float], needed: Mapping[Bins, float]
) -> None:
    wanted = [PRIOR] * len(factors[axis])
    expected = [PRIOR] * len(factors[axis])
    for bins, number in seen.items():
        rate = base * number
        for other in range(len(factors)):
            if other != axis:
                rate *= factors[other][bins[other]]
        expected[bins[axis]] += rate
        wanted[bins[axis]] += needed[bins]
    factors[axis] = [want / expect for want, expect in zip(wanted, expected, strict=True)]


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args(arguments)
    tallies = _tallies([files.load(path) for path in options.recordings])
    _write(SHIPPED, fit("needed@2", list(tallies.values())))
    if options.out is None:
        return
    options.out.mkdir(parents=True, exist_ok=True)
    for source in tallies:
        rest = [tally for other, tally in tallies.items() if other != source]
        _write(options.out / f"{source.replace('/', '_')}.json", fit(f"needed@2 without {source}", rest))


def _tallies(recordings: Sequence[files.RecordingFile]) -> dict[str, Tally]:
    """What was counted, by original source."""
    origins = {
        each.id: each.source.split("@")[0] for file in recordings for each in file.trajectories if "@" in each.source
    }
    tallies: dict[str, Tally] = {}
    for file in recordings:
        for trajectory in file.trajectories:
            tallies.setdefault(source_of(trajectory, origins), Tally()).add(Walk(trajectory))
    for source, tally in sorted(tallies.items()):
        used = f"{tally.uses.total():,} uses"
        print(f"{source}: {used}; {tally.needed.total():,} needed of {tally.seen.total():,}", file=sys.stderr)
    return tallies


def _write(path: Path, table: Needed) -> None:
    path.write_text(json.dumps(msgspec.to_builtins(table), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
