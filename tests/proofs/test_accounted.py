"""Every record that may stand in a request stands in it or has one reason, and the figures add up."""

from collections.abc import Sequence

import pytest
from hypothesis import given

from callsheet import Sheet
from callsheet.explain.absence import WhyNot
from callsheet.graph.changes import Superseded
from callsheet.graph.enums import INSTRUCTING, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, ToolArtifact
from callsheet.graph.record import Record
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.proofs.playing import play
from tests.proofs.profiles import PARTS, graphs, in_parts
from tests.proofs.steps import Kind, Reader, Step, readers, steps
from tests.proofs.told import same
from tests.proofs.world import World

REFUSED = frozenset({Reason.BRANCH, Reason.PARTICIPANT_PRIVATE, Reason.AUDIT_ONLY, Reason.NOT_RELEASED, Reason.ERASED})
"""Counted beside the records of which a request is made."""


def replaced_instructions(visible: Sequence[Record]) -> set[RecordId]:
    """The instructions that do not govern any more."""
    changes = [record.body for record in visible if isinstance(record.body, Superseded)]
    replaced = {id for body in changes for id in body.replaced}
    messages = {one.id: one.body for one in visible if isinstance(one.body, Message)}
    return {id for id in replaced if id in messages and messages[id].role in INSTRUCTING}


@pytest.mark.parametrize("part", range(PARTS))
def test_every_record_is_shown_or_has_one_reason_and_they_add_up(part: int) -> None:
    in_parts(part, 8_800, sound, readers, steps)


def sound(reader: Reader, acted: list[Step]) -> None:
    """And the request is valid, within its budget, and the same again; each graph is shown five properties."""
    world = World(reader)
    play(world, acted)
    sheet = world.assemble()
    if sheet is None:
        return
    assert not problems(sheet.request(), Wire(reader.provider))
    assert sheet.tokens <= reader.budget
    assert same(sheet, world.assemble())
    assert same(sheet, world.assemble(world.fresh()))
    accounts_for_all(world, sheet, acted)


def accounts_for_all(world: World, sheet: Sheet, acted: Sequence[Step]) -> None:
    """Each record stands in the request or has a reason, and the counts add up to all records."""
    given_ = world.given()
    visible = world.visible()
    selected = {selection.record for selection in sheet.selections}
    assert selected <= {record.id for record in visible} | given_
    if not any(step.kind is Kind.ERASES for step in acted):
        # Memories stand beside what was said and done; they are none of the records that plain replay would show.
        # Nor are instructions that newer ones, or none, took the place of.
        candidates = {record.id for record in visible if isinstance(record.body, Message | ToolArtifact)}
        if world.reader.policy != "replay":
            candidates -= replaced_instructions(visible)
        omitted = sum(number for reason, number in sheet.record.omitted if reason not in REFUSED)
        assert len(candidates) == sheet.record.messages_replayed
        assert len(candidates) == len(selected & candidates) + omitted
    for record in world.records():
        if record.header.kind in ("message", "artifact") and record.id not in selected:
            found: WhyNot = world.talk.why_not(sheet.id, record.id)
            assert found.reason is not Reason.INCLUDED, record
            if not world.sees(record) and record.id not in given_:
                assert found.reason in REFUSED, record


@given(readers, steps)
@graphs(80)
def test_every_request_is_valid_for_its_provider_and_within_its_budget(reader: Reader, acted: list[Step]) -> None:
    world = World(reader)
    play(world, acted)
    for provider in ("openai", "anthropic"):
        for budget in (250, 600, 1_500, 4_000, 100_000):
            sheet = world.assemble(provider=provider, budget=budget)
            if sheet is not None:
                assert not problems(sheet.request(), Wire(provider))
                assert sheet.tokens <= budget
    for sheet in world.sheets:
        assert not problems(sheet.request(), Wire(reader.provider))
