"""Pruning leaves words out of prose and nothing else, whatever the model that chooses them does."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.derive import entities
from callsheet.derive.pruning import pruned

TEXT = (
    "The customer wrote a rather long and friendly letter about the state of order ORD-7F3A-00912 in the warehouse. "
    "It does not matter very much to anybody at all what colour the box of 1,284.07 EUR has in the end."
)


def half(prose: str) -> str:
    return " ".join(prose.split()[::2])


def test_words_go_and_what_is_specific_stays() -> None:
    made = pruned(TEXT, half)
    assert len(made) < len(TEXT)
    for kept in ("ORD-7F3A-00912", "1,284.07", " not "):
        assert kept in made


def test_what_was_laid_down_or_decided_is_not_touched() -> None:
    rule = "Never e-mail the Thursday group about anything that has to do with the kiln or with its glazes."
    assert rule in pruned(f"{TEXT} {rule}", half, lays_down=True)
    decided = "We decided on the oak room after a long and friendly talk about all of the other rooms."
    assert decided in pruned(f"{TEXT} {decided}", half)


@pytest.mark.parametrize(
    "prune",
    [
        lambda prose: "something that nobody ever said in all of this conversation",
        lambda prose: " ".join(reversed(prose.split())),
        lambda prose: prose + " and more",
        lambda prose: None,
    ],
)
def test_other_words_than_were_there_do_not_count(prune: Callable[[str], str]) -> None:
    assert pruned(TEXT, prune) == TEXT


@given(st.text(max_size=600), st.integers(1, 4))
def test_it_never_grows_and_keeps_every_name(text: str, step: int) -> None:
    made = pruned(text, lambda prose: " ".join(prose.split()[::step]))
    assert len(made) <= len(text)
    assert all(one.value in made for one in entities.mentions(text))
