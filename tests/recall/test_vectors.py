"""Vectors as whole numbers: the same order with and without the array library."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callsheet.engines.vectors import LONGEST, ArrayVectors
from callsheet.errors import InvalidOption
from callsheet.graph.ports import NearestVectors
from callsheet.graph.values import Vector
from callsheet.graph.vectors import cells, quantised, similarity
from callsheet.recall.vectors import PlainVectors

vectors = st.binary(min_size=4, max_size=4).map(lambda cells: Vector(scale=1.0, cells=cells))
rows = st.lists(st.tuples(st.integers(0, 40), vectors), max_size=40)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=8))
def test_the_largest_number_becomes_the_largest_cell(values: list[float]) -> None:
    made = quantised(values)
    assert len(made.cells) == len(values)
    largest = max(map(abs, values))
    if largest >= 1e-30:
        assert max(map(abs, cells(made))) == 127
        assert all(
            abs(cell * made.scale - value) <= made.scale for cell, value in zip(cells(made), values, strict=True)
        )
    else:
        assert not any(cells(made))


def test_what_is_no_number_counts_as_zero_and_nothing_is_refused() -> None:
    assert list(cells(quantised([float("nan"), 1.0, float("inf")]))) == [0, 127, 0]
    with pytest.raises(InvalidOption):
        quantised([])


@given(vectors, vectors)
def test_similarity_is_symmetric_and_bounded(one: Vector, other: Vector) -> None:
    assert similarity(one, other) == similarity(other, one)
    assert -1 <= similarity(one, other) <= 1
    assert similarity(one, one) == (1 if any(one.cells) else 0)


@settings(deadline=None)  # the first call imports the array library
@given(rows, st.lists(st.integers(0, 40)), rows, vectors)
def test_both_ways_find_the_same_in_the_same_order(
    given: list[tuple[int, Vector]], dropped: list[int], more: list[tuple[int, Vector]], query: Vector
) -> None:
    ways: tuple[NearestVectors, NearestVectors] = (PlainVectors(), ArrayVectors())
    for way in ways:
        way.add(given)
        way.drop(dropped)
        way.add(more)
    plain, fast = ways
    assert len(plain) == len(fast)
    assert list(plain.nearest(query)) == list(fast.nearest(query))
    assert plain.scores(query, range(40)) == fast.scores(query, range(40))
    held = dict(given)
    for place in dropped:
        held.pop(place, None)
    held |= dict(more)
    assert dict(plain.nearest(query)) == {place: similarity(query, vector) for place, vector in held.items()}


@pytest.mark.parametrize("way", [PlainVectors, ArrayVectors])
def test_vectors_of_other_dimensions_are_refused(way: type[PlainVectors] | type[ArrayVectors]) -> None:
    index = way()
    index.add([(1, Vector(scale=1.0, cells=b"\1\2"))])
    with pytest.raises(InvalidOption):
        index.add([(2, Vector(scale=1.0, cells=b"\1"))])
    with pytest.raises(InvalidOption):
        list(index.nearest(Vector(scale=1.0, cells=b"\1")))


def test_sums_are_exact_at_the_longest() -> None:
    most = Vector(scale=1.0, cells=bytes([0x81]) * LONGEST)
    index = ArrayVectors()
    index.add([(1, most)])
    assert list(index.nearest(most)) == [(1, 1.0)]
    with pytest.raises(InvalidOption):
        ArrayVectors().add([(1, Vector(scale=1.0, cells=bytes(LONGEST + 1)))])
