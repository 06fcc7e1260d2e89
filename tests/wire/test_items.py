"""Items of OpenAI Responses: read to turns, given back exactly, and sent where the service takes them."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses import Response

from callsheet.assemble.blocks import Answer, Block, Call, Media, Opaque, Reasoning, Reply, Said, Text
from callsheet.assemble.standins import NO_OUTPUT
from callsheet.errors import InvalidMessage
from callsheet.graph.enums import Defect, Role, RunStatus
from callsheet.graph.values import Usage
from callsheet.wire.formats import export, is_reply, parse, parse_messages, parse_reply, render
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.wire.histories import PNG, composed
from tests.wire.responses import item_responses
from tests.wire.test_streaming_sdks import RESPONSE

Json = dict[str, object]
RESPONSES = Wire.OPENAI_RESPONSES


def message(*texts: str, id: str | None = "msg_1", **keys: object) -> Json:
    parts = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    named = {} if id is None else {"id": id, "status": "completed"}
    return {"type": "message", "role": "assistant", "content": parts, **named, **keys}


def call(of: str = "a", **keys: object) -> Json:
    return {"type": "function_call", "call_id": of, "name": "f", "arguments": "{}", **keys}


def output(of: str = "a", shown: object = "1", **keys: object) -> Json:
    return {"type": "function_call_output", "call_id": of, "output": shown, **keys}


def thought(id: str = "rs_1", **keys: object) -> Json:
    return {"type": "reasoning", "id": id, "summary": [], "encrypted_content": "E=", **keys}


SEARCH: Json = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "\0\ud83e"},
}
HI: Json = {"role": "user", "content": "Hi"}

# --------------------------------------------------------------------------- given back

ITEMS: dict[str, list[Json]] = {
    "text": [HI],
    "no text": [{"role": "user", "content": ""}],
    "null": [{"role": "user", "content": None}],
    "nothing": [{"role": "developer"}],
    "no parts": [{"type": "message", "role": "system", "content": []}],
    "unknown keys": [{"role": "user", "content": "x", "x": 1, "status": None}],
    "unclean": [{"role": "user", "content": "\0\ud83e half"}],
    "parts": [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "a", "x": 1},
                {"type": "input_text", "text": ""},
                {"type": "text", "text": "b"},
                {"type": "input_image", "image_url": "https://a.example/b.png", "detail": "low", "file_id": None},
                {"type": "input_image", "image_url": "data:image/png;base64,iVBORw==", "detail": "auto"},
                {"type": "input_image", "image_url": "data:image/png;base64,iVBO\nRw=="},
                {"type": "input_image", "file_id": "file-1"},
                {"type": "input_image"},
                {"type": "input_file", "file_data": "data:application/pdf;base64,AAAA", "filename": "f"},
                {"type": "input_file", "file_data": "AAAA", "filename": "f"},
                {"type": "input_file", "file_url": "https://a.example/b.pdf"},
                {"type": "input_file", "file_id": "file-1"},
                {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
                {"type": "unheard_of", "text": None},
            ],
        }
    ],
    "what a model said": [
        {"role": "assistant", "content": "x"},
        {"role": "assistant", "content": "y", "phase": "commentary"},
        {"type": "message", "role": "assistant", "content": "z"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "a"}, {"type": "text", "text": "b"}]},
        message("a", "b", phase="final_answer"),
        message("c", id=None),
        message(id="msg_3"),
        message("d", id="msg_4", content=[{"type": "refusal", "refusal": "no"}, {"type": "output_text", "text": ""}]),
        message("e", id="msg_5", content=[{"type": "output_audio", "data": "AAAA"}]),
        {"role": "assistant", "content": ""},
        {"role": "assistant", "content": None, "x": 1},
        {"role": "assistant"},
    ],
    "a turn of everything": [thought(content=None), SEARCH, message("a"), thought("rs_2"), call(), call("b"), SEARCH],
    "turns": [thought(), call(), output(), thought("rs_2"), call("b"), output("b"), message("a"), HI, message("b")],
    "reasoning alone": [{"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "\ud83e"}]}],
    "odd calls": [
        {"type": "function_call"},
        {"type": "function_call", "call_id": None, "name": "", "arguments": None, "id": "fc_1"},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": '{"cut', "namespace": "n"},
        {"type": "custom_tool_call", "call_id": "b", "name": "g", "input": ""},
        {"type": "custom_tool_call", "call_id": "c", "name": "g", "input": "ls", "status": "completed"},
    ],
    "results": [
        output(),
        output(shown=""),
        output(shown=None),
        output(shown=[{"type": "input_text", "text": "1"}, {"type": "input_image", "image_url": "https://a.example"}]),
        output(shown=[], status="completed", name="f"),
        {"type": "function_call_output", "call_id": None},
        {"type": "custom_tool_call_output", "call_id": "a", "output": "1"},
    ],
    "tools of the service": [
        {
            "type": "computer_call",
            "id": "cu_1",
            "call_id": "a",
            "action": {"type": "click", "x": 1.50},
            "pending_safety_checks": [{"id": "s"}],
            "status": "completed",
        },
        {"type": "computer_call", "id": "cu_2", "call_id": "b", "actions": [{"type": "wait"}]},
        {"type": "computer_call_output", "call_id": "a", "output": {"type": "computer_screenshot", "file_id": "f"}},
        {
            "type": "computer_call_output",
            "call_id": "b",
            "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,iVBORw=="},
            "acknowledged_safety_checks": None,
        },
        {"type": "computer_call_output", "call_id": "c", "output": {"type": "unheard_of"}},
        {"type": "computer_call_output", "call_id": None, "output": None},
        {"type": "local_shell_call", "id": "ls_1", "call_id": "c", "action": {"command": ["\0"]}, "status": "x"},
        {"type": "local_shell_call_output", "id": "c", "output": "\ud83e"},
        {"type": "shell_call", "call_id": "d", "action": {"commands": ["ls"]}, "environment": None},
        {
            "type": "shell_call_output",
            "call_id": "d",
            "max_output_length": 9,
            "output": [
                {"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
                {"stdout": "", "stderr": "b", "outcome": {"type": "timeout"}, "x": 1},
                {"stdout": None, "outcome": None},
            ],
        },
        {"type": "shell_call_output", "call_id": "e", "output": [{"stdout": "", "stderr": "", "outcome": {}}]},
        {"type": "shell_call_output", "call_id": "f", "output": []},
        {"type": "apply_patch_call", "call_id": "g", "operation": {"type": "delete_file", "path": "a"}, "status": "x"},
        {"type": "apply_patch_call_output", "call_id": "g", "status": "completed"},
        {"type": "apply_patch_call_output", "call_id": "g", "status": "failed", "output": "no such file"},
        {"type": "mcp_approval_request", "id": "m", "name": "f", "arguments": "{}", "server_label": "s"},
        {"type": "mcp_approval_response", "approval_request_id": "m", "approve": True, "reason": None},
        {"type": "tool_search_call", "call_id": "t", "execution": "client", "arguments": {"q": [None]}, "status": "x"},
        {"type": "tool_search_output", "call_id": "t", "execution": "client", "tools": [{"type": "function"}]},
        {"type": "tool_search_call", "call_id": None, "execution": "server", "arguments": {}},
        {"type": "tool_search_output", "call_id": None, "execution": "server", "tools": []},
    ],
    "what is kept as it is": [
        {"type": "item_reference", "id": "msg_1"},
        {"id": "msg_1"},
        {"type": "compaction", "encrypted_content": "E="},
        {"type": "additional_tools", "role": "developer", "tools": []},
        {"type": "unheard_of", "n": float("inf")},
    ],
}


@pytest.mark.parametrize("items", ITEMS.values(), ids=ITEMS)
def test_items_come_back_equal(items: list[Json]) -> None:
    given_in = deepcopy(items)

    assert given_in == export(parse_messages(items, RESPONSES), RESPONSES)
    assert items == given_in
    for item in items:
        assert [item] == export(parse_messages(item, RESPONSES), RESPONSES)


@given(item_responses)
def test_whatever_a_response_holds_comes_back_equal(response: Json) -> None:
    output = deepcopy(response["output"])

    said = parse_reply(response).said

    assert export([said], RESPONSES) == (output or [{"role": "assistant", "content": ""}])


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
_left = st.dictionaries(st.text("xyz_", min_size=2, max_size=3), _json, max_size=2)
_words = st.text(max_size=6)
_optional = st.none() | _words


def _item(type: str, **keys: st.SearchStrategy[object]) -> st.SearchStrategy[Json]:
    known = st.fixed_dictionaries({}, optional=dict(keys))
    return st.builds(lambda left, some: left | some | {"type": type}, _left, known)


_part = st.one_of(
    st.builds(lambda left, text: left | {"type": "input_text", "text": text}, _left, _words),
    st.builds(lambda left, text: left | {"type": "output_text", "text": text}, _left, _words),
    _item("x_part", y=_json),
)
_content = _optional | st.lists(_part, max_size=3)
_chunk = st.builds(lambda left, out, err: left | {"stdout": out, "stderr": err}, _left, _optional, _optional)
any_items = st.lists(
    st.one_of(
        st.builds(
            lambda some, role: some | {"role": role},
            _item("message", content=_content, id=_optional, phase=_optional, status=_optional),
            st.sampled_from([role.value for role in Role]),
        ),
        _item("function_call", call_id=_optional, name=_optional, arguments=_optional, id=_optional),
        _item("custom_tool_call", call_id=_optional, name=_optional, input=_optional),
        _item("function_call_output", call_id=_optional, output=_content),
        _item("custom_tool_call_output", call_id=_optional, output=_content),
        _item("reasoning", id=_optional, summary=_json, encrypted_content=_optional),
        _item("shell_call", call_id=_optional, action=_json),
        _item("shell_call_output", call_id=_optional, output=_optional | st.lists(_chunk, max_size=3)),
        _item("computer_call_output", call_id=_optional, output=_left | _optional),
        _item("apply_patch_call_output", call_id=_optional, output=_optional),
        _item("mcp_approval_response", approval_request_id=_optional, approve=st.booleans(), reason=_optional),
        _item("web_search_call", id=_optional, action=_json),
    ),
    min_size=1,
    max_size=6,
)


@given(any_items)
def test_any_items_come_back_equal(items: list[Json]) -> None:
    given_in = deepcopy(items)

    assert given_in == export(parse_messages(items, RESPONSES), RESPONSES)
    assert items == given_in


@given(any_items)
def test_any_items_render_to_a_valid_request_of_every_format(items: list[Json]) -> None:
    blocks = composed(parse_messages(items, RESPONSES))

    for wire in Wire:
        assert problems(render(blocks, wire, model="m"), wire) == []


# --------------------------------------------------------------------------- turns


def test_what_a_model_gave_in_a_row_is_one_turn() -> None:
    turn, *answers, last = parse_messages([*ITEMS["a turn of everything"], output(), output("b"), message("x")])

    assert isinstance(turn, Said)
    assert [type(part) for part in turn.parts] == [Reasoning, Opaque, Text, Reasoning, Call, Call, Opaque]
    assert [type(answer) for answer in answers] == [Answer, Answer]
    assert isinstance(last, Said)
    assert (last.role, [part.text for part in last.parts if isinstance(part, Text)]) == (Role.ASSISTANT, ["x"])


def test_a_screenshot_is_a_picture_everywhere() -> None:
    url = f"data:image/png;base64,{b64encode(PNG).decode()}"
    (answer,) = parse_messages(
        [{"type": "computer_call_output", "call_id": "a", "output": {"type": "computer_screenshot", "image_url": url}}]
    )

    assert isinstance(answer, Answer)
    (shown,) = answer.content
    assert isinstance(shown, Media)
    assert (shown.mime, shown.data, shown.width) == ("image/png", PNG, 1)


# --------------------------------------------------------------------------- responses


def response(*output: Json, **keys: object) -> Json:
    whole = {"id": "resp_1", "object": "response", "model": "m", "status": "completed", "output": list(output)}
    return {**whole, **keys}


CUT: Json = {"reason": "max_output_tokens"}
FILTERED: Json = {"reason": "content_filter"}
REFUSAL = message("", content=[{"type": "refusal", "refusal": "no"}])

ENDED: list[tuple[Json, RunStatus, str | None]] = [
    (response(message("x")), RunStatus.COMPLETED, "completed"),
    (response(message("x"), status="incomplete", incomplete_details=CUT), RunStatus.TRUNCATED, "max_output_tokens"),
    (response(message("x"), status="incomplete", incomplete_details=FILTERED), RunStatus.REFUSED, "content_filter"),
    (response(status="incomplete", incomplete_details={}), RunStatus.TRUNCATED, "incomplete"),
    (response(status="failed", error={"code": "server_error"}), RunStatus.FAILED, "failed"),
    (response(message("x"), status="cancelled"), RunStatus.CANCELLED, "cancelled"),
    (response(REFUSAL), RunStatus.REFUSED, "completed"),
    (response(thought(), status=None), RunStatus.COMPLETED, None),
]


@pytest.mark.parametrize(("value", "status", "finish"), ENDED)
def test_how_a_response_ended_is_read(value: Json, status: RunStatus, finish: str | None) -> None:
    (reply,) = parse(value)

    assert isinstance(reply, Reply)
    assert (reply.status, reply.finish, reply.response, reply.model) == (status, finish, "resp_1", "m")


@pytest.mark.parametrize("given", [RESPONSE, Response.model_validate(RESPONSE)])
def test_an_sdk_object_is_read_as_its_dict(given: object) -> None:
    assert is_reply(given)
    (reply,) = parse(given)

    assert isinstance(reply, Reply)
    assert reply.usage == Usage(input=9, output=12, cached_input=4, reasoning=3)
    assert [call.id for call in reply.said.calls] == ["a", "b", "c"]
    assert [item["type"] for item in export([reply.said], RESPONSES)] == [
        "reasoning",
        "web_search_call",
        "message",
        "function_call",
        "function_call",
        "custom_tool_call",
    ]


def test_the_output_of_an_sdk_object_is_one_turn() -> None:
    (said,) = parse(Response.model_validate(RESPONSE).output)

    assert isinstance(said, Said)
    assert len(said.calls) == 3


def test_what_a_response_repeats_of_its_request_is_not_kept() -> None:
    (reply,) = parse(response(message("x"), instructions="SECRET", tools=[{"type": "web_search"}], temperature=1))

    assert isinstance(reply, Reply)
    assert b"SECRET" not in reply.extras
    assert b"web_search" not in reply.extras
    assert b"temperature" in reply.extras


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_a_response_that_goes_on_is_refused(status: str) -> None:
    with pytest.raises(InvalidMessage, match=f"has not ended \\({status}\\)"):
        parse(response(status=status))


def test_a_call_at_the_token_limit_is_cut_off() -> None:
    reply = parse_reply(response(call(arguments='{"x": '), status="incomplete", incomplete_details=CUT))

    assert reply.said.calls[0].defects == (Defect.CUT_OFF_ARGUMENTS,)


# --------------------------------------------------------------------------- sent


def sent(*items: Json, wire: Wire = RESPONSES) -> Sequence[Json]:
    blocks: list[Block] = list(parse_messages(list(items), RESPONSES))
    request = render(blocks, wire, model="m")
    assert problems(request, wire) == []
    found = request["input"]
    assert isinstance(found, list)
    return found


PLAIN: Json = {"role": "assistant", "content": "x"}
LOST: dict[str, list[Json]] = {
    "only an id": [thought(encrypted_content=None)],
    "nothing said behind it": [thought(), {"type": "unheard_of"}],
    "not clean": [thought(encrypted_content="\0")],
    "no id": [{"type": "reasoning", "summary": [], "encrypted_content": "E="}],
    "no summary": [{"type": "reasoning", "id": "rs_1", "encrypted_content": "E="}],
}


def test_reasoning_is_sent_with_what_followed_it_and_under_its_ids() -> None:
    items = [HI, thought(), message("x"), call(id="fc_1"), SEARCH | {"action": {"type": "search"}}, output()]

    found = sent(*items)

    assert [item.get("id") for item in found] == [None, "rs_1", "msg_1", "fc_1", "ws_1", None]


@pytest.mark.parametrize("before", LOST.values(), ids=LOST)
def test_without_its_reasoning_nothing_goes_under_its_id(before: list[Json]) -> None:
    found = sent(HI, *before, message("x"), call(id="fc_1"), SEARCH, output())

    assert found == [HI, PLAIN, call(), output()]


def test_reasoning_that_another_format_would_see_is_not_sent_there() -> None:
    history = parse_messages([HI, thought(), message("x"), HI], RESPONSES)
    for wire in Wire:
        assert ("E=" in str(render(history, wire, model="m"))) is (wire is RESPONSES)


def test_an_item_stands_once() -> None:
    found = sent(HI, thought(), message("x"), HI, thought(), message("x"))

    assert [item.get("id") for item in found] == [None, "rs_1", "msg_1", None, None]


def test_the_phase_of_a_message_stays_without_its_id() -> None:
    assert sent(HI, message("x", phase="commentary"))[1] == PLAIN | {"phase": "commentary"}


# --------------------------------------------------------------------------- tools of the service, sent

SHELL: Json = {"type": "shell_call", "call_id": "a", "action": {"commands": ["ls", "pwd"]}}
PRINTED: list[Json] = [
    {"stdout": "x\n", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
    {"stdout": "", "stderr": "no", "outcome": {"type": "exit", "exit_code": 1}},
]
SCREEN: Json = {"type": "computer_screenshot", "image_url": "https://a.example/b.png"}
COMPUTER: Json = {
    "type": "computer_call",
    "id": "cu_1",
    "call_id": "a",
    "status": "completed",
    "pending_safety_checks": [],
    "action": {"type": "screenshot"},
}
SHOWN = Text(text="(shortened)")

#: Call and output, what is shown of the output instead, and the output that is sent; None: a function's.
TOLD: dict[str, tuple[Json, Json, Callable[[Answer], Answer], Json | None]] = {
    "a shell": (
        SHELL,
        {"type": "shell_call_output", "call_id": "a", "output": PRINTED},
        lambda answer: answer,
        {"type": "shell_call_output", "call_id": "a", "output": PRINTED},
    ),
    "a shell, without blank texts": (
        SHELL,
        {"type": "shell_call_output", "call_id": "a", "output": PRINTED},
        lambda answer: replace(answer, content=tuple(part for part in answer.content if _text_of(part).strip())),
        {"type": "shell_call_output", "call_id": "a", "output": PRINTED},
    ),
    "a shell, in other words": (
        SHELL,
        {"type": "shell_call_output", "call_id": "a", "output": PRINTED},
        lambda answer: replace(answer, content=(SHOWN,)),
        {"type": "shell_call_output", "call_id": "a", "output": [PRINTED[1] | {"stdout": "(shortened)", "stderr": ""}]},
    ),
    "a shell that says not how it ended": (
        SHELL,
        {"type": "shell_call_output", "call_id": "a", "output": [{"stdout": "x", "stderr": ""}]},
        lambda answer: answer,
        None,
    ),
    "a shell, withheld": (
        SHELL,
        {"type": "shell_call_output", "call_id": "a", "output": PRINTED},
        lambda answer: replace(answer, content=(SHOWN,), extras=b""),
        None,
    ),
    "a shell, answered as a function": (SHELL, output(), lambda answer: answer, None),
    "a screen": (
        COMPUTER,
        {"type": "computer_call_output", "call_id": "a", "output": SCREEN},
        lambda answer: replace(answer, content=(Text(text=NO_OUTPUT), *answer.content)),
        {"type": "computer_call_output", "call_id": "a", "output": SCREEN},
    ),
    "a screen with words": (
        COMPUTER,
        {"type": "computer_call_output", "call_id": "a", "output": SCREEN},
        lambda answer: replace(answer, content=(SHOWN, *answer.content)),
        None,
    ),
    "a screen in words": (
        COMPUTER,
        {"type": "computer_call_output", "call_id": "a", "output": SCREEN},
        lambda answer: replace(answer, content=(SHOWN,)),
        None,
    ),
    "a computer that lacks what is demanded": (
        {key: value for key, value in COMPUTER.items() if key != "pending_safety_checks"},
        {"type": "computer_call_output", "call_id": "a", "output": SCREEN},
        lambda answer: answer,
        None,
    ),
    "an approval": (
        {"type": "mcp_approval_request", "id": "a", "name": "f", "arguments": "{}", "server_label": "s"},
        {"type": "mcp_approval_response", "approval_request_id": "a", "approve": True, "reason": None},
        lambda answer: replace(answer, content=(SHOWN,)),
        {"type": "mcp_approval_response", "approval_request_id": "a", "approve": True},
    ),
    "tools that were searched": (
        {"type": "tool_search_call", "call_id": "a", "execution": "client", "arguments": {}},
        {"type": "tool_search_output", "call_id": "a", "execution": "client", "tools": [{"type": "web_search"}]},
        lambda answer: replace(answer, content=(SHOWN,)),
        {"type": "tool_search_output", "call_id": "a", "execution": "client", "tools": [{"type": "web_search"}]},
    ),
}


@pytest.mark.parametrize(("asked", "given", "shown", "expected"), TOLD.values(), ids=TOLD)
def test_calls_of_the_services_tools_stay_what_they_are_where_their_results_do(
    asked: Json, given: Json, shown: Callable[[Answer], Answer], expected: Json | None
) -> None:
    user, turn, answer = parse_messages([HI, asked, given], RESPONSES)
    assert isinstance(answer, Answer)

    request = render([user, turn, shown(answer)], RESPONSES, model="m")

    assert problems(request, RESPONSES) == []
    found = request["input"]
    assert isinstance(found, list)
    if expected is None:
        assert [item.get("type") for item in found[1:]] == ["function_call", "function_call_output"]
    else:
        assert found[1:] == [asked, expected]


def _text_of(part: object) -> str:
    return part.text if isinstance(part, Text) else ""
