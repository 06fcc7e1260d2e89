"""What a reader may not see changes no byte of what it gets, nor any figure that it is told."""

from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import given

from callsheet.errors import BodyErased, NotFound
from tests.proofs.playing import play
from tests.proofs.profiles import graphs
from tests.proofs.steps import Reader, Step, hidden_steps, readers, steps
from tests.proofs.told import Told, told
from tests.proofs.world import World

QUERIES = ("Where does BT-003 lie?", "BT-005", "tide berth")


class Seen(NamedTuple):
    """Everything that a reader gets."""

    requests: list[Told]
    findings: list[object]
    recalled: list[object]
    pending: object


def seen(world: World) -> Seen:
    """What the reader gets of a graph as it is: both providers' requests, searches and recalls."""
    last = [world.assemble(provider=provider) for provider in ("openai", "anthropic")]
    sheets = [*world.sheets, *(sheet for sheet in last if sheet is not None)]
    listed = list(dict.fromkeys(one.record for sheet in sheets for one in sheet.selections))
    return Seen(
        requests=[told(sheet) for sheet in sheets],
        findings=[world.talk.search(query) for query in QUERIES],
        recalled=[*(_recalled(world, id) for id in listed), *(_answered(world, query) for query in QUERIES[:1])],
        pending=world.talk.pending(),
    )


def _recalled(world: World, id: str) -> object:
    try:
        return world.talk.recall(id)
    except (NotFound, BodyErased) as refused:
        return str(refused)


def _answered(world: World, query: str) -> str:
    return world.talk.answer_recall({"query": query})


def played(reader: Reader, acted: Sequence[Step], hidden: Sequence[Step]) -> Seen:
    world = World(reader)
    play(world, acted, hidden)
    return seen(world)


@given(readers, steps, hidden_steps)
@graphs(200)
def test_what_is_hidden_changes_nothing_that_the_reader_gets(
    reader: Reader, acted: list[Step], hidden: list[Step]
) -> None:
    plain, more = played(reader, acted, []), played(reader, acted, hidden)
    assert plain.requests == more.requests
    assert plain.findings == more.findings
    assert plain.recalled == more.recalled
    assert plain.pending == more.pending
