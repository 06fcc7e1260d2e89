"""Responses: how they ended, what they cost, and objects of the providers' SDKs."""

import anthropic.types
import openai.types.chat
import pytest
from openai.types import completion_usage
from openai.types.chat import chat_completion, chat_completion_message_function_tool_call

from callsheet.assemble.blocks import Reply, Said, Text
from callsheet.errors import InvalidMessage
from callsheet.graph.enums import Defect, RunStatus
from callsheet.graph.values import Usage
from callsheet.wire.formats import detect, export, is_reply, parse, parse_messages, parse_reply
from callsheet.wire.names import Wire

Json = dict[str, object]
CUT_TEXTS = ('{"steps": ["stage bins", "wipe bins', '{"steps": ["stage bins", "seal bins"')


def openai_reply(finish: object = "stop", **message: object) -> Json:
    said = {"role": "assistant", "content": "Hello.", **message}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-5.2",
        "choices": [{"index": 0, "message": said, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 64},
            "completion_tokens_details": {"reasoning_tokens": 12},
        },
    }


def anthropic_reply(stop: object = "end_turn", *content: object) -> Json:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": list(content) or [{"type": "text", "text": "Hello."}],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 30,
            "cache_read_input_tokens": 60,
            "cache_creation_input_tokens": 10,
            "output_tokens": 20,
            "output_tokens_details": {"thinking_tokens": 12},
        },
    }


def broken_call(text: str) -> Json:
    return {"id": "x1", "type": "function", "function": {"name": "run_all", "arguments": text}}


def test_usage_of_openai_counts_cached_tokens_as_input() -> None:
    reply = parse_reply(openai_reply())

    assert reply.usage == Usage(input=100, output=20, cached_input=64, reasoning=12)
    assert (reply.model, reply.response, reply.finish) == ("gpt-5.2", "chatcmpl-1", "stop")


def test_usage_of_anthropic_is_made_whole() -> None:
    reply = parse_reply(anthropic_reply())

    assert reply.usage == Usage(input=100, output=20, cached_input=60, cache_write=10, reasoning=12)
    assert (reply.model, reply.response, reply.finish) == ("claude-sonnet-4-5", "msg_1", "end_turn")


ENDINGS: list[tuple[Json, RunStatus]] = [
    (openai_reply("stop"), RunStatus.COMPLETED),
    (openai_reply("tool_calls"), RunStatus.COMPLETED),
    (openai_reply("function_call"), RunStatus.COMPLETED),
    (openai_reply("length"), RunStatus.TRUNCATED),
    (openai_reply("content_filter"), RunStatus.REFUSED),
    (openai_reply("stop", content=None, refusal="I cannot."), RunStatus.REFUSED),
    (openai_reply("stop", refusal=None), RunStatus.COMPLETED),
    (openai_reply("eos"), RunStatus.COMPLETED),
    (openai_reply(None), RunStatus.COMPLETED),
    (anthropic_reply("end_turn"), RunStatus.COMPLETED),
    (anthropic_reply("tool_use"), RunStatus.COMPLETED),
    (anthropic_reply("stop_sequence"), RunStatus.COMPLETED),
    (anthropic_reply("pause_turn"), RunStatus.COMPLETED),
    (anthropic_reply("max_tokens"), RunStatus.TRUNCATED),
    (anthropic_reply("model_context_window_exceeded"), RunStatus.TRUNCATED),
    (anthropic_reply("refusal"), RunStatus.REFUSED),
    (anthropic_reply(None), RunStatus.COMPLETED),
]


@pytest.mark.parametrize(("reply", "status"), ENDINGS)
def test_the_ending_decides_the_status(reply: Json, status: RunStatus) -> None:
    assert status is parse_reply(reply).status


@pytest.mark.parametrize("text", CUT_TEXTS)
def test_arguments_of_a_reply_that_hit_the_limit_are_cut_off(text: str) -> None:
    whole = {"id": "x0", "type": "function", "function": {"name": "run_all", "arguments": "[]"}}
    reply = parse_reply(openai_reply("length", tool_calls=[whole, broken_call(text)]))

    first, last = reply.said.calls
    assert first.defects == (Defect.INVALID_ARGUMENTS,)
    assert last.defects == (Defect.CUT_OFF_ARGUMENTS,)
    assert last.arguments == text


def test_arguments_that_are_merely_wrong_are_not_cut_off() -> None:
    reply = parse_reply(openai_reply("tool_calls", tool_calls=[broken_call('{"steps": ["stage bins"],}')]))

    assert reply.said.calls[0].defects == (Defect.INVALID_ARGUMENTS,)


def test_whole_arguments_of_a_cut_reply_are_whole() -> None:
    reply = parse_reply(openai_reply("length", tool_calls=[broken_call('{"steps": []}')]))

    assert reply.said.calls[0].defects == ()


def test_anthropic_may_close_the_object_of_a_cut_call() -> None:
    call = {"type": "tool_use", "id": "x1", "name": "run_all", "input": {"steps": ["stage bins"]}}

    assert parse_reply(anthropic_reply("max_tokens", call)).said.calls[0].defects == (Defect.CUT_OFF_ARGUMENTS,)
    assert parse_reply(anthropic_reply("tool_use", call)).said.calls[0].defects == ()
    cut_in_text = anthropic_reply("max_tokens", call, {"type": "text", "text": "and"})
    assert parse_reply(cut_in_text).said.calls[0].defects == ()


def test_what_has_no_neutral_meaning_is_kept() -> None:
    raw = openai_reply() | {"system_fingerprint": "fp"}
    choices = raw["choices"]
    assert isinstance(choices, list)
    choices[0]["logprobs"] = None
    choices.append({"index": 1, "message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"})

    reply = parse_reply(raw)

    for kept in (b'"system_fingerprint":"fp"', b'"logprobs":null', b'"Hi."', b'"total_tokens":120'):
        assert kept in reply.extras


REFUSED: list[tuple[object, str, str]] = [
    ({}, "reply", "must be a response of a known provider"),
    ("Hello.", "reply", "must be a response"),
    ({"choices": None}, "reply.choices", "must be a list"),
    ({"choices": []}, "reply.choices", "must hold a choice"),
    ({"choices": [{"finish_reason": "stop"}]}, "reply.choices[0].message", "must be an object, not None"),
    (openai_reply(role="user"), "reply.choices[0].message.role", "must be 'assistant'"),
    (openai_reply(role="tool"), "reply.choices[0].message.role", "must be 'assistant'"),
    (openai_reply(7), "reply.choices[0].finish_reason", "must be text, not 7"),
    (openai_reply() | {"usage": 3}, "reply.usage", "must be an object, not 3"),
    (openai_reply() | {"usage": {"prompt_tokens": -1}}, "reply.usage.prompt_tokens", "not -1"),
    (openai_reply() | {"usage": {"prompt_tokens": "9"}}, "reply.usage.prompt_tokens", "not '9'"),
    (anthropic_reply() | {"role": "user"}, "reply.role", "must be 'assistant'"),
    (anthropic_reply() | {"usage": {"output_tokens": 1.5}}, "reply.usage.output_tokens", "not 1.5"),
]


@pytest.mark.parametrize(("reply", "where", "says"), REFUSED)
def test_what_is_no_reply_is_refused(reply: object, where: str, says: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        parse_reply(reply)

    assert where == refused.value.where
    assert says in str(refused.value)


def test_missing_usage_is_none_and_missing_counts_are_zero() -> None:
    assert parse_reply(openai_reply() | {"usage": None}).usage is None
    assert parse_reply(openai_reply() | {"usage": {"prompt_tokens": 3, "prompt_tokens_details": None}}).usage == Usage(
        input=3
    )


# --------------------------------------------------------------------------- objects of the SDKs


def openai_object() -> openai.types.chat.ChatCompletion:
    function = chat_completion_message_function_tool_call.Function(name="f", arguments='{"a": 1}')
    call = openai.types.chat.ChatCompletionMessageFunctionToolCall(id="c1", type="function", function=function)
    message = openai.types.chat.ChatCompletionMessage(role="assistant", content=None, tool_calls=[call])
    usage = openai.types.CompletionUsage(
        prompt_tokens=100,
        completion_tokens=20,
        total_tokens=120,
        prompt_tokens_details=completion_usage.PromptTokensDetails(cached_tokens=64),
    )
    choice = chat_completion.Choice(index=0, message=message, finish_reason="tool_calls")
    return openai.types.chat.ChatCompletion(
        id="chatcmpl-1", object="chat.completion", created=1, model="gpt-5.2", choices=[choice], usage=usage
    )


def anthropic_object() -> anthropic.types.Message:
    return anthropic.types.Message(
        id="msg_1",
        type="message",
        role="assistant",
        model="claude-sonnet-4-5",
        content=[
            anthropic.types.ThinkingBlock(type="thinking", thinking="Hm.", signature="S"),
            anthropic.types.TextBlock(type="text", text="Hello."),
            anthropic.types.ToolUseBlock(type="tool_use", id="t1", name="f", input={"z": 1, "a": 2}),
        ],
        stop_reason="tool_use",
        usage=anthropic.types.Usage(input_tokens=30, output_tokens=20, cache_read_input_tokens=70),
    )


def test_an_openai_object_reads_as_its_dict() -> None:
    given = openai_object()

    assert detect(given) is Wire.OPENAI
    assert is_reply(given)
    assert parse_reply(given) == parse_reply(given.model_dump(exclude_unset=True))
    assert parse_reply(given).usage == Usage(input=100, output=20, cached_input=64)
    assert parse_messages(given.choices[0].message)[0] == parse_reply(given).said


def test_an_anthropic_object_reads_as_its_dict() -> None:
    given = anthropic_object()

    assert detect(given) is Wire.ANTHROPIC
    assert is_reply(given)
    assert parse_reply(given) == parse_reply(given.model_dump(exclude_unset=True))
    assert parse_reply(given).said.calls[0].arguments == '{"z":1,"a":2}'


def test_objects_inside_dicts_read_as_their_dicts() -> None:
    message = {"role": "assistant", "content": anthropic_object().content}
    calls = openai_object().choices[0].message.tool_calls

    (said,) = parse_messages(message)
    (asked,) = parse_messages({"role": "assistant", "content": None, "tool_calls": calls})

    assert said == parse_reply(anthropic_object()).said
    assert isinstance(asked, Said)
    assert asked.calls == parse_reply(openai_object()).said.calls


def test_an_anthropic_reply_goes_back_as_the_sdk_would_send_it() -> None:
    (message,) = export([parse_reply(anthropic_object()).said], Wire.ANTHROPIC)

    assert message["content"] == [block.model_dump(exclude_unset=True) for block in anthropic_object().content]


def test_a_list_may_hold_messages_and_replies_of_both_providers() -> None:
    read = parse(
        [
            {"role": "user", "content": "hi"},
            openai_object(),
            {"role": "tool", "tool_call_id": "c1", "content": "1"},
            anthropic_reply(),
        ]
    )

    assert [type(item).__name__ for item in read] == ["Said", "Reply", "Answer", "Reply"]
    assert isinstance(read[3], Reply)
    assert read[3].said.parts == (Text(text="Hello."),)
