"""Skills: a line each in the catalogue; instructions and tools only while a skill is active."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import callsheet
from callsheet import Conversation, Runtime
from callsheet.errors import InvalidMessage, InvalidOption, NotFound
from callsheet.runtime.transcript import Spoken
from callsheet.testing import memory_runtime
from tests.runtime.replies import Json, asks, call, result, tool, user


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with memory_runtime() as opened:
        fill(opened)
        yield opened


def fill(runtime: Runtime) -> None:
    runtime.skills.add("maps", summary="Draw maps.", instructions="Scale is 1:5000.", tools=[tool("draw_map")])
    runtime.skills.add("tides", summary="Know the tides.", instructions="Add the wind.", tools=[tool("tide")])


@pytest.fixture
def talk(runtime: Runtime) -> Conversation:
    opened = runtime.conversation("harbour")
    opened.record(user("Draw the bay."))
    return opened


def request(talk: Conversation, provider: str = "openai") -> Json:
    model = {"openai": "gpt-5.2", "anthropic": "claude-sonnet-4-5"}[provider]
    return dict(talk.assemble(provider=provider, model=model, tools=[tool("ask")]).request())


def tools(request: Json) -> list[str]:
    found = request["tools"]
    assert isinstance(found, list)
    return [str(one.get("name") or one["function"]["name"]) for one in found]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_the_catalogue_is_there_and_nothing_of_a_skill_until_it_is_active(talk: Conversation, provider: str) -> None:
    assert "maps" not in json.dumps(request(talk, provider))
    talk.offer_skills()
    sent = request(talk, provider)
    assert "- maps: Draw maps." in json.dumps(sent)
    assert "1:5000" not in json.dumps(sent)
    assert tools(sent) == ["ask", "use_skill"]
    talk.activate("maps")
    sent = request(talk, provider)
    assert "1:5000" in json.dumps(sent)
    assert "Add the wind" not in json.dumps(sent)
    assert tools(sent) == ["ask", "draw_map", "use_skill"]
    talk.deactivate("maps")
    sent = request(talk, provider)
    assert "1:5000" not in json.dumps(sent)
    assert tools(sent) == ["ask", "use_skill"]


def test_the_model_activates_a_skill_by_a_tool(talk: Conversation) -> None:
    talk.offer_skills("tides")
    known = talk.record(asks(call("s", "use_skill", '{"name": "tides"}'))).pending[0]
    talk.record(result("s", talk.answer_skill(known)))
    sheet = talk.assemble(provider="openai", model="gpt-5.2")
    assert tools(dict(sheet.request())) == ["tide"]
    assert sheet.record.boundary.skills == ("tides",)
    assert sheet.record.tokens.tools > 0
    for wrong in ('{"name": "maps"}', '{"name": 3}', "{", "[]", '"tides"'):
        assert "the list has: tides" in talk.answer_skill(wrong)
    assert [skill.name for skill in talk.skills().active] == ["tides"]


def test_an_active_skill_keeps_the_version_that_it_began_with(runtime: Runtime, talk: Conversation) -> None:
    first = talk.activate("maps")
    second = runtime.skills.add("maps", summary="Draw maps.", instructions="Scale is 1:900.")
    assert second != first.id
    assert "1:5000" in json.dumps(request(talk))
    talk.deactivate("maps")
    assert talk.activate("maps").id == second
    assert "1:900" in json.dumps(request(talk))
    assert "1:5000" not in json.dumps(request(talk))


def test_activating_twice_is_activating_once(talk: Conversation) -> None:
    talk.activate("maps")
    before = len(talk.history()[0])
    talk.activate("maps")
    assert len(talk.history()[0]) == before


def test_skills_of_one_participant_are_no_others(talk: Conversation) -> None:
    one, other = talk.participant("one"), talk.participant("other")
    one.activate("maps")
    assert "1:5000" in json.dumps(request(one))
    assert "1:5000" not in json.dumps(request(other))
    assert tools(request(other)) == ["ask"]


def test_a_newer_catalogue_replaces_the_older(runtime: Runtime, talk: Conversation) -> None:
    talk.offer_skills()
    runtime.skills.remove("tides")
    talk.offer_skills()
    sent = json.dumps(request(talk))
    assert "maps" in sent
    assert "Know the tides" not in sent
    with pytest.raises(NotFound, match="maps"):
        runtime.skills.get("tides")


def test_nothing_of_it_stands_in_the_transcript(talk: Conversation) -> None:
    talk.offer_skills()
    talk.activate("maps")
    assert [item.text for item in talk.transcript() if isinstance(item, Spoken)] == ["Draw the bay."]


def test_adding_the_same_again_changes_nothing(runtime: Runtime) -> None:
    before = runtime.skills.list()
    fill(runtime)
    assert runtime.skills.list() == before
    with pytest.raises(InvalidOption, match="says something else"):
        runtime.skills.add("maps", summary="Draw.", instructions="x", version=before[0].version)


def test_what_is_no_skill_is_refused(runtime: Runtime, talk: Conversation) -> None:
    for summary in ("", "two\nlines", "x" * 401):
        with pytest.raises(InvalidOption, match="summary"):
            runtime.skills.add("new", summary=summary, instructions="x")
    with pytest.raises(InvalidOption, match="instructions"):
        runtime.skills.add("new", summary="x", instructions=" ")
    with pytest.raises(InvalidMessage):
        runtime.skills.add("new", summary="x", instructions="x", tools=[{"no": "tool"}])
    with pytest.raises(NotFound):
        talk.activate("new")
    with pytest.raises(NotFound, match="not active"):
        talk.deactivate("maps")
    assert [skill.name for skill in runtime.skills.list()] == ["maps", "tides"]


def test_they_are_there_after_a_restart(tmp_path: Path) -> None:
    place = str(tmp_path / "harbour.db")
    with callsheet.open(place) as runtime:
        fill(runtime)
        talk = runtime.conversation("harbour")
        talk.record(user("Draw the bay."))
        talk.offer_skills()
        talk.activate("maps")
        before = request(talk)
    with callsheet.open(place) as runtime:
        assert request(runtime.conversation("harbour")) == before


def test_a_removed_skill_that_a_model_loads_is_answered(runtime: Runtime, talk: Conversation) -> None:
    talk.offer_skills()
    talk.activate("maps")
    for name in ("maps", "tides"):
        runtime.skills.remove(name)
    assert talk.answer_skill('{"name": "maps"}') == "Skill maps is active. Its tools: draw_map."
    assert talk.answer_skill('{"name": "tides"}') == "Skill tides is not there any more; nothing was loaded."
