"""Over histories of any kind a trace is of the request that was sent, and agrees with why-not on every candidate."""

from hypothesis import given

from callsheet.graph.enums import Reason
from tests.proofs.playing import play
from tests.proofs.profiles import graphs
from tests.proofs.steps import Kind, Reader, Step, readers, steps
from tests.proofs.world import World


@given(readers, steps)
@graphs(40)
def test_every_candidate_of_any_request_has_one_reason_however_it_is_asked(reader: Reader, acted: list[Step]) -> None:
    world = World(reader)
    play(world, acted)
    sheet = world.assemble()
    if sheet is None:
        return
    trace = world.talk.trace(sheet.id)
    assert trace.same or any(step.kind is Kind.ERASES for step in acted)
    assert {one.known.record for one in trace.candidates if one.stands} == {one.record for one in sheet.selections}
    for one in trace.candidates:
        if not one.stands:
            assert one.reason is not Reason.INCLUDED
            if sheet.record.rewritten:
                assert world.talk.why_not(sheet.id, one.known.record).reason is one.reason
