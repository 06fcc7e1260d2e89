"""Which of two requests is cheaper, with what the provider's cache holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.serve.proxy.settings import Price
from callsheet.serve.proxy.weighing import LEAST_CACHED, Before, Memory, Rates, Scales, Weight, billed, rates
from callsheet.wire.names import Wire
from callsheet.wire.tokens import counter_for

RATES = Rates(cached=0.1, write=1.25, life=300)
COUNTER = counter_for("openai", "gpt-4o")


def weight(*sizes: int, caches: bool = True) -> Weight:
    """Pieces named by their place and size."""
    return Weight(pieces=tuple((f"{at}:{size}".encode(), size) for at, size in enumerate(sizes)), caches=caches)


@pytest.mark.parametrize(
    ("now", "before", "cached"),
    [
        (weight(2_000, 100), None, 0),
        (weight(2_000, 100), weight(2_000), 2_000),
        (weight(2_000, 100), weight(2_000, 100, 5), 2_100),
        (weight(2_000, 100), weight(2_001, 100), 0),
        (weight(900, 100), weight(900), 0),
        (weight(2_000, 100, caches=False), weight(2_000), 0),
        (weight(2_000, 100), weight(2_000, caches=False), 0),
    ],
)
def test_what_a_cache_holds_is_the_shared_beginning(now: Weight, before: Weight | None, cached: int) -> None:
    assert now.cached(before) == cached


@pytest.mark.parametrize(
    ("size", "cached", "horizon", "cost"),
    [
        (10_000, 0, 1, 12_500),
        (10_000, 8_000, 1, 2_500 + 800),
        (10_000, 8_000, 3, 3_300 + 2 * 1_000),
        (1_000, 0, 2, 2_000),
    ],
)
def test_what_a_request_costs_now_and_later(size: int, cached: int, horizon: int, cost: float) -> None:
    assert billed(weight(size), cached, RATES, horizon) == pytest.approx(cost)


def test_going_on_from_a_cache_is_cheaper_than_a_smaller_request_that_begins_anew() -> None:
    own, assembled = weight(20_000, 100), weight(7_000, 100)
    assert billed(own, 20_000, RATES, 1) < billed(assembled, 0, RATES, 1)
    assert billed(own, 20_000, RATES, 20) > billed(assembled, 0, RATES, 20)
    assert billed(own, 0, RATES, 1) > billed(assembled, 0, RATES, 1)


@given(st.integers(LEAST_CACHED, 10**6), st.integers(LEAST_CACHED, 10**6), st.integers(1, 50))
def test_of_two_that_are_as_cached_the_smaller_is_never_dearer(one: int, other: int, horizon: int) -> None:
    small, large = sorted((one, other))
    assert billed(weight(small), 0, RATES, horizon) <= billed(weight(large), 0, RATES, horizon)


def test_prices_say_what_a_cache_costs() -> None:
    made = rates("anthropic", "whatever", Price(input=3.0, output=15.0, cached=0.3, write=3.75))
    assert [made.cached, made.write, made.life] == pytest.approx([0.1, 1.25, 300])
    free = rates("openai", "whatever", Price(input=0.0, output=0.0))
    assert (free.cached, free.write) == (0.1, 1.0)


def test_a_request_is_weighed_by_what_a_model_reads() -> None:
    scales = Scales()
    body: dict[str, object] = {
        "model": "gpt-4o",
        "messages": [{"role": "system", "content": "Be kind. " * 100}, {"role": "user", "content": "Hi"}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "metadata": {"not": "read " * 1_000},
    }
    whole = scales.weigh(body, Wire.OPENAI, COUNTER)
    assert len(whole.pieces) == 3
    assert 300 < whole.tokens < 340
    assert scales.weigh(body, Wire.OPENAI, COUNTER) == whole


def test_marks_and_forms_do_not_change_what_is_compared() -> None:
    scales = Scales()

    def message(content: object) -> Weight:
        return scales.weigh({"messages": [{"role": "user", "content": content}]}, Wire.ANTHROPIC, COUNTER)

    plain = message("Hi")
    parted = message([{"type": "text", "text": "Hi"}])
    marked = message([{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}])
    assert plain.pieces == parted.pieces == marked.pieces
    assert (plain.caches, parted.caches, marked.caches) == (False, False, True)


def test_pictures_weigh_as_pictures() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 400_000}}
    made = Scales().weigh({"messages": [{"role": "user", "content": [picture]}]}, Wire.OPENAI, COUNTER)
    assert made.tokens < 3_000


def test_what_was_sent_is_forgotten_when_the_cache_forgets_it() -> None:
    memory = Memory()
    before = Before(at=1_000_000, sent=weight(5), own=weight(6))
    memory.sent("a", before)
    assert memory.before("a", 301_000_000, 300) is before
    assert memory.before("a", 302_000_000, 300) is None
    assert memory.before("b", 1_000_000, 300) is None
