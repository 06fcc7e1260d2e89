"""What a reader may not see changes nothing of its episodes, milestones and facts, nor when they are made."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import given
from msgspec.structs import replace

from callsheet.assemble.stated import stated
from callsheet.graph.enums import INSTRUCTING, CallStatus, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Episode, Fact, Message, Milestone
from callsheet.graph.query import StateQuery
from callsheet.graph.record import Record
from callsheet.graph.values import CallRef
from callsheet.policy.sets import BALANCED
from callsheet.policy.settings import Compaction
from callsheet.runtime.compacting import Compaction as Made
from tests.proofs.playing import play
from tests.proofs.profiles import graphs
from tests.proofs.steps import Reader, Step, hidden_steps, readers, steps
from tests.proofs.told import Told, told
from tests.proofs.world import World
from tests.runtime.replies import asks, call, result, user

SMALL = replace(BALANCED, name="small", version="1", compaction=Compaction(tokens=60, share=None, least=1, episodes=3))
"""Compacts by itself after a few turns, and lets episodes leave its window."""


class Seen(NamedTuple):
    """All that compaction made for a reader, and the requests that show it."""

    made: list[Made]
    #: Each by what it says and what it rests on; where it stands in the store is nobody's to see.
    stands: list[tuple[object, ...]]
    requests: list[Told]


def own(world: World) -> list[Record]:
    """What compaction made for the reader."""
    made = (record for record in world.records() if isinstance(record.body, Episode | Milestone | Fact))
    return [record for record in made if record.header.scope.owner == world.talk.participant_id]


def said(world: World, record: Record) -> str:
    body = record.body
    assert isinstance(body, Episode | Milestone | Fact)
    content = world.talk._session.read(body.summary if isinstance(body, Episode) else body.value)
    return content.decode("utf-8", "replace") if isinstance(body, Episode) else stated(content).text


def seen(reader: Reader, acted: Sequence[Step], hidden: Sequence[Step], *, by_itself: bool) -> Seen:
    world = World(reader, policy=SMALL if by_itself else None)
    play(world, acted, hidden)
    go_on(world, others=bool(hidden))
    made: list[Made] = []
    for keep in () if by_itself else (3, 1):
        world.settle()
        made.append(world.talk.compact(keep=keep))
    last = [world.assemble(provider=provider) for provider in ("openai", "anthropic")]
    stands: list[tuple[object, ...]] = [
        (one.id, one.header.privacy, one.header.scope, said(world, one), getattr(one.body, "sources", ()))
        for one in own(world)
        if "_x" not in one.id
    ]
    sheets = [*world.sheets, *(sheet for sheet in last if sheet is not None)]
    return Seen(made=made, stands=stands, requests=[told(sheet) for sheet in sheets])


def go_on(world: World, *, others: bool = False) -> None:
    """Some turns more, so that there is something to compact; `others` compact theirs meanwhile."""
    for number in range(5):
        world.settle()
        world.talk.record(
            [user(f"Never lift BT-{number:03} on day {number}."), {"role": "assistant", "content": "No."}]
        )
        if others:
            with world.aside():
                world.settle()
                world.mate.record(asks(call(f"own{number}", "lift", "{}"), content="We decided on 4,150."))
                world.mate.record(result(f"own{number}", f"BT-{number:03} is lifted for 4,150."))
                world.mate.compact(keep=1)
        world.settle()
        sheet = world.assemble()
        world.sheets += [sheet] if sheet is not None else []


@given(readers, steps, hidden_steps)
@graphs(24)
def test_what_is_hidden_changes_nothing_of_what_is_compacted(
    reader: Reader, acted: list[Step], hidden: list[Step]
) -> None:
    assert seen(reader, acted, [], by_itself=False) == seen(reader, acted, hidden, by_itself=False)


@given(readers, steps, hidden_steps)
@graphs(24)
def test_what_is_hidden_changes_nothing_of_when_it_is_compacted(
    reader: Reader, acted: list[Step], hidden: list[Step]
) -> None:
    assert seen(reader, acted, [], by_itself=True) == seen(reader, acted, hidden, by_itself=True)


@given(readers, steps, hidden_steps)
@graphs(24)
def test_each_record_has_one_episode_at_most_and_what_waits_has_none(
    reader: Reader, acted: list[Step], hidden: list[Step]
) -> None:
    world = World(reader)
    play(world, acted, hidden)
    go_on(world)
    before = {record.id for record in own(world)}
    waiting = _waiting(world)
    for keep in (4, 2, 1):
        world.settle()
        world.talk.compact(keep=keep)
    made = [record for record in own(world) if record.id not in before]
    episodes = [record.body for record in made if isinstance(record.body, Episode)]
    assert max(Counter(id for one in episodes for id in one.sources).values(), default=1) == 1
    records = {record.id: record for record in world.records()}
    visible = {record.id for record in world.visible()}
    for episode in episodes:
        for id in episode.sources:
            body = records[id].body
            assert id in visible
            assert not (isinstance(body, Message) and body.role in INSTRUCTING)
            assert waiting.isdisjoint(_calls(body))
        assert {id for one in episode.milestones for id in getattr(records[one].body, "sources", ())} <= {
            *episode.sources
        }
    world.settle()
    assert world.talk.compact(keep=1).reason == "nothing_new"


def _calls(body: object) -> set[RecordId]:
    return {part.call for part in getattr(body, "parts", ()) if isinstance(part, CallRef)}


def _waiting(world: World) -> set[RecordId]:
    """The calls that the reader knows to be open."""
    session = world.talk._session
    lineage = session.tail(world.talk._view, fresh=True).lineage
    query = StateQuery(field=StateField.STATUS, value=CallStatus.OPEN, lineage=lineage)
    rows = session.ledger.states(session.conversation.key, query)
    return {RecordId(row.target) for row in rows} & {call.id for call in world.talk.pending()}
