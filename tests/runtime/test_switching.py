"""One conversation over several providers: each request is valid in its format and holds what the others said."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.responses import Response

import callsheet
from callsheet import Conversation, Sheet
from callsheet.errors import InvalidMessage
from callsheet.testing import memory_runtime
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.runtime.replies import anthropic_reply, asks, call, openai_reply, result, user
from tests.wire.sdk import accept
from tests.wire.test_items import any_items

MODELS = {
    "openai": "gpt-5.2",
    "openai-responses": "gpt-5.2",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-2.5-pro",
}
Json = dict[str, object]

TOOL: Json = {
    "type": "function",
    "name": "get_order",
    "parameters": {"type": "object", "properties": {}},
    "strict": False,
}
REASONING: Json = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}


@pytest.fixture
def talk() -> Iterator[Conversation]:
    with memory_runtime() as runtime:
        yield runtime.conversation("switch")


def response(*output: Json, **keys: object) -> Response:
    whole = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5.2", "status": "completed"}
    usage = {
        "input_tokens": 40,
        "input_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 0},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 47,
    }
    fixed = {"tools": [], "tool_choice": "auto", "parallel_tool_calls": True, "usage": usage}
    return Response.model_validate({**whole, **fixed, "output": list(output), **keys})


def said(text: str, id: str = "msg_1") -> Json:
    parts = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": id, "role": "assistant", "status": "completed", "content": parts}


def assembled(talk: Conversation, provider: str) -> Sheet:
    sheet = talk.assemble(provider=provider, model=MODELS[provider], tools=[TOOL])
    wire = sheet.wire
    assert problems(sheet.request(), wire) == []
    accept(sheet.request(), wire)
    return sheet


def test_from_chat_to_responses_to_anthropic_and_back(talk: Conversation) -> None:
    talk.instruct("Answer briefly.")
    talk.record([user("Where is W1?"), asks(call("c1")), result("c1", "W1 shipped"), openai_reply("W1 is shipped.")])
    talk.record(user("And W2?"))

    first = assembled(talk, "openai-responses")
    asked: Json = {"type": "function_call", "id": "fc_1", "call_id": "c2", "name": "get_order", "arguments": "{}"}
    recorded = talk.record(response(REASONING, said("I look."), asked), sheet=first)
    assert [each.provider_id for each in recorded.pending] == ["c2"]
    talk.record({"type": "function_call_output", "call_id": "c2", "output": "W2 waits"})
    again = assembled(talk, "openai-responses")
    talk.record(response(said("W2 waits.", "msg_2"), id="resp_2"), sheet=again)
    talk.record(user("Thanks. W3?"))
    other = assembled(talk, "anthropic")
    talk.record(anthropic_reply("W3 is unknown.", prompt=40), sheet=other)
    talk.record(user("Sure?"))
    last = assembled(talk, "openai-responses")

    request = first.request()
    assert request["instructions"] == "Answer briefly."
    assert request["tools"] == [TOOL]
    # What was shown stands, item by item, and reasoning with it, byte for byte.
    assert again.messages()[: len(first.messages())] == first.messages()
    assert REASONING in again.messages()
    assert again.messages()[-1] == {"type": "function_call_output", "call_id": "c2", "output": "W2 waits"}
    assert "gAAA" not in json.dumps(other.request())
    for known in ("W1 shipped", "W2 waits.", "W3 is unknown."):
        assert known in json.dumps(last.request())
    assert (talk.counters().tokens_in, talk.counters().tokens_out) != (0, 0)


@pytest.mark.parametrize("provider", MODELS)
def test_every_provider_serves_a_conversation_of_items(talk: Conversation, provider: str) -> None:
    shell: Json = {"type": "shell_call", "id": "sh_1", "call_id": "s1", "status": "completed"}
    shell["action"] = {"commands": ["ls"]}
    printed = {"stdout": "W4.txt", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
    talk.record({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "What is there?"}]})
    talk.record(response(REASONING, shell))
    talk.record({"type": "shell_call_output", "call_id": "s1", "output": [printed]})

    sheet = assembled(talk, provider)

    assert "W4.txt" in json.dumps(sheet.request())
    natively = [item for item in sheet.messages() if item.get("type") in ("shell_call", "shell_call_output")]
    assert len(natively) == (2 if provider == "openai-responses" else 0)
    assert talk.pending() == ()


def test_what_another_provider_of_the_same_format_sealed_is_not_sent(talk: Conversation) -> None:
    search: Json = {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "q"},
    }
    talk.record(user("Hi"))
    sheet = assembled(talk, "openai-responses")
    talk.record(response(REASONING, search, said("Hello.")), sheet=sheet)
    talk.record(user("Again"))

    own = [item.get("type") for item in assembled(talk, "openai-responses").messages()]
    other = talk.assemble(provider="azure-responses", model="gpt-5.2")
    again = [item.get("type") for item in assembled(talk, "openai-responses").messages()]

    assert own == again == [None, "reasoning", "web_search_call", "message", None]
    assert other.wire is Wire.OPENAI_RESPONSES
    assert other.messages() == [user("Hi"), {"role": "assistant", "content": "Hello."}, user("Again")]


def test_tools_of_the_service_are_offered_as_they_are(talk: Conversation) -> None:
    talk.record(user("Hi"))
    tools: list[Json] = [TOOL, {"type": "web_search"}, {"type": "mcp", "server_label": "a", "server_url": "https://a"}]

    sheet = talk.assemble(provider="openai-responses", model="gpt-5.2", tools=tools)

    assert sheet.tools() == tools
    assert sheet.record.boundary.tools == ("get_order", "web_search", "mcp:a")
    assert sheet.record.tokens.tools > 0
    with pytest.raises(InvalidMessage, match="'web_search' is built in at openai-responses"):
        talk.assemble(provider="openai", model="gpt-5.2", tools=tools)


@pytest.mark.parametrize("provider", MODELS)
def test_a_sheet_shows_its_messages_in_every_format(talk: Conversation, provider: str) -> None:
    talk.record([user("Where is W1?"), asks(call("c1")), result("c1", "W1 shipped")])
    sheet = assembled(talk, provider)

    for wire in Wire:
        assert "W1 shipped" in json.dumps(sheet.messages(wire.value))
    (output,) = [item for item in sheet.messages("openai-responses") if item.get("type") == "function_call_output"]
    assert output["call_id"] == "c1"


@settings(max_examples=25, deadline=None)
@given(items=any_items, policy=st.sampled_from(["balanced", "replay"]))
def test_whatever_items_were_recorded_every_provider_gets_a_valid_request(items: list[Json], policy: str) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("any")
        talk.record(items, wire="openai-responses")
        talk.record(user("Go on."))
        for provider, model in MODELS.items():
            sheet = talk.assemble(provider=provider, model=model, policy=policy)
            assert problems(sheet.request(), sheet.wire) == []


def test_a_request_of_items_is_read_back_from_the_store(talk: Conversation) -> None:
    talk.record([user("Hi"), response(REASONING, said("Hello."))])
    talk.record(user("Again"))
    sheet = assembled(talk, "openai-responses")

    assert talk.sheet(sheet.id).request() == sheet.request()
    rebuilt = talk.rebuild(sheet.id)
    assert (rebuilt.same_selections, rebuilt.same_blocks) == (True, rebuilt.blocks)


def test_a_failed_response_is_recorded_as_one(talk: Conversation) -> None:
    talk.record(user("Hi"))
    sheet = assembled(talk, "openai-responses")
    reply = response(status="failed", error={"code": "server_error", "message": "broke off"})

    talk.failed(sheet, reply=reply)

    assert talk.counters().tokens_in == 40
    assert assembled(talk, "openai-responses").messages() == sheet.messages()


def test_a_function_is_offered_flat() -> None:
    @callsheet.tool
    def get_order(id: str) -> str:
        """Look up an order."""
        return id

    schema = get_order.schema("openai-responses")

    assert schema["type"] == "function"
    assert (schema["name"], schema["description"]) == ("get_order", "Look up an order.")
    assert schema["parameters"] == get_order.schema()["function"]["parameters"]  # type: ignore[index]
