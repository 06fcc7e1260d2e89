"""What of a request says what something else in it says: milestones and their facts, what was said and its episode."""

from collections.abc import Container, Iterable, Mapping, Sequence

from callsheet.assemble.contents import text_of
from callsheet.assemble.episodes import second_hand
from callsheet.assemble.forms import in_short
from callsheet.assemble.items import SecondHand
from callsheet.assemble.stated import stated
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Episode, Fact, Message, Milestone
from callsheet.graph.record import Record
from callsheet.graph.values import Payload
from callsheet.runtime.episodes import Within
from callsheet.runtime.ground import Ground


def same(records: Iterable[Record]) -> dict[RecordId, RecordId]:
    """For each record the first that states the same: itself, or the milestone of a fact."""
    first: dict[Payload, RecordId] = {}
    found: dict[RecordId, RecordId] = {}
    for record in records:
        body = record.body
        found[record.id] = first.setdefault(body.value, record.id) if isinstance(body, Milestone | Fact) else record.id
    return found


def is_past(record: Record, considered: Container[RecordId], says: Mapping[RecordId, RecordId]) -> bool:
    """Whether what stood is an episode that is not considered any more, or states what an earlier one does."""
    if isinstance(record.body, Episode):
        return record.id not in considered
    return says.get(record.id, record.id) != record.id


def within(
    ground: Ground, told: Sequence[Record], owed: Sequence[RecordId], upto: int, known: Within
) -> dict[RecordId, RecordId]:
    """What of the milestones, and of messages that are owed a line, stands in an extract as a whole.

    `known` is what was found out so far, and is added to.
    """
    episodes = [one for one in told if isinstance(one.body, Episode)]
    found = known.of(tuple(one.id for one in episodes), ground.desk.redaction)
    wanted: dict[RecordId, tuple[RecordId, bool]] = {}
    lines: dict[tuple[RecordId, bool], str] = {}
    for one in told:
        if isinstance(one.body, Milestone | Fact) and second_hand(one.body) is SecondHand.STATED:
            key = wanted[one.id] = (one.id, False)
            if key not in found:
                said = stated(ground.read(one.body.value))
                lines[key] = _point(said.by, said.text)
    for one in (ground.desk.records[id] for id in dict.fromkeys(owed)):
        if isinstance(one.body, Message) and one.position <= upto:
            key = wanted[one.id] = (one.id, one.id in ground.silent)
            if key not in found:
                lines[key] = _point(one.body.role.value, in_short(ground.words(one)).removesuffix(" …"))
    found.update(_told_by(ground, episodes, lines))
    return {id: by for id, key in wanted.items() if (by := found[key]) is not None}


def _told_by(
    ground: Ground, episodes: Sequence[Record], lines: Mapping[tuple[RecordId, bool], str]
) -> dict[tuple[RecordId, bool], RecordId | None]:
    """The first of the episodes whose extract holds each of these points; None: none does."""
    if not lines:
        return {}
    extracts = [(one.id, text_of(ground.read(one.body.summary))) for one in episodes if isinstance(one.body, Episode)]
    points = [(id, f"{line} ") for id, text in extracts for line in text.split("\n")]
    found: dict[tuple[RecordId, bool], RecordId | None] = {}
    for key, line in lines.items():
        who, _, words = line.partition(": ")
        told_by = (episode for episode, point in points if point.startswith(f"{who}: ") and f" {words} " in point)
        found[key] = next(told_by, None) if words else None
    return found


def _point(by: str, words: str) -> str:
    """The point of an extract that would hold this and nothing else."""
    return f"- {by}: {' '.join(words.split())}"
