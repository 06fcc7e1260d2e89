"""What was parsed comes back as it was recorded: the same keys, the same forms, the same odd values."""

from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.assemble.blocks import Answer, Block, Media
from callsheet.wire.formats import export, parse_messages
from callsheet.wire.names import Wire
from tests.recordings import malformed_files, needs_recordings, recording, trajectory_files
from tests.wire.test_golden import each_file, load
from tests.wire.trajectories import trajectories

Json = dict[str, object]

OPENAI: dict[str, Json] = {
    "text": {"role": "user", "content": "hi"},
    "no text": {"role": "user", "content": ""},
    "null": {"role": "assistant", "content": None},
    "nothing": {"role": "assistant"},
    "no parts": {"role": "user", "content": []},
    "named": {"role": "user", "content": "hi", "name": "Mia"},
    "odd name": {"role": "user", "content": "hi", "name": None},
    "developer": {"role": "developer", "content": "be brief"},
    "unclean": {"role": "user", "content": "\0\ud83e half"},
    "unknown keys": {"role": "assistant", "content": "x", "x_step": 3, "reasoning_content": "hm", "audio": None},
    "nan": {"role": "user", "content": "x", "x_score": float("inf")},
    "parts": {"role": "user", "content": [{"type": "text", "text": "a", "x": 1}, {"type": "text", "text": ""}]},
    "picture by address": {
        "role": "user",
        "content": [{"type": "image_url", "image_url": {"url": "https://a.example/b.png", "detail": "low"}, "x": 1}],
    },
    "picture": {
        "role": "user",
        "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}}],
    },
    "picture, base64 that is not canonical": {
        "role": "user",
        "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORx=="}}],
    },
    "picture, base64 in lines": {
        "role": "user",
        "content": [{"type": "image_url", "image_url": {"url": "data:image/png;charset=x;base64,iVBO\nRw=="}}],
    },
    "picture, data that is not base64": {
        "role": "user",
        "content": [{"type": "image_url", "image_url": {"url": "data:image/svg+xml,<svg/>"}}],
    },
    "picture without address": {"role": "user", "content": [{"type": "image_url", "image_url": {}}]},
    "file": {
        "role": "user",
        "content": [{"type": "file", "file": {"file_data": "data:x/y;base64,AAAA", "filename": "f"}}],
    },
    "file by id": {"role": "user", "content": [{"type": "file", "file": {"file_id": "f1"}}]},
    "sound": {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}}]},
    "unknown part": {"role": "user", "content": [{"type": "video_url", "video_url": {"url": "https://a.example"}}]},
    "refusal": {"role": "assistant", "content": None, "refusal": "no", "annotations": []},
    "refusal beside text": {"role": "assistant", "content": "so far", "refusal": "no"},
    "refusal part": {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}], "refusal": None},
    "calls": {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
            {"id": "b", "type": "custom", "custom": {"name": "g", "input": "ls"}},
            {"id": "c", "type": "builtin_function", "function": {"name": "$web", "arguments": "{}"}, "index": 2},
        ],
    },
    "odd calls": {
        "role": "assistant",
        "tool_calls": [
            {"id": None, "type": "function", "function": {"name": None, "arguments": None}},
            {"id": "", "type": None, "function": {"name": "", "arguments": ""}},
            {"function": {"x": 1}},
        ],
    },
    "no calls": {"role": "assistant", "content": "x", "tool_calls": []},
    "null calls": {"role": "assistant", "content": "x", "tool_calls": None, "function_call": None},
    "older call": {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}", "x": 1}},
    "both kinds of call": {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        "function_call": {"name": "f", "arguments": "{}"},
    },
    "result": {"role": "tool", "tool_call_id": "a", "content": "1"},
    "result with name": {"role": "tool", "tool_call_id": "a", "name": "f", "content": ""},
    "result without id": {"role": "tool", "content": None},
    "result with odd id": {"role": "tool", "tool_call_id": None, "name": "", "content": "1"},
    "result in parts": {
        "role": "tool",
        "tool_call_id": "a",
        "content": [{"type": "text", "text": "1"}, {"type": "image", "mimeType": "image/png", "data": "AAAA"}],
    },
    "older result": {"role": "function", "name": "f", "content": "1"},
}

ANTHROPIC: dict[str, Json] = {
    "text": {"role": "user", "content": "hi"},
    "no text": {"role": "assistant", "content": ""},
    "null": {"role": "user", "content": None},
    "nothing": {"role": "user"},
    "no blocks": {"role": "assistant", "content": []},
    "system": {"role": "system", "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]},
    "unknown keys": {"role": "assistant", "content": "x", "id": "msg_1", "x_added": True},
    "thinking": {
        "role": "assistant",
        "content": [
            {"signature": "S==", "thinking": "Hm.\n ", "type": "thinking"},
            {"type": "redacted_thinking", "data": "E="},
            {"type": "text", "text": "a", "citations": None},
            {
                "type": "tool_use",
                "id": "t",
                "name": "f",
                "input": {"z": 1, "a": None, "ä": 1.50},
                "caller": {"type": "direct"},
            },
            {"type": "text", "text": "b"},
        ],
    },
    "odd calls": {
        "role": "assistant",
        "content": [
            {"type": "tool_use", "id": None, "name": "", "input": []},
            {"type": "tool_use", "input": "text"},
            {"type": "tool_use", "id": "", "name": None, "input": None},
            {"type": "tool_use"},
        ],
    },
    "results": {
        "role": "user",
        "x": 1,
        "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "1"},
            {"type": "tool_result", "tool_use_id": "b", "is_error": True, "content": [{"type": "text", "text": "1"}]},
            {"type": "tool_result", "tool_use_id": "c", "is_error": False, "cache_control": {"type": "ephemeral"}},
            {"type": "tool_result", "tool_use_id": None, "is_error": None, "content": None},
            {"type": "tool_result", "content": []},
        ],
    },
    "results and text": {
        "role": "user",
        "x": 1,
        "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "1"},
            {"type": "text", "text": "and now?"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        ],
    },
    "results among text": {
        "role": "user",
        "x": 1,
        "content": [
            {"type": "text", "text": "before"},
            {"type": "tool_result", "tool_use_id": "a", "content": "1"},
            {"type": "tool_result", "tool_use_id": "b", "content": "2"},
            {"type": "text", "text": "between", "x": 2},
            {"type": "tool_result", "tool_use_id": "c", "content": "3"},
            {"type": "text", "text": "after"},
        ],
    },
    "results behind text": {
        "role": "user",
        "content": [{"type": "text", "text": ""}, {"type": "tool_result", "tool_use_id": "a", "content": "1"}],
    },
    "media": {
        "role": "user",
        "content": [
            {"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}},
            {"type": "image", "source": {"type": "file", "file_id": "f"}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "not base64"}},
            {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": "a\ud83e\0"},
                "title": "t",
            },
            {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "x"}]}},
        ],
    },
    "server tools": {
        "role": "assistant",
        "content": [
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": "\ud83e"}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"n": float("inf")}]},
        ],
    },
}


def cases(table: dict[str, Json]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("message", table.values(), ids=list(table))


@cases(OPENAI)
def test_an_openai_message_comes_back_equal(message: Json) -> None:
    blocks = parse_messages(message, Wire.OPENAI)

    assert [message] == export(blocks, Wire.OPENAI)
    assert len(blocks) == 1


@cases(ANTHROPIC)
def test_an_anthropic_message_comes_back_equal(message: Json) -> None:
    assert [message] == export(parse_messages(message, Wire.ANTHROPIC), Wire.ANTHROPIC)


def test_results_of_anthropic_come_back_in_one_message() -> None:
    first: Json = {"type": "tool_result", "tool_use_id": "a", "content": "1"}
    second: Json = {"type": "tool_result", "tool_use_id": "b", "content": "2"}
    text: Json = {"type": "text", "text": "and now?"}

    blocks = parse_messages(
        [{"role": "user", "content": [first]}, {"role": "user", "content": [text, second]}], Wire.ANTHROPIC
    )

    assert [{"role": "user", "content": [first, text, second]}] == export(blocks, Wire.ANTHROPIC)


def test_results_stay_in_order_when_what_stood_with_them_is_lost() -> None:
    answers = parse_messages(ANTHROPIC["results among text"], Wire.ANTHROPIC)
    *results, said = answers

    (fewer,) = export([results[0], said], Wire.ANTHROPIC)
    (openai, *_) = export([said], Wire.OPENAI)

    assert [part.get("text", "result") for part in _list(fewer["content"])] == ["before", "result", "between", "after"]
    assert [part["text"] for part in _list(openai["content"])] == ["before", "between", "after"]


def _list(value: object) -> list[Json]:
    assert isinstance(value, list)
    return value


def test_bytes_come_back_as_a_part_that_reads_as_the_same_bytes() -> None:
    raw = b"caf\xe9 \xff\x00"
    blocks = parse_messages({"role": "tool", "tool_call_id": "a", "content": raw})

    for wire in Wire:
        (again,) = parse_messages(export(blocks, wire), wire)
        assert isinstance(again, Answer)
        (media,) = again.content
        assert isinstance(media, Media)
        assert (media.mime, media.data) == ("application/octet-stream", raw)


def test_another_format_gets_what_is_neutral() -> None:
    blocks = parse_messages([ANTHROPIC["thinking"], ANTHROPIC["results"]], Wire.ANTHROPIC)

    said, *results = export(blocks, Wire.OPENAI)

    function = {"name": "f", "arguments": '{"z":1,"a":null,"ä":1.5}'}
    assert said == {
        "role": "assistant",
        "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        "tool_calls": [{"id": "t", "type": "function", "function": function}],
    }
    assert results[0] == {"role": "tool", "tool_call_id": "a", "content": "1"}


def test_openai_calls_go_to_anthropic_as_objects() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"b": [1], "a": "x"}'}}
    broken = {"id": "b", "type": "function", "function": {"name": "f", "arguments": '{"b'}}

    (message,) = export(
        parse_messages({"role": "assistant", "content": None, "tool_calls": [call, broken]}), Wire.ANTHROPIC
    )

    assert message["content"] == [
        {"type": "tool_use", "id": "a", "name": "f", "input": {"b": [1], "a": "x"}},
        {"type": "tool_use", "id": "b", "name": "f", "input": '{"b'},
    ]


@each_file
def test_golden_histories_come_back_equal(file: Path) -> None:
    history = load(file)["history"]
    assert isinstance(history, list)

    for message in history:
        blocks = parse_messages(message)
        assert [message] == export(blocks, _wire(blocks))


def _wire(blocks: Sequence[Block]) -> Wire:
    return Wire(blocks[0].wire)


_json = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=4)),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=4,
)
_left = st.dictionaries(st.text("xyz_", min_size=2, max_size=3), _json, max_size=2)
_words = st.text(max_size=6)
_optional = st.one_of(st.none(), _words)


def _object(extras: st.SearchStrategy[Json], **keys: st.SearchStrategy[object]) -> st.SearchStrategy[Json]:
    return st.builds(lambda left, known: left | known, extras, st.fixed_dictionaries({}, optional=dict(keys)))


def _typed(type: str, **keys: st.SearchStrategy[object]) -> st.SearchStrategy[Json]:
    return _object(_left.map(lambda left: left | {"type": type}), **keys)


_text_part = st.builds(lambda left, text: left | {"type": "text", "text": text}, _left, _words)
_openai_content = st.one_of(_optional, st.lists(st.one_of(_text_part, _typed("x_part", y=_json)), max_size=3))
_openai_call = _object(
    st.builds(
        lambda left, inner: left | {"function": inner}, _left, _object(_left, name=_optional, arguments=_optional)
    ),
    id=_optional,
    type=st.sampled_from(["function", "x", "", None]),
)
openai_messages = st.one_of(
    _object(_left.map(lambda left: left | {"role": "user"}), content=_openai_content, name=_optional),
    _object(
        _left.map(lambda left: left | {"role": "assistant"}),
        content=_openai_content,
        name=_optional,
        refusal=_optional,
        tool_calls=st.one_of(st.none(), st.lists(_openai_call, max_size=3)),
    ),
    _object(
        _left.map(lambda left: left | {"role": "tool"}), content=_openai_content, tool_call_id=_optional, name=_optional
    ),
)

_result = _typed(
    "tool_result",
    tool_use_id=_optional,
    content=st.one_of(_optional, st.lists(st.one_of(_text_part, _typed("x_block", y=_json)), max_size=2)),
    is_error=st.sampled_from([True, False, None]),
)
_tool_use = _typed("tool_use", id=_optional, name=_optional, input=_json)
_block = st.one_of(_text_part, _typed("thinking", thinking=_words), _typed("x_block", y=_json))
anthropic_messages = st.one_of(
    st.builds(
        lambda left, content: left | {"role": "assistant", "content": content},
        _left,
        st.lists(st.one_of(_block, _tool_use), max_size=4),
    ),
    st.builds(
        lambda left, content: left | {"role": "user", "content": content},
        _left,
        st.lists(st.one_of(_result, _block), max_size=5),
    ),
    _object(_left.map(lambda left: left | {"role": "user"}), content=_optional),
)


@given(openai_messages)
def test_any_openai_message_comes_back_equal(message: Json) -> None:
    given_in = deepcopy(message)

    assert [given_in] == export(parse_messages(message, Wire.OPENAI), Wire.OPENAI)
    assert message == given_in


@given(anthropic_messages)
def test_any_anthropic_message_comes_back_equal(message: Json) -> None:
    given_in = deepcopy(message)

    assert [given_in] == export(parse_messages(message, Wire.ANTHROPIC), Wire.ANTHROPIC)
    assert message == given_in


@needs_recordings
@pytest.mark.parametrize("file", [*trajectory_files(), *malformed_files()], ids=lambda file: file.name)
def test_recorded_messages_come_back_equal(file: Path) -> None:
    for trajectory in trajectories(file, sample=15):
        assert trajectory.messages == export(parse_messages(trajectory.messages, Wire.OPENAI), Wire.OPENAI)


@needs_recordings
def test_recorded_anthropic_blocks_come_back_equal() -> None:
    kept = [
        message["x_blocks"]
        for trajectory in trajectories(recording("provider_cassettes.jsonl.gz"), sample=200)
        for message in trajectory.messages
        if "x_blocks" in message
    ]
    assert kept

    for blocks in kept:
        message = {"role": "assistant", "content": blocks}
        assert [message] == export(parse_messages(message), Wire.ANTHROPIC)
