"""A mapping whose copies share: it says what a dict says, and many changes with a copy before each take little work."""

from hypothesis import given
from hypothesis import strategies as st

from callsheet.runtime.layered import Layered

CHANGES = st.lists(st.tuples(st.integers(0, 60), st.sampled_from(["put", "drop", "copy"])), max_size=200)


@given(first=st.lists(st.integers(0, 60), unique=True), changes=CHANGES)
def test_it_says_what_a_dict_says_and_copies_keep_apart(first: list[int], changes: list[tuple[int, str]]) -> None:
    held, plain = Layered((key, str(key)) for key in first), {key: str(key) for key in first}
    before: list[tuple[Layered[int, str], dict[int, str]]] = []
    for place, (key, change) in enumerate(changes):
        if change == "copy":
            before.append((held, dict(plain)))
            held = held.copy()
        elif change == "put":
            held.put(key, str(place))
            plain[key] = str(place)
        else:
            assert held.drop(key) == plain.pop(key, None)
        assert len(held) == len(plain)
        assert (key in held, held.get(key)) == (key in plain, plain.get(key))
    assert all(list(one.items()) == list(other.items()) for one, other in [*before, (held, plain)])


def test_keys_stand_in_the_order_in_which_they_came() -> None:
    held: Layered[int, int] = Layered()
    for number in range(500):
        held = held.copy()
        held.put(number, number)
    for number in range(0, 500, 3):
        held = held.copy()
        held.drop(number)
    assert list(held) == [number for number in range(500) if number % 3]


def test_a_copy_before_each_change_moves_far_fewer_entries_than_it_holds() -> None:
    held, moved = Layered((number, number) for number in range(2_000)), 0
    for number in range(2_000):
        held = held.copy()
        moved += len(held._changed)
        shared = held._shared
        held.drop(number)
        moved += len(held._shared) if held._shared is not shared else 0
    assert not held
    assert moved < 2_000 * 2_000 / 20
