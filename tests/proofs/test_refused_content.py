"""What policy refuses to a provider shows nothing of itself but its metadata: other content, the same bytes."""

from collections.abc import Sequence

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from callsheet import Sheet, ToolContract
from callsheet.graph.enums import Privacy
from callsheet.policy.sets import PolicySetDocument, policy_set
from tests.proofs.contents import boats
from tests.proofs.playing import play
from tests.proofs.profiles import graphs
from tests.proofs.steps import Reader, Step, readers, steps
from tests.proofs.world import World
from tests.runtime.replies import asks, call, openai_reply, result, user

LENGTH = 400


def withheld(number: int, like: int) -> str:
    """Content of one length; it names boats that others name, so that whoever read it would act on it."""
    words = " ".join(boats(number, 30)) if like else f"quiet {number} harbour, nothing to see. " * 20
    return words[:LENGTH].ljust(LENGTH, ".")


def refusing(name: str) -> PolicySetDocument:
    """The built-in set of this name, to which a tool's results are secret."""
    known = policy_set(name)
    return PolicySetDocument(
        name=f"{name}-refusing",
        version="1",
        turns=known.turns,
        history=known.history,
        miss=known.miss,
        high_water=known.high_water,
        low_water=known.low_water,
        narrowing=known.narrowing,
        tools=(ToolContract(name="safe_deposit", privacy=Privacy.SECRET),),
    )


def sheets(reader: Reader, acted: Sequence[Step], contents: Sequence[str]) -> list[Sheet]:
    """The requests of a graph among whose steps a tool gives back what may not be shown."""
    world = World(reader, policy=refusing(reader.policy))
    found: list[Sheet] = []
    for place, step in enumerate(acted):
        id = f"d{place}"
        content = contents[place % len(contents)]
        world.talk.record([user("Open the box."), openai_reply(asks(call(id, "safe_deposit")))])
        world.talk.record(result(id, content))
        play(world, [step])
        sheet = world.assemble()
        found += [sheet] if sheet is not None else []
    return [*world.sheets, *found]


contents = st.lists(st.builds(withheld, st.integers(0, 20), st.integers(0, 1)), min_size=1, max_size=3)


refusing_readers = readers.filter(lambda reader: reader.policy != "replay")


@given(refusing_readers, steps, contents)
@graphs(40)
def test_nothing_of_content_that_is_refused_is_shown(reader: Reader, acted: list[Step], given_: list[str]) -> None:
    for sheet in sheets(reader, acted, [f"MARMALADE-7 {content}"[:LENGTH] for content in given_]):
        assert not any(b"MARMALADE" in block for block in sheet.blocks)


@given(refusing_readers, steps, contents, contents)
@settings(graphs(60), phases=[Phase.generate])
def test_content_that_is_refused_changes_no_byte(
    reader: Reader, acted: list[Step], one: list[str], other: list[str]
) -> None:
    some, others = sheets(reader, acted, one), sheets(reader, acted, other)
    assert [sheet.blocks for sheet in some] == [sheet.blocks for sheet in others]
    assert [sheet.selections for sheet in some] == [sheet.selections for sheet in others]
    assert [sheet.tokens for sheet in some] == [sheet.tokens for sheet in others]
