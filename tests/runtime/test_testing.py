"""What the package offers to others' tests does what it says."""

import pytest

from callsheet.errors import InvalidMessage, InvalidOption
from callsheet.testing import FixedClock, ScriptedProvider, SequenceIds, memory_runtime
from tests.runtime.replies import asks, call, openai_reply, result, user


@pytest.mark.parametrize(
    ("provider", "model"), [("openai", "gpt-5.2"), ("openai-responses", "gpt-5.2"), ("anthropic", "claude-sonnet-4-5")]
)
def test_a_scripted_provider_plays_an_agents_part(provider: str, model: str) -> None:
    client = ScriptedProvider(["Hello.", "It is shipped."], provider=provider)
    with memory_runtime() as runtime:
        talk = runtime.conversation("agent")
        for question in ("Hi", "Where is W1?"):
            talk.record(user(question))
            sheet = talk.assemble(provider=provider, model=model)
            talk.record(client.create(**sheet.request()), sheet=sheet)
        assert ["Hi", "Hello.", "Where is W1?", "It is shipped."] == [
            item.text for item in talk.transcript() if hasattr(item, "text")
        ]
    assert 2 == len(client.requests)
    with pytest.raises(InvalidOption, match="no reply to request 3"):
        client.create(**sheet.request())


def test_it_refuses_what_a_provider_would() -> None:
    client = ScriptedProvider([openai_reply("never given")])
    broken = [user("?"), asks(call("c1")), user("no result in between")]
    with pytest.raises(InvalidMessage, match="request"):
        client.create(model="m", messages=broken)
    assert [] == client.requests
    client.create(model="m", messages=[user("?"), asks(call("c1")), result("c1", "ok")])


def test_the_same_calls_give_the_same_store() -> None:
    heads = []
    for _ in range(2):
        with memory_runtime() as runtime:
            talk = runtime.conversation("same")
            talk.record(user("Hi"))
            talk.assemble(provider="openai", model="gpt-5.2")
            heads.append([str(runtime.ledger.head(stream.key)) for stream in runtime.ledger.streams()][:1])
    assert heads[0] == heads[1]


def test_time_stands_still_until_it_is_moved() -> None:
    clock = FixedClock("2026-05-01T02:00:00Z")
    before = clock.now()
    clock.advance(1.5)
    assert 1_500_000 == clock.now() - before
    assert SequenceIds().record("message") == SequenceIds().record("message")
