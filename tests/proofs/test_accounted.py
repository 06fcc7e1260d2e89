"""Every record that may stand in a request stands in it or has one reason, and the figures add up."""

from hypothesis import given

from callsheet.explain.absence import WhyNot
from callsheet.graph.enums import Reason
from callsheet.graph.nodes import Message, ToolArtifact
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.proofs.playing import play
from tests.proofs.profiles import graphs
from tests.proofs.steps import Kind, Reader, Step, readers, steps
from tests.proofs.world import World

REFUSED = frozenset({Reason.BRANCH, Reason.PARTICIPANT_PRIVATE, Reason.AUDIT_ONLY, Reason.NOT_RELEASED, Reason.ERASED})
"""Counted beside the records of which a request is made."""


@given(readers, steps)
@graphs(40)
def test_the_omissions_and_what_is_shown_add_up_to_all_candidates(reader: Reader, acted: list[Step]) -> None:
    world = World(reader)
    play(world, [step for step in acted if step.kind is not Kind.ERASES])
    sheet = world.assemble()
    if sheet is None:
        return
    visible = world.visible()
    candidates = {record.id for record in visible if isinstance(record.body, Message | ToolArtifact)}
    selected = {selection.record for selection in sheet.selections}
    omitted = sum(number for reason, number in sheet.record.omitted if reason not in REFUSED)
    assert selected <= {record.id for record in visible}
    # Memories stand beside what was said and done; they are none of the records that plain replay would show.
    shown = selected & candidates
    assert len(candidates) == sheet.record.messages_replayed
    assert len(candidates) == len(shown) + omitted


@given(readers, steps)
@graphs(30)
def test_every_record_that_is_not_shown_has_one_reason(reader: Reader, acted: list[Step]) -> None:
    world = World(reader)
    play(world, acted)
    sheet = world.assemble()
    if sheet is None:
        return
    shown = {selection.record for selection in sheet.selections}
    for record in world.records():
        if record.header.kind in ("message", "artifact") and record.id not in shown:
            found: WhyNot = world.talk.why_not(sheet.id, record.id)
            assert found.reason is not Reason.INCLUDED, record
            if not world.sees(record):
                assert found.reason in REFUSED, record


@given(readers, steps)
@graphs(30)
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
