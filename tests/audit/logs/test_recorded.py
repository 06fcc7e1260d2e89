"""Logs that the libraries themselves wrote (tools/build_agent_logs.py) are read as what was said and done."""

import pytest

from callsheet.audit.logs.values import LogFormat
from tests.audit.logs.reading import RECORDED, read

ASKED = ["user: Where is W123?", "assistant: get_order(c1)", 'tool: {"order": "W123", "status": "shipped"} | [c1]']


def test_checkpoints_of_langgraph() -> None:
    found = read(RECORDED / "langgraph.sqlite.gz")

    assert found.format is LogFormat.LANGGRAPH
    main = ["system: You help.", *ASKED, "assistant: It was shipped."]
    assert found.said("support-1") == [*main, "user: Where to?", "assistant: To Oslo."]
    (branch,) = found.forks
    assert found.forks[branch] == ("main", 5)
    assert found.said(branch) == ["user: Which harbour?", "assistant: To Bergen."]
    assert found.usage("support-1") == [(1400, 0, 0, 12), (1450, 1280, 0, 5), None]
    first, _, third = [one for one in found.messages["support-1"] if one.answered is not None]
    assert first.answered is not None
    assert (first.answered.provider, first.answered.model, first.answered.response) == ("openai", "gpt-5.2", "resp-1")
    assert third.message["x_items"] == [{"type": "reasoning", "reasoning": "?"}]
    times = [str(one.message["x_at"]) for one in found.messages["support-1"]]
    assert times == sorted(times)
    assert len(set(times)) > 3, "each message has the time of the step that it came with"
    assert found.notes.passed == {}


def test_a_sub_graph_is_a_conversation_of_its_own() -> None:
    found = read(RECORDED / "langgraph.sqlite.gz")

    assert found.said("harbour") == ["user: Which berths?", "assistant: Three berths are free."]
    assert [name for name, parent in found.parents.items() if parent == "harbour"] == ["harbour/berths"]


def test_a_session_of_the_agents_sdk() -> None:
    found = read(RECORDED / "openai_agents.sqlite.gz")

    assert found.format is LogFormat.OPENAI_AGENTS
    assert found.said("support-1") == [*ASKED, "assistant: Answer 2.", "user: Sure?", "assistant: Answer 3."]
    items = found.messages["support-1"][1].message["x_items"]
    assert isinstance(items, list)
    assert [(item["type"], item["encrypted_content"]) for item in items] == [("reasoning", "gAAA")]
    assert found.usage("support-1") == [None, None, None]
    assert found.notes.passed == {}


def test_an_advanced_session_has_branches_and_usage_by_turn() -> None:
    from callsheet.audit.logs.formats import recognised

    path = RECORDED / "openai_agents_advanced.sqlite.gz"
    found = read(path)
    assert found.said("support-2") == [*ASKED, "assistant: Answer 2.", "user: Sure?", "assistant: Answer 3."]
    assert found.said("support-2/again") == ["user: Where to?", "assistant: Answer 4."]
    assert found.forks == {"support-2/again": ("main", 4)}
    with recognised(str(path)) as log:
        assert log is not None
        took = {one.name: [each.usage for each in one.others] for one in log.conversations()}
    # The first turn asked twice.
    assert [usage.input for usage in took["support-2"] if usage is not None] == [3000, 3000]
    assert [usage.cached_input for usage in took["support-2/again"] if usage is not None] == [1536]


@pytest.mark.parametrize("name", ["opentelemetry_attributes", "opentelemetry_events"])
def test_spans_of_opentelemetry(name: str) -> None:
    found = read(RECORDED / f"{name}.jsonl")

    assert found.format is LogFormat.OPENTELEMETRY
    ((conversation, messages),) = found.messages.items()
    assert found.said(conversation)[:5] == ["system: You help.", *ASKED, "assistant: It was shipped."]
    assert all(one.answered.model == "gpt-5.2" for one in messages if one.answered is not None)
    assert all(one.message["x_at"] for one in messages)
    assert set(found.notes.passed) == {"span that asks no model"}


def test_runs_of_one_conversation_are_put_together_and_usage_is_of_each_request() -> None:
    found = read(RECORDED / "opentelemetry_attributes.jsonl")

    ((conversation, _),) = found.messages.items()
    assert found.said(conversation)[5:] == ["user: Sure?", "assistant: It was shipped."]
    assert found.usage(conversation) == [(1000, 0, 0, 7), (2000, 1024, 0, 7), (3000, 2048, 0, 7)]
