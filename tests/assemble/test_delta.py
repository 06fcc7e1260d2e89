"""A sheet stored as an extension of another comes back whole."""

from hypothesis import given
from hypothesis import strategies as st

from callsheet.assemble.delta import LONGEST, Whole, common_prefix, delta, whole
from callsheet.graph.enums import Level
from callsheet.graph.ids import ROOT_BRANCH, RecordId, StreamId
from callsheet.graph.nodes import Boundary, ContextAssembly, Pins, Selection
from callsheet.graph.times import Instant
from callsheet.graph.values import Cut, TokenParts

_SHEETS = st.lists(st.lists(st.sampled_from("abcd"), max_size=6), min_size=1, max_size=6)


def _selections(names: list[str]) -> tuple[Selection, ...]:
    return tuple(Selection(record=RecordId(name), level=Level.RAW) for name in names)


def _stored(number: int, names: list[str], before: Whole | None) -> ContextAssembly:
    change = delta(_selections(names), tuple(names), before)
    return ContextAssembly(
        boundary=Boundary(
            conversation=StreamId("s"),
            branch=ROOT_BRANCH,
            provider="openai",
            model="m",
            budget=1,
            now=Instant(number),
        ),
        pins=Pins(policy_set="sha256:0", assembler="1", counter="c"),
        cut=Cut(positions=()),
        base=change.base,
        kept=change.kept,
        kept_blocks=change.kept_blocks,
        selected=change.selected,
        blocks=change.blocks,
        tokens=TokenParts(),
    )


@given(_SHEETS)
def test_every_sheet_of_a_chain_comes_back_whole(sheets: list[list[str]]) -> None:
    before: Whole | None = None
    for number, names in enumerate(sheets):
        body = _stored(number, names, before)
        base = before if body.base is not None else None
        before = whole(RecordId(str(number)), body, base)
        assert tuple(names) == before.blocks
        assert _selections(names) == before.selected


def test_chains_are_cut_so_that_reading_one_sheet_is_bounded() -> None:
    before: Whole | None = None
    depths = []
    for number in range(3 * LONGEST):
        body = _stored(number, ["a"], before)
        before = whole(RecordId(str(number)), body, before if body.base is not None else None)
        depths.append(before.depth)
    assert LONGEST == max(depths)
    assert 3 == depths.count(0)


def test_all_sheets_of_a_growing_conversation_take_room_in_proportion_to_its_length() -> None:
    def stored(steps: int) -> int:
        before: Whole | None = None
        names: list[str] = []
        total = 0
        for number in range(steps):
            names += [f"{number}a", f"{number}b", f"{number}c"]
            body = _stored(number, names, before)
            total += len(body.selected) + len(body.blocks)
            before = whole(RecordId(str(number)), body, before if body.base is not None else None)
            assert tuple(names) == before.blocks
        return total

    assert stored(1_000) < 2.5 * stored(500)
    assert stored(1_000) < 5 * 6 * 1_000


def test_an_extension_stores_only_what_is_new() -> None:
    before = whole(RecordId("0"), _stored(0, ["a", "b"], None), None)
    body = _stored(1, ["a", "b", "c"], before)
    assert (2, 2, ("c",)) == (body.kept, body.kept_blocks, body.blocks)


@given(st.lists(st.integers(0, 2)), st.lists(st.integers(0, 2)))
def test_the_common_prefix_is_common_and_longest(one: list[int], other: list[int]) -> None:
    length = common_prefix(one, other)
    assert one[:length] == other[:length]
    assert length in (len(one), len(other)) or one[length] != other[length]
