"""Thoughts of models that take them back only behind what they had them behind."""

from collections.abc import Iterator, Mapping

import pytest

from callsheet import Conversation
from callsheet.testing import memory_runtime
from tests.runtime.replies import user

BINDS = "claude-opus-5-5"
Json = dict[str, object]


@pytest.fixture
def talk() -> Iterator[Conversation]:
    with memory_runtime() as runtime:
        yield runtime.conversation("thoughtful", user="mia")


def thought(turn: int) -> Json:
    return {"type": "thinking", "thinking": f"Hm, {turn}.", "signature": f"s{turn}"}


def reply(turn: int, *more: Mapping[str, object], reason: str = "end_turn") -> Json:
    return {
        "id": f"msg_{turn}",
        "type": "message",
        "role": "assistant",
        "model": BINDS,
        "content": [thought(turn), *more],
        "stop_reason": reason,
        "usage": {"input_tokens": 5, "output_tokens": 5},
    }


class Provider:
    """Knows behind what each thought was had."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.behind: dict[str, list[object]] = {}
        self.left = self.seen = 0

    def answer(self, talk: Conversation, response: Json, *, policy: str, budget: int) -> None:
        sheet = talk.assemble(provider="anthropic", model=self.model, policy=policy, budget=budget)
        messages = sheet.request()["messages"]
        assert isinstance(messages, list)
        for at, message in enumerate(messages):
            content = message["content"] if isinstance(message["content"], list) else []
            for block in content:
                if block["type"] == "thinking":
                    self.seen += 1
                    assert bare(messages[:at]) == self.behind[block["signature"]]
            self.left += message["role"] == "assistant" and not any(block["type"] == "thinking" for block in content)
        first = response["content"]
        assert isinstance(first, list)
        self.behind[first[0]["signature"]] = bare(messages)
        talk.record(response, sheet=sheet)


def bare(messages: list[Json]) -> list[object]:
    """What is signed: without the marks of the cache, which may move."""
    return [
        {
            "role": message["role"],
            "content": [{key: block[key] for key in block if key != "cache_control"} for block in listed(message)],
        }
        for message in messages
    ]


def listed(message: Json) -> list[Json]:
    content = message["content"]
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


@pytest.mark.parametrize("policy", ["balanced", "lean", "faithful"])
def test_a_thought_stands_behind_what_it_was_had_behind_or_not_at_all(talk: Conversation, policy: str) -> None:
    provider = Provider(BINDS)
    for turn in range(40):
        talk.record(user(f"What is in file {turn}?"))
        use = {"type": "tool_use", "id": f"c{turn}", "name": "read", "input": {"n": turn}}
        provider.answer(talk, reply(2 * turn, use, reason="tool_use"), policy=policy, budget=3_000)
        read = {"type": "tool_result", "tool_use_id": f"c{turn}", "content": f"line {turn} of it, and more\n" * 12}
        talk.record({"role": "user", "content": [read]})
        provider.answer(talk, reply(2 * turn + 1, {"type": "text", "text": "Lines."}), policy=policy, budget=3_000)
    # Some requests were written anew, and others were appended to.
    assert provider.left > 0
    assert provider.seen > 0


def test_everything_verbatim_keeps_them_all(talk: Conversation) -> None:
    provider = Provider(BINDS)
    for turn in range(8):
        talk.record(user(f"And {turn}?"))
        provider.answer(talk, reply(turn, {"type": "text", "text": "Yes."}), policy="replay", budget=100_000)
    assert (provider.seen, provider.left) == (28, 0)


def test_another_model_takes_them_wherever_they_stand(talk: Conversation) -> None:
    text: Json = {"type": "text", "text": "Yes."}
    for turn in range(2):
        talk.record(user(f"And {turn}?"))
        talk.record(reply(turn, text))
    talk.record(user("So?"))
    earlier = talk.assemble(provider="anthropic", model="claude-sonnet-4-5").messages()
    later = talk.assemble(provider="anthropic", model=BINDS).messages()
    assert [listed(message) for message in earlier[1::2]] == [[thought(0), text], [thought(1), text]]
    assert [listed(message) for message in later[1::2]] == [[text], [text]]
