"""Which span is due: groups stay whole, what waits stays where it is, marks are exact, parts have a bounded size."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.assemble.compacting import PART, Entry, due, over, parts
from callsheet.graph.enums import Role
from callsheet.graph.ids import RecordId
from callsheet.policy.settings import Compaction


def entry(
    place: int, turn: int, role: Role | None, *, group: int | None = None, waits: bool = False, tokens: int = 10
) -> Entry:
    return Entry(
        id=RecordId(f"r{place}"),
        position=place,
        turn=turn,
        group=RecordId(f"r{place if group is None else group}"),
        role=role,
        tokens=tokens,
        instruction=role is Role.SYSTEM,
        open=waits,
    )


def history(kinds: Sequence[str]) -> list[Entry]:
    """From letters: s(ystem), u(ser), a(ssistant), c(all with one result), w(aiting call)."""
    made: list[Entry] = []
    turn, place = 0, 0
    for kind in kinds:
        turn += kind != "s"
        place += 1
        role = {"s": Role.SYSTEM, "u": Role.USER}.get(kind, Role.ASSISTANT)
        made.append(entry(place, turn, role, waits=kind == "w"))
        if kind == "c":
            place += 1
            made.append(entry(place, turn, None, group=place - 1))
    return made


def turns(entries: Sequence[Entry]) -> int:
    return max((one.turn for one in entries), default=0)


def test_nothing_and_what_is_kept_is_not_due() -> None:
    assert due([], turn=0, keep=6).taken == ()
    made = history("uaua")
    assert due(made, turn=4, keep=4).upto == 0
    found = due(made, turn=4, keep=2)
    assert [one.id for one in found.taken] == ["r1", "r2"]
    assert (found.upto, found.tokens) == (2, 20)


def test_the_last_turns_do_not_begin_with_an_answer_whose_question_is_gone() -> None:
    assert [one.id for one in due(history("uauaua"), turn=6, keep=3).taken] == ["r1", "r2"]


def test_the_newest_question_stays_however_long_a_chain_followed_it() -> None:
    made = history("uau" + "c" * 10)
    found = due(made, turn=turns(made), keep=2)
    assert "r3" in found.left
    assert all(one.role is not Role.USER or one.id == "r1" for one in found.taken)


@given(st.lists(st.sampled_from("suacw"), max_size=40), st.integers(1, 8))
def test_groups_are_whole_and_what_waits_or_instructs_is_not_taken(kinds: list[str], keep: int) -> None:
    made = history(kinds)
    found = due(made, turn=turns(made), keep=keep)
    taken = {one.id for one in found.taken}
    by_group: dict[RecordId, set[RecordId]] = {}
    for one in made:
        by_group.setdefault(one.group, set()).add(one.id)
    assert all(ids <= taken or ids.isdisjoint(taken) for ids in by_group.values())
    assert not any(one.open or one.instruction for one in found.taken)
    assert taken.isdisjoint(found.left)
    waiting = {one.id for one in made if one.open and one.position <= found.upto}
    assert waiting <= set(found.left)
    assert all(one.turn <= turns(made) - keep for one in found.taken)


@given(st.lists(st.integers(1, 3 * PART), max_size=30))
def test_parts_are_the_span_in_order_and_none_is_larger_than_it_must_be(sizes: list[int]) -> None:
    made = [entry(place, place, Role.USER, tokens=size) for place, size in enumerate(sizes, start=1)]
    found = parts(made)
    assert [one for part in found for one in part] == made
    assert all(sum(one.tokens for one in part) <= PART or len(part) == 1 for part in found)


def test_what_contradicts_each_other_never_shares_a_part() -> None:
    made = [entry(place, place, Role.USER) for place in range(1, 6)]
    against = {RecordId("r4"): {RecordId("r2")}, RecordId("r2"): {RecordId("r4")}}
    found = parts(made, against)
    assert [[one.id for one in part] for part in found] == [["r1", "r2", "r3"], ["r4", "r5"]]


@pytest.mark.parametrize(
    ("marks", "at", "above"),
    [
        (Compaction(turns=10, share=None), {"turns": 10}, {"turns": 11}),
        (Compaction(tokens=500, share=None), {"tokens": 500}, {"tokens": 501}),
        (Compaction(share=1.0), {"plain": 8_000}, {"plain": 8_001}),
        (Compaction(share=0.85), {"plain": 6_800}, {"plain": 6_801}),
    ],
)
def test_a_mark_is_exact(marks: Compaction, at: dict[str, int], above: dict[str, int]) -> None:
    nothing = {"turns": 0, "tokens": 0, "plain": 0}
    assert not over(marks, budget=8_000, **{**nothing, **at})
    assert over(marks, budget=8_000, **{**nothing, **above})


def test_without_a_mark_it_never_happens_by_itself() -> None:
    assert not Compaction(share=None).by_itself
    assert not over(Compaction(share=None), turns=10**6, tokens=10**9, plain=10**9, budget=1)
