"""Responses of the official SDKs go in as they are, and requests go into the SDKs' own types."""

from anthropic.types import Message as AnthropicMessage
from openai.types.chat import ChatCompletion

from callsheet import ToolCard
from callsheet.graph.nodes import ModelRun
from callsheet.testing import memory_runtime
from tests.runtime.replies import anthropic_reply, asks, call, openai_reply, result, user


def test_an_openai_completion_is_recorded_with_calls_and_usage() -> None:
    reply = ChatCompletion.model_validate(openai_reply(asks(call("c1")), prompt=40, finish="tool_calls"))
    with memory_runtime() as runtime:
        talk = runtime.conversation("sdk")
        talk.record(user("Where is W1?"))
        sheet = talk.assemble(provider="openai", model="gpt-5.2")
        recorded = talk.record(reply, sheet=sheet)
        assert ["c1"] == [each.provider_id for each in recorded.pending]
        talk.record(result("c1", "shipped"))
        assert (40, 7) == (talk.counters().tokens_in, talk.counters().tokens_out)
        assert ["get_order"] == [item.tool for item in talk.transcript() if isinstance(item, ToolCard)]


def test_a_message_of_a_completion_is_recorded_alone() -> None:
    reply = ChatCompletion.model_validate(openai_reply("On its way."))
    with memory_runtime() as runtime:
        talk = runtime.conversation("sdk")
        talk.record([user("Where?"), reply.choices[0].message])
        assert {"role": "assistant", "content": "On its way."} == talk.assemble(
            provider="openai", model="gpt-5.2"
        ).messages()[-1]


def test_an_anthropic_message_is_recorded_with_its_usage() -> None:
    reply = AnthropicMessage.model_validate(anthropic_reply("On its way.", prompt=40))
    with memory_runtime() as runtime:
        talk = runtime.conversation("sdk")
        talk.record(user("Where is W1?"))
        sheet = talk.assemble(provider="anthropic", model="claude-sonnet-4-5")
        talk.record(reply, sheet=sheet)
        key = next(stream.key for stream in runtime.ledger.streams() if stream.id == talk.id)
        (run,) = [each.body for each in runtime.ledger.records(key) if isinstance(each.body, ModelRun)]
        assert ("claude-sonnet-4-5", sheet.id, "end_turn") == (run.answered_model, run.sheet, run.finish)
