"""What was recorded comes out as it went in, for both formats, with branches, times and statuses."""

import gzip
import json
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.audit.exchange.exporting import export_conversation
from callsheet.errors import NotFound
from callsheet.runtime.runtime import Runtime
from callsheet.testing import memory_runtime
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.audit.lines import Line, Message, assistant, exported, imported, result, user, written
from tests.recordings import DATA, needs_recordings


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with memory_runtime() as runtime:
        yield runtime


def came_back(lines: list[Line], path: Path) -> list[Line]:
    """The lines of a file after import and export, in the order of the file."""
    with memory_runtime() as runtime:
        imported(runtime, path)
        found = {
            (str(line["id"]), json.dumps(line.get("branch"))): line
            for name in runtime.conversations()
            for line in exported(runtime, name)
        }
    return [found[str(line["id"]), json.dumps(line.get("branch"))] for line in lines]


def check_round_trip(path: Path) -> None:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as file:
        lines: list[Line] = [json.loads(text) for text in file]

    for line, back in zip(lines, came_back(lines, path), strict=True):
        assert back["messages"] == line["messages"]


def test_the_shipped_recording_comes_back() -> None:
    recordings = resources.files("callsheet.evaluate") / "recordings"
    with resources.as_file(recordings / "support_desk.jsonl") as path:
        check_round_trip(path)


@needs_recordings
@pytest.mark.parametrize(
    "name",
    [
        "malformed/adk_no_call_ids.jsonl",
        "malformed/intercode_unbalanced.jsonl",
        "malformed/provider_cassettes.jsonl",
        "malformed/whowhen_unanswered.jsonl.gz",
        "provider_cassettes.jsonl.gz",
        "swe_agent.jsonl.gz",
    ],
)
def test_recorded_trajectories_come_back(name: str) -> None:
    assert DATA is not None
    check_round_trip(DATA / name)


ANTHROPIC: list[Message] = [
    user("Where is order W123?", x_at="2026-03-02T09:00:20+01:00"),
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "I look.", "citations": None},
            {"type": "tool_use", "id": "a", "name": "get_order", "input": {"id": "W123"}},
            {"type": "tool_use", "id": "b", "name": "get_parcel", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "found", "cache_control": {"type": "ephemeral"}},
            {
                "type": "tool_result",
                "tool_use_id": "b",
                "content": [{"type": "text", "text": "none"}],
                "is_error": True,
            },
            {"type": "text", "text": "Be quick."},
        ],
        "x_at": "2026-03-02T08:00:30Z",
    },
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "get_parcel", "input": {}}]},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "before"},
            {"type": "tool_result", "tool_use_id": "c", "content": "none"},
            {"type": "text", "text": "after"},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "", "is_error": False}]},
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c", "content": "late"}],
        "x_status": "partial",
    },
    {"role": "user", "content": [{"type": "text", "text": "Well?"}], "x_own": [1, None]},
]


def test_anthropic_messages_come_back_with_their_boundaries(runtime: Runtime, tmp_path: Path) -> None:
    line = {"id": "x", "user": "mia", "system": [{"type": "text", "text": "Be kind."}], "messages": ANTHROPIC}
    imported(runtime, written(tmp_path / "log.jsonl", [line]))

    assert exported(runtime, "x") == [line]


@pytest.mark.parametrize("at", range(len(ANTHROPIC) + 1))
def test_branches_of_anthropic_conversations_come_back(runtime: Runtime, tmp_path: Path, at: int) -> None:
    lines: list[Line] = [
        {"id": "x", "user": "mia", "system": "Be kind.", "messages": ANTHROPIC},
        {
            "id": "x",
            "branch": {"name": "b", "parent": "main", "at": at},
            "messages": [user("else", x_at="2026-01-01T00:00:00Z")],
        },
    ]
    imported(runtime, written(tmp_path / "log.jsonl", lines))

    assert exported(runtime, "x") == lines


ODD: list[Message] = [
    {"role": "developer", "content": [{"type": "text", "text": "Be kind."}], "name": "boss"},
    user("", x_own={"nested": [1.5, None, "ü"]}),
    assistant(None, "a", "a", refusal=None, audio=None),
    result("a", "one", name="tool_a"),
    result("a", "two \u0000 \ud800", x_status="failed"),
    {"role": "function", "name": "old", "content": "three"},
    {"role": "tool", "content": None},
    {"role": "assistant", "content": "", "function_call": {"name": "old", "arguments": "{cut"}},
    {"role": "assistant"},
    {
        "role": "user",
        "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}}],
    },
]


def test_odd_openai_messages_come_back(runtime: Runtime, tmp_path: Path) -> None:
    line = {"id": "x", "user": "local", "messages": ODD}
    imported(runtime, written(tmp_path / "log.jsonl", [line]))

    assert exported(runtime, "x") == [line]


texts = st.text(max_size=20)
calls = st.lists(st.sampled_from("abc"), max_size=3, unique=True)
messages = st.lists(
    st.one_of(
        texts.map(user),
        st.tuples(texts, calls).map(lambda given: assistant(given[0], *given[1])),
        st.tuples(st.sampled_from("abc"), texts).map(lambda given: result(*given)),
        texts.map(lambda text: {"role": "system", "content": text}),
    ),
    max_size=12,
)


@given(root=messages, own=messages, share=st.floats(0, 1))
def test_any_history_and_branch_comes_back(
    tmp_path_factory: pytest.TempPathFactory, root: list[Message], own: list[Message], share: float
) -> None:
    at = round(share * len(root))
    lines: list[Line] = [
        {"id": "x", "user": "local", "messages": root},
        {"id": "x", "branch": {"name": "b", "parent": "main", "at": at}, "messages": own},
    ]
    path = written(tmp_path_factory.mktemp("any") / "log.jsonl", lines)

    assert came_back(lines, path) == lines


# --------------------------------------------------------------------------- what was recorded live


def test_what_was_recorded_live_comes_out_with_its_times_and_statuses(runtime: Runtime, tmp_path: Path) -> None:
    talk = runtime.conversation("x", user="mia")
    talk.record(user("go"), at="2026-03-02T09:00:00Z")
    talk.record(assistant(None, "a", "b"))
    talk.record(result("a", "no answer"), status="timed_out")
    talk.record(result("b", "fine"))

    (line,) = exported(runtime, "x")

    now = "2026-01-01T00:00:00Z"
    assert line["messages"] == [
        user("go", x_at="2026-03-02T09:00:00Z"),
        assistant(None, "a", "b", x_at=now),
        result("a", "no answer", x_at=now, x_status="timed_out"),
        result("b", "fine", x_at=now),
    ]
    with memory_runtime() as other:
        imported(other, written(tmp_path / "log.jsonl", [line]))
        assert exported(other, "x") == [line]


def test_what_was_recorded_live_keeps_the_order_inside_a_message(runtime: Runtime) -> None:
    talk = runtime.conversation("x", user="mia")
    parts: list[Message] = [
        {"type": "text", "text": "before"},
        {"type": "tool_result", "tool_use_id": "a", "content": "1"},
        {"type": "text", "text": "after"},
        {"type": "tool_result", "tool_use_id": "b", "content": "2"},
    ]
    asked = [{"type": "tool_use", "id": id, "name": "f", "input": {}} for id in "ab"]
    messages: list[Message] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": asked},
        {"role": "user", "content": parts},
    ]
    talk.record(messages)

    (line,) = exported(runtime, "x")
    body = talk.assemble(provider="anthropic", model="m").request()

    assert line["messages"] == [message | {"x_at": "2026-01-01T00:00:00Z"} for message in messages]
    sent = body["messages"]
    assert isinstance(sent, list)
    kinds = [block["type"] for block in sent[-1]["content"]]
    assert kinds == ["tool_result", "tool_result", "text", "text"]


def test_all_messages_in_one_format(runtime: Runtime, tmp_path: Path) -> None:
    mixed = [ANTHROPIC[1], result("a", "found", x_status="failed"), result("b", "none"), user("Well?")]
    lines: list[Line] = [
        {"id": "x", "messages": [{"role": "system", "content": "Be kind."}, *mixed]},
        {"id": "x", "branch": {"name": "b", "at": 4}, "messages": [user("else")]},
    ]
    imported(runtime, written(tmp_path / "log.jsonl", lines))

    anthropic = list(export_conversation(runtime, "x", Wire.ANTHROPIC))
    openai = list(export_conversation(runtime, "x", Wire.OPENAI))

    assert anthropic[0]["system"] == "Be kind."
    results = [
        {"type": "tool_result", "tool_use_id": "a", "content": "found", "is_error": True},
        {"type": "tool_result", "tool_use_id": "b", "content": "none"},
    ]
    assert anthropic[0]["messages"] == [ANTHROPIC[1], {"role": "user", "content": results}, user("Well?")]
    assert anthropic[1]["branch"] == {"name": "b", "parent": "main", "at": 2}
    messages = openai[0]["messages"]
    assert isinstance(messages, list)
    assert [message["role"] for message in messages] == ["system", "assistant", "tool", "tool", "user"]
    assert openai[1]["branch"] == {"name": "b", "parent": "main", "at": 4}


ITEMS: list[Message] = [
    {"role": "developer", "content": "You watch tanks."},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Is tank 2 safe?"}]},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E="},
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
    },
    {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "gauge", "arguments": '{"tank": 2}'},
    {"type": "shell_call", "id": "sh_1", "call_id": "b", "status": "completed", "action": {"commands": ["ls"]}},
    {"type": "function_call_output", "call_id": "a", "output": "0.4 bar"},
    {
        "type": "shell_call_output",
        "call_id": "b",
        "output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
    },
    {"role": "assistant", "content": "Safe."},
]


def test_items_of_responses_come_back_a_turn_in_one_message(runtime: Runtime, tmp_path: Path) -> None:
    talk = runtime.conversation("tanks")
    talk.record(ITEMS)
    (line,) = exported(runtime, "tanks")
    told = line["messages"]
    assert isinstance(told, list)
    items = [item for message in told for item in message.get("items", [message])]
    assert [{key: item[key] for key in item if key != "x_at"} for item in items] == ITEMS
    assert len(told) == 6
    assert all("x_at" in message for message in told)

    file = written(tmp_path / "log.jsonl", [line])
    assert came_back([line], file) == [line]
    with memory_runtime() as other:
        imported(other, file)
        sheet = other.conversation("tanks").assemble(provider="openai-responses", model="gpt-5.2")
        assert not problems(sheet.request(), Wire.OPENAI_RESPONSES)
        assert ITEMS[2] in sheet.messages()


def test_any_message_is_exported_as_items(runtime: Runtime, tmp_path: Path) -> None:
    imported(runtime, written(tmp_path / "log.jsonl", [{"id": "a", "messages": [user("Hi"), assistant("So", "c")]}]))

    (line,) = export_conversation(runtime, "a", Wire.OPENAI_RESPONSES)

    call = {"type": "function_call", "call_id": "c", "name": "tool_c", "arguments": "{}"}
    said = {"role": "assistant", "content": "So"}
    assert [{key: found for key, found in message.items() if key != "x_at"} for message in _messages(line)] == [
        user("Hi"),
        {"items": [said, call]},
    ]


def _messages(line: Line) -> list[Message]:
    found = line["messages"]
    assert isinstance(found, list)
    return found


def test_an_unknown_conversation_is_not_found(runtime: Runtime) -> None:
    with pytest.raises(NotFound, match="no conversation 'y'"):
        list(export_conversation(runtime, "y"))
