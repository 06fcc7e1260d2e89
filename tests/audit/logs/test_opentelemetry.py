"""Spans in every version of the conventions; what belongs together; branches, agents within agents, other content."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.audit.logs.reading import read, written

Attributes = dict[str, Any]


def text(role: str, said: str) -> Attributes:
    return {"role": role, "parts": [{"type": "text", "content": said}]}


def asked(said: list[Attributes], answer: str | None, **more: Any) -> Attributes:
    """The attributes of a request and its answer."""
    attributes: Attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-5.2",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.input.messages": json.dumps(said),
    }
    if answer is not None:
        attributes["gen_ai.output.messages"] = json.dumps([{**text("assistant", answer), "finish_reason": "stop"}])
    return attributes | {name.replace("__", "."): value for name, value in more.items()}


def span(
    number: int, attributes: Attributes, *, parent: int | None = None, trace: str = "t1", **more: Any
) -> Attributes:
    return {
        "name": "chat",
        "context": {"trace_id": trace, "span_id": f"{number:016x}"},
        "parent_id": f"{parent:016x}" if parent is not None else None,
        "start_time": f"2026-03-02T09:00:{number:02}Z",
        "attributes": attributes,
        "events": [],
        **more,
    }


def test_requests_grow_a_conversation_whatever_order_they_are_written_in(tmp_path: Path) -> None:
    one = [text("user", "Hello")]
    two = [*one, text("assistant", "Hi"), text("user", "And?")]
    lines = [span(2, asked(two, "Nothing.")), span(1, asked(one, "Hi"))]
    found = read(written(tmp_path / "spans.jsonl", lines))

    assert found.said("t1") == ["user: Hello", "assistant: Hi", "user: And?", "assistant: Nothing."]
    assert found.usage("t1") == [(100, 0, 0, 5), (100, 0, 0, 5)]
    assert found.forks == {}


def test_another_continuation_is_a_branch(tmp_path: Path) -> None:
    one = [text("user", "Hello"), text("assistant", "Hi")]
    lines = [
        span(1, asked([*one, text("user", "Left")], "L")),
        span(2, asked([*one, text("user", "Right")], "R")),
        span(3, asked([*one, text("user", "Left")], "Another")),
    ]
    found = read(written(tmp_path / "spans.jsonl", lines))

    assert found.said("t1") == ["user: Hello", "assistant: Hi", "user: Left", "assistant: L"]
    assert sorted(found.forks.values()) == [("main", 2), ("main", 3)]


def test_a_history_that_was_shortened_goes_on(tmp_path: Path) -> None:
    history = [text("user", "One"), text("assistant", "1"), text("user", "Two")]
    shortened = [*history[2:], text("assistant", "2"), text("user", "Three")]
    found = read(written(tmp_path / "spans.jsonl", [span(1, asked(history, "2")), span(2, asked(shortened, "3"))]))

    assert [said.partition(": ")[2] for said in found.said("t1")] == ["One", "1", "Two", "2", "Three", "3"]
    assert [one.afresh for one in found.messages["t1"]] == [False] * 4 + [True, False]


def test_conversations_are_told_apart_by_id_and_else_by_trace(tmp_path: Path) -> None:
    lines = [
        span(1, asked([text("user", "a")], "A"), trace="t1"),
        span(2, asked([text("user", "b")], "B"), trace="t2"),
        span(3, asked([text("user", "c")], "C", gen_ai__conversation__id="talk"), trace="t3"),
        span(4, asked([text("user", "c"), text("assistant", "C")], "D", gen_ai__conversation__id="talk"), trace="t4"),
    ]
    found = read(written(tmp_path / "spans.jsonl", lines))

    assert {name: len(messages) for name, messages in found.messages.items()} == {"t1": 2, "t2": 2, "talk": 3}


def test_an_agent_that_another_one_invoked_has_a_conversation_of_its_own(tmp_path: Path) -> None:
    invoke = {"gen_ai.operation.name": "invoke_agent"}
    lines = [
        span(2, asked([text("user", "Plan")], "Asking"), parent=1),
        span(4, asked([text("user", "Find")], "Found"), parent=3),
        span(3, {**invoke, "gen_ai.agent.name": "finder"}, parent=1),
        span(1, {**invoke, "gen_ai.agent.name": "planner"}),
    ]
    found = read(written(tmp_path / "spans.jsonl", lines))

    assert found.said("t1") == ["user: Plan", "assistant: Asking"]
    assert found.said("t1/agent-finder-00000000") == ["user: Find", "assistant: Found"]
    assert found.parents == {"t1": None, "t1/agent-finder-00000000": "t1"}


def test_requests_without_content_count_with_their_usage(tmp_path: Path) -> None:
    from callsheet.audit.logs.formats import recognised

    attributes = {"gen_ai.operation.name": "chat", "gen_ai.system": "anthropic", "gen_ai.request.model": "claude-x"}
    usage = {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.cache_read_input_tokens": 90}
    path = written(tmp_path / "spans.jsonl", [span(1, attributes | usage)])
    with recognised(str(path)) as log:
        assert log is not None
        (one,) = log.conversations()

    assert one.count == 0
    (told,) = one.others
    assert told.usage is not None
    assert (told.usage.input, told.usage.cached_input) == (100, 90), "here input is told without what was cached"
    assert log.notes.passed == {"request whose content was not recorded (its usage counts)": 1}


def test_parts_of_every_kind(tmp_path: Path) -> None:
    parts: list[Any] = [
        {"type": "text", "content": "See"},
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "AA=="},
        {"type": "uri", "modality": "image", "uri": "https://example.com/a.png"},
        {"type": "file", "modality": "document", "file_id": "f1"},
        7,
    ]
    call = {"type": "tool_call", "id": "c1", "name": "look", "arguments": {"a": 1}}
    results = [{"type": "tool_call_response", "id": f"c{n}", "response": n} for n in (1, 2)]
    said: list[Attributes] = [
        {"role": "user", "parts": parts},
        {"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}, call]},
        {"role": "tool", "parts": results},
    ]
    found = read(written(tmp_path / "spans.jsonl", [span(1, asked(said, "Seen"))]))

    assert found.said("t1") == [
        "user: See | <image_url> | <image_url>",
        "assistant: look(c1)",
        "tool: 1 | [c1]",
        "tool: 2 | [c2]",
        "assistant: Seen",
    ]
    assert found.messages["t1"][0].message["x_items"] == [parts[3], {}]
    assert found.messages["t1"][1].message["x_items"] == [{"type": "reasoning", "content": "hm"}]


def test_messages_in_events_of_the_span(tmp_path: Path) -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
    events = [
        {"name": "gen_ai.system.message", "attributes": {"content": "Be brief."}},
        {"name": "gen_ai.user.message", "attributes": {"content": "Hello"}},
        {"name": "gen_ai.assistant.message", "attributes": {"tool_calls": json.dumps(calls)}},
        {"name": "gen_ai.tool.message", "attributes": {"id": "c1", "content": "seen"}},
        {"name": "gen_ai.choice", "attributes": {"index": 0, "message": json.dumps({"content": "Hi"})}},
        {"name": "exception", "attributes": {}},
    ]
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.system": "openai"}
    found = read(written(tmp_path / "spans.jsonl", [span(1, attributes, events=events)]))

    assert found.said("t1") == [
        "system: Be brief.",
        "user: Hello",
        "assistant: look(c1)",
        "tool: seen | [c1]",
        "assistant: Hi",
    ]


def test_messages_in_numbered_attributes(tmp_path: Path) -> None:
    attributes = {
        "gen_ai.system": "OpenAI",
        "gen_ai.request.model": "gpt-5.2",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "Hello",
        "gen_ai.prompt.1.role": "assistant",
        "gen_ai.prompt.1.tool_calls.0.id": "c1",
        "gen_ai.prompt.1.tool_calls.0.name": "look",
        "gen_ai.prompt.1.tool_calls.0.arguments": "{}",
        "gen_ai.prompt.2.role": "tool",
        "gen_ai.prompt.2.tool_call_id": "c1",
        "gen_ai.prompt.2.content": "seen",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "Hi",
        "gen_ai.usage.prompt_tokens": 12,
        "gen_ai.usage.completion_tokens": 3,
    }
    found = read(written(tmp_path / "spans.jsonl", [span(1, attributes)]))

    assert found.said("t1") == ["user: Hello", "assistant: look(c1)", "tool: seen | [c1]", "assistant: Hi"]
    assert found.usage("t1") == [None, (12, 0, 0, 3)]


@pytest.mark.parametrize("shape", ["indented", "list", "one document"])
def test_documents_over_many_lines_and_many_spans_in_one(tmp_path: Path, shape: str) -> None:
    spans = [span(n, asked([text("user", f"q{n}")], f"a{n}"), trace=f"t{n}") for n in (1, 2)]
    path = tmp_path / "spans.json"
    if shape == "indented":
        path.write_text("".join(json.dumps(one, indent=4) + "\n" for one in spans))
    elif shape == "list":
        path.write_text(json.dumps(spans, indent=2))
    else:
        otlp = [
            {
                "traceId": one["context"]["trace_id"],
                "spanId": one["context"]["span_id"],
                "name": "chat",
                "startTimeUnixNano": str(1_772_000_000_000_000_000 + at),
                "attributes": [
                    {"key": key, "value": {"intValue": value} if isinstance(value, int) else {"stringValue": value}}
                    for key, value in one["attributes"].items()
                ],
            }
            for at, one in enumerate(spans)
        ]
        path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": otlp}]}]}, indent=1))
    found = read(path)

    assert {name: found.usage(name) for name in found.messages} == {"t1": [(100, 0, 0, 5)], "t2": [(100, 0, 0, 5)]}
    assert found.notes.refused == []


@pytest.mark.parametrize("wrong", [None, 7, "x", "[1", [], {}, [None], [{"parts": 7}], '[{"role": 3, "parts": [[]]}]'])
@pytest.mark.parametrize(
    "name",
    ["gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions", "gen_ai.usage.input_tokens"],
)
def test_wrong_types_of_attributes(tmp_path: Path, name: str, wrong: object) -> None:
    attributes = asked([text("user", "Hello")], "Hi")
    read(written(tmp_path / "spans.jsonl", [span(1, {**attributes, name: wrong}), span(2, attributes)]))


@pytest.mark.parametrize("wrong", [None, 7, "x", [], {}, [None]])
@pytest.mark.parametrize("key", ["context", "parent_id", "start_time", "attributes", "events"])
def test_wrong_types_of_spans(tmp_path: Path, key: str, wrong: object) -> None:
    attributes = asked([text("user", "Hello")], "Hi")
    read(written(tmp_path / "spans.jsonl", [span(1, attributes), {**span(2, attributes), key: wrong}]))
