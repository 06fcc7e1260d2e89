"""What is replaced never stands for the present beside its replacement, in whatever order the records came."""

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from callsheet.graph.changes import Superseded
from callsheet.graph.enums import Level, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolArtifact
from tests.proofs.playing import play
from tests.proofs.profiles import graphs
from tests.proofs.steps import Kind, Reader, Step, readers, steps
from tests.proofs.world import World

IN_FULL = (Level.RAW, Level.DENSE, Level.FOCUS)


def replaced(world: World) -> dict[str, set[str]]:
    """The visible replacements of each visible result."""
    visible = {record.id: record for record in world.visible()}
    found: dict[str, set[str]] = {}
    for record in visible.values():
        if isinstance(record.body, Superseded) and record.body.current in visible:
            for id in record.body.replaced:
                found.setdefault(id, set()).add(record.body.current)
    return found


@given(readers.filter(lambda reader: reader.policy != "replay"), steps, st.integers(0, 20))
@graphs(150)
def test_a_replaced_result_is_never_chosen_in_full_and_says_that_it_is_replaced(
    reader: Reader, acted: list[Step], number: int
) -> None:
    world = World(reader)
    play(world, [*acted, Step(Kind.CALLS, number=number, size=9), Step(Kind.SUPERSEDES, number=number)])
    for sheet in (world.assemble(world.fresh()), world.assemble()):
        if sheet is None:
            continue
        noticed = {one.record for one in sheet.selections if one.note}
        for one in sheet.selections:
            if one.record not in replaced(world):
                continue
            if sheet.record.rewritten:
                assert one.level not in IN_FULL
            elif one.level in IN_FULL:
                # It stood there before it was replaced; a notice says so now.
                assert one.record in noticed or one.reason is Reason.SUPERSEDED


@given(readers.filter(lambda reader: reader.policy != "replay"), st.sampled_from(list(permutations(range(3)))), steps)
@graphs(200)
def test_the_order_of_arrival_makes_no_difference(reader: Reader, order: tuple[int, ...], acted: list[Step]) -> None:
    """The older result, the newer one and what says that it replaces the other come in any order."""
    world = World(reader)
    first, second = RecordId("artifact_1"), RecordId("artifact_2")
    old, new = (first, second) if order.index(0) < order.index(1) else (second, first)
    for what in order:
        if what < 2:
            play(world, [Step(Kind.CALLS, number=8 * what, size=9)])
        else:
            replace(world, new, old)
    play(world, [step for step in acted if step.kind not in (Kind.ERASES, Kind.SUPERSEDES)])
    results = [record.id for record in world.visible() if isinstance(record.body, ToolArtifact)]
    sheet = world.assemble(world.fresh())
    if sheet is not None and {old, new} <= set(results) and sheet.record.rewritten:
        levels = {one.record: one.level for one in sheet.selections}
        assert levels.get(old, Level.NONE) not in IN_FULL


def replace(world: World, current: RecordId, replaced: RecordId) -> None:
    """Record that one result replaces another, whether they are there yet or not."""
    body = Superseded(current=current, replaced=(replaced,))
    world.talk._session.append(world.talk._view, lambda drafting: drafting.add(body, kind="superseded"))
