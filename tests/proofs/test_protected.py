"""What is protected is in every request that can be made at all, whatever its budget."""

import json
from collections.abc import Iterator

from hypothesis import given

from callsheet import Sheet
from callsheet.assemble.forms import reference
from callsheet.graph.changes import Reclassified
from callsheet.graph.enums import INSTRUCTING, ArtifactStatus, Level, Privacy, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, ToolArtifact
from callsheet.graph.record import Record
from callsheet.graph.values import Text
from callsheet.policy.sets import policy_set
from tests.proofs.playing import play
from tests.proofs.profiles import graphs
from tests.proofs.steps import Kind, Reader, Step, readers, steps
from tests.proofs.world import World
from tests.runtime.replies import openai_reply, user

FAILED = frozenset({ArtifactStatus.FAILED, ArtifactStatus.TIMED_OUT, ArtifactStatus.UNKNOWN})
WITHHELD = (Level.SAFE, Level.REF, Level.STALE, Level.NONE)
"""Levels that show no value."""

UNTOUCHED = (
    *(Kind.ERASES, Kind.RECLASSIFIES, Kind.RETAINS, Kind.SUPERSEDES, Kind.PASSES, Kind.STALE, Kind.PINS),
    *(Kind.SKILLS, Kind.REPLACES, Kind.OUTDATES),
)
"""Changes that withhold or shorten by themselves; what they do to what is protected is told apart."""


def due(world: World) -> Iterator[Record]:
    """The records that must stand in a request: told from the history, without the policies."""
    records = [record for record in world.visible() if isinstance(record.body, Message | ToolArtifact)]
    turn, turns = 0, dict[str, int]()
    settled: set[str] = set()
    for record in reversed(records):
        body = record.body
        if isinstance(body, ToolArtifact) and body.tool:
            if body.status is ArtifactStatus.OK:
                settled.add(body.tool)
            elif body.status in FAILED and body.tool not in settled:
                yield record
    for record in records:
        if isinstance(record.body, Message):
            turn += record.body.role not in INSTRUCTING
            turns[record.id] = turn
        elif isinstance(record.body, ToolArtifact):
            turns[record.id] = turns.get(record.body.message or "", turn)
    kept = policy_set(world.reader.policy).turns
    waiting = {str(call.id) for call in world.talk.pending()}
    for record in records:
        body = record.body
        instructs = isinstance(body, Message) and body.role in INSTRUCTING
        waits = isinstance(body, Message) and any(getattr(part, "call", None) in waiting for part in body.parts)
        if instructs or waits or turn - turns[record.id] < kept:
            yield record


def standing(world: World, sheet: Sheet) -> set[str]:
    """What stands in a request; what only asks for tools stands where all their results do."""
    shown = {one.record for one in sheet.selections if one.level is not Level.NONE}
    results: dict[str, set[str]] = {}
    for record in world.visible():
        if isinstance(record.body, ToolArtifact) and record.body.message is not None:
            results.setdefault(record.body.message, set()).add(record.id)
    return shown | {message for message, found in results.items() if found <= shown}


def text(sheet: Sheet) -> str:
    """The request as a reader has it."""
    return json.dumps(sheet.request(), ensure_ascii=False)


@given(readers, steps)
@graphs(80)
def test_what_is_protected_is_shown_at_every_budget_at_which_there_is_a_request(
    reader: Reader, acted: list[Step]
) -> None:
    world = World(reader)
    play(world, [step for step in acted if step.kind not in UNTOUCHED])
    wanted = {record.id for record in due(world)}
    newest = [r for r in world.visible() if isinstance(r.body, Message) and r.body.role is Role.USER][-1]
    for budget in (250, 400, 900, 1_500, 4_000, 30_000):
        sheet = world.assemble(world.fresh(), budget=budget)
        later = world.assemble(budget=budget)
        for made in (sheet, later):
            if made is not None:
                assert wanted <= standing(world, made)
                assert any(one.record == newest.id and one.level is Level.RAW for one in made.selections)
                assert "Answer briefly." in text(made)
                assert said(world, newest) in text(made)


def said(world: World, record: Record) -> str:
    """What a user's message says, as JSON holds it."""
    assert isinstance(record.body, Message)
    (part,) = record.body.parts
    assert isinstance(part, Text)
    content = world.talk._session.read(part.text)
    return json.dumps(content.decode(), ensure_ascii=False)[1:-1].rstrip()


@given(readers, steps)
@graphs(200)
def test_a_secret_is_told_by_metadata_alone_also_where_it_is_protected(reader: Reader, acted: list[Step]) -> None:
    world = World(reader)
    play(world, [*acted, Step(Kind.ASKS, number=7), Step(Kind.RECLASSIFIES, number=len(acted), size=4)])
    sheet = world.assemble()
    if sheet is None or reader.policy == "replay":
        return
    levels = {one.record: one.level for one in sheet.selections}
    for record, privacy in classes(world).items():
        if privacy is Privacy.SECRET and record in levels:
            assert levels[record] in WITHHELD


def classes(world: World) -> dict[RecordId, Privacy]:
    """The class that each reclassified record has now."""
    found: dict[RecordId, Privacy] = {}
    for record in world.visible():
        if isinstance(record.body, Reclassified):
            found.update(dict.fromkeys(record.body.records, record.body.privacy))
    return found


def test_what_a_model_said_in_the_last_turns_is_at_least_referred_to() -> None:
    world = World(Reader(policy="lean", recall=True))
    answer = "BT-007 lies at berth 3, behind the crane. " * 40
    world.talk.record([user("Where does BT-007 lie?"), openai_reply(answer), user("And BT-008?")])
    last = world.records()[-2]
    levels: set[Level] = set()
    for budget in range(300, 1_500, 25):
        sheet = world.assemble(world.fresh(), budget=budget)
        if sheet is not None:
            (level,) = [one.level for one in sheet.selections if one.record == last.id]
            assert level is not Level.NONE
            if level is Level.REF:
                assert f"assistant: (left out; all of it: recall {reference(last.id)})" in text(sheet)
            levels.add(level)
    assert {Level.RAW, Level.REF} <= levels
