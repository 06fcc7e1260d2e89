"""Levels chosen within a capacity: near the best there is, never over, and the same every time."""

import itertools
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.assemble.knapsack import Option, choose

_OPTIONS = st.lists(st.builds(Option, st.integers(0, 12), st.integers(0, 40).map(float)), max_size=4)
_OFFERS = st.dictionaries(st.sampled_from("abcdef"), _OPTIONS, max_size=5)

Offers = Mapping[str, Sequence[Option]]


def taken(offers: Offers, chosen: Mapping[str, int]) -> list[Option]:
    return [offers[key][index] for key, index in chosen.items()]


def net(options: Sequence[Option], price: float) -> float:
    return sum(option.value - price * option.size for option in options)


def best(offers: Offers, capacity: int, price: float = 0.0) -> float:
    """By trying everything."""
    ways = itertools.product(*[[None, *options] for options in offers.values()])
    fitting = ([option for option in way if option is not None] for way in ways)
    return max(net(way, price) for way in fitting if sum(option.size for option in way) <= capacity)


@given(_OFFERS, st.integers(0, 40), st.sampled_from([0.0, 0.5, 2.0]))
def test_never_over_the_capacity_and_within_one_option_of_the_best(offers: Offers, capacity: int, price: float) -> None:
    chosen = taken(offers, choose(offers, capacity, price=price))
    assert sum(option.size for option in chosen) <= capacity
    # Only what would fit alone can be part of the best, but any step may be the one that did not fit.
    step = max((net([option], price) for options in offers.values() for option in options), default=0.0)
    assert net(chosen, price) >= best(offers, capacity, price) - max(step, 0.0) - 1e-9


@given(_OFFERS, st.integers(0, 40))
def test_the_same_offers_give_the_same_choice(offers: Offers, capacity: int) -> None:
    assert choose(offers, capacity) == choose(dict(offers), capacity)


@given(_OFFERS, st.sampled_from([0.0, 0.5, 2.0]))
def test_with_room_for_all_the_best_is_found(offers: Offers, price: float) -> None:
    chosen = taken(offers, choose(offers, 10_000, price=price))
    assert net(chosen, price) == pytest.approx(best(offers, 10_000, price))


@given(_OPTIONS, st.integers(0, 12))
def test_with_more_room_an_item_is_never_worth_less(options: list[Option], capacity: int) -> None:
    values = [
        sum(option.value for option in taken({"a": options}, choose({"a": options}, room)))
        for room in (capacity, capacity + 1)
    ]
    assert values[0] <= values[1]


@given(_OPTIONS)
def test_along_the_hull_every_step_is_worth_less_per_token_than_the_one_before(options: list[Option]) -> None:
    """Seen from outside: as a token grows dearer, what is chosen of an item only shrinks."""
    sizes = [
        sum(option.size for option in taken({"a": options}, choose({"a": options}, 10_000, price=price / 4)))
        for price in range(0, 200, 3)
    ]
    assert sizes == sorted(sizes, reverse=True)


def test_an_option_that_is_dominated_is_not_chosen() -> None:
    offers = {"a": [Option(10, 5.0), Option(4, 5.0), Option(8, 4.0)]}
    assert {"a": 1} == choose(offers, 10)


def test_of_equal_steps_those_of_the_first_item_are_taken() -> None:
    offers = {"late": [Option(5, 5.0)], "early": [Option(5, 5.0)]}
    assert {"late": 0} == choose(offers, 5)


def test_what_costs_nothing_is_taken_first_and_what_is_worth_nothing_never() -> None:
    offers = {"free": [Option(0, 1.0)], "void": [Option(1, 0.0)], "dear": [Option(1, 1.0)]}
    assert {"free": 0} == choose(offers, 0)
    assert {"free": 0, "dear": 0} == choose(offers, 5)
    assert {"free": 0} == choose(offers, 5, price=1.0)
