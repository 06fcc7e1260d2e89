"""What a tool declares in code counts in requests as if the policy set said it, and can be looked up afterwards."""

import json

import callsheet
from callsheet import Conversation, ToolContract
from callsheet.graph.enums import Freshness, Privacy
from callsheet.policy.sets import BALANCED
from callsheet.testing import FixedClock, memory_runtime
from tests.runtime.replies import asks, call, result, user


@callsheet.tool(contract=ToolContract(name="read_mail", privacy=Privacy.CONNECTED_ACCOUNT, recheck=("read_mail",)))
def read_mail(folder: str) -> str:
    """Read mail."""
    return folder


@callsheet.tool(contract=ToolContract(name="queue", freshness=Freshness.VOLATILE, stale_after=60))
def queue() -> str:
    """Who waits."""
    return ""


@callsheet.tool(contract=ToolContract(name="add", side_effects=False, time_limit=2.0))
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def asked(talk: Conversation, name: str, content: str) -> None:
    talk.record(user(f"Call {name}."))
    talk.record(asks(call("c", name)))
    talk.record(result("c", content))
    talk.record({"role": "assistant", "content": "Done."})
    talk.record(user("And now?"))


def test_a_class_that_a_tool_declares_is_withheld() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("desk")
        asked(talk, "read_mail", "Dear Mia, MAIL-BODY")
        open_ = talk.assemble(provider="openai", model="gpt-5.2")
        sheet = talk.assemble(provider="openai", model="gpt-5.2", tools=[read_mail])
        assert "MAIL-BODY" in json.dumps(open_.request())
        assert "MAIL-BODY" not in json.dumps(sheet.request())
        assert talk.rebuild(sheet).same_selections
        assert talk.explain(sheet).policy_set.startswith("balanced@1+")


def test_a_result_goes_stale_when_its_tool_says() -> None:
    clock = FixedClock()
    with memory_runtime(clock=clock) as runtime:
        talk = runtime.conversation("desk")
        asked(talk, "queue", "WAITING-7 people")
        sheet = talk.assemble(provider="openai", model="gpt-5.2", tools=[queue])
        assert "WAITING-7" in json.dumps(sheet.request())
        later = sheet.record.boundary.now + 61_000_000
        stale = talk.assemble(provider="openai", model="gpt-5.2", tools=[queue], now=later / 1_000_000)
        assert "WAITING-7" not in json.dumps(stale.request())
        assert "out of date" in json.dumps(stale.request())


def test_what_is_about_running_alone_changes_no_set() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("desk")
        talk.record(user("What is 2 + 2?"))
        sheet = talk.assemble(provider="openai", model="gpt-5.2", tools=[add])
        assert sheet.record.pins.policy_set == BALANCED.hash
