"""Results that come when the model has gone on without them: at their call, told of at the end, and explained so."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import callsheet
from callsheet import Conversation, ToolContract
from callsheet.runtime.executing.tool import Tool
from callsheet.testing import memory_runtime
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.runtime.executing.acts import Json, ask, talking

MODELS = {"openai": "gpt-5.2", "anthropic": "claude-sonnet-4-5"}
WAITS = "(no result yet: it waits for a person's approval and has not been run)"


@pytest.fixture
def talk() -> Conversation:
    return memory_runtime().conversation("ferry")


@callsheet.tool(contract=ToolContract(name="book", needs_approval=True))
def book(cabin: str) -> str:
    """Book a cabin."""
    return f"cabin {cabin} is booked as FERRY-7741"


def sent(talk: Conversation, provider: str = "openai") -> list[Json]:
    sheet = talk.assemble(provider=provider, model=MODELS[provider], tools=[book])
    assert not problems(sheet.request(), Wire(provider))
    return sheet.messages(provider)


def waited(talk: Conversation, tool: Tool[..., object] = book) -> list[Json]:
    """A call waits, the model says so, then it is approved and run. Returns the request before."""
    talking(talk, c=("book", {"cabin": "B2"}))
    talk.execute([tool])
    before = sent(talk)
    sheet = talk.sheets()[-1]
    talk.record({"role": "assistant", "content": "It waits for approval."}, sheet=sheet)
    talk.approve("c", by="kim")
    talk.execute([tool])
    return before


@pytest.mark.parametrize("provider", sorted(MODELS))
def test_a_late_result_stands_at_its_call_and_is_told_of_at_the_end(talk: Conversation, provider: str) -> None:
    before = waited(talk)
    assert before[-1]["content"] == WAITS
    after = sent(talk, provider)
    assert "FERRY-7741" in json.dumps(after)
    assert WAITS not in json.dumps(after)
    assert after[-1]["role"] == "user"
    told = json.dumps(after[-1])
    assert "the result of book (" in told
    assert "has come since; it stands at its call above" in told
    result = talk.history()[0][-1]
    assert str(result.id).partition("_")[2][:6] in told


def test_the_explanation_says_that_a_call_has_its_result_since(talk: Conversation) -> None:
    waited(talk)
    sent(talk)
    sheet = talk.sheets()[-1]
    assert sheet.record.rewritten == ""
    assert "stands as it stood, except at calls that have their result since" in talk.explain(sheet).rewritten_because
    assert talk.rebuild(sheet).same_selections


def test_what_follows_leaves_the_line_where_it_stands(talk: Conversation) -> None:
    waited(talk)
    first = sent(talk)
    talk.record({"role": "assistant", "content": "Booked as FERRY-7741."}, sheet=talk.sheets()[-1])
    talk.record({"role": "user", "content": "Thanks. And a car?"})
    then = sent(talk)
    assert then[: len(first)] == first


def test_a_result_that_came_before_the_model_spoke_again_has_no_line(talk: Conversation) -> None:
    talking(talk, c=("book", {"cabin": "B2"}))
    talk.execute([book])
    talk.record({"role": "user", "content": "Well?"})
    talk.approve("c", by="kim")
    talk.execute([book])
    assert "has come since" not in json.dumps(sent(talk))


def test_parallel_calls_have_a_line_for_those_that_came_late_alone(talk: Conversation) -> None:
    talking(talk, a=("look", {}), c=("book", {"cabin": "B2"}))

    def look() -> str:
        return "two cabins are free"

    talk.execute([look, book])
    talk.record({"role": "assistant", "content": "Two are free, one waits for approval."})
    talk.approve("c", by="kim")
    talk.execute([look, book])
    assert json.dumps(sent(talk)).count("has come since") == 1
    ask(talk, d=("look", {}))
    talk.execute([look, book])
    assert json.dumps(sent(talk)).count("has come since") == 1


steps = st.lists(
    st.tuples(st.sampled_from(["ask", "say", "user", "answer", "answer"]), st.integers(0, 5)), min_size=3, max_size=14
)


@settings(max_examples=25, deadline=None)
@given(steps=steps, provider=st.sampled_from(sorted(MODELS)))
def test_whenever_results_come_requests_are_valid_and_end_with_what_is_new(
    steps: list[tuple[str, int]], provider: str
) -> None:
    talk = memory_runtime().conversation("ferry")
    talk.record({"role": "user", "content": "Which cabins are free?"})
    asked = 0
    for kind, number in steps:
        pending = talk.pending()
        if kind == "ask":
            ask(talk, **{f"c{asked + place}": ("look", {"deck": place}) for place in range(1 + number % 3)})
            asked += 3
        elif kind == "answer" and pending:
            call = pending[number % len(pending)]
            talk.record({"role": "tool", "tool_call_id": call.provider_id, "content": f"FREE-{call.provider_id}"})
        elif kind == "say":
            talk.record({"role": "assistant", "content": f"I look further ({number})."})
        else:
            talk.record({"role": "user", "content": f"And deck {number}?"})
        made = sent(talk, provider)
        sheet = talk.sheets()[-1]
        again = talk.rebuild(sheet)
        assert again.same_selections
        assert again.same_blocks == again.blocks
        assert sheet.tokens <= sheet.record.boundary.budget
        if kind == "answer" and pending:
            assert made[-1]["role"] != "assistant"
