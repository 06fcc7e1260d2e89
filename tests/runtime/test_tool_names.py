"""Tools of one name: the caller's stand before a skill's, an earlier skill's before a later one's."""

import json
from collections.abc import Callable, Iterator

import pytest

from callsheet import Conversation, Runtime
from callsheet.errors import InvalidOption
from callsheet.graph.enums import ArtifactStatus
from callsheet.recall.tool import NAME as RECALL
from callsheet.runtime import skills as skills_of_workspaces
from callsheet.runtime.skills import RESERVED, USE_SKILL
from callsheet.testing import memory_runtime
from tests.runtime.replies import Json, asks, call, result, user

MODELS = {
    "openai": "gpt-5.2",
    "openai-responses": "gpt-5.2",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-3-pro",
}


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with memory_runtime() as opened:
        yield opened


@pytest.fixture
def talk(runtime: Runtime) -> Conversation:
    opened = runtime.conversation("harbour")
    opened.record(user("Draw the bay."))
    return opened


def tool(name: str, *parameters: str) -> Json:
    properties = {each: {"type": "string"} for each in parameters}
    schema = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "description": "Look.", "parameters": schema}}


def in_anthropics_shape(name: str, *parameters: str) -> Json:
    properties = {each: {"type": "string"} for each in parameters}
    return {"name": name, "description": "Look.", "input_schema": {"type": "object", "properties": properties}}


def add(runtime: Runtime, name: str, *tools: Json) -> None:
    runtime.skills.add(name, summary=f"Does {name}.", instructions=f"How to {name}.", tools=tools)


def offered(talk: Conversation, *tools: Json, provider: str = "openai", budget: int | None = None) -> list[str]:
    sheet = talk.assemble(provider=provider, model=MODELS[provider], tools=tools, budget=budget)
    sheet.request()
    return list(sheet.record.boundary.tools)


def fill(talk: Conversation) -> None:
    """More than a small budget holds."""
    for at in range(6):
        talk.record(user(f"How is berth {at}?"))
        talk.record(asks(call(f"c{at}", "berth")))
        talk.record(result(f"c{at}", "\n".join(f"row {at} {row}" for row in range(400))))
    talk.record(user("And now?"))


# ------------------------------------------------------------------------------------------ of two skills


def test_a_model_cannot_load_two_skills_that_mean_other_things_by_one_name(
    runtime: Runtime, talk: Conversation
) -> None:
    add(runtime, "tides", tool("lookup", "port"), tool("tide"))
    add(runtime, "ships", tool("lookup", "ship"), tool("ship"))
    talk.offer_skills()
    said = []
    for name in ("tides", "ships"):
        sheet = talk.assemble(provider="openai", model="gpt-5.2")
        talk.record(asks(call(name, USE_SKILL, json.dumps({"name": name}))), sheet=sheet)
        (outcome,) = talk.execute([]).outcomes
        assert outcome.artifact is not None
        said.append(talk.raw(outcome.artifact).decode())
    assert said == [
        "Skill tides is active. Its tools: lookup, tide.",
        "Skill ships is not active: its tool lookup has the name of another tool, of skill tides, which is active.",
    ]
    assert [skill.name for skill in talk.skills().active] == ["tides"]
    assert "How to ships" not in json.dumps(dict(talk.assemble(provider="openai", model="gpt-5.2").request()))
    assert sorted(offered(talk)) == ["lookup", "tide", USE_SKILL]
    talk.deactivate("tides")
    assert "is active" in talk.answer_skill('{"name": "ships"}')
    assert sorted(offered(talk)) == ["lookup", "ship", USE_SKILL]


def test_a_program_is_told_which_skills_and_which_tool(runtime: Runtime, talk: Conversation) -> None:
    add(runtime, "tides", tool("lookup", "port"))
    add(runtime, "ships", tool("lookup", "ship"))
    talk.activate("tides")
    before = talk.history()
    with pytest.raises(InvalidOption, match=r"'ships' brings a tool 'lookup' .* skill 'tides'"):
        talk.activate("ships")
    assert talk.history() == before


@pytest.mark.parametrize("other", [tool("lookup", "port"), in_anthropics_shape("lookup", "port")])
def test_tools_that_mean_the_same_are_one(runtime: Runtime, talk: Conversation, other: Json) -> None:
    add(runtime, "tides", tool("lookup", "port"))
    add(runtime, "ships", other, tool("ship"))
    talk.activate("tides")
    talk.activate("ships")
    assert offered(talk) == ["lookup", "ship"]
    assert talk.skills().left_out == ()
    talk.deactivate("tides")
    assert offered(talk) == ["lookup", "ship"]


def test_the_callers_stands_before_a_skills(runtime: Runtime, talk: Conversation) -> None:
    add(runtime, "tides", tool("lookup", "port"), tool("tide"))
    talk.activate("tides")
    sheet = talk.assemble(provider="openai", model="gpt-5.2", tools=[tool("lookup", "mine")])
    assert sheet.record.boundary.tools == ("lookup", "tide")
    assert "mine" in json.dumps(sheet.request()["tools"])


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_no_skill_brings_a_tool_of_our_names(runtime: Runtime, name: str) -> None:
    for given in (tool(name), in_anthropics_shape(name)):
        with pytest.raises(InvalidOption, match=name):
            add(runtime, "tides", tool("tide"), given)
    assert runtime.skills.list() == []


@pytest.mark.parametrize("provider", sorted(MODELS))
def test_what_is_recorded_already_does_not_stand_in_the_way(
    runtime: Runtime, talk: Conversation, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As older versions recorded it, which checked no names."""
    with monkeypatch.context() as older:
        older.setattr(skills_of_workspaces, "RESERVED", frozenset())
        older.setattr("callsheet.runtime.skilling.clash", lambda *_: None)
        add(runtime, "tides", tool("lookup", "port"), tool(RECALL), tool(USE_SKILL))
        add(runtime, "ships", tool("lookup", "ship"), tool("ship"))
        add(runtime, "stars")
        talk.offer_skills()
        talk.activate("tides")
        talk.activate("ships")
    fill(talk)
    assert offered(talk, provider=provider, budget=4_000) == ["lookup", "ship", USE_SKILL, RECALL]
    used = talk.skills()
    assert used.left_out == (("tides", RECALL), ("tides", USE_SKILL), ("ships", "lookup"))
    assert "port" in json.dumps([dict(one) for one in used.tools])


def test_skills_that_another_store_holds_do_not_stand_in_the_way(
    runtime: Runtime, talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an import into a store with skills of its own."""
    add(runtime, "tides", tool("tide"))
    talk.offer_skills()
    talk.activate("tides")
    (known,) = talk.skills().active
    add(runtime, "ships", tool("ship"))
    there = runtime.skills.version
    gone = [known.id]

    def version(self: object, id: str) -> object:
        return there("record_unknown" if id in gone else id)  # type: ignore[arg-type]

    monkeypatch.setattr(skills_of_workspaces.Skills, "version", version)
    assert offered(talk, tool("ask")) == ["ask"]
    talk.activate("ships")
    assert offered(talk, tool("ask")) == ["ask", "ship"]
    gone.clear()
    assert offered(talk, tool("ask")) == ["ask", "tide", "ship"]


# ------------------------------------------------------------------------------------------ the caller's own recall


@pytest.mark.parametrize("provider", sorted(MODELS))
def test_ours_steps_back_where_the_caller_has_a_recall(talk: Conversation, provider: str) -> None:
    own = tool(RECALL, "mine")
    fill(talk)
    sheet = talk.assemble(provider=provider, model=MODELS[provider], tools=[own], budget=4_000)
    assert sheet.record.boundary.tools == (RECALL,)
    sent = json.dumps(sheet.request())
    assert "mine" in sent
    assert not sheet.record.recall
    off = talk.assemble(provider=provider, model=MODELS[provider], tools=[own], budget=4_000, recall=False)
    assert json.dumps(off.request()) == sent
    assert not [id for id in (one.id for one in sheet.references()) if id in sent]
    assert talk.rebuild(sheet).same


def test_a_recall_that_comes_or_goes_later_changes_the_request_and_breaks_none(talk: Conversation) -> None:
    fill(talk)
    own = tool(RECALL, "mine")
    for tools, names in (((), [RECALL]), ((own,), [RECALL]), ((own,), [RECALL]), ((), [RECALL])):
        sheet = talk.assemble(provider="openai", model="gpt-5.2", tools=tools, budget=4_000)
        assert list(sheet.record.boundary.tools) == names
        sent = json.dumps(sheet.request())
        assert ("mine" in sent) == bool(tools)
        fresh = talk.on(talk.branch().branch_id).assemble(provider="openai", model="gpt-5.2", tools=tools, budget=4_000)
        assert ("mine" in json.dumps(fresh.request())) == bool(tools)
        talk.record({"role": "assistant", "content": "Calm."}, sheet=sheet)
        talk.record(user("And now?"))


def test_with_the_callers_recall_requests_go_on_as_with_any_tool(runtime: Runtime) -> None:
    """They are not taken for requests whose tools changed, which are written anew for nothing."""

    def rewrites(name: str) -> list[str]:
        talk, made = runtime.conversation(name), []
        for at in range(6):
            talk.record(user(f"How is berth {at}?"))
            talk.record(asks(call(f"c{at}", "berth")))
            talk.record(result(f"c{at}", "\n".join(f"row {at} {row}" for row in range(200))))
            sheet = talk.assemble(provider="openai", model="gpt-5.2", tools=[tool(name)], recall=name == RECALL)
            made.append(sheet.record.rewritten)
            talk.record({"role": "assistant", "content": f"Calm {at}."}, sheet=sheet)
        return made

    assert rewrites(RECALL) == rewrites("berth")
    assert rewrites("again").count("") > 1


def test_a_call_of_the_callers_recall_is_not_answered_as_ours(talk: Conversation) -> None:
    def recall(mine: str) -> str:
        """Recall a crate."""
        return f"crate {mine}"

    sheet = talk.assemble(provider="openai", model="gpt-5.2", tools=[recall])
    talk.record(asks(call("r", RECALL, '{"mine": "7"}')), sheet=sheet)
    (left,) = talk.execute([]).outcomes
    assert (left.status, left.artifact) == (ArtifactStatus.PENDING, None)
    (done,) = talk.execute([recall]).outcomes
    assert done.artifact is not None
    assert talk.raw(done.artifact) == b"crate 7"


def test_a_use_skill_of_the_callers_loads_skills_or_is_refused(runtime: Runtime, talk: Conversation) -> None:
    def use_skill(name: str) -> str:
        """Load a skill."""
        return talk.answer_skill({"name": name})

    add(runtime, "tides", tool("tide"))
    assert offered(talk, tool(USE_SKILL, "which")) == [USE_SKILL]
    talk.offer_skills()
    sheet = talk.assemble(provider="openai", model="gpt-5.2", tools=[use_skill])
    assert sheet.record.boundary.tools == (USE_SKILL,)
    assert "Load a skill." in json.dumps(sheet.request()["tools"])
    more = tool(USE_SKILL, "name", "which")
    more["function"]["parameters"]["required"] = ["name", "which"]  # type: ignore[index]
    custom: Json = {"type": "custom", "custom": {"name": USE_SKILL}}
    for other in (tool(USE_SKILL), tool(USE_SKILL, "which"), in_anthropics_shape(USE_SKILL, "which"), more, custom):
        with pytest.raises(InvalidOption, match=r"'use_skill', .* the skills that are offered"):
            offered(talk, other)
    talk.record(asks(call("s", USE_SKILL, '{"name": "tides"}')), sheet=sheet)
    talk.execute([use_skill])
    assert offered(talk, in_anthropics_shape(USE_SKILL, "name")) == [USE_SKILL, "tide"]


@pytest.mark.parametrize("shape", [tool, in_anthropics_shape])
@pytest.mark.parametrize("provider", sorted(MODELS))
def test_requests_are_made_again_whichever_shape_their_tools_were_given_in(
    talk: Conversation, provider: str, shape: Callable[..., Json]
) -> None:
    """What is planned with is what is sent: some tokens a tool decide what is cut where the budget ends."""
    for turn in range(10):
        talk.record(user(f"What of crate {turn}? " * 12))
        talk.record({"role": "assistant", "content": f"Crate {turn} stands on the quay. " * 12})
    talk.record(user("And now?"))
    tools = [shape(f"weigh_{at}", "crate") for at in range(30)]
    whole = talk.assemble(provider=provider, model=MODELS[provider], tools=tools, policy="faithful").tokens
    for share in range(70, 100, 3):
        budget = whole * share // 100
        sheet = talk.assemble(provider=provider, model=MODELS[provider], tools=tools, policy="faithful", budget=budget)
        again = talk.rebuild(sheet)
        assert (again.same, again.same_blocks) == (True, again.blocks), budget


# ------------------------------------------------------------------------------------------ of sub-agents


def find(q: str) -> str:
    """Find."""
    return f"found {q}"


RAN: list[str] = []


def tide(q: str = "") -> str:
    """Tell the tide."""
    RAN.append(q)
    return "high"


def test_the_brief_of_a_sub_agent_holds_for_tools_of_its_skills(runtime: Runtime, talk: Conversation) -> None:
    runtime.skills.add("tides", summary="Know tides.", instructions="Add wind.", tools=[tide])
    child = talk.spawn("Look.", name="k", tools=["find"])
    child.offer_skills("tides")
    assert child.answer_skill('{"name": "tides"}') == "Skill tides is active."
    sheet = child.assemble(provider="openai", model="gpt-5.2", tools=[find, tide])
    assert sheet.record.boundary.tools == ("find",)
    child.record(asks(call("t", "tide"), call("f", "find", '{"q": "x"}')), sheet=sheet)
    RAN.clear()
    outcomes = {one.tool: one for one in child.execute([find, tide]).outcomes}
    assert {name: one.status for name, one in outcomes.items()} == {
        "tide": ArtifactStatus.FAILED,
        "find": ArtifactStatus.OK,
    }
    assert not RAN
    assert child.pending() == ()
    refusing = outcomes["tide"].artifact
    assert refusing is not None
    assert talk.child("k").raw(refusing) == b"The tool 'tide' is not available; nothing was run. Available: find."


@pytest.mark.parametrize("at_hand", [True, False])
def test_a_call_that_no_brief_allows_is_refused_though_a_request_offered_its_tool(
    runtime: Runtime, talk: Conversation, monkeypatch: pytest.MonkeyPatch, at_hand: bool
) -> None:
    """As requests of older versions did for skills."""
    child = talk.spawn("Look.", name="k", tools=["find"])
    with monkeypatch.context() as older:
        older.setattr("callsheet.runtime.children.tools_of", lambda *_: None)
        sheet = child.assemble(provider="openai", model="gpt-5.2", tools=[find, tide])
    assert sheet.record.boundary.tools == ("find", "tide")
    child.record(asks(call("t", "tide")), sheet=sheet)
    RAN.clear()
    (outcome,) = child.execute([find, tide] if at_hand else [find]).outcomes
    assert outcome.status is ArtifactStatus.FAILED
    assert not RAN
    assert child.pending() == ()


def test_a_brief_that_names_no_tools_allows_all_beside_those_of_skills(runtime: Runtime, talk: Conversation) -> None:
    runtime.skills.add("tides", summary="Know tides.", instructions="Add wind.", tools=[tide])
    child = talk.spawn("Look.", name="k")
    child.activate("tides")
    assert offered(child, tool("ask")) == ["ask", "tide"]
    child.deactivate("tides")
    assert offered(child, tool("ask")) == ["ask"]
    none = talk.spawn("Look.", name="n", tools=[])
    none.activate("tides")
    assert offered(none, tool("ask")) == []
