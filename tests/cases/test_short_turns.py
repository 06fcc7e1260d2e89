"""A compaction that is asked for makes no request much larger: what it shows is worth its tokens."""

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callsheet import Conversation
from callsheet.assemble.rewriting import SPARE, SPARE_SHARE
from callsheet.testing import memory_runtime
from tests.cases.checks import MODELS

CALLED_FOR = 320
"""Tokens of what the question calls for and of what people laid down, in these conversations."""


def told(
    turns: int, words: int, *, compacted: int | None, policy: str, provider: str
) -> tuple[list[int], Conversation]:
    """Tokens of each request of a conversation, compacted once before the last turn."""
    talk, sizes = memory_runtime().conversation("short"), list[int]()
    pad = " The glaze ran on the left shelf and the cone bent early." * words
    for turn in range(turns + 1):
        if compacted is not None and turn == turns:
            talk.compact(keep=compacted)
        talk.record({"role": "user", "content": f"Check order ORD-{turn:05} for kiln {turn % 7}.{pad}"})
        given_ = {"name": "get_order", "arguments": json.dumps({"order": f"ORD-{turn:05}"})}
        asked = {"id": f"c{turn}", "type": "function", "function": given_}
        talk.record({"role": "assistant", "content": None, "tool_calls": [asked]})
        found = json.dumps({"order": f"ORD-{turn:05}", "amount": turn * 7, "state": "open"})
        talk.record({"role": "tool", "tool_call_id": f"c{turn}", "content": found})
        if turn % 4 == 0 or turn == turns:
            sizes.append(talk.assemble(provider=provider, model=MODELS[provider], policy=policy).tokens)
        talk.record({"role": "assistant", "content": f"It is open, {turn * 7} EUR.{pad}"})
    return sizes, talk


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    turns=st.integers(min_value=5, max_value=30),
    words=st.sampled_from([0, 0, 1, 8]),
    keep=st.integers(min_value=1, max_value=6),
    policy=st.sampled_from(["balanced", "lean"]),
    provider=st.sampled_from(["openai", "anthropic"]),
)
def test_a_request_after_a_compaction_is_hardly_larger_than_without(
    turns: int, words: int, keep: int, policy: str, provider: str
) -> None:
    plain, _ = told(turns, words, compacted=None, policy=policy, provider=provider)
    short, talk = told(turns, words, compacted=keep, policy=policy, provider=provider)
    more = max(SPARE, plain[-1] // SPARE_SHARE) + CALLED_FOR
    assert short[-1] <= plain[-1] + more
    # What is not shown is found all the same.
    assert talk.search("ORD-00001")
