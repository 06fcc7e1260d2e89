"""Reported failures of other libraries, played with tool execution."""

import pytest

from callsheet import ArtifactStatus, Conversation
from callsheet.assemble.standins import NO_RESULT
from callsheet.graph.changes import ToolsOffered
from callsheet.graph.enums import RunStatus
from callsheet.graph.nodes import ModelRun
from callsheet.graph.query import NodeQuery
from callsheet.testing import ScriptedProvider, memory_runtime
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.runtime.executing.acts import Json, ask, key_of, request, shown, texts

MODELS = {"openai": "gpt-5.2", "anthropic": "claude-sonnet-4-5"}


@pytest.fixture
def talk() -> Conversation:
    return memory_runtime().conversation("case")


def valid(talk: Conversation) -> None:
    for provider, model in MODELS.items():
        assert not problems(talk.assemble(provider=provider, model=model).request(), Wire(provider))


def test_dev_04_an_interrupted_call_has_a_stand_in_and_nothing_runs_it_by_itself(talk: Conversation) -> None:
    ran: list[str] = []

    def run(cmd: str) -> str:
        ran.append(cmd)
        return "done"

    talk.record({"role": "user", "content": "Grow the index and count the rows."})
    ask(talk, t_a=("run", {"cmd": "grow-index"}), t_b=("run", {"cmd": "count-rows"}))
    talk.record({"role": "tool", "tool_call_id": "t_b", "content": "88213"})
    talk.record({"role": "user", "content": "What happened so far?"})
    before = talk.history()
    (outcome,) = talk.execute([run]).outcomes
    assert (outcome.provider_id, outcome.status) == ("t_a", ArtifactStatus.PENDING)
    assert ran == []
    assert talk.history() == before
    assert shown(talk) == {"t_a": NO_RESULT, "t_b": "88213"}
    results = request(talk, "anthropic")[2]["content"]
    assert isinstance(results, list)
    assert [block["type"] for block in results] == ["tool_result", "tool_result", "text"]
    assert [block["tool_use_id"] for block in results[:2]] == ["t_a", "t_b"]
    assert [call.provider_id for call in talk.pending()] == ["t_a"]
    valid(talk)


def test_dev_29_giving_up_lets_the_conversation_go_on(talk: Conversation) -> None:
    talk.record({"role": "user", "content": "Weigh crates A and B."})
    ask(talk, w1=("weigh", {"crate": "A"}), w2=("weigh", {"crate": "B"}))
    talk.record({"role": "tool", "tool_call_id": "w1", "content": "41 kg"})
    (waiting,) = talk.pending()
    assert (waiting.tool, waiting.arguments) == ("weigh", '{"crate": "B"}')
    talk.give_up(waiting, by="kim", reason="the scales are broken")
    assert talk.pending() == ()
    told = "Given up on by kim: the scales are broken. No result is known; it may or may not have taken effect."
    assert shown(talk) == {"w1": "41 kg", "w2": told}
    valid(talk)
    talk.record({"role": "user", "content": "Leave B, then."})
    valid(talk)


def test_dev_30_failed_requests_are_recorded_and_run_no_tool_again(talk: Conversation) -> None:
    ran: list[int] = []

    def dock_info(dock: int) -> str:
        ran.append(dock)
        return "free"

    call = {"id": "d1", "type": "function", "function": {"name": "dock_info", "arguments": '{"dock": 9}'}}
    asks = {"role": "assistant", "content": None, "tool_calls": [call]}
    provider = ScriptedProvider(["", {"choices": [{"index": 0, "message": asks}]}, "Dock 9 is free."])
    for _ in range(2):
        talk.record({"role": "user", "content": "hello from dock 9"}, event="turn-1")
    sheet = talk.assemble(provider="openai", model="gpt-5.2", tools=[dock_info])
    talk.failed(sheet, status="timed_out", error="ReadTimeout")
    empty = provider.create(**sheet.request())
    talk.failed(sheet, error="an empty reply", reply=empty)
    talk.record(provider.create(**sheet.request()), sheet=sheet)
    assert talk.execute([dock_info]).complete
    sheet = talk.assemble(provider="openai", model="gpt-5.2", tools=[dock_info])
    talk.failed(status="failed", error="503")
    assert talk.execute([dock_info]).outcomes == ()
    talk.record(provider.create(**sheet.request()), sheet=sheet)
    talk.record({"role": "user", "content": "hello from dock 9"}, event="turn-1")

    assert ran == [9]
    assert [message["role"] for message in request(talk)] == ["user", "assistant", "tool", "assistant"]
    runs = [
        (record.body.status, record.body.attempt, record.body.error)
        for record in talk._session.ledger.nodes(key_of(talk), NodeQuery(kinds=("run",)))
        if isinstance(record.body, ModelRun)
    ]
    assert runs == [
        (RunStatus.TIMED_OUT, 1, "ReadTimeout"),
        (RunStatus.FAILED, 2, "an empty reply"),
        (RunStatus.COMPLETED, 1, None),
        (RunStatus.FAILED, 1, "503"),
        (RunStatus.COMPLETED, 1, None),
    ]
    everything = str(talk.assemble(provider="openai", model="gpt-5.2").request())
    assert not any(word in everything for word in ("ReadTimeout", "an empty reply", "503"))


def test_dev_46_a_stray_call_of_a_tool_that_is_gone_is_answered_and_runs_nothing(talk: Conversation) -> None:
    booked: list[str] = []

    def book_room(date: str, room: str) -> str:
        booked.append(room)
        return "booked OAK-04"

    def reserve_room(room_id: str, start: str, end: str) -> str:
        return f"reserved {room_id}"

    def turn(tools: list[object], call: Json) -> None:
        assert all(map(callable, tools))
        sheet = talk.assemble(provider="openai", model="gpt-5.2", tools=[t for t in tools if callable(t)])
        talk.record({"role": "assistant", "content": None, "tool_calls": [call]}, sheet=sheet)

    def call(id: str, arguments: str) -> Json:
        return {"id": id, "type": "function", "function": {"name": "book_room", "arguments": arguments}}

    talk.record({"role": "user", "content": "Book the oak room on the 4th."})
    turn([book_room], call("b1", '{"date":"04","room":"oak"}'))
    talk.execute([book_room])
    talk.record({"role": "assistant", "content": "Booked."})
    talk.record({"role": "user", "content": "And the elm room on the 5th."})
    turn([reserve_room], call("b2", '{"date":"05","room":"elm"}'))
    (outcome,) = talk.execute([reserve_room]).outcomes
    assert (outcome.status, outcome.attempts) == (ArtifactStatus.FAILED, 0)
    assert booked == ["oak"]
    assert shown(talk)["b1"] == "booked OAK-04"
    assert shown(talk)["b2"] == "The tool 'book_room' is not available; nothing was run. Available: reserve_room."
    assert texts(talk)[0] == "booked OAK-04"
    valid(talk)
    for provider, model in MODELS.items():
        sheet = talk.assemble(provider=provider, model=model, tools=[reserve_room])
        assert not problems(sheet.request(), Wire(provider))
        assert sheet.record.boundary.tools == ("reserve_room",)
    events = talk._session.ledger.nodes(key_of(talk), NodeQuery(kinds=("tools_offered",)))
    assert [record.body.names for record in events if isinstance(record.body, ToolsOffered)] == [
        ("book_room",),
        ("reserve_room",),
    ]
