"""Several responses as one: streams in any pieces add up to what whole responses do, and the SDKs read one message."""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from google.genai import types as genai_types
from hypothesis import given
from hypothesis import strategies as st

from callsheet.assemble.blocks import Call, Reasoning, Text
from callsheet.wire.formats import parse_reply
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields
from callsheet.wire.splicing import asks_only, merged, splice
from callsheet.wire.streaming import Event, Gatherer, Lines
from tests.upstream import Called, Reply, chat, gemini, messages, responses
from tests.upstream.scripts import Counted

OURS = Called("recall", {"query": "x"})
THEIRS = Called("look", {"x": "1"})
BODY: Fields = {
    "model": "m", "stream_options": {"include_usage": True}, "include": ["reasoning.encrypted_content"]
}  # fmt: skip
APIS: dict[Wire, Any] = {
    Wire.OPENAI: chat, Wire.OPENAI_RESPONSES: responses, Wire.ANTHROPIC: messages, Wire.GEMINI: gemini
}  # fmt: skip
ALL = pytest.mark.parametrize("wire", list(Wire))


def whole(wire: Wire, replies: Sequence[Reply]) -> list[Fields]:
    """What the service answers, round by round."""
    counted = Counted(input=100, read=40, written=0, output=10)
    return [APIS[wire].whole(reply, BODY, counted, number) for number, reply in enumerate(replies, start=1)]


def events(wire: Wire, response: Fields) -> bytes:
    return b"".join(APIS[wire].events(response, BODY))


def cut(content: bytes, sizes: Callable[[], int]) -> Iterator[bytes]:
    begin = 0
    while begin < len(content):
        end = begin + sizes()
        yield content[begin:end]
        begin = end


def spliced(wire: Wire, found: Sequence[Fields], sizes: Callable[[], int]) -> tuple[list[bytes], bytes]:
    """What the client gets while it comes, and the end of it."""
    one = splice(wire, "recall")
    out: list[bytes] = []
    for at, response in enumerate(found):
        if at:
            one.begin()
        lines = Lines()
        for piece in cut(events(wire, response), sizes):
            out += map(one.feed, lines.feed(piece))
        out += map(one.feed, lines.close())
    return out, one.end()


def gathered(wire: Wire, content: bytes) -> Fields:
    gatherer = Gatherer(wire)
    gatherer.feed(content)
    gatherer.close()
    assert gatherer.ended
    assert gatherer.broken == 0
    found = gatherer.response()
    assert found is not None
    return found


def told(response: Fields, wire: Wire) -> tuple[object, ...]:
    """What counts of a response."""
    reply = parse_reply(response, wire)
    parts = [
        (part.tool, part.arguments) if isinstance(part, Call) else part.text if isinstance(part, Text) else part
        for part in reply.said.parts
    ]
    if wire is Wire.GEMINI:  # where a text ends and the next begins, chunks do not say
        texts = "".join(part for part in parts if isinstance(part, str))
        called = [part for part in parts if isinstance(part, tuple)]
        return texts, called, reply.finish, reply.usage, reply.response
    return parts, reply.finish, reply.usage, reply.response


texts = st.sampled_from(["", "Hm", "Let me look.", "one\n"])
asking = st.builds(
    lambda text, thinking, number: Reply(text=text, thinking=thinking, calls=(OURS,) * number),
    texts, texts, st.integers(1, 2),
)  # fmt: skip
calls = st.lists(st.sampled_from([OURS, THEIRS]), max_size=3).map(tuple)
ending = st.builds(Reply, text=texts, thinking=texts, calls=calls, cut=st.booleans())


@ALL
@given(before=st.lists(asking, max_size=3), last=ending, seed=st.integers(0, 99))
def test_a_stream_adds_up_to_what_whole_responses_do(wire: Wire, before: list[Reply], last: Reply, seed: int) -> None:
    found = whole(wire, [*before, last])
    sizes = random.Random(seed)
    out, end = spliced(wire, found, lambda: sizes.choice([1, 3, 20, 400]))
    shown = merged(found, wire, "recall")
    assert told(gathered(wire, b"".join(out) + end), wire) == told(shown, wire)
    reply = parse_reply(shown, wire)
    assert [call.tool for call in reply.said.calls] == ["look"] * last.calls.count(THEIRS)
    if not any(reply.calls for reply in (*before, last)):
        assert b"".join(out) + end == events(wire, found[0])
        assert shown == found[0] or wire is Wire.GEMINI
    assert reply.usage is not None
    assert reply.usage.input == 100 * len(found)


@ALL
@pytest.mark.parametrize(
    ("reply", "asks"),
    [
        (Reply(calls=(OURS,)), True),
        (Reply(text="a", thinking="b", calls=(OURS, OURS)), True),
        (Reply(calls=(OURS, THEIRS)), False),
        (Reply(calls=(THEIRS,)), False),
        (Reply(text="a"), False),
        (Reply(calls=(OURS,), cut=True), False),
    ],
)
def test_another_round_follows_where_nothing_else_is_asked_for(wire: Wire, reply: Reply, asks: bool) -> None:
    (found,) = whole(wire, [reply])
    assert asks_only(found, wire, "recall") is asks


@ALL
def test_text_is_out_before_the_end_is_known(wire: Wire) -> None:
    out, _ = spliced(wire, whole(wire, [Reply(text="Let me look.", calls=(OURS,))]), lambda: 10)
    gatherer = Gatherer(wire)
    gatherer.feed(b"".join(out))
    found = gatherer.response()
    assert found is not None
    assert not gatherer.ended
    (part,) = parse_reply(found, wire).said.parts
    assert isinstance(part, Text)
    assert part.text == "Let me look."


@pytest.mark.parametrize("wire", [Wire.ANTHROPIC, Wire.OPENAI_RESPONSES])
@pytest.mark.parametrize(
    ("reply", "thoughts"),
    [
        (Reply(thinking="Hm.", calls=(OURS,)), 0),
        (Reply(thinking="Hm.", text="So.", calls=(OURS,)), 1),
        (Reply(thinking="Hm.", calls=(OURS, THEIRS)), 1),
        (Reply(thinking="Hm.", text="So."), 1),
    ],
)
def test_thoughts_stay_with_what_they_led_to(wire: Wire, reply: Reply, thoughts: int) -> None:
    found = whole(wire, [reply])
    out, end = spliced(wire, found, lambda: 7)
    for response in (gathered(wire, b"".join(out) + end), merged(found, wire, "recall")):
        parts = parse_reply(response, wire).said.parts
        assert sum(isinstance(part, Reasoning) for part in parts) == thoughts


# --------------------------------------------------------------------------- the SDKs

ROUNDS = [
    Reply(thinking="Hm.", text="Let me look.", calls=(OURS, OURS)),
    Reply(thinking="Hm again.", calls=(OURS,)),
    Reply(thinking="So it is.", text="It is 7, I check.", calls=(THEIRS, OURS, Called("look", {"x": "2"}))),
]
SIZES = pytest.mark.parametrize("size", [1, 7, 64, 100_000])


def transport(content: bytes) -> httpx2.Client:
    headers = {"content-type": "text/event-stream"}
    return httpx2.Client(
        transport=httpx2.MockTransport(lambda request: httpx2.Response(200, headers=headers, content=content))
    )


def content_of(wire: Wire, size: int) -> bytes:
    out, end = spliced(wire, whole(wire, ROUNDS), lambda: size)
    return b"".join(out) + end


@SIZES
def test_openai_reads_one_completion(size: int) -> None:
    client = openai.OpenAI(api_key="k", http_client=transport(content_of(Wire.OPENAI, size)))
    with client.chat.completions.stream(model="m", messages=[{"role": "user", "content": "?"}]) as stream:
        chunks = [event.chunk for event in stream if event.type == "chunk"]
        found = stream.get_final_completion()
    assert {chunk.id for chunk in chunks} == {"chatcmpl-1"} == {found.id}
    (choice,) = found.choices
    assert choice.message.role == "assistant"
    assert choice.message.content == "Let me look.\n\nIt is 7, I check."
    assert [call.function.arguments for call in choice.message.tool_calls or ()] == ['{"x": "1"}', '{"x": "2"}']
    assert choice.finish_reason == "tool_calls"
    assert found.usage is not None
    assert (found.usage.prompt_tokens, found.usage.completion_tokens) == (300, 30)


@SIZES
def test_openai_reads_one_response(size: int) -> None:
    client = openai.OpenAI(api_key="k", http_client=transport(content_of(Wire.OPENAI_RESPONSES, size)))
    with client.responses.stream(model="m", input="?") as stream:
        found = list(stream)
        response = stream.get_final_response()
    assert [event.sequence_number for event in found] == list(range(len(found)))
    assert [event.type for event in found].count("response.created") == 1
    places = [event.output_index for event in found if event.type == "response.output_item.done"]
    assert places == list(range(len(response.output)))
    kinds = ["reasoning", "message", "reasoning", "message", "function_call", "function_call"]
    assert [item.type for item in response.output] == kinds
    assert [item.to_dict().get("id") for item in response.output[:4]] == ["rs_1", "msg_1", "rs_3", "msg_3"]
    assert response.id == "resp_1"
    assert response.usage is not None
    assert response.usage.total_tokens == 330


@SIZES
def test_anthropic_reads_one_message(size: int) -> None:
    client = anthropic.Anthropic(api_key="k", http_client=transport(content_of(Wire.ANTHROPIC, size)))
    with client.messages.stream(max_tokens=9, model="m", messages=[{"role": "user", "content": "?"}]) as stream:
        names = [event.type for event in stream]
        found = stream.get_final_message()
    assert (names.count("message_start"), names.count("message_stop")) == (1, 1)
    kinds = ["thinking", "text", "thinking", "text", "tool_use", "tool_use"]
    assert [block.type for block in found.content] == kinds
    assert [block.thinking for block in found.content if block.type == "thinking"] == ["Hm.", "So it is."]
    assert [block.input for block in found.content if block.type == "tool_use"] == [{"x": "1"}, {"x": "2"}]
    assert found.stop_reason == "tool_use"
    assert (found.usage.input_tokens, found.usage.cache_read_input_tokens, found.usage.output_tokens) == (180, 120, 30)


@SIZES
def test_google_reads_chunks_that_go_on(size: int) -> None:
    content = content_of(Wire.GEMINI, size)
    data = [line.strip().removeprefix(b"data: ") for line in content.splitlines() if line.startswith(b"data: ")]
    chunks = [genai_types.GenerateContentResponse.model_validate_json(one) for one in data]
    parts = [part for chunk in chunks for part in (chunk.candidates or [])[0].content.parts or ()]  # type: ignore[union-attr]
    assert "".join(part.text or "" for part in parts if not part.thought) == "Let me look.\n\nIt is 7, I check."
    assert [part.function_call.args for part in parts if part.function_call] == [{"x": "1"}, {"x": "2"}]
    ends = [chunk.candidates[0].finish_reason for chunk in chunks if chunk.candidates]
    assert [end for end in ends if end] == ["STOP"] == ends[-1:]
    assert chunks[-1].usage_metadata is not None
    assert chunks[-1].usage_metadata.prompt_token_count == 300
    assert {chunk.response_id for chunk in chunks} == {"r1"}


# --------------------------------------------------------------------------- hostile services

values: st.SearchStrategy[object] = st.recursive(
    st.sampled_from([None, True, -1, 0, 3.5, "", "recall", "index", "tool_use", "thinking"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["type", "name", "id"]), inner),
    max_leaves=3,
)


def spoiled(value: object, dice: random.Random, others: Sequence[object]) -> object:
    """The value with something in it exchanged for something else."""
    if dice.random() < 0.08:
        return dice.choice(others)
    if isinstance(value, dict):
        return {key: spoiled(item, dice, others) for key, item in value.items()}
    if isinstance(value, list):
        return [spoiled(item, dice, others) for item in value]
    return value


def test_a_thought_whose_place_is_no_number_raises_nothing() -> None:
    one = splice(Wire.ANTHROPIC, "recall")
    for index in (True, 1):
        start = {"type": "content_block_start", "index": index, "content_block": {"type": "thinking"}}
        assert one.feed(Event(raw=b"x", data=json.dumps(start))) == b""
    assert one.end()


@ALL
@given(others=st.lists(values, min_size=1, max_size=4), seed=st.integers(0, 9_999))
def test_whatever_a_service_sends_nothing_is_raised(wire: Wire, others: list[object], seed: int) -> None:
    dice = random.Random(seed)
    one = splice(wire, "recall")
    for at, response in enumerate(whole(wire, ROUNDS)):
        if at:
            one.begin()
        lines = Lines()
        for each in lines.feed(events(wire, response)):
            data = each.fields
            changed = spoiled(data, dice, others) if data is not None else None
            one.feed(Event(raw=each.raw, name=each.name, data=json.dumps(changed)) if data is not None else each)
        changed = spoiled(response, dice, others)
        if isinstance(changed, dict):
            asks_only(changed, wire, "recall")
            merged([response, changed], wire, "recall")
    one.end()
