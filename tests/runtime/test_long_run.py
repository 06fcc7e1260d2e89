"""What a conversation tells of itself after many turns: calls that waited, lines in any script, what was just given."""

import json

import pytest
from msgspec.structs import replace

import callsheet
from callsheet import Conversation, ToolContract
from callsheet.policy.sets import BALANCED, LEAN
from callsheet.policy.settings import Water
from callsheet.testing import memory_runtime
from tests.runtime.replies import asks, call, result, user

MODELS = {"openai": "gpt-5.2", "anthropic": "claude-sonnet-4-5"}


@callsheet.tool(contract=ToolContract(name="transfer", side_effects=True, needs_approval=True))
def transfer(amount: int, to: str) -> dict[str, object]:
    """Pay."""
    return {"paid": amount, "reference": "TX-5581"}


@pytest.mark.parametrize("policy", ["balanced", "lean", "faithful"])
@pytest.mark.parametrize("provider", MODELS)
def test_a_call_that_waited_and_has_its_result_stands_once_and_with_it(provider: str, policy: str) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("office")
        talk.record(user("Pay K-88."))
        talk.record(asks(call("a1", "transfer", '{"amount": 250, "to": "K-88"}')))
        talk.execute([transfer])
        talk.record({"role": "assistant", "content": "It waits."})
        talk.approve(talk.approvals()[0], by="kim")
        talk.execute([transfer])
        for turn in range(40):
            talk.record([user(f"Turn {turn}: {'calm sea ' * 40}"), {"role": "assistant", "content": "fair wind " * 40}])
        talk.record(user("Did you pay K-88?"))
        sheet = talk.assemble(provider=provider, model=MODELS[provider], policy=policy, tools=[transfer])
        sent = json.dumps(sheet.messages())
        lines = sent.replace("\\n", "\n").splitlines()
        calls = [at for at, line in enumerate(lines) if "transfer(" in line]
        # The user names the account, so the transfer comes back: once, with what it gave directly behind it.
        assert len(calls) == 1
        assert lines[calls[0] + 1] == "paid:250"
        assert lines[calls[0] + 2].startswith("reference: TX-5581")


@pytest.mark.parametrize(
    "words", ["倉庫の温度計は三番が故障しています。", "창고 온도계 세 번째가 고장났습니다. ", "The third gauge broke. "]
)
def test_lines_of_a_note_keep_to_the_mark_in_any_script(words: str) -> None:
    policy = replace(BALANCED, name="gauge", low_water=Water(tokens=2_500))
    with memory_runtime() as runtime:
        talk = runtime.conversation("store")
        for turn in range(40):
            talk.record([user(f"{turn} " + words * 12), {"role": "assistant", "content": f"{turn} " + words * 12}])
        talk.record(user("?"))
        sheet = talk.assemble(provider="openai", model="gpt-5.2", policy=policy)
        assert sheet.tokens - sheet.record.tokens.tools <= 2_600


@pytest.mark.parametrize("turns", [0, 1])
def test_what_was_just_given_is_there_however_few_turns_are_kept(turns: int) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("store")
        talk.record(user("Read the gauge."))
        talk.record(asks(call("g", "gauge")))
        talk.record(result("g", "GAUGE-41 " + "steady " * 900))
        sheet = talk.assemble(provider="openai", model="gpt-5.2", policy=replace(LEAN, name="few", turns=turns))
        assert "GAUGE-41" in json.dumps(sheet.messages())


TASK = "Migrate the billing service to the new API; keep the old one running."


def _worked(talk: Conversation, steps: range) -> None:
    """Steps of an agent whose results alone fill the low-water mark."""
    for step in steps:
        sheet = talk.assemble(provider="openai", model="gpt-5.2")
        talk.record(asks(call(f"s{step}", "look", json.dumps({"n": step}))), sheet=sheet)
        rows = (f"{(row * 7919 * (step + 3)) % 1_000_003} entry {step}-{row}" for row in range(250))
        talk.record(result(f"s{step}", "\n".join(rows)))


@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize("policy", ["balanced", "lean", "faithful"])
def test_the_task_of_an_agent_stays_when_the_user_says_go_on(provider: str, policy: str) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("agent")
        talk.record(user(TASK))
        _worked(talk, range(12))
        for number, again in enumerate(("Go on.", "And then?", "Continue with it.")):
            talk.record([{"role": "assistant", "content": "A part is done."}, user(again)])
            _worked(talk, range(100 + 10 * number, 106 + 10 * number))
            sheet = talk.assemble(provider=provider, model=MODELS[provider], policy=policy)
            assert TASK in json.dumps(sheet.messages())


def test_a_request_that_is_cut_at_its_beginning_says_so() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("agent")
        talk.record(user("x" * 40_000))
        _worked(talk, range(12))
        talk.record([{"role": "assistant", "content": "A part is done."}, user("Go on.")])
        for budget in range(300, 6_000, 300):
            sheet = talk.assemble(provider="openai", model="gpt-5.2", budget=budget)
            first = str(sheet.messages()[0]["content"])
            assert "older record" in first or first.startswith("xxx"), budget
            assert "begins here" not in first
