"""An event that was recorded where a reader does not see it keeps none of the reader's own from being recorded."""

from collections.abc import Sequence

import pytest

from callsheet.assemble import blocks
from callsheet.graph.ids import RecordId
from callsheet.runtime.drafting import Drafting
from callsheet.wire import formats
from tests.proofs.playing import append_hidden
from tests.proofs.steps import Reader, Way
from tests.proofs.world import World
from tests.runtime.replies import user


def sent(world: World) -> Sequence[RecordId]:
    """What is recorded of an event when it is sent."""
    return world.talk.record(user("The crane is free."), event="crane-7").ids


def elsewhere(world: World, way: Way) -> None:
    """The same event, recorded where the reader does not see it."""
    if way in (Way.AUDIT, Way.CHILD):

        def draft(drafting: Drafting) -> None:
            drafting.event = "crane-7"
            for item in formats.parse([user("Hidden.")], None):
                assert isinstance(item, blocks.Said)
                drafting.said(item)

        append_hidden(world, way, draft)
    else:
        world.view(way).record(user("Hidden."), event="crane-7")


@pytest.mark.parametrize("way", [way for way in Way if way is not Way.OPEN])
def test_the_same_event_elsewhere_is_another(way: Way) -> None:
    world = World(Reader())
    elsewhere(world, way)
    assert sent(world)
    elsewhere(world, way)
    assert not sent(world)
    world.talk = world.fresh()
    assert not sent(world)


@pytest.mark.parametrize("between", [" ", "\x1f", "\x1f\x1f", ":", "\n", ""])
def test_no_name_of_an_event_is_that_of_a_participant_s(between: str) -> None:
    world = World(Reader())
    ada = world.talk.participant("ada")
    like = f"crane-7{between}{ada.participant_id}"
    assert world.talk.record(user("The crane is free."), event=like).ids
    assert ada.record(user("The crane is taken."), event="crane-7").ids
    for view, event in ((world.talk, like), (ada, "crane-7")):
        assert not view.record(user("Again."), event=event).ids
    assert ada.record(user("The crane is mine."), event=like).ids
