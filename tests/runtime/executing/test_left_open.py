"""Calls that an execution leaves alone: handed to sub-agents, or of tools that were offered and are not at hand."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import callsheet
from callsheet import ArtifactStatus, Conversation, Runtime, ToolContract
from callsheet.errors import InvalidOption
from callsheet.graph.changes import CallResolved
from callsheet.graph.enums import CallStatus, Defect
from callsheet.runtime.conversation import SubAgent
from callsheet.runtime.executing.tool import AnyTool
from callsheet.testing import memory_runtime
from tests.runtime.executing.acts import Gate, HandPace, artifacts, ask, attempts, join_tools, shown, talking, texts

OK, PENDING, ASKED, FAILED = (
    ArtifactStatus.OK,
    ArtifactStatus.PENDING,
    ArtifactStatus.AWAITING_APPROVAL,
    ArtifactStatus.FAILED,
)


@pytest.fixture
def talk() -> Conversation:
    return memory_runtime().conversation("orchard")


@callsheet.tool
def graft(tree: str) -> str:
    """Graft a tree."""
    return f"{tree} is grafted"


@callsheet.tool
def prune(tree: str) -> str:
    """Prune a tree."""
    return f"{tree} is pruned"


@callsheet.tool(contract=ToolContract(name="fell", needs_approval=True))
def fell(tree: str) -> str:
    """Fell a tree."""
    return f"{tree} is felled"


def test_a_call_that_a_sub_agent_works_on_is_left_to_it(talk: Conversation) -> None:
    talking(talk, d1=("delegate", {"row": 1}), p=("prune", {"tree": "T1"}))
    child = talk.spawn("See to row 1.", name="gardener", call="d1")
    for _ in range(2):
        by_tool = {one.tool: one for one in talk.execute([graft, prune]).outcomes}
        assert (by_tool["delegate"].status, by_tool["delegate"].artifact) == (PENDING, None)
        assert by_tool["delegate"].reason == "sub-agent 'gardener' works on it"
    assert [call.provider_id for call in talk.pending()] == ["d1"]
    child.complete("Row 1 is done.")
    assert shown(talk) == {"d1": "Row 1 is done.", "p": "T1 is pruned"}
    assert talk.pending() == ()
    assert len(artifacts(talk)) == 2


def test_it_is_left_also_where_its_tool_is_at_hand_or_it_is_named(talk: Conversation) -> None:
    talking(talk, g=("graft", {"tree": "T1"}))
    child = talk.spawn("Graft T1.", name="grafter", call="g")
    (outcome,) = talk.execute([graft], calls=["g"]).outcomes
    assert (outcome.status, outcome.attempts, texts(talk)) == (PENDING, 0, [])
    child.fail("no scion")
    assert "no scion" in texts(talk)[0]


def test_a_branch_that_inherits_the_call_can_hand_it_on_when_the_sub_agent_has_ended(talk: Conversation) -> None:
    talking(talk, d1=("delegate", {"row": 1}))
    talk.spawn("See to row 1.", name="gardener", call="d1")
    other = talk.branch(name="other")
    assert [one.reason for one in other.execute([graft]).outcomes] == ["sub-agent 'gardener' works on it"]
    talk.child("gardener").fail("rain")
    other.spawn("See to row 1.", name="second", call="d1").complete("Row 1 is done.")
    assert shown(other) == {"d1": "Row 1 is done."}
    assert "rain" in shown(talk)["d1"]


def test_a_tool_that_the_request_offered_leaves_its_call_open_where_it_is_not_at_hand(talk: Conversation) -> None:
    talk.record({"role": "user", "content": "Please see to it."})
    sheet = talk.assemble(provider="openai", model="gpt-5.2", tools=[graft, prune])
    call = {"id": "g", "type": "function", "function": {"name": "graft", "arguments": '{"tree": "T2"}'}}
    talk.record({"role": "assistant", "content": None, "tool_calls": [call]}, sheet=sheet)
    done = talk.execute([prune])
    (outcome,) = done.outcomes
    assert (outcome.status, outcome.artifact, done.complete) == (PENDING, None, False)
    assert outcome.reason == "the tool 'graft' is not among those given here; the call waits for one"
    assert [one.status for one in talk.execute([graft]).outcomes] == [OK]
    assert shown(talk) == {"g": "T2 is grafted"}


def test_a_tool_that_no_request_offered_is_answered_as_not_available(talk: Conversation) -> None:
    talk.record({"role": "user", "content": "Please see to it."})
    sheet = talk.assemble(provider="openai", model="gpt-5.2", tools=[prune])
    call = {"id": "b", "type": "function", "function": {"name": "burn", "arguments": "{}"}}
    talk.record({"role": "assistant", "content": None, "tool_calls": [call]}, sheet=sheet)
    (outcome,) = talk.execute([prune]).outcomes
    assert (outcome.status, outcome.reason) == (FAILED, "")
    assert texts(talk) == ["The tool 'burn' is not available; nothing was run. Available: prune."]


@pytest.mark.parametrize("answered", [True, False])
@pytest.mark.parametrize("now", [[prune], []])
def test_a_function_that_the_newest_request_does_not_offer_is_not_run_though_it_is_given(
    talk: Conversation, answered: bool, now: list[AnyTool]
) -> None:
    felled: list[str] = []

    def fell(tree: str) -> str:
        felled.append(tree)
        return "felled"

    talk.record({"role": "user", "content": "Please see to it."})
    talk.assemble(provider="openai", model="gpt-5.2", tools=[fell, prune])
    talk.record({"role": "assistant", "content": "What shall I do?"})
    talk.record({"role": "user", "content": "Fell T1, or prune it."})
    sheet = talk.assemble(provider="openai", model="gpt-5.2", tools=now)
    call = {"id": "b", "type": "function", "function": {"name": "fell", "arguments": '{"tree": "T1"}'}}
    talk.record({"role": "assistant", "content": None, "tool_calls": [call]}, sheet=sheet if answered else None)
    (outcome,) = talk.execute([fell, prune], calls=["b"]).outcomes
    assert (outcome.status, outcome.attempts, felled) == (FAILED, 0, [])
    assert texts(talk) == ["The tool 'fell' is not available; nothing was run. Available: prune."]
    assert talk.pending() == ()
    assert talk.executions()[0].attempts[-1].error == "ToolNotAvailable"
    made = talk.assemble(provider="openai", model="gpt-5.2", tools=[fell])
    talk.record({"role": "assistant", "content": None, "tool_calls": [call | {"id": "c"}]}, sheet=made)
    assert [one.status for one in talk.execute([fell]).outcomes] == [OK]
    assert felled == ["T1"]


def test_where_no_request_is_known_what_is_given_runs(talk: Conversation) -> None:
    talking(talk, g=("graft", {"tree": "T1"}))
    talk.assemble(provider="openai", model="gpt-5.2", tools=[prune])  # after the call: it says nothing of it
    assert [one.status for one in talk.execute([graft]).outcomes] == [OK]


@pytest.mark.parametrize("approved", [False, True])
def test_a_call_that_a_person_decides_on_outlives_executions_without_its_tool(
    talk: Conversation, approved: bool
) -> None:
    talking(talk, f=("fell", {"tree": "T3"}))
    talk.execute([fell])
    if approved:
        talk.approve("f", by="kim")
    (outcome,) = talk.execute([prune]).outcomes
    assert outcome.status is ASKED
    assert "'fell' is not among those given here" in outcome.reason
    if not approved:
        talk.approve("f", by="kim")
    talk.execute([prune, fell])
    assert shown(talk) == {"f": "T3 is felled"}


def test_one_call_has_one_sub_agent_at_a_time(talk: Conversation) -> None:
    talking(talk, d1=("delegate", {"row": 1}))
    first = talk.spawn("See to row 1.", name="gardener", call="d1")
    with pytest.raises(InvalidOption, match="sub-agent 'gardener' works on call 'd1' already"):
        talk.spawn("See to row 1, quickly.", call="d1")
    with pytest.raises(InvalidOption, match="sub-agent 'gardener' works on call"):
        talk.spawn("See to row 1, quickly.", call=talk.pending()[0])
    assert len(talk.children()) == 1
    first.fail("rain")
    ask(talk, d2=("delegate", {"row": 1}))
    assert talk.spawn("See to row 1.", call="d2").complete("done")


def _acts(view: SubAgent, tools: Sequence[AnyTool]) -> Iterator[Callable[[], object]]:
    """What a sub-agent does."""
    yield lambda: view.record({"role": "assistant", "content": "one thing more"})
    yield lambda: view.assemble(provider="openai", model="gpt-5.2")
    yield lambda: view.execute(tools)
    yield lambda: view.approve("f", by="kim")
    yield lambda: view.spawn("Dig deeper.")
    yield lambda: view.complete("again")


def test_a_sub_agent_that_has_ended_does_nothing_more(tmp_path: Path) -> None:
    ran: list[str] = []

    def dig(hole: str) -> str:
        ran.append(hole)
        return hole

    with callsheet.open(tmp_path / "orchard.db") as runtime:
        talk = talking(runtime.conversation("orchard"), d1=("delegate", {"row": 1}))
        child = talk.spawn("Dig.", name="digger", call="d1")
        ask(child, h=("dig", {"hole": "H1"}), f=("fell", {"tree": "T1"}))
        child.execute([fell], calls=["f"])
        child.complete("Enough.")
        before = len(child.history()[0])
        again = talk.child("digger")
        for view in (child, again):
            for act in _acts(view, [dig, fell]):
                with pytest.raises(InvalidOption, match="sub-agent 'digger' has ended"):
                    act()
        assert ran == []
        assert len(child.history()[0]) == before
        assert len(child.transcript()) > 0
    with callsheet.open(tmp_path / "orchard.db") as runtime:
        later = runtime.conversation("orchard").child("digger")
        with pytest.raises(InvalidOption, match="sub-agent 'digger' has ended"):
            later.execute([dig, fell])


def test_what_was_running_when_a_sub_agent_ended_is_late_evidence(talk: Conversation) -> None:
    child = talk.spawn("Dig.", name="digger")
    ran: list[str] = []

    def dig(hole: str) -> str:
        if hole == "H1":
            child.fail("recalled")
        ran.append(hole)
        return f"{hole} is dug"

    ask(child, h=("dig", {"hole": "H1"}), i=("dig", {"hole": "H2"}))
    with pytest.raises(InvalidOption, match="sub-agent 'digger' has ended"):
        child.execute([dig], parallel=1)
    assert ran == ["H1"]
    (late,) = artifacts(child)
    assert Defect.LATE_RESULT in late.defects
    assert [call.provider_id for call in child.pending()] == ["i"]


def test_a_tool_that_outlives_its_sub_agent_is_recorded_when_it_lands(talk: Conversation) -> None:
    child = talk.spawn("Dig.", name="digger")
    gate, pace = Gate(), HandPace()

    def dig(hole: str) -> str:
        pace.advance(500.0)
        gate.wait()
        return f"{hole} is dug"

    ask(child, h=("dig", {"hole": "H1"}))
    assert [one.status for one in child.execute([dig], pace=pace).outcomes] == [ArtifactStatus.TIMED_OUT]
    child.fail("it takes too long")
    gate.open()
    join_tools()
    assert texts(child)[-1] == "H1 is dug"
    assert Defect.LATE_RESULT in artifacts(child)[-1].defects
    assert attempts(child)[-1].outcome is OK


def test_a_sub_agent_of_one_that_has_ended_can_still_end(talk: Conversation) -> None:
    child = talk.spawn("Dig.", name="digger")
    inner = child.spawn("Fetch a spade.", name="fetcher")
    child.fail("recalled")
    inner.complete("The spade is here.")
    assert texts(child) == ["The spade is here."]


def test_a_call_that_was_settled_and_is_open_again_waits_at_once_as_after_a_restart(talk: Conversation) -> None:
    talking(talk, g=("graft", {"tree": "T1"}), p=("prune", {"tree": "T1"}))
    calls = {call.provider_id: call.id for call in talk.pending()}
    talk.execute([graft, prune])
    assert talk.pending() == ()
    again = CallResolved(call=calls["g"], status=CallStatus.OPEN)
    tail, _ = talk._session.append(talk._view, lambda drafting: drafting.add(again, kind="call_resolved"))
    assert list(tail.open) == [calls["g"]]
    session = talk._session
    anew = Runtime(session.ledger, tenant="local", ids=session.ids, clock=session.clock).conversation("orchard")
    assert [call.id for call in talk.pending()] == [call.id for call in anew.pending()] == [calls["g"]]
    talk.record({"role": "tool", "tool_call_id": "g", "content": "T1 is grafted twice"})
    assert talk.pending() == anew.pending() == ()
