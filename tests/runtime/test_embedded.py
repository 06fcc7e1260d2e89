"""What an embedder may give, and that anything else is refused with what was expected."""

from collections.abc import Sequence

import pytest

import callsheet
from callsheet.errors import InvalidOption
from callsheet.graph.vectors import quantised
from callsheet.runtime.embedded import embedded


class Giving:
    """An embedder of three dimensions that gives what it is told to."""

    name = "giving:1"
    dimensions = 3

    def __init__(self, given: object) -> None:
        self.given = given

    def embed(self, texts: Sequence[str], *, query: bool) -> Sequence[Sequence[float]]:
        return self.given  # type: ignore[return-value]


class Array:
    """As much of an array as is asked of it."""

    def __init__(self, *items: object) -> None:
        self.items = items

    def __iter__(self) -> object:
        return iter(self.items)


FLOATS = [0.5, -1.0, 0.25]


@pytest.mark.parametrize(
    "given", [[FLOATS], [tuple(FLOATS)], (FLOATS,), Array(Array(*FLOATS)), [quantised(FLOATS)], iter([FLOATS])]
)
def test_sequences_of_numbers_are_taken(given: object) -> None:
    assert embedded(Giving(given), ["a"], query=True) == [quantised(FLOATS)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([FLOATS, FLOATS], "was given 1 texts and must give a vector for each; it gave 2"),
        ([], "it gave 0"),
        (None, "it gave no list"),
        ("abc", "it gave no list"),
        ([[0.5, 1.0]], "gave a vector of 2 dimensions; by its `dimensions` it has 3"),
        ([quantised([1.0])], "gave a vector of 1 dimensions"),
        ([[0.5, float("nan"), 1.0]], "all its numbers must be finite"),
        ([[0.5, float("inf"), 1.0]], "all its numbers must be finite"),
        ([["0.5", "1", "2"]], "gave list as a vector; it must be a sequence of 3 finite numbers"),
        ([["a", None, 2]], "gave list as a vector"),
        (["abc"], "gave str as a vector"),
        (FLOATS[:1], "gave float as a vector"),
        ([{1: 2}], "gave dict as a vector"),
    ],
)
def test_anything_else_is_refused_with_what_was_expected(given: object, said: str) -> None:
    with pytest.raises(InvalidOption) as problem:
        embedded(Giving(given), ["a"], query=False)
    assert "'giving:1'" in str(problem.value)
    assert said in str(problem.value)


class Letters:
    """An embedder as a user would write it: lists of floats."""

    name = "letters:1"
    dimensions = 26

    def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        return [[float(text.count(chr(97 + at))) for at in range(26)] for text in texts]


def test_lists_of_floats_find_by_meaning() -> None:
    runtime = callsheet.open(":memory:", embedder=Letters())
    talk = runtime.conversation("shed")
    talk.record({"role": "user", "content": "zebra jazz"})
    talk.record({"role": "assistant", "content": "noted"})
    runtime.work()
    assert [one.arms for one in talk.search("zzjbr")][:1] == [("meaning",)]
