"""Arguments of recalls that no request would have room for."""

import json

import pytest

from callsheet.runtime.hidden_recalls import LONGEST_ARGUMENTS
from callsheet.serve.proxy.bounding import bounded
from callsheet.wire import formats
from callsheet.wire.names import Wire

LONG: dict[str, object] = {"query": "x" * LONGEST_ARGUMENTS}
SHORT: dict[str, object] = {"query": "row 7"}
SIZE = len(json.dumps(LONG, separators=(",", ":")))


def responses(name: str, given: dict[str, object]) -> dict[Wire, dict[str, object]]:
    text = json.dumps(given, separators=(",", ":"))
    called = {"id": "c1", "type": "function", "function": {"name": name, "arguments": text}}
    chat = {"choices": [{"message": {"role": "assistant", "content": "Hm.", "tool_calls": [called]}}]}
    item = {"type": "function_call", "id": "f1", "call_id": "c1", "name": name, "arguments": text}
    parts = [{"text": "Hm."}, {"functionCall": {"name": name, "args": given}, "thoughtSignature": "c2ln"}]
    return {
        Wire.OPENAI: {**chat, "usage": {"prompt_tokens": 3}},
        Wire.OPENAI_RESPONSES: {"id": "r", "object": "response", "status": "completed", "output": [item]},
        Wire.ANTHROPIC: {
            "type": "message",
            "model": "claude-haiku-4-5",
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": name, "input": given}],
        },
        Wire.GEMINI: {"candidates": [{"content": {"role": "model", "parts": parts}}]},
    }


@pytest.mark.parametrize("wire", responses("recall", LONG))
def test_they_are_left_out_with_how_long_they_were(wire: Wire) -> None:
    given = responses("recall", LONG)[wire]
    before = json.dumps(given)
    made = bounded(given)
    assert json.dumps(given) == before
    (call,) = formats.parse_reply(made, wire).said.calls
    assert json.loads(call.arguments) == {"left_out": f"{SIZE:,} characters"}
    assert len(json.dumps(made)) < 1_000
    assert "thoughtSignature" not in json.dumps(made)


@pytest.mark.parametrize("wire", responses("recall", SHORT))
@pytest.mark.parametrize(("name", "arguments"), [("recall", SHORT), ("look", LONG)])
def test_all_others_stay(wire: Wire, name: str, arguments: dict[str, object]) -> None:
    given = responses(name, arguments)[wire]
    assert bounded(given) is given
