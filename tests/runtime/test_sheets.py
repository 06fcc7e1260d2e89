"""A sheet is the request that was sent: its bytes, sizes and reasons come back as they were."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

import callsheet
from callsheet import Conversation
from callsheet.errors import BudgetTooSmall, InputError, InvalidMessage, InvalidOption, PolicyError
from callsheet.graph.enums import Level
from callsheet.testing import FixedClock, memory_runtime
from callsheet.wire.tokens import count
from tests.runtime.replies import asks, call, openai_reply, result, tool, user

BOTH = pytest.mark.parametrize("policy", ["balanced", "replay"])


@pytest.fixture
def talk() -> Iterator[Conversation]:
    with memory_runtime() as runtime:
        yield runtime.conversation("sheets")


def turns(talk: Conversation, number: int, policy: str = "balanced") -> None:
    for index in range(number):
        talk.record([user(f"Order {index}?"), asks(call(f"c{index}")), result(f"c{index}", f"shipped {index} " * 50)])
        talk.assemble(provider="openai", model="gpt-5.2", policy=policy)
        talk.record(openai_reply(f"Order {index} is shipped."))


@BOTH
def test_every_sheet_comes_back_with_the_bytes_that_were_sent(tmp_path: Path, policy: str) -> None:
    path = tmp_path / "agent.db"
    with callsheet.open(path) as runtime:
        talk = runtime.conversation("sheets")
        sent = []
        for index in range(70):
            talk.record(user(f"{index}"))
            sent.append(talk.assemble(provider="openai", model="gpt-5.2", policy=policy))
        talk.record(openai_reply("Seventy."))
    with callsheet.open(path) as runtime:
        talk = runtime.conversation("sheets")
        again = talk.sheets()
        assert [sheet.request() for sheet in sent] == [sheet.request() for sheet in again]
        assert [sheet.selections for sheet in sent] == [sheet.selections for sheet in again]
        assert sent[-1].blocks == talk.sheet(sent[-1].id).blocks
        assert [sent[-1].id] == [sheet.id for sheet in talk.sheets(newest=1)]
        talk.record(user("70"))
        next_one = talk.assemble(provider="openai", model="gpt-5.2", policy=policy)
        assert sent[-1].id == next_one.record.base
        assert 2 == len(next_one.record.blocks)


@BOTH
def test_a_request_extends_the_one_before_it(talk: Conversation, policy: str) -> None:
    turns(talk, 5, policy)
    sheets = talk.sheets()
    for before, after in itertools.pairwise(sheets):
        assert before.blocks == after.blocks[: len(before.blocks)]


@BOTH
def test_what_was_sent_before_is_billed_at_a_tenth(talk: Conversation, policy: str) -> None:
    turns(talk, 3, policy)
    first, second, third = talk.sheets()
    assert first.tokens == first.billed_tokens
    for before, after in ((first, second), (second, third)):
        content = sum(count(text, "o200k_base") for text in _texts(before))
        assert after.billed_tokens == after.tokens - round(0.9 * content)


def test_storing_a_sheet_whole_does_not_make_it_dearer(talk: Conversation) -> None:
    talk.record(user("word " * 2_000))
    sheet = talk.assemble(provider="openai", model="gpt-5.2", policy="replay")
    for number in range(150):
        talk.record(openai_reply("Yes."), sheet=sheet)
        talk.record(user(f"{number}"))
        sheet = talk.assemble(provider="openai", model="gpt-5.2", policy="replay")
        assert sheet.billed_tokens < sheet.tokens / 2
    assert 2 <= sum(sheet.record.base is None for sheet in talk.sheets())


@BOTH
def test_what_nobody_answered_is_not_taken_to_be_cached(talk: Conversation, policy: str) -> None:
    turns(talk, 3, policy)
    talk.record(user("word " * 3_000))
    unanswered = talk.assemble(provider="openai", model="gpt-5.2", policy=policy)
    again = talk.assemble(provider="openai", model="gpt-5.2", policy=policy)
    assert again.blocks == unanswered.blocks
    assert again.billed_tokens == unanswered.billed_tokens > 3_000
    talk.record(openai_reply("That is long."), sheet=again)
    talk.record(user("It is."))
    assert talk.assemble(provider="openai", model="gpt-5.2", policy=policy).billed_tokens < 3_000


@pytest.mark.parametrize("policy", ["replay", "balanced"])
@pytest.mark.parametrize(
    ("provider", "model", "seconds", "cached"),
    [
        ("openai", "gpt-5.2", 600, True),
        ("openai", "gpt-5.2", 601, False),
        ("anthropic", "claude-sonnet-4-5", 300, True),
        ("anthropic", "claude-sonnet-4-5", 301, False),
    ],
)
def test_what_lies_back_longer_than_the_cache_lives_is_billed_in_full(
    policy: str, provider: str, model: str, seconds: int, cached: bool
) -> None:
    clock = FixedClock()
    with memory_runtime(clock=clock) as runtime:
        talk = runtime.conversation("sheets")
        talk.record(user("word " * 3_000))
        sheet = talk.assemble(provider=provider, model=model, policy=policy)
        talk.record({"role": "assistant", "content": "Long."}, sheet=sheet)
        talk.record(user("It is."))
        clock.advance(seconds)
        later = talk.assemble(provider=provider, model=model, policy=policy)
        assert (later.billed_tokens < later.tokens / 2) is cached
        assert cached or later.billed_tokens == later.tokens


@BOTH
def test_the_first_request_of_a_branch_finds_its_parents_in_the_cache(talk: Conversation, policy: str) -> None:
    turns(talk, 3, policy)
    branch = talk.branch()
    branch.record(user("And the invoice?"))
    sheet = branch.assemble(provider="openai", model="gpt-5.2", policy=policy)
    assert sheet.billed_tokens < sheet.tokens / 2
    other = branch.assemble(provider="openai", model="gpt-4o", policy=policy)
    assert other.billed_tokens == other.tokens


def _texts(sheet: callsheet.Sheet) -> list[str]:
    found = []
    for message in sheet.messages():
        if isinstance(message.get("content"), str):
            found.append(str(message["content"]))
        calls = message.get("tool_calls")
        for each in calls if isinstance(calls, list) else []:
            found += [each["function"]["name"], each["function"]["arguments"]]
    return found


def test_replay_shows_everything_raw_and_says_so(talk: Conversation) -> None:
    turns(talk, 2)
    sheet = talk.assemble(provider="openai", model="gpt-5.2", policy="replay")
    records, _ = talk.history()
    assert [record.id for record in records] == [selection.record for selection in sheet.selections]
    assert {Level.RAW} == {selection.level for selection in sheet.selections}
    assert 2 == sheet.record.artifacts
    assert sheet.replay_tokens == sheet.tokens
    assert "on branch main" in sheet.explain()
    assert "2 of them raw tool results" in sheet.explain()


@pytest.mark.parametrize(("provider", "model"), [("openai", "gpt-5.2"), ("anthropic", "claude-sonnet-4-5")])
def test_what_plain_replay_is_said_to_take_is_what_replay_takes(talk: Conversation, provider: str, model: str) -> None:
    for number in range(6):
        calls = [call(f"a{number}", "weigh", f'{{"crate": {number}}}'), call(f"b{number}", "look")]
        talk.record(
            [user(f"Crate {number}?"), asks(*calls), result(f"a{number}", f"{number} kg"), result(f"b{number}", "full")]
        )
        ours, plain = (
            talk.assemble(provider=provider, model=model, policy=policy, tools=[tool("weigh"), tool("look")])
            for policy in ("balanced", "replay")
        )
        # Each text is rounded up where counts are estimates.
        assert plain.tokens * (1 if plain.exact else 0.98) <= ours.replay_tokens <= plain.tokens
        talk.record({"role": "assistant", "content": "It is as it was."})
    assert "recall" in str(ours.tools())
    assert "recall" not in str(plain.tools())


@BOTH
def test_what_is_omitted_is_counted_by_reason(talk: Conversation, policy: str) -> None:
    talk.record(user("Is the pier sound?"))
    other = talk.participant("ana")
    other.record([asks(call("a1")), result("a1", "crack")])
    sheet = talk.assemble(provider="openai", model="gpt-5.2", policy=policy)
    assert (("participant_private", 2),) == sheet.record.omitted
    assert "Left out: 2 (participant private)." in sheet.explain()


@BOTH
def test_the_budget_holds_to_the_token(talk: Conversation, policy: str) -> None:
    def assembled(budget: int | None = None) -> callsheet.Sheet:
        return talk.assemble(provider="openai", model="gpt-5.2", tools=[tool()], budget=budget, policy=policy)

    talk.record(user("Count me. " * 100))
    size = assembled().tokens
    assert size == assembled(size).tokens
    before = talk.sheets()
    must = rf"policy set '{policy}@1' must show .*system 0, tools \d+, history \d+"
    with pytest.raises(BudgetTooSmall, match=must):
        assembled(size - 1)
    assert [sheet.id for sheet in before] == [sheet.id for sheet in talk.sheets()]


def test_estimates_keep_their_margin_within_the_budget(talk: Conversation) -> None:
    talk.record(user("Count me. " * 100))
    sheet = talk.assemble(provider="anthropic", model="claude-sonnet-4-5")
    assert not sheet.exact
    with pytest.raises(BudgetTooSmall):
        talk.assemble(provider="anthropic", model="claude-sonnet-4-5", budget=sheet.tokens)


def test_the_messages_of_another_provider_come_from_the_same_sheet(talk: Conversation) -> None:
    turns(talk, 1)
    sheet = talk.assemble(provider="openai", model="gpt-5.2")
    blocks = sheet.messages("anthropic")[1]["content"]
    assert isinstance(blocks, list)
    assert "tool_use" == blocks[0]["type"]
    with pytest.raises(InvalidOption, match="format 'smoke' is not known"):
        sheet.messages("smoke")
    with pytest.raises(InvalidOption, match="was read back from the store"):
        talk.sheet(sheet.id).messages("anthropic")


def test_bad_options_are_refused_and_store_nothing(talk: Conversation) -> None:
    talk.record(user("Hi"))
    with pytest.raises(PolicyError, match="no policy set"):
        talk.assemble(provider="openai", model="gpt-5.2", policy="thrifty")
    with pytest.raises(InvalidOption, match="budget is 0; it must be a whole number from 1 to"):
        talk.assemble(provider="openai", model="gpt-5.2", budget=0)
    with pytest.raises(InvalidOption, match="mode is 'dance'; it must be one of: chat, comparison"):
        talk.assemble(provider="openai", model="gpt-5.2", mode="dance")
    with pytest.raises(InvalidMessage, match=r"tools\[1\]"):
        talk.assemble(provider="openai", model="gpt-5.2", tools=[tool(), {"nonsense": True}])
    assert [] == talk.sheets()


def test_a_request_that_is_changed_by_the_caller_changes_no_sheet(talk: Conversation) -> None:
    talk.record(user("Hi"))
    sheet = talk.assemble(provider="openai", model="gpt-5.2")
    messages = sheet.request()["messages"]
    assert isinstance(messages, list)
    messages.clear()
    assert [{"role": "user", "content": "Hi"}] == sheet.messages()


def test_tools_are_counted_as_they_are_sent(talk: Conversation) -> None:
    turns(talk, 1)
    sheet = talk.assemble(provider="anthropic", model="claude-sonnet-4-5")
    assert ["get_order"] == [each["name"] for each in sheet.tools()]
    assert sheet.record.tokens.tools > 0


def test_what_a_sheet_could_not_be_read_back_with_is_refused(talk: Conversation) -> None:
    talk.record(user("Hi"))
    options: list[dict[str, object]] = [
        {"reserve": "bad", "budget": 1000},
        {"reserve": -5},
        {"reserve": 1.5, "budget": 1000},
        {"reserve": 10**9},
        {"budget": 10**30},
        {"budget": True},
        {"policy": []},
        {"now": 10**5000},
        {"now": "9" * 100_000},
    ]
    for option in options:
        with pytest.raises(InputError) as caught:
            cast("Any", talk).assemble(provider="openai", model="gpt-5.2", **option)
        assert len(str(caught.value)) < 200
    assert [] == talk.sheets()
    assert talk.assemble(provider="openai", model="gpt-5.2")


@pytest.mark.parametrize(
    ("provider", "model", "budget"),
    [
        ("openai", "gpt-4", 8_192 - 1_000),
        ("anthropic", "claude-sonnet-4-5", 200_000 - 1_000),
        ("openai", "unheard-of", 128_000 - 1_000),
    ],
)
def test_without_a_budget_the_models_window_is_the_limit(
    talk: Conversation, provider: str, model: str, budget: int
) -> None:
    talk.record(user("Hi"))
    sheet = talk.assemble(provider=provider, model=model, reserve=1_000)
    assert budget == sheet.record.boundary.budget
    with pytest.raises(InvalidOption, match="must be below the window"):
        talk.assemble(provider=provider, model=model, reserve=10**7)
