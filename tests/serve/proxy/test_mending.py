"""Which requests of clients are broken, so that the assembled one goes out in their place."""

from typing import Any

import pytest

from callsheet.serve.proxy.mending import is_broken
from callsheet.wire.asked import Asked, read_request
from callsheet.wire.names import Wire

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
USE = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "42"}
TOOL = {"name": "f", "input_schema": {"type": "object"}}
ASKS = {"role": "user", "content": "Hi"}
PICTURE = {"type": "image_url", "image_url": {"url": "https://example.org/x.png"}}


def chat(*messages: dict[str, Any], **more: object) -> tuple[Wire, dict[str, Any]]:
    return Wire.OPENAI, {"model": "m", "messages": [ASKS, *messages], **more}


def claude(*messages: dict[str, Any], **more: object) -> tuple[Wire, dict[str, Any]]:
    return Wire.ANTHROPIC, {"model": "m", "max_tokens": 9, "messages": [ASKS, *messages], **more}


def gemini(model: str) -> tuple[Wire, dict[str, Any]]:
    asked = {"role": "user", "parts": [{"text": "Hi"}]}
    called = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
    answered = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "42"}}}]}
    return Wire.GEMINI, {"model": model, "contents": [asked, called, answered]}


def said(content: object, **more: object) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def result(content: object) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": "c1", "content": content}


WHOLE = {
    "as it should be": chat(said(None, tool_calls=[CALL]), result("42")),
    "with keys of another service": chat(said("Yes.", reasoning_content="Hm."), {**ASKS, "own": 1}, own=2),
    "a refusal": chat(said(None, refusal="No.")),
    "a sound": chat(said(None, audio={"id": "audio_1"})),
    "a thought": chat(said(None, reasoning_content="Hm.")),
    "a call without a signature, of an older model": gemini("gemini-2.5-pro"),
    "with a part of another service": chat(said([{"type": "thinking", "thinking": []}, {"type": "text", "text": "x"}])),
    "with a turn that the client began": claude(said("The answer is (")),
    "in a thread": claude(
        {"role": "user", "content": [RESULT]}, thread={"type": "continue", "previous_message_id": "msg_1"}
    ),
    "with tools that are not known": claude(tools=[{"type": "unheard_of_20270101", "name": "x"}]),
}
BROKEN = {
    "a call without a result": chat(said(None, tool_calls=[CALL]), ASKS),
    "a result without a call": chat(result("42")),
    "an empty text": chat(said(""), ASKS),
    "no content": chat(said(None), ASKS),
    "no key for the content": chat({"role": "assistant"}, ASKS),
    "no content, and a list without calls": chat(said(None, tool_calls=[]), ASKS),
    "a result without content": chat(said(None, tool_calls=[CALL]), result(None)),
    "a call without a signature": gemini("gemini-3-pro"),
    "arguments that are none": chat(
        said(None, tool_calls=[{**CALL, "function": {"name": "f", "arguments": '{"a": '}}]), result("42")
    ),
    "a picture in a result": chat(said(None, tool_calls=[CALL]), result([PICTURE])),
    "calls, and no tools": claude(said([USE]), {"role": "user", "content": [RESULT]}),
    "a result behind words": claude(
        said([USE]), {"role": "user", "content": [{"type": "text", "text": "So:"}, RESULT]}, tools=[TOOL]
    ),
}


def read(body: dict[str, Any], wire: Wire) -> Asked:
    # Gemini's name of the model stands in the address.
    model = body.pop("model") if wire is Wire.GEMINI else None
    return read_request(body, wire, model=model, stream=False if model else None)


@pytest.mark.parametrize(("wire", "body"), WHOLE.values(), ids=WHOLE)
def test_what_is_whole_may_go_out(wire: Wire, body: dict[str, Any]) -> None:
    assert not is_broken(read(body, wire), body)


@pytest.mark.parametrize(("wire", "body"), BROKEN.values(), ids=BROKEN)
def test_what_is_broken_may_not(wire: Wire, body: dict[str, Any]) -> None:
    assert is_broken(read(body, wire), body)
