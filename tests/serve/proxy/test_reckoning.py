"""What the report claims, against what is true: the same agent asks a provider with a prompt cache by itself, and
through the proxy, which assembles its requests or only observes them.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache

import pytest

import callsheet
from callsheet.policy.sets import BUILT_IN
from callsheet.serve.proxy.beginnings import Beginnings
from callsheet.serve.proxy.comparing import Comparing
from callsheet.serve.proxy.concluding import Came, conclude, ended
from callsheet.serve.proxy.hits import hit, missed
from callsheet.serve.proxy.journal import Ended, Outcome, Sent
from callsheet.serve.proxy.orders import Order
from callsheet.serve.proxy.preparing import Preparing
from callsheet.serve.proxy.pricing import Tokens, dollars, price_of
from callsheet.serve.proxy.recognising import Recogniser
from callsheet.serve.proxy.settings import Handling, Price
from callsheet.serve.proxy.weighing import Memory, Scales, Weight, texts
from callsheet.wire.names import Wire
from callsheet.wire.tokens import counter_for
from tests.upstream import caches, chat
from tests.upstream.caches import Cache
from tests.upstream.scripts import Counted

SECOND = 1_000_000
MODELS = {Wire.OPENAI: ("openai", "gpt-5.2"), Wire.ANTHROPIC: ("anthropic", "claude-sonnet-4-5")}
OUTPUT = 20
TURNS = 10


@pytest.fixture(autouse=True)
def tokens_as_the_model_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else what is claimed would be off by what four characters are not a token."""
    counter = counter_for("openai", "gpt-5.2")

    @cache
    def size(text: str) -> int:
        return counter.count(text)

    monkeypatch.setattr(caches, "tokens", lambda value: sum(map(size, texts(value))) + counter.framing.message)


@dataclass(kw_only=True)
class Provider:
    """Counts what it is sent, reads the beginnings that it knows from its cache, and charges for it."""

    wire: Wire
    cache: Cache = field(default_factory=Cache)
    spent: float = 0.0

    @property
    def price(self) -> Price:
        found = price_of(Handling(), *MODELS[self.wire])
        assert found is not None
        return found

    def asked(self, body: dict[str, object]) -> Counted:
        if self.wire is Wire.OPENAI:
            count = self.cache.automatic(chat.counted_parts(body), OUTPUT)
        else:
            count = self.cache.marked(body, OUTPUT)
        tokens = Tokens(input=count.input, cached=count.read, written=count.written, output=OUTPUT)
        self.spent += dollars(self.price, tokens)
        return count


def answer(wire: Wire, count: Counted, text: str, call: str) -> dict[str, object]:
    """A whole response: a call of ``look``, or words."""
    if wire is Wire.OPENAI:
        calls = [{"id": call, "type": "function", "function": {"name": "look", "arguments": f'{{"x": "{call}"}}'}}]
        said = {"role": "assistant", "content": text or None, **({"tool_calls": calls} if call else {})}
        usage = {
            "prompt_tokens": count.input, "completion_tokens": OUTPUT, "total_tokens": count.input + OUTPUT,
            "prompt_tokens_details": {"cached_tokens": count.read},
        }  # fmt: skip
        return {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-5.2", "usage": usage,
            "choices": [{"index": 0, "message": said, "finish_reason": "tool_calls" if call else "stop"}],
        }  # fmt: skip
    block = {"type": "tool_use", "id": call, "name": "look", "input": {"x": call}} if call else None
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "stop_sequence": None,
        "stop_reason": "tool_use" if call else "end_turn", "content": [block or {"type": "text", "text": text}],
        "usage": {
            "input_tokens": count.input - count.read - count.written, "cache_read_input_tokens": count.read,
            "cache_creation_input_tokens": count.written, "output_tokens": OUTPUT,
        },
    }  # fmt: skip


def rows(turn: int) -> str:
    return json.dumps([{"berth": f"B{turn:02}{n:02}", "ship": f"S-{turn * 977 + n * 31:05}"} for n in range(40)])


def marked(content: object) -> list[dict[str, object]]:
    """The content of a message with a mark on its end."""
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return [*blocks[:-1], {**blocks[-1], "cache_control": {"type": "ephemeral"}}]


class Agent:
    """Asks, looks up and asks again, with its whole history each time. `run` stands in the ids of its calls."""

    def __init__(self, wire: Wire, *, turns: int, run: str = "a") -> None:
        self.wire, self.turns, self.run = wire, turns, run
        self.history: list[dict[str, object]] = []

    def requests(self) -> Iterator[tuple[dict[str, object], str, str]]:
        """Bodies, and what the model shall say to each: words, or the id of a call."""
        for turn in range(self.turns):
            self.history.append({"role": "user", "content": f"Who lies at quay {turn}?"})
            call = f"call_{self.run}{turn:04}"
            yield self.body(), "", call
            if self.wire is Wire.OPENAI:
                self.history.append({"role": "tool", "tool_call_id": call, "content": rows(turn)})
            else:
                block = {"type": "tool_result", "tool_use_id": call, "content": rows(turn)}
                self.history.append({"role": "user", "content": [block]})
            yield self.body(), f"Forty ships lie at quay {turn}.", ""

    def body(self) -> dict[str, object]:
        name = MODELS[self.wire][1]
        system = "You look quays up. " + "Be brief and exact. " * 60
        schema = {"type": "object", "properties": {"x": {"type": "string"}}}
        if self.wire is Wire.OPENAI:
            tool = {"type": "function", "function": {"name": "look", "parameters": schema}}
            return {"model": name, "messages": [{"role": "system", "content": system}, *self.history], "tools": [tool]}
        *earlier, last = self.history
        return {
            "model": name, "max_tokens": 500, "system": marked(system),
            "messages": [*earlier, {**last, "content": marked(last["content"])}],
            "tools": [{"name": "look", "input_schema": schema}],
        }  # fmt: skip

    def said(self, response: dict[str, object]) -> None:
        if self.wire is Wire.OPENAI:
            choices: list[dict[str, dict[str, object]]] = response["choices"]  # type: ignore[assignment]
            self.history.append(choices[0]["message"])
        else:
            self.history.append({"role": "assistant", "content": response["content"]})


def directly(provider: Provider, agent: Agent) -> float:
    """Dollars that the agent spends by itself."""
    before = provider.spent
    for body, text, call in agent.requests():
        agent.said(answer(agent.wire, provider.asked(body), text, call))
    return provider.spent - before


@dataclass(kw_only=True)
class Proxied:
    """The proxy without its server."""

    preparing: Preparing
    provider: Provider
    handling: Handling
    at: int = 0

    def run(self, agent: Agent, *, apart: bool = False) -> list[Ended]:
        """The rows of its requests. `apart`: each begins a conversation of its own."""
        return [self.one(agent, *asked, apart=apart) for asked in agent.requests()]

    def one(self, agent: Agent, body: dict[str, object], text: str, call: str, *, apart: bool = False) -> Ended:
        """The row of one request."""
        self.at += SECOND
        provider, model = MODELS[agent.wire]
        order = Order(
            wire=agent.wire, provider=provider, model=None, stream=None, handling=self.handling,
            price=price_of(self.handling, provider, model), scope="t/k",
            named=f"{agent.run}{self.at}" if apart else None, user=None, at=self.at,
        )  # fmt: skip
        prepared = self.preparing.prepare(order, body)
        sent = json.loads(prepared.content) if prepared.content is not None else body
        response = answer(agent.wire, self.provider.asked(sent), text, call)
        came = Came(outcome=Outcome.ANSWERED, status=200, response=response)
        row = ended(self.at, order, prepared, came, conclude(self.preparing, order, prepared, came), size=0)
        agent.said(response)
        return row


@contextmanager
def proxied(wire: Wire, **said: object) -> Iterator[Proxied]:
    with callsheet.open(":memory:") as runtime:
        preparing = Preparing(recogniser=Recogniser(runtime), comparing=Comparing(scales=Scales(), memory=Memory()))
        handling = Handling(recall=False, **said)  # type: ignore[arg-type]
        yield Proxied(preparing=preparing, provider=Provider(wire=wire), handling=handling)


def spent(rows: list[Ended]) -> float:
    return sum(row.cost or 0.0 for row in rows)


def without(rows: list[Ended]) -> float:
    return sum(row.plain_cost or 0.0 for row in rows)


def assembled(rows: list[Ended]) -> float:
    return sum(row.assembled_cost or 0.0 for row in rows)


def near(claimed: float) -> float:
    """What is claimed, but for how tokens are framed, which the provider here counts otherwise."""
    return claimed * 0.99


LEAN = {"budget": 3_000, "policy": BUILT_IN["lean"]}
each = pytest.mark.parametrize("wire", MODELS)


@each
@pytest.mark.parametrize("said", [{}, LEAN], ids=["balanced", "small"])
def test_no_saving_is_claimed_that_is_none(wire: Wire, said: dict[str, object]) -> None:
    true = directly(Provider(wire=wire), Agent(wire, turns=TURNS))
    with proxied(wire, **said) as proxy:
        found = proxy.run(Agent(wire, turns=TURNS))
        assert spent(found) == pytest.approx(proxy.provider.spent)
    assert Sent.SHEET in {row.sent for row in found}
    assert near(without(found)) <= true
    # Nor much less than there is.
    assert without(found) > true * 0.9


@each
def test_a_second_run_reads_what_the_first_one_wrote_though_each_request_begins_a_conversation(wire: Wire) -> None:
    alone = Provider(wire=wire)
    directly(alone, Agent(wire, turns=TURNS))
    true = directly(alone, Agent(wire, turns=TURNS, run="b"))
    with proxied(wire) as proxy:
        proxy.run(Agent(wire, turns=TURNS))
        found = proxy.run(Agent(wire, turns=TURNS, run="b"), apart=True)
    assert Sent.SHEET in {row.sent for row in found}
    assert near(without(found)) <= true


@each
@pytest.mark.parametrize("said", [{}, LEAN], ids=["balanced", "small"])
def test_what_observing_says_that_it_would_cost_is_what_it_costs(wire: Wire, said: dict[str, object]) -> None:
    with proxied(wire, **said) as proxy:
        true = spent(proxy.run(Agent(wire, turns=TURNS)))
    with proxied(wire, observe_only=True, **said) as proxy:
        found = proxy.run(Agent(wire, turns=TURNS))
    assert {row.sent for row in found} == {Sent.OWN}
    assert spent(found) == pytest.approx(proxy.provider.spent)
    assert true < spent(found)
    assert assembled(found) >= near(true)
    assert assembled(found) < spent(found)


def test_behind_a_restart_what_came_before_may_still_be_cached() -> None:
    agent = Agent(Wire.OPENAI, turns=TURNS)
    with proxied(Wire.OPENAI) as proxy:
        asking = agent.requests()
        first = [proxy.one(agent, *next(asking)) for _ in range(2 * TURNS - 2)]
        fresh = Preparing(recogniser=proxy.preparing.recogniser, comparing=Comparing(scales=Scales(), memory=Memory()))
        proxy.preparing = fresh
        row = proxy.one(agent, *next(asking))
    assert row.how == first[-1].how == "continued"
    assert row.asked_cached > row.asked * 0.9


# --------------------------------------------------------------------------- its parts


def weight(*names: str, caches: bool = True) -> Weight:
    return Weight(pieces=tuple((name.encode(), 1_000) for name in names), caches=caches)


def test_the_longest_beginning_that_any_request_had() -> None:
    known = Beginnings()
    known.add("k", weight("a", "b", "c"), 0)
    known.add("k", weight("a", "x"), 0)
    assert known.held("k", weight("a", "b", "d"), 1, 10) == 2_000
    assert known.held("k", weight("a", "x", "c"), 1, 10) == 2_000
    # What is smaller than any provider keeps, what another one sent, what is forgotten, what is never cached.
    assert known.held("k", weight("a", "y"), 1, 10) == 0
    assert known.held("other", weight("a", "b"), 1, 10) == 0
    assert known.held("k", weight("a", "b"), 11 * SECOND, 10) == 0
    assert known.held("k", weight("a", "b", caches=False), 1, 10) == 0
    known.add("k", weight("p", "q", "r"), 0, kept=2)
    assert known.held("k", weight("p", "q", "r"), 1, 10) == 2_000


@pytest.mark.parametrize(
    ("held", "input", "cached", "share", "left"),
    [
        (0, 5_000, 0, None, None),
        # Below what some models cache, nothing read says nothing.
        (2_000, 2_500, 0, None, None),
        (8_000, 9_000, 0, 0.0, None),
        (8_000, 9_000, 4_000, 0.5, 4_000),
        # The last step that is not full is no miss.
        (2_047, 2_500, 1_920, 1.0, 127),
        (8_000, 9_000, 9_000, 1.0, 0),
    ],
)
def test_what_was_read_of_what_could_be(
    held: int, input: int, cached: int, share: float | None, left: int | None
) -> None:
    tokens = Tokens(input=input, cached=cached)
    assert hit(held, input, tokens) == (share if share is None else pytest.approx(share))
    assert missed(held, input, tokens) == left
