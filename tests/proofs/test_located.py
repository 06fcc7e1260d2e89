"""A locator that was repaired points at the value that it names, and nowhere else."""

import json

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from callsheet.derive.locators import resolve
from callsheet.graph.canonical import content_digest
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolArtifact, ToolMemory
from callsheet.graph.values import Locator
from callsheet.runtime.checking import parts_of
from tests.proofs.playing import play
from tests.proofs.profiles import graphs
from tests.proofs.steps import Kind, Reader, Step, Way
from tests.proofs.world import World
from tests.runtime.replies import asks, call, result

values = st.one_of(
    st.integers(1_000, 99_999),
    st.text("abcdef-012", min_size=4, max_size=9),
    st.from_regex(r"BT-[0-9]{3}", fullmatch=True),
)
objects = st.dictionaries(
    st.sampled_from(["berth", "boat", "tide", "owner", "a/b", "~x"]), values, min_size=1, max_size=5
)
places = st.sampled_from(["pointer", "bytes", "line", "row", "nowhere"])


def broken(source: RecordId, place: str, value: bytes, number: int) -> Locator:
    """A locator for a value that points anywhere else."""
    digest = content_digest(value)
    match place:
        case "pointer":
            return Locator(source=source, pointer=f"/moved/{number}", digest=digest)
        case "bytes":
            return Locator(source=source, byte_range=(number, number + len(value)), digest=digest)
        case "line":
            return Locator(source=source, line_range=(number, number), digest=digest)
        case "row":
            return Locator(source=source, row_range=(number, number), digest=digest)
        case _:
            return Locator(source=source, byte_range=(10**6, 10**6 + 1), digest=digest)


def remembered(
    world: World, source: RecordId, stated: list[int | str], locators: tuple[Locator, ...]
) -> tuple[ToolMemory, RecordId]:
    """A memory of these values with some locators of its own and some that are broken."""
    talk = world.talk
    promoted = talk.promote(source, payload=stated)
    body = next(record.body for record in world.records() if record.id == promoted)
    assert isinstance(body, ToolMemory)
    changed = replace(body, locators=(*locators, *body.locators))
    ids: list[RecordId] = []
    talk._session.append(talk._view, lambda drafting: ids.append(drafting.add(changed, kind="tool_memory")))
    return changed, ids[0]


@given(
    st.lists(objects, min_size=1, max_size=4), st.lists(st.tuples(places, st.integers(0, 40)), min_size=1, max_size=4)
)
@graphs(50)
def test_a_repaired_locator_resolves_to_the_value_it_names(
    rows: list[dict[str, int | str]], moved: list[tuple[str, int]]
) -> None:
    world = World(Reader())
    play(world, [Step(Kind.CALLS, Way.OPEN, 0, 1)])
    talk = world.talk
    talk.record([asks(call("look", "look")), result("look", json.dumps(rows))])
    source = [record for record in world.visible() if isinstance(record.body, ToolArtifact)][-1]
    stated = [value for row in rows for value in row.values()]
    locators = tuple(
        broken(source.id, place, json.dumps(stated[at % len(stated)]).encode(), number)
        for at, (place, number) in enumerate(moved)
    )
    changed, id = remembered(world, source.id, stated, locators)
    checked = talk.check(id)
    assert len(changed.locators) == len(checked.locators) == checked.whole + checked.repaired + checked.lost
    assert checked.attempts <= 3
    assert bool(checked.lost) is checked.stale
    resolved = 0
    for before, after in zip(changed.locators, checked.locators, strict=True):
        assert before.digest == after.digest
        found = [resolve(after, part.content) for part in parts_of(talk._session, source) if part.part == after.part]
        named = [value for value in found if value is not None]
        resolved += bool(named)
        assert all(content_digest(value) == before.digest for value in named)
    assert resolved == checked.whole + checked.repaired
