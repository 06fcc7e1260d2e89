"""What fits into a budget fits into each larger one, and after a compaction; what a refusal names is what is enough."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from callsheet import Conversation
from callsheet.errors import BudgetTooSmall
from callsheet.policy.sets import BALANCED, PolicySetDocument
from callsheet.policy.settings import Compaction
from callsheet.runtime.refusing import enough
from callsheet.testing import memory_runtime
from tests.cases.checks import MODELS
from tests.cases.test_shortening import PROVIDERS
from tests.runtime.replies import asks, call, result, user

NEVER = replace(BALANCED, name="never", compaction=Compaction(share=None))
BUDGETS = range(40, 400, 40)


def said(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def chained(talk: Conversation) -> None:
    """A question, a chain of tools with large results, and an answer."""
    talk.record([user("Where is barge X-122?"), said("In bay X-126. Always use port 8443.")])
    talk.record(user("quay order barge crane " * 15 + "X-117. Never e-mail the Thursday group."))
    for number in range(4):
        talk.record([asks(call(f"c{number}", "get")), result(f"c{number}", "refund invoice pressure " * 100)])
    talk.record([said("glaze pump X-106. Total 1,284.07 EUR."), user("And X-108?")])


def mixed(talk: Conversation) -> None:
    """Two questions with a table and a page."""
    rows = json.dumps([{"a": number, "b": "valve kiln pump"} for number in range(20)])
    talk.record([user("Where is barge X-122?"), asks(call("c1", "list")), result("c1", rows), said("In bay X-126.")])
    talk.record(user("quay order barge crane " * 15 + "X-117."))
    talk.record([asks(call("c2", "list")), result("c2", "valve " * 300), said("glaze pump X-106.")])
    talk.record(user("quay tour crane refund X-108!" * 3))


STORIES = pytest.mark.parametrize("story", [chained, mixed])
KEPT = pytest.mark.parametrize("keep", [None, 1, 3])
SETS = pytest.mark.parametrize("policy", [BALANCED, NEVER], ids=["balanced", "never"])


def needs(story: object, keep: int | None, policy: PolicySetDocument, provider: str, budget: int) -> int:
    """The tokens of a first request, or those that its refusal names."""
    with memory_runtime() as runtime:
        talk = runtime.conversation("x")
        story(talk)  # type: ignore[operator]
        if keep is not None:
            talk.compact(keep=keep)
        talk.record(said("kiln schedule pressure " * 8))
        try:
            sheet = talk.assemble(provider=provider, model=MODELS[provider], policy=policy, budget=budget)
        except BudgetTooSmall as refused:
            return sum(refused.sizes.values())
        return sheet.tokens


@PROVIDERS
@STORIES
@KEPT
@SETS
def test_what_fits_fits_into_more(story: object, keep: int | None, policy: PolicySetDocument, provider: str) -> None:
    fits = [needs(story, keep, policy, provider, budget) <= budget for budget in BUDGETS]
    assert fits == sorted(fits)
    assert fits[-1]


@STORIES
@KEPT
@SETS
def test_a_refusal_names_what_is_enough(story: object, keep: int | None, policy: PolicySetDocument) -> None:
    least = needs(story, keep, policy, "openai", 20)
    assert needs(story, keep, policy, "openai", least) <= least
    assert needs(story, keep, policy, "openai", least - 1) > least - 1


@PROVIDERS
@STORIES
@pytest.mark.parametrize("keep", [1, 3])
def test_a_compaction_makes_nothing_too_large(story: object, keep: int, provider: str) -> None:
    for budget in BUDGETS:
        before = needs(story, None, NEVER, provider, budget) <= budget
        assert needs(story, keep, NEVER, provider, budget) <= budget or not before


@PROVIDERS
@STORIES
@pytest.mark.parametrize("keep", [1, 2, 3, 5])
def test_a_compaction_by_hand_needs_no_more_than_one_by_itself(story: object, keep: int, provider: str) -> None:
    by_itself = needs(story, None, BALANCED, provider, 20)
    assert needs(story, keep, BALANCED, provider, 20) <= by_itself


TURNS = st.lists(
    st.tuples(st.integers(1, 60), st.sampled_from(["", "words", "rows", "lines"]), st.integers(1, 150)),
    min_size=1,
    max_size=4,
)


def content(form: str, size: int) -> str:
    """What a tool gave, in one of three forms."""
    if form == "rows":
        return json.dumps([{"id": f"X-{number}", "v": "valve kiln"} for number in range(size)])
    return "refund invoice pressure " * size if form == "words" else "\n".join(f"{n}: pump holds" for n in range(size))


@settings(max_examples=20, deadline=None)
@given(
    TURNS,
    st.sampled_from(["lean", "balanced", "faithful", "replay"]),
    st.sampled_from(sorted(MODELS)),
    st.sampled_from([None, 1, 3]),
)
def test_one_token_less_than_a_refusal_names_is_refused(
    turns: list[tuple[int, str, int]], policy: str, provider: str, keep: int | None
) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("x")
        for number, (words, form, size) in enumerate(turns):
            talk.record(user("quay barge X-117 " * words))
            if form:
                talk.record([asks(call(f"c{number}", "get")), result(f"c{number}", content(form, size))])
        if keep is not None:
            talk.compact(keep=keep)

        def refused(budget: int) -> BudgetTooSmall | None:
            try:
                talk.assemble(provider=provider, model=MODELS[provider], policy=policy, budget=budget)
            except BudgetTooSmall as problem:
                return problem
            return None

        first = refused(5)
        assert first is not None
        assert not first.at_most
        least = sum(first.sizes.values())
        assert f"must show {least:,} tokens" in str(first)
        below = refused(least - 1)
        assert below is not None
        assert below.sizes == first.sizes
        assert refused(least) is None


@given(st.integers(0, 300), st.integers(1, 300), st.integers(-300, 4_000))
def test_the_least_is_found_from_wherever_it_is_looked_for(refused: int, above: int, off: int) -> None:
    least = refused + above
    tried: list[int] = []

    def fitting(budget: int) -> Mapping[str, int] | None:
        tried.append(budget)
        return {"history": least} if budget >= least else None

    found = enough(refused, max(refused + 1, least - off), fitting)
    assert found is not None
    assert found.budget == least
    assert len(tried) <= 40


def test_what_is_named_is_mostly_the_least_and_costs_two_looks() -> None:
    tried: list[int] = []
    assert enough(10, 90, lambda budget: tried.append(budget) or ({} if budget >= 90 else None)) is not None  # type: ignore[func-returns-value]
    assert tried == [90, 89]


def test_where_nothing_near_is_enough_none_is_found() -> None:
    assert enough(10, 90, lambda budget: None) is None
