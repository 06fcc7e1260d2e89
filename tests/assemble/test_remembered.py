"""Which results a memory stands for, and what tells how it is now where the memory was replaced."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from callsheet.assemble.items import Item
from callsheet.assemble.remembered import remembered
from callsheet.graph.enums import Level, Reason
from callsheet.graph.ids import RecordId

R1, R2, R3 = (RecordId(f"artifact_{number}") for number in (1, 2, 3))
M1, M2, M3 = (RecordId(f"tool_memory_{number}") for number in (1, 2, 3))


def result(id: RecordId, *, least: Level = Level.NONE, exact: bool = False) -> Item:
    return Item(id=id, position=int(id[-1]), turn=1, group=id, role=None, least=least, exact=exact)


def memory(id: RecordId, *covers: RecordId) -> Item:
    return Item(id=id, position=10 + int(id[-1]), turn=1, group=id, role=None, covers=covers)


def replaced(item: Item) -> Item:
    return replace(item, most=Level.NONE, reason=Reason.SUPERSEDED)


def test_a_memory_stands_for_the_results_that_do_not_stand_themselves() -> None:
    held = remembered([result(R1), result(R2), memory(M1, R1, R2)], {R2})
    assert held.covered == {R1: Reason.REMEMBERED}
    assert held.instead == {R1: M1}
    assert not held.idle


def test_a_memory_whose_results_all_stand_adds_nothing() -> None:
    assert remembered([memory(M1, R1)], {R1}).idle == {M1}


def test_what_is_protected_or_wanted_to_the_letter_is_told_all_the_same() -> None:
    items = [result(R1, least=Level.GIST), result(R2, exact=True), memory(M1, R1, R2)]
    assert not remembered(items, ()).covered


def test_what_replaced_a_memory_tells_in_its_place_over_any_number_of_steps() -> None:
    items = [result(R1), result(R2), replaced(memory(M1, R1)), replaced(memory(M2, R2)), memory(M3, R3)]
    held = remembered(items, (), {M1: (M2,), M2: (M3,)})
    assert held.covered == {R1: Reason.SUPERSEDED, R2: Reason.SUPERSEDED, R3: Reason.REMEMBERED}
    assert held.instead == {R1: M3, R2: M3, R3: M3}


def test_a_replacement_that_may_not_be_shown_tells_nothing() -> None:
    withheld = replace(memory(M2, R2), most=Level.SAFE, reason=Reason.PRIVACY_CLASS)
    held = remembered([result(R1), replaced(memory(M1, R1)), withheld], (), {M1: (M2,)})
    assert held.covered == {R1: Reason.SUPERSEDED}
    assert held.instead == {}


def test_a_result_that_a_memory_replaced_comes_back_as_that_memory() -> None:
    held = remembered([replaced(result(R1)), memory(M2, R2)], (), {R1: (M2,)})
    assert held.instead == {R1: M2, R2: M2}


def test_a_memory_that_is_refused_stands_for_nothing() -> None:
    held = remembered([result(R1), replace(memory(M1, R1), most=Level.NONE, reason=Reason.NOT_PROMOTED)], ())
    assert held.covered == {}


def test_another_memory_of_the_same_result_tells_it_still() -> None:
    held = remembered([result(R1), replaced(memory(M1, R1)), memory(M2, R1)], (), {M1: (M3,)})
    assert (held.covered, held.instead) == ({R1: Reason.REMEMBERED}, {R1: M2})


ids = st.sampled_from([M1, M2, M3])


@given(st.dictionaries(ids, st.lists(ids, max_size=3)), st.sets(ids), st.permutations([R1, R2, R3]))
def test_circles_end_and_nothing_is_told_in_place_of_itself_by_what_was_replaced(
    replaced_by: dict[RecordId, list[RecordId]], gone: set[RecordId], rests: list[RecordId]
) -> None:
    memories = [memory(id, rests[place]) for place, id in enumerate((M1, M2, M3))]
    items = [replaced(one) if one.id in gone else one for one in memories]
    held = remembered([*items, *map(result, rests)], (), replaced_by)
    assert not gone & set(held.instead.values())
    assert set(held.covered) == set(rests)
