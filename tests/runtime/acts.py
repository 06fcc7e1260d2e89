"""Conversations as data: what is said, called and given back, to be recorded and assembled step by step."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hypothesis import strategies as st

from callsheet import Conversation, Sheet
from callsheet.errors import BudgetTooSmall, EmptyRequest
from callsheet.policy.sets import PolicySetDocument
from tests.runtime.replies import Json, asks, call, openai_reply, result, user

MODELS = {"openai": "gpt-5.2", "openai-responses": "gpt-5.2", "anthropic": "claude-sonnet-4-5"}

FORMS = ("table", "list", "log", "words", "failure", "nothing", "bytes")

Act: TypeAlias = tuple[str, int, int]
"""What is done, a number that chooses its content, and how large it is."""

acts = st.lists(
    st.tuples(
        st.sampled_from(["user", "user", "calls", "calls", "calls", "answer", "system", "stray", "silent"]),
        st.integers(0, 30),
        st.sampled_from([1, 12, 80]),
    ),
    min_size=1,
    max_size=9,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Asking:
    """How each request is asked for."""

    provider: str = "openai"
    policy: str | PolicySetDocument = "balanced"
    budget: int = 20_000

    def sheet(self, talk: Conversation) -> Sheet | None:
        """The next request; None where the budget is too small for it, or there is nothing to answer."""
        try:
            return talk.assemble(
                provider=self.provider, model=MODELS[self.provider], policy=self.policy, budget=self.budget
            )
        except (BudgetTooSmall, EmptyRequest):
            return None


asking = st.builds(
    Asking,
    provider=st.sampled_from(sorted(MODELS)),
    policy=st.sampled_from(["balanced", "lean", "faithful"]),
    budget=st.sampled_from([250, 900, 1_800, 4_000, 12_000, 100_000]),
)


def content(number: int, size: int) -> object:
    """What a tool gives back: hive records of several forms."""
    form = FORMS[number % len(FORMS)]
    hives = [f"HV-{(number * 7 + row) % 97:03d}" for row in range(size)]
    match form:
        case "table":
            return "\n".join(["hive,frames,queen", *(f"{hive},{row % 10},yes" for row, hive in enumerate(hives))])
        case "list":
            return json.dumps([{"hive": hive, "frames": row, "queen": True} for row, hive in enumerate(hives)])
        case "log":
            return "\n".join(f"{hive} weighed {row} kg" for row, hive in enumerate(hives))
        case "words":
            return "The hive is quiet. " * size
        case "failure":
            return "Error: the scale does not answer\n" * min(size, 3)
        case "bytes":
            return b"\xff\x00" + b"bee" * size
        case _:
            return ""


def records(act: Act, place: int) -> Iterator[list[Json]]:
    """What an act records, one list for each call of `record`."""
    kind, number, size = act
    match kind:
        case "user":
            yield [user(f"How is HV-{number:03d}? " + "Please look. " * min(size, 20))]
        case "system":
            yield [{"role": "system", "content": f"Smoke gently, rule {number}."}]
        case "answer":
            yield [openai_reply(f"HV-{number:03d} is well.")]
        case "stray":
            yield [result(None, content(number, size))]
        case _:
            ids = [f"c{place}_{index}" for index in range(1 + number % 3)]
            asked = [call(id, ("weigh", "look")[number % 2], json.dumps({"hive": number % 5})) for id in ids]
            yield [openai_reply(asks(*asked))]
            if kind == "calls":
                yield [result(id, content(number + index, size)) for index, id in enumerate(ids)]


def play(talk: Conversation, acted: Sequence[Act], asked: Asking) -> Iterator[Sheet]:
    """Record the acts and assemble before each answer of the model, and at the end."""
    for place, act in enumerate(acted):
        sheet = asked.sheet(talk) if act[0] in ("answer", "calls", "silent") else None
        if sheet is not None:
            yield sheet
        for each in records(act, place):
            replies = any("choices" in value for value in each)
            talk.record(each, sheet=sheet if replies else None)
    last = asked.sheet(talk)
    if last is not None:
        yield last
