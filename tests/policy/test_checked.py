"""Contracts and policy sets that are made in Python: what a field cannot have is refused when they are made."""

from collections.abc import Callable
from typing import TypeVar

import pytest

from callsheet.errors import PolicyError
from callsheet.graph.enums import Freshness, Level, Privacy
from callsheet.policy.contracts import ToolContract
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.settings import ClassForms, Fill, Narrowing, StaleAfter, Water, Weights

T = TypeVar("T")


def make(kind: Callable[..., T], **said: object) -> T:
    """A value as a program without type checks makes it."""
    return kind(**said)


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("privacy", "sekret", "privacy of the contract of 'vault' is 'sekret'; it must be one of: public, internal"),
        ("freshness", "vol", "freshness of the contract of 'vault' is 'vol'; it must be one of: volatile"),
        ("retention", "burn", "it must be one of: keep"),
        ("narrowing", "middle", "it must be one of: start, start_end"),
        ("recheck", "look", "recheck of the contract of 'vault' is 'look'; it must be a list, each text"),
        ("recheck", [1], "it must be a list, each text"),
        ("attempts", "3", "attempts of the contract of 'vault' is '3'; it must be a whole number"),
        ("attempts", True, "it must be a whole number"),
        ("attempts", 2.5, "it must be a whole number"),
        ("stale_after", "900", "it must be a whole number"),
        ("time_limit", "long", "it must be a number"),
        ("side_effects", "no", "it must be True or False"),
        ("side_effects", 0, "it must be True or False"),
        ("needs_approval", "yes", "it must be True or False"),
        ("idempotency_key", 7, "it must be text"),
        ("name", 7, "name of a contract is 7; it must be text"),
        ("name", None, "name of a contract is None; it must be text"),
        ("privacy", "s" * 900, "…; it must be one of"),
    ],
)
def test_a_contract_with_a_value_that_a_field_cannot_have_is_refused(field: str, value: object, told: str) -> None:
    said: dict[str, object] = {"name": "vault", field: value}
    with pytest.raises(PolicyError) as problem:
        make(ToolContract, **said)
    assert told in str(problem.value)
    assert len(str(problem.value)) < 300


def test_words_and_lists_are_taken_as_what_they_mean() -> None:
    said: dict[str, object] = {"privacy": "secret", "freshness": "volatile", "recheck": ["look"], "time_limit": 5}
    made = make(ToolContract, name="vault", **said)
    assert made == ToolContract(
        name="vault", privacy=Privacy.SECRET, freshness=Freshness.VOLATILE, recheck=("look",), time_limit=5.0
    )
    assert made.privacy is Privacy.SECRET
    assert hash(made)
    assert type(made.time_limit) is float


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("history", "thick", "history of policy set 'tight' is 'thick'; it must be one of: raw, dense"),
        ("fill", "greedy", "it must be one of: knapsack, sorted"),
        ("turns", "4", "it must be a whole number"),
        ("recall", "on", "it must be True or False"),
        ("high_water", 5, "high_water of policy set 'tight' is 5; it must be a Water"),
        ("tools", ["vault"], "it must be a list, each a ToolContract"),
        ("tools", ToolContract(name="vault"), "it must be a list, each a ToolContract"),
        ("name", 3, "name of a policy set is 3; it must be text"),
    ],
)
def test_a_policy_set_with_a_value_that_a_setting_cannot_have_is_refused(field: str, value: object, told: str) -> None:
    said: dict[str, object] = {"name": "tight", "version": "1", field: value}
    with pytest.raises(PolicyError) as problem:
        make(PolicySetDocument, **said)
    assert told in str(problem.value)


def test_a_set_that_is_made_with_words_equals_one_that_is_made_with_members() -> None:
    said: dict[str, object] = {"history": "focus", "fill": "sorted", "tools": [ToolContract(name="vault")]}
    made = make(PolicySetDocument, name="tight", version="1", **said)
    same = PolicySetDocument(
        name="tight", version="1", history=Level.FOCUS, fill=Fill.SORTED, tools=(ToolContract(name="vault"),)
    )
    assert made == same
    assert made.hash == same.hash


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        (Water, "tokens", "9"),
        (Narrowing, "limit", "9"),
        (Weights, "recency", "high"),
        (StaleAfter, "volatile", "never"),
        (ClassForms, "secret", "hidden"),
    ],
)
def test_the_parts_of_a_set_are_checked_too(kind: Callable[..., object], field: str, value: object) -> None:
    with pytest.raises(PolicyError, match=f"{field} of .* is '{value}'; it must be"):
        kind(**{field: value})
