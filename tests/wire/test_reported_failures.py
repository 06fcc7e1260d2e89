"""Failures that people reported of other tools, as far as formats alone decide them."""

import json
from collections.abc import Sequence

import pytest

from callsheet.assemble.blocks import Answer, Block, Said, Text
from callsheet.graph.enums import Defect
from callsheet.wire.formats import history_key, parse_messages, parse_reply, render, render_messages
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.wire.histories import composed

OPENAI, ANTHROPIC = Wire.OPENAI, Wire.ANTHROPIC
Json = dict[str, object]

THINKING = {"type": "thinking", "thinking": "Need the gauge.\n\n ", "signature": "SIG-8841=="}
TANK: list[Json] = [
    {"role": "user", "content": "Is tank 2 safe to drain?"},
    {
        "role": "assistant",
        "content": [THINKING, {"type": "tool_use", "id": "tu_9", "name": "gauge", "input": {"tank": 2}}],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "tu_9", "content": "0.4 bar"}]},
]


def test_thinking_goes_back_byte_for_byte_and_only_to_its_provider() -> None:
    blocks = parse_messages(TANK)

    first = json.dumps(render_messages(blocks, ANTHROPIC))
    elsewhere = json.dumps(render_messages(blocks, OPENAI))
    again = json.dumps(render_messages(blocks, ANTHROPIC))

    turn = render_messages(blocks, ANTHROPIC)[1]["content"]
    assert isinstance(turn, list)
    assert [block["type"] for block in turn] == ["thinking", "tool_use"]
    assert turn[0] == THINKING
    assert first == again
    assert "gauge.\\n\\n" not in elsewhere
    assert "SIG-8841" not in elsewhere


def test_roles_alternate_where_they_must() -> None:
    blocks = parse_messages(
        [
            {"role": "user", "content": "[summary] Looms and shuttles were discussed."},
            {"role": "user", "content": "Q3 about heddles"},
        ]
    )
    opening = parse_messages([{"role": "assistant", "content": "A2"}, {"role": "user", "content": "Q3 about heddles"}])

    for history in blocks, opening:
        request = render(history, ANTHROPIC, model="m")
        assert problems(request, ANTHROPIC) == []
        assert json.dumps(request).count("Q3 about heddles") == 1
    assert render_messages(blocks, ANTHROPIC)[0]["content"] == [
        {"type": "text", "text": "[summary] Looms and shuttles were discussed."},
        {"type": "text", "text": "Q3 about heddles"},
    ]


SILENT: list[Json] = [
    {"role": "user", "content": "Make the folder and list it."},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": "m1", "type": "function", "function": {"name": "sh", "arguments": '{"cmd":"mkdir crates"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "m1", "content": ""},
    {"role": "assistant", "content": ""},
    {"role": "user", "content": "Done?"},
]


@pytest.mark.parametrize("wire", list(Wire))
def test_nothing_empty_is_sent(wire: Wire) -> None:
    recorded = parse_messages(SILENT)
    uncomposed = [block for block in recorded if not _is_blank(block)]

    assert isinstance(recorded[2], Answer)
    assert recorded[2].content == ()
    for history in composed(recorded), recorded, uncomposed:
        assert problems(render(history, wire, model="m"), wire) == []


def _is_blank(block: Block) -> bool:
    return isinstance(block, Said) and not block.parts


def price(item: str, id: str, answer: str) -> list[Json]:
    function = {"name": "price", "arguments": json.dumps({"item": item})}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": id, "content": answer},
    ]


@pytest.mark.parametrize("wire", list(Wire))
@pytest.mark.parametrize("ids", [("call_0", "call_0_2"), ("call 0", "call 0!"), ("a" * 99, "a" * 98), ("", "\0")])
def test_unlike_ids_stay_unlike_and_pair(wire: Wire, ids: Sequence[str]) -> None:
    history = composed(parse_messages([*price("hinge", ids[0], "2.10"), *price("latch", ids[1], "3.75")]))

    request = render(history, wire, model="m")

    assert problems(request, wire) == []
    assert json.dumps(request) == json.dumps(render(history, wire, model="m"))


PARROTS = "".join(f"kiln {number} ok \U0001f99c\U0001f525✔ " for number in range(400))


@pytest.mark.parametrize("wire", list(Wire))
def test_whole_emojis_pass_and_halves_are_marked(wire: Wire) -> None:
    cut = PARROTS + "\ud83e"
    message = {"role": "tool", "tool_call_id": "c", "content": cut}
    (answer,) = parse_messages(message)
    history = parse_messages([*price("hinge", "c", "x")[:1], message])

    sent = json.dumps(render(history, wire, model="m"), ensure_ascii=False)

    assert answer.defects == (Defect.LONE_SURROGATES,)
    assert PARROTS + "\ufffd" in sent
    assert sent.count("\ufffd") == 1


RAW = (b"\x00\x00tag7\x00 pump 3 offline\n", "pump 4 offline\n".encode("utf-16"), b"caf\xe9 valve \xff\xfe open\n")


@pytest.mark.parametrize("wire", list(Wire))
@pytest.mark.parametrize("raw", RAW)
def test_bytes_that_are_no_text_pass_through_recording_and_request(wire: Wire, raw: bytes) -> None:
    history = parse_messages([*price("hinge", "c", "x")[:1], {"role": "tool", "tool_call_id": "c", "content": raw}])
    answer = history[1]
    assert isinstance(answer, Answer)
    assert set(answer.defects) <= {Defect.NUL, Defect.INVALID_UTF8}
    assert answer.defects

    request = render(history, wire, model="m")

    assert problems(request, wire) == []


def test_a_tool_that_is_gone_keeps_its_calls() -> None:
    history = parse_messages([*price("hinge", "c", "2.10"), {"role": "user", "content": "And latches?"}])
    now = {"type": "function", "function": {"name": "quote", "parameters": {"type": "object"}}}

    for wire in Wire:
        for tools in [now], None:
            request = render(history, wire, model="m", tools=tools)
            assert problems(request, wire) == []
            assert "hinge" in json.dumps(request)
            assert ("quote" in json.dumps(request)) is (tools is not None)


CUT = ['{"steps": ["stage bins", "wipe bins', '{"steps": ["stage bins", "seal bins"']


@pytest.mark.parametrize("wire", list(Wire))
@pytest.mark.parametrize(("text", "finish"), [(CUT[0], "length"), (CUT[1], "length"), ('{"steps": ["a"],}', "stop")])
def test_cut_off_arguments_are_kept_and_never_repaired(wire: Wire, text: str, finish: str) -> None:
    function = {"name": "run_all", "arguments": text}
    calls = [{"id": "x1", "type": "function", "function": function}]
    reply = parse_reply({"choices": [{"message": {"role": "assistant", "tool_calls": calls}, "finish_reason": finish}]})
    (call,) = reply.said.calls
    mark = Defect.CUT_OFF_ARGUMENTS if finish == "length" else Defect.INVALID_ARGUMENTS

    request = render([reply.said, Answer(call="x1", content=(Text(text="not run"),))], wire, model="m")

    assert call.arguments == text
    assert call.defects == (mark,)
    assert problems(request, wire) == []
    assert json.dumps({"unparsed_arguments": text}) in json.dumps(_arguments(request, wire))


def _arguments(request: Json, wire: Wire) -> object:
    messages = request[history_key(wire)]
    assert isinstance(messages, list)
    if wire is Wire.OPENAI_RESPONSES:
        return json.loads(messages[0]["arguments"])
    if wire is Wire.GEMINI:
        return messages[1]["parts"][0]["functionCall"]["args"]
    if wire is OPENAI:
        return json.loads(messages[0]["tool_calls"][0]["function"]["arguments"])
    return messages[1]["content"][0]["input"]
