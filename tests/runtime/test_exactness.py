"""Exact bytes on request: by the caller, by the user's words, within the byte budget of the set."""

import json
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from callsheet import Conversation
from callsheet.assemble.exactness import asks_for_exact
from callsheet.errors import NotFound
from callsheet.graph.enums import Level
from callsheet.policy.sets import BALANCED
from callsheet.testing import memory_runtime
from tests.runtime.replies import asks, call, result, user


def table(name: str, rows: int) -> str:
    return "sku, qty ,bay\n" + "\n".join(f"{name}-{n:04}, {n * 7 % 91} ,B{n % 9}" for n in range(rows))


@pytest.fixture
def talk() -> Iterator[Conversation]:
    with memory_runtime() as runtime:
        yield runtime.conversation("store")


def recorded(talk: Conversation, name: str, rows: int) -> str:
    talk.record(user(f"Export {name}."))
    talk.record(asks(call("e", "export")))
    made = talk.record(result("e", table(name, rows))).ids[0]
    talk.record({"role": "assistant", "content": "Exported."})
    return made


def later(talk: Conversation, words: str) -> None:
    for turn in range(9):
        talk.record([user(f"Note {turn}."), {"role": "assistant", "content": "Noted."}])
    talk.record(user(words))


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("policy", ["balanced", "lean", "faithful"])
def test_the_users_words_bring_back_the_named_result_to_the_letter(
    talk: Conversation, provider: str, policy: str
) -> None:
    recorded(talk, "WX", 120)
    recorded(talk, "YZ", 120)
    later(talk, "Show me the exact rows with WX-0077 again.")
    model = {"openai": "gpt-5.2", "anthropic": "claude-sonnet-4-5"}[provider]
    sent = json.dumps(talk.assemble(provider=provider, model=model, policy=policy).messages())
    assert json.dumps(table("WX", 120))[1:-1] in sent


def test_together_they_keep_to_the_byte_budget(talk: Conversation) -> None:
    first, second = recorded(talk, "WX", 120), recorded(talk, "YZ", 120)
    later(talk, "Go on.")
    policy = replace(BALANCED, name="few", rehydrate=len(table("WX", 120)) + 100)
    sheet = talk.assemble(provider="openai", model="gpt-5.2", policy=policy, exact=[first, second])
    raw = [one.record for one in sheet.selections if one.level is Level.RAW and one.record in (first, second)]
    assert raw == [first]
    assert sheet.record.rehydrated == 1
    assert talk.rebuild(sheet).same_selections


def test_what_failed_has_its_bytes_before_what_is_settled(talk: Conversation) -> None:
    first = recorded(talk, "WX", 120)
    talk.record([user("Import it."), asks(call("i", "import"))])
    failed = talk.record(result("i", table("YZ", 120)), status="failed").ids[0]
    talk.record({"role": "assistant", "content": "It failed."})
    later(talk, "Go on.")
    policy = replace(BALANCED, name="few", rehydrate=len(table("WX", 120)) + 100)
    sheet = talk.assemble(provider="openai", model="gpt-5.2", policy=policy, exact=[first, failed])
    raw = [one.record for one in sheet.selections if one.level is Level.RAW and one.record in (first, failed)]
    assert raw == [failed]
    assert talk.rebuild(sheet).same_selections


def test_what_is_not_there_is_refused(talk: Conversation) -> None:
    recorded(talk, "WX", 3)
    with pytest.raises(NotFound):
        talk.assemble(provider="openai", model="gpt-5.2", exact=["art_nowhere"])


@pytest.mark.parametrize(
    ("words", "asks_"),
    [
        ("Give me the raw output again.", True),
        ("Bitte den genauen Wortlaut.", True),
        ("Wiederhole das wörtlich.", True),
        ("What exactly is the total?", False),
        ("I want to pay in full.", False),
        ("Ist das genau richtig?", False),
        ("verbatim " + "x" * 5_000, False),
    ],
)
def test_few_words_ask_for_it(words: str, asks_: bool) -> None:
    assert asks_for_exact(words) is asks_
