"""Conversations with Gemini: signatures over a restart, calls without ids, and other providers in between."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest

import callsheet
from callsheet.testing import FixedClock, ScriptedProvider, SequenceIds, memory_runtime
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.recordings import malformed_files, needs_recordings

Json = dict[str, object]
SIGNED: Json = {"functionCall": {"name": "tide", "args": {"port": "Aask"}}, "thoughtSignature": "c2lnLTc3"}
RESULT: Json = {"functionResponse": {"name": "tide", "response": {"high": "05:12"}}}
BYPASS = "skip_thought_signature_validator"

MODELS = {
    "gemini": "gemini-3-pro",
    "openai": "gpt-5.2",
    "openai-responses": "gpt-5.2",
    "anthropic": "claude-sonnet-4-5",
}


def said(role: str, *parts: Json) -> Json:
    return {"role": role, "parts": list(parts)}


def contents(sheet: callsheet.Sheet) -> list[dict[str, list[Json]]]:
    return cast("list[dict[str, list[Json]]]", sheet.request()["contents"])


def test_dev_07_a_signature_is_on_its_call_after_a_restart(tmp_path: Path) -> None:
    where = str(tmp_path / "tides.db")
    for turn in range(2):
        with callsheet.open(where, clock=FixedClock()) as runtime:
            talk = runtime.conversation("tides")
            if not turn:
                talk.record([said("user", {"text": "Tide at Aask?"}), said("model", {"text": "I look."}, SIGNED)])
                talk.record(said("user", RESULT))
                talk.checkpoint()
            sheet = talk.assemble(provider="google", model="gemini-3-pro", policy="replay")

            assert [content["parts"] for content in contents(sheet)[1:]] == [[{"text": "I look."}, SIGNED], [RESULT]]
            assert not problems(sheet.request(), Wire.GEMINI)


def test_dev_07_a_call_of_another_provider_gets_the_documented_signature_and_no_other() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("tides")
        call = {"id": "a", "type": "function", "function": {"name": "tide", "arguments": '{"port": "Aask"}'}}
        talk.record(
            [{"role": "user", "content": "Tide?"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
        )
        talk.record({"role": "tool", "tool_call_id": "a", "content": "05:12"})
        newer, older, again = (
            contents(talk.assemble(provider="gemini", model=model))[1]["parts"][0]
            for model in ("gemini-3-pro", "gemini-2.5-flash", "gemini-3-pro")
        )

    assert newer == again
    assert newer["thoughtSignature"] == BYPASS
    assert "thoughtSignature" not in older
    assert newer["functionCall"] == {"id": "a", "name": "tide", "args": {"port": "Aask"}}


def test_providers_change_in_the_middle_of_a_conversation_and_back() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("tides")
        talk.record([said("system", {"text": "Be brief."}), said("user", {"text": "Tide at Aask?"})])
        talk.record(said("model", {"thought": True, "text": "Hm."}, SIGNED))
        talk.record(said("user", RESULT))
        before = talk.assemble(provider="gemini", model=MODELS["gemini"]).request()
        for provider, model in MODELS.items():
            sheet = talk.assemble(provider=provider, model=model)
            assert not problems(sheet.request(), sheet.wire)
            assert ("c2lnLTc3" in json.dumps(sheet.request())) == (provider == "gemini")
        assert talk.assemble(provider="gemini", model=MODELS["gemini"]).request() == before
        for provider, model in MODELS.items():
            sheet = talk.assemble(provider=provider, model=model)
            reply = ScriptedProvider([f"from {provider}"], provider=provider).create(**sheet.request())
            talk.record(reply, sheet=sheet)
            talk.record({"role": "user", "content": f"And after {provider}?"})
        for provider, model in MODELS.items():
            sheet = talk.assemble(provider=provider, model=model)
            assert not problems(sheet.request(), sheet.wire)
            assert all(f"from {other}" in json.dumps(sheet.request()) for other in MODELS)
        last = contents(talk.assemble(provider="gemini", model=MODELS["gemini"]))

    assert last[: len(cast("list[Json]", before["contents"]))] == before["contents"]


def test_a_request_goes_on_from_the_one_before(tmp_path: Path) -> None:
    with callsheet.open(str(tmp_path / "a.db"), ids=SequenceIds(), clock=FixedClock()) as runtime:
        talk = runtime.conversation("tides")
        shown: list[list[dict[str, list[Json]]]] = []
        for turn in range(4):
            talk.record(said("user", {"text": f"Tide {turn}?"}))
            talk.record(said("model", SIGNED))
            talk.record(said("user", RESULT))
            shown.append(contents(talk.assemble(provider="gemini", model="gemini-3-pro")))
            talk.record(said("model", {"text": "05:12."}))

    for earlier, later in pairwise(shown):
        assert later[: len(earlier)] == earlier


def test_messages_of_another_request_can_be_had_for_gemini() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("tides")
        talk.record({"role": "user", "content": "Tide?"})
        sheet = talk.assemble(provider="openai", model="gpt-5.2")

    assert sheet.messages("gemini") == [said("user", {"text": "Tide?"})]
    assert sheet.arguments() == sheet.request()


@pytest.mark.parametrize("provider", sorted(MODELS))
def test_a_function_is_offered_and_called(provider: str) -> None:
    def tide(port: str) -> str:
        """High water at a port."""
        return "05:12"

    with memory_runtime() as runtime:
        talk = runtime.conversation("tides")
        talk.record({"role": "user", "content": "Tide?"})
        request = talk.assemble(provider=provider, model=MODELS[provider], tools=[tide]).request()

    assert not problems(request, Wire(provider))
    assert "High water at a port." in json.dumps(request["tools"])
    assert callsheet.tool(tide).schema("gemini") == {
        "functionDeclarations": [
            {
                "name": "tide",
                "description": "High water at a port.",
                "parametersJsonSchema": callsheet.tool(tide).signature.schema,
            }
        ]
    }


@needs_recordings
def test_recorded_calls_without_ids_are_paired() -> None:
    (file,) = (file for file in malformed_files() if file.name.startswith("adk_no_call_ids"))
    for line in file.read_text().splitlines():
        with memory_runtime() as runtime:
            talk = runtime.conversation("adk")
            talk.record(json.loads(line)["messages"])
            request = talk.assemble(provider="gemini", model="gemini-3-pro").request()

        assert not problems(request, Wire.GEMINI)
        assert json.dumps(request).count("functionResponse") == json.dumps(request).count("functionCall") > 0


BUILT_IN: dict[str, Json] = {
    "gemini": {"googleSearch": {}},
    "openai-responses": {"type": "web_search"},
    "anthropic": {"type": "web_search_20250305", "name": "web_search"},
}


@pytest.mark.parametrize("provider", MODELS)
def test_a_request_is_made_again_with_all_its_tools(provider: str) -> None:
    def weigh(crate: str) -> str:
        """Weigh a crate, which takes so many words to say that it counts in a request of a few hundred tokens."""
        raise AssertionError(crate)

    def lift(crate: str, height: int) -> str:
        """Lift a crate."""
        raise AssertionError(crate, height)

    talk = memory_runtime().conversation("quay")
    for turn in range(6):
        talk.record({"role": "user", "content": f"What of crate {turn}? " * 12})
        talk.record({"role": "assistant", "content": f"Crate {turn} stands on the quay. " * 12})
    talk.record({"role": "user", "content": "And now?"})
    tools: list[Any] = [weigh, lift, *([BUILT_IN[provider]] if provider in BUILT_IN else [])]
    sizes: set[int] = set()
    for share in (None, 0.9, 0.8, 0.7):
        budget = round(max(sizes) * share) if share is not None else None
        sheet = talk.assemble(provider=provider, model=MODELS[provider], tools=tools, budget=budget, policy="faithful")
        again, trace = talk.rebuild(sheet), talk.trace(sheet)
        assert (again.same, again.same_blocks, trace.same) == (True, again.blocks, True)
        sizes.add(sheet.tokens)
    assert len(sizes) > 1
