"""Recorded traffic of real providers: every request is read, and written again it says the same."""

import pytest

from callsheet.wire.asked import read_request, write_request
from callsheet.wire.formats import export, history_key, parse_reply, render
from callsheet.wire.names import Wire
from callsheet.wire.streaming import Gatherer, events
from callsheet.wire.validate import problems
from tests.recordings import needs_recordings
from tests.wire.cassettes import Cassette, Json, blocks_of, cassettes, items_of
from tests.wire.equivalence import everything, own_blocks, says_the_same

WIRES = [Wire.OPENAI, Wire.OPENAI_RESPONSES, Wire.ANTHROPIC]

_OTHERS = frozenset({"reasoning", "reasoning_content", "prefix"})
"""What services other than OpenAI had in the recorded messages, and take."""


@needs_recordings
@pytest.mark.parametrize("wire", WIRES)
def test_every_recorded_request_is_written_again_as_an_equivalent_one(wire: Wire) -> None:
    recorded = list(cassettes(wire))
    assert len(recorded) > 30
    for cassette in recorded:
        asked = read_request(cassette.body, wire)
        body = write_request(asked, render(own_blocks(asked), wire, model="m"), passes=everything)
        again = read_request(body, wire)

        assert says_the_same(again, asked), cassette.id
        assert write_request(again, render(own_blocks(again), wire, model="m"), passes=everything) == body, cassette.id
        assert problems(_as_its_provider_wants(body, wire), wire) == [], cassette.id


@needs_recordings
@pytest.mark.parametrize("wire", WIRES)
def test_every_recorded_request_is_kept_exactly(wire: Wire) -> None:
    for cassette in cassettes(wire):
        asked = read_request(cassette.body, wire)

        system = cassette.body.get("system")
        messages = cassette.body[history_key(wire)]
        assert isinstance(messages, list)
        expected = messages if system is None else [{"role": "system", "content": system}, *messages]
        assert export(own_blocks(asked), wire) == expected, cassette.id


@needs_recordings
@pytest.mark.parametrize("wire", WIRES)
def test_what_other_services_want_back_is_sent_back(wire: Wire) -> None:
    for cassette in cassettes(wire):
        asked = read_request(cassette.body, wire)
        body = write_request(asked, render(own_blocks(asked), wire, model="m"), passes=everything)

        assert _kept(body) == _kept(cassette.body), cassette.id


@needs_recordings
@pytest.mark.parametrize("wire", WIRES)
def test_every_recorded_reply_comes_back_from_a_stream(wire: Wire) -> None:
    for cassette in cassettes(wire):
        response = _response(cassette)
        if response is None:
            continue
        whole = Gatherer(wire)
        for piece in events(response, wire):
            whole.feed(piece)

        assert whole.response() == response, cassette.id
        assert parse_reply(response, wire).said.parts, cassette.id


def _as_its_provider_wants(body: Json, wire: Wire) -> Json:
    """A body for OpenAI: without what other services alone know, and with what they alone leave out."""
    if wire is not Wire.OPENAI:
        return body
    messages = [{key: value for key, value in each.items() if key not in _OTHERS} for each in _list(body["messages"])]
    tools = [{"type": "function", **tool} for tool in _list(body.get("tools") or [])]
    return {**body, "messages": messages, **({"tools": tools} if tools else {})}


def _kept(body: Json) -> list[Json]:
    messages = _list(body.get("messages") or [])
    own = ({key: each[key] for key in _OTHERS if each.get(key) is not None} for each in messages)
    return [each for each in own if each]


def _response(cassette: Cassette) -> Json | None:
    if cassette.reply is None:
        return None
    if cassette.wire is Wire.OPENAI:
        # A whole response has the number of a call in its place; some services write it down too.
        calls = [
            {key: call[key] for key in call if key != "index"} for call in _list(cassette.reply.get("tool_calls", []))
        ]
        message = {**cassette.reply, **({"tool_calls": calls} if calls else {})}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    if cassette.wire is Wire.OPENAI_RESPONSES:
        return {"id": "r", "object": "response", "created_at": 1, "status": "completed", "error": None} | {
            "model": "m",
            "output": [_as_output(item) for item in items_of(cassette.reply)],
        }
    made: Json = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
    return {**made, "content": blocks_of(cassette.reply), "stop_sequence": None, "usage": {"output_tokens": 1}}


def _as_output(item: Json) -> Json:
    """An item of a request as a response has it."""
    if item.get("role") != "assistant":
        return item
    text = {"type": "output_text", "text": item["content"], "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]}


def _list(value: object) -> list[Json]:
    assert isinstance(value, list)
    return value
