"""Ways that lead nowhere are refused, with what to do instead; and doing the same twice does it once."""

import json

import pytest

import callsheet
from callsheet import Conversation, Runtime
from callsheet.errors import InvalidOption, NotFound
from callsheet.testing import memory_runtime
from tests.runtime.replies import asks, call, user


@pytest.fixture
def runtime() -> Runtime:
    return memory_runtime()


@pytest.fixture
def talk(runtime: Runtime) -> Conversation:
    opened = runtime.conversation("mill")
    opened.record(user("Which stone is worn?"))
    opened.record({"role": "assistant", "content": "The north stone."})
    return opened


def test_a_branch_is_not_merged_into_itself(talk: Conversation) -> None:
    before = talk.history()
    with pytest.raises(InvalidOption, match="cannot be merged into itself"):
        talk.merge("main")
    other = talk.branch(name="other")
    with pytest.raises(InvalidOption, match="cannot be merged into itself"):
        other.merge("other")
    assert talk.history() == before


def test_what_was_merged_is_not_brought_a_second_time(talk: Conversation) -> None:
    other = talk.branch(name="other")
    first = other.record({"role": "assistant", "content": "It was dressed in May."}).ids[0]
    once = talk.merge("other")
    assert talk.merge("other") == once
    assert talk.merge("other", first, first) == once
    second = other.record({"role": "assistant", "content": "And again in June."}).ids[0]
    both = talk.merge("other", second, first)
    assert both[1:] == once or both[:1] == once
    assert len(set(both)) == 2
    sent = json.dumps(talk.assemble(provider="openai", model="gpt-5.2").messages())
    assert sent.count("dressed in May") == sent.count("again in June") == 1


def test_what_is_said_behind_two_messages_of_one_branch_stands(talk: Conversation) -> None:
    ids = [record.id for record in talk.history()[0]]
    assert talk.send("And the south one?", parents=(ids[1], ids[0])).branch_id == talk.branch_id


def test_only_what_a_model_said_is_generated_again(talk: Conversation) -> None:
    asked, said = (record.id for record in talk.history()[0])
    with pytest.raises(InvalidOption, match="is a message of role 'user'; an assistant's message can be generated"):
        talk.regenerate(asked)
    (made,) = talk.record(asks(call("c", "weigh"))).pending
    with pytest.raises(NotFound, match="no message or tool result"):
        talk.regenerate(made.id)
    with pytest.raises(NotFound):
        talk.regenerate("message_none")
    assert list(talk.branches()) == ["main"]
    assert len(talk.regenerate(said, name="anew").history()[0]) == 1


def test_going_on_needs_a_checkpoint_to_go_on_from(talk: Conversation) -> None:
    with pytest.raises(InvalidOption, match="goes on from a checkpoint"):
        talk.assemble(provider="openai", model="gpt-5.2", mode="continuation")
    talk.record(user("Go on."))
    sheet = talk.assemble(provider="openai", model="gpt-5.2", checkpoint=talk.checkpoint("evening"))
    assert sheet.record.boundary.mode == "continuation"


def test_a_skill_takes_functions_as_requests_do(runtime: Runtime, talk: Conversation) -> None:
    def dress(stone: str) -> str:
        """Dress a stone."""
        return f"{stone} is dressed"

    told = {"summary": "Dress stones.", "instructions": "Dress from the middle."}
    first = runtime.skills.add("dressing", **told, tools=[dress])
    assert runtime.skills.add("dressing", **told, tools=[dress]) == first
    assert runtime.skills.get("dressing").tools == (callsheet.tool(dress).schema(),)
    talk.activate("dressing")
    talk.record(user("Dress it."))
    sheet = talk.assemble(provider="openai", model="gpt-5.2")
    assert sheet.record.boundary.tools == ("dress",)
    talk.record(asks(call("d", "dress", json.dumps({"stone": "north"}))), sheet=sheet)
    assert talk.execute([dress]).complete
