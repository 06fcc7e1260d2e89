"""What is second-hand in a request: episodes, milestones and facts; which of them stand there, and how they read.

What they were made of may stand beside them. They stand in notes alone, within a share of the low-water mark that the
policy set states, so that no summary crowds out evidence.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

from callsheet.assemble import standins
from callsheet.assemble.forms import SAID, reference
from callsheet.assemble.items import Item, SecondHand
from callsheet.assemble.legible import Legible
from callsheet.assemble.stated import Stated
from callsheet.derive.milestones import Kind
from callsheet.derive.notation import indented
from callsheet.derive.summarising.extract import first_point
from callsheet.graph.enums import Freshness, Level
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Episode, Fact, Milestone
from callsheet.graph.times import Instant, to_datetime
from callsheet.policy.verdict import DETAIL

LASTING = frozenset({Freshness.DURABLE, Freshness.PERMANENT})
"""What is told without its time; everything else says of when it is."""

FIRST = 2
"""The part of the share that what somebody laid down may take: one in so many."""

_SOURCES = 3

_SAYS: Mapping[str, str] = {
    Kind.CONSTRAINT: " laid down",
    Kind.DECISION: " (a decision)",
    "laid down": " laid down",
    "decided": " (a decision)",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Beside:
    """What of the second-hand items stands in a note that is written anew, chosen in two steps around the rest."""

    items: Sequence[Item]
    #: What the newest turn calls for.
    brought: Container[RecordId]
    #: Tokens that all of it may take.
    most: int
    _levels: dict[RecordId, Level] = field(default_factory=dict)

    def first(self) -> int:
        """Choose what goes before everything else, and say what it takes.

        What is pinned stands at least by reference; then, by value, what is pinned or in focus, and what people laid
        down, the newest first.
        """
        for item in self.items:
            if item.least is not Level.NONE:
                self._levels[item.id] = _smallest(item)
        newest = self._newest()
        focus = [item for item in newest if item.id in self.brought or item.least is not Level.NONE]
        self._raise(focus, self.most)
        laid_down = [item for item in newest if item.second_hand is SecondHand.LAID_DOWN]
        self._raise(laid_down, self.most // FIRST)
        return self.taken

    def rest(self, room: int, legible: Legible | None = None) -> dict[RecordId, Level]:
        """Choose the rest within what the other records of the note leave, and say in which detail each stands.

        Episodes come in a line each, then in full, then other milestones; the newest first. What quotes nothing but
        what is `legible` in the request gives way to it, and an episode that is told in full says its milestones.
        """
        most = min(self.most, self.taken + max(0, room))
        quoted = {item.id for item in self.items if legible is not None and legible.tells(item)}
        newest = [item for item in self._newest() if item.id not in quoted]
        for id in quoted:
            self._levels.pop(id, None)
        episodes = [item for item in newest if item.second_hand is SecondHand.EPISODE]
        self._raise(episodes, most, to=Level.GIST)
        self._raise(episodes, most)
        levels = self._levels
        self._raise([item for item in newest if levels.get(item.within or item.id) is not Level.DENSE], most)
        return dict(levels)

    def wanted(self, room: int) -> int:
        """What it would take, with what was chosen so far, within this room."""
        trial = replace(self, _levels=dict(self._levels))
        trial.rest(room - self.taken)
        return trial.taken

    @property
    def taken(self) -> int:
        """Tokens of what was chosen so far."""
        levels = self._levels
        return sum(item.noted.get(levels[item.id], 0) for item in self.items if item.id in levels)

    def _newest(self) -> list[Item]:
        return sorted(self.items, key=lambda item: (-item.position, item.id))

    def _raise(self, items: Sequence[Item], most: int, *, to: Level | None = None) -> None:
        taken = self.taken
        for item in items:
            best = _best(item) if to is None or to not in item.noted else to
            if best is Level.NONE or DETAIL[best] < DETAIL[item.most]:
                continue
            now = self._levels.get(item.id, Level.NONE)
            more = item.noted[best] - item.noted.get(now, 0)
            if DETAIL[best] < DETAIL[now] and taken + more <= most:
                self._levels[item.id] = best
                taken += more


def _best(item: Item) -> Level:
    if item.most_hard in (Level.SAFE, Level.NONE):
        # That there is something to withhold would tell of its content.
        return Level.NONE
    usable = [level for level in item.noted if DETAIL[level] >= DETAIL[item.most] and level is not Level.REF]
    return min(usable, key=lambda level: DETAIL[level], default=Level.NONE)


def _smallest(item: Item) -> Level:
    usable = [level for level in item.noted if DETAIL[level] >= DETAIL[item.most]]
    return min(usable, key=lambda level: item.noted[level], default=Level.NONE)


# ---------------------------------------------------------------------------------------------- lines


def episode_line(id: RecordId, level: Level, body: Episode, text: str, *, references: bool) -> str:
    """The line, or lines, of an episode in a note."""
    first, last = body.turns
    span = f"turns {first} to {last}" if first < last else f"turn {first}" if first else "an older part"
    if level is Level.SAFE:
        return f"{span}: {standins.WITHHELD}"
    mark = f"[{reference(id)}] " if references else ""
    if level in (Level.REF, Level.STALE):
        return f"{mark}{span}: {standins.LEFT_OUT}"
    when = as_of(body.freshness, body.observed)
    written = body.method == "abstractive"
    # The lines of an extract say themselves what is of a tool; a summary mixes what it was made of.
    second = f"second-hand{standins.UNTRUSTED}" if written and body.tainted else "second-hand"
    if level is Level.GIST:
        return f"{mark}{span}{when}, {second}: {' '.join(first_point(text).split())}"
    by = f"by {body.by or 'a model'}" if written else "extracts"
    how = f"{by}; {second}, recall {reference(id)} shows the original" if references else f"{by}; {second}"
    head = f"{mark}{span} in short{when} ({how}):\n"
    return indented(f"{head}{text}") if written else f"{head}{text}"


def stated_line(level: Level, body: Milestone | Fact, said: Stated, *, references: bool) -> str:
    """The line of a milestone or fact in a note, with the references of what it rests on."""
    if level is Level.SAFE:
        return f"{said.by or 'noted'}: {standins.WITHHELD}"
    sources = ", ".join(map(reference, body.sources[:_SOURCES]))
    mark = f"[{sources}] " if references and sources else ""
    if level in (Level.REF, Level.STALE):
        return f"{mark}{said.by or 'noted'}: {standins.LEFT_OUT}"
    kind = body.kind if isinstance(body, Milestone) else body.predicate
    when = as_of(body.freshness, body.observed)
    return indented(f"{mark}{said.by or 'noted'}{_SAYS.get(kind, '')}{when}: {said.text}")


def as_of(freshness: Freshness, observed: Instant | None) -> str:
    """Behind what does not last: of which day it is."""
    if freshness in LASTING or observed is None:
        return ""
    return f" as of {to_datetime(observed):%Y-%m-%d}"


def second_hand(body: object) -> SecondHand | None:
    """What kind of second-hand record this is; None: it is none."""
    if isinstance(body, Episode):
        return SecondHand.EPISODE
    if isinstance(body, Milestone | Fact):
        kind = body.kind if isinstance(body, Milestone) else body.predicate
        laid_down = kind in (Kind.CONSTRAINT, "laid down") and not body.tainted
        return SecondHand.LAID_DOWN if laid_down else SecondHand.STATED
    return None


def in_line(body: Milestone | Fact) -> bool:
    """Whether the line that stands for its source in a note shows what it says."""
    ranges = [one.byte_range for one in body.locators if one.part == 0 and one.byte_range is not None]
    return body.tainted or (0 < len(ranges) == len(body.locators) and all(end <= SAID for _, end in ranges))


def sizes(
    id: RecordId, body: Episode | Milestone | Fact, text: str, said: Stated, count: Callable[[str], int]
) -> dict[Level, int]:
    """Tokens of the line of a second-hand record, by level."""
    levels = (
        (Level.DENSE, Level.GIST, Level.REF, Level.SAFE)
        if isinstance(body, Episode)
        else (Level.GIST, Level.REF, Level.SAFE)
    )
    lines = {
        level: episode_line(id, level, body, text, references=True)
        if isinstance(body, Episode)
        else stated_line(level, body, said, references=True)
        for level in levels
    }
    return {level: count(line) + 1 for level, line in lines.items()}
