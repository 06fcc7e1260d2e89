"""Which format a value shows."""

import pytest
from openai.types.responses import ResponseFunctionToolCall

from callsheet.errors import InvalidMessage, InvalidOption
from callsheet.wire.formats import detect, is_reply, parse, parse_messages, wire_named, wire_of
from callsheet.wire.names import Wire

OPENAI, RESPONSES, ANTHROPIC = Wire.OPENAI, Wire.OPENAI_RESPONSES, Wire.ANTHROPIC


def parts(*found: dict[str, object], role: str = "user") -> dict[str, object]:
    return {"role": role, "content": list(found)}


SHOWN: list[tuple[object, Wire]] = [
    ({"role": "user", "content": "x"}, OPENAI),
    ({"role": "developer", "content": "x"}, OPENAI),
    ({"role": "tool", "content": [{"type": "image", "source": {}}]}, OPENAI),
    ({"role": "assistant", "tool_calls": None}, OPENAI),
    (parts({"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "x"}}), OPENAI),
    (parts({"type": "tool_result", "tool_use_id": "a"}), ANTHROPIC),
    (parts({"type": "tool_use", "id": "a"}, role="assistant"), ANTHROPIC),
    (parts({"type": "thinking", "thinking": "x"}, role="assistant"), ANTHROPIC),
    (parts({"type": "text", "text": "x"}, {"type": "image", "source": {}}), ANTHROPIC),
    (parts({"type": "server_tool_use"}, role="assistant"), ANTHROPIC),
    (parts({"type": "mcp_tool_result"}, role="assistant"), ANTHROPIC),
    (parts({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}, role="system"), ANTHROPIC),
    (parts({"type": "text", "text": "x", "citations": None}, role="assistant"), ANTHROPIC),
    ({"choices": []}, OPENAI),
    ({"type": "message", "model": "m", "role": "assistant", "content": []}, ANTHROPIC),
    ([{"role": "user", "content": "x"}, parts({"type": "tool_result"})], ANTHROPIC),
    ([{"role": "user", "content": "x"}, {"role": "tool", "content": "x"}], OPENAI),
    ({"type": "message", "role": "user", "content": "x"}, RESPONSES),
    ({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}, RESPONSES),
    (parts({"type": "tool_use", "id": "a"}, role="assistant") | {"type": "message"}, ANTHROPIC),
    (parts({"type": "input_text", "text": "x"}), RESPONSES),
    (parts({"type": "input_image", "image_url": "https://a"}), RESPONSES),
    (parts({"type": "input_text", "text": "x"}, role="developer"), RESPONSES),
    ({"type": "reasoning", "id": "rs_1", "summary": []}, RESPONSES),
    ({"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}, RESPONSES),
    ({"type": "function_call_output", "call_id": "a", "output": "x"}, RESPONSES),
    ({"type": "web_search_call", "id": "ws_1"}, RESPONSES),
    ({"type": "item_reference", "id": "msg_1"}, RESPONSES),
    ({"object": "response", "output": []}, RESPONSES),
    (ResponseFunctionToolCall(type="function_call", call_id="a", name="f", arguments="{}"), RESPONSES),
    ([{"role": "user", "content": "x"}, {"type": "reasoning", "id": "rs_1", "summary": []}], RESPONSES),
    ([], OPENAI),
    ("x", OPENAI),
    (None, OPENAI),
]


@pytest.mark.parametrize(("value", "wire"), SHOWN)
def test_the_format_shows(value: object, wire: Wire) -> None:
    assert wire is detect(value)


def test_messages_that_show_nothing_are_read_as_their_neighbours() -> None:
    said, *_ = parse_messages([{"role": "assistant", "content": "x"}, parts({"type": "tool_result", "content": "1"})])

    assert said.wire == ANTHROPIC


def test_a_format_that_is_named_is_not_guessed() -> None:
    (said,) = parse_messages(parts({"type": "image", "source": {}}), OPENAI)

    assert said.wire == OPENAI


@pytest.mark.parametrize(
    "value",
    [
        {"role": "assistant", "content": "x"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text"}]},
        {"type": "message", "model": "m"},
        [],
        None,
    ],
)
def test_a_message_is_no_reply(value: object) -> None:
    assert not is_reply(value)


@pytest.mark.parametrize(
    ("provider", "wire"),
    [
        ("openai", OPENAI),
        ("anthropic", ANTHROPIC),
        ("Anthropic", ANTHROPIC),
        ("mistral", OPENAI),
        ("openai-responses", RESPONSES),
        ("Azure_Responses", RESPONSES),
    ],
)
def test_a_provider_takes_its_format(provider: str, wire: Wire) -> None:
    assert wire is wire_of(provider)


def test_an_unknown_format_is_refused() -> None:
    assert wire_named("anthropic") is ANTHROPIC
    with pytest.raises(InvalidOption, match="'smtp' is not known; known are 'openai', "):
        wire_named("smtp")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"error": {"message": "rate limited"}}, "is an error, not a message"),
        ({"type": "error", "error": {"type": "overloaded_error"}}, "is an error, not a message"),
        ({"object": "chat.completion.chunk", "choices": [{"delta": {}}]}, "is one chunk of a stream"),
        ({"type": "response.output_text.delta", "delta": "x"}, "is one event of a stream"),
    ],
)
def test_what_is_no_message_is_refused_by_its_name(value: object, said: str) -> None:
    with pytest.raises(InvalidMessage, match=said):
        parse([value])
