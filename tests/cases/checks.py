"""What the table of cases can expect, by name. Each check gets the case as played and the argument from the table."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

import pytest

from callsheet import Conversation, Runtime, Sheet
from callsheet.assemble.blocks import Answer, Block, Said, Text
from callsheet.assemble.standins import NO_RESULT
from callsheet.errors import BudgetTooSmall
from callsheet.graph.changes import ToolsOffered
from callsheet.graph.enums import Role
from callsheet.graph.nodes import ToolArtifact, ToolCall
from callsheet.wire.formats import Wire, parse_messages, tool_name
from callsheet.wire.tokens import counter_for
from tests.cases.histories import JAPANESE, STORED, TOOLS, Json

MODELS = {
    "openai": "gpt-5.2",
    "openai-responses": "gpt-5.2",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-3-pro",
}
"""A model for each format, by the name of a provider, which is the format's own."""

INSTRUCTED: Mapping[Wire, Callable[[Json], object]] = {
    Wire.OPENAI: lambda request: cast("list[Json]", request["messages"])[0]["content"],
    Wire.OPENAI_RESPONSES: lambda request: request["instructions"],
    Wire.ANTHROPIC: lambda request: request["system"],
    Wire.GEMINI: lambda request: cast("dict[str, list[Json]]", request["systemInstruction"])["parts"][0]["text"],
}
"""What a request has in system position."""


@dataclass(frozen=True, kw_only=True)
class Played:
    """A case that was recorded and assembled for one provider."""

    runtime: Runtime
    talk: Conversation
    provider: str
    policy: str
    tools: list[Json]
    #: None where the case is refused at every budget that it names.
    sheet: Sheet

    @property
    def messages(self) -> list[Json]:
        return self.sheet.messages()

    def assemble(self, budget: int, tools: list[Json] | None = None) -> Sheet:
        offered = self.tools if tools is None else tools
        return self.talk.assemble(
            provider=self.provider, model=MODELS[self.provider], tools=offered, budget=budget, policy=self.policy
        )


Check = Callable[[Played, object], None]


def texts(value: object) -> Iterator[str]:
    """Every text of a rendered request, the innermost ones."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


def blocks(played: Played) -> list[Block]:
    """What the request says, whatever its format."""
    return list(parse_messages(played.messages, played.sheet.wire))


def calls(played: Played) -> list[tuple[str, object, str]]:
    """Each call of the request in order: its id, its arguments, the text of its one result."""
    found = blocks(played)
    asked = [call for block in found if isinstance(block, Said) for call in block.calls]
    answers = {str(block.call): _text(block) for block in found if isinstance(block, Answer)}
    assert len(answers) == len(_answered(played))
    assert len({call.id for call in asked}) == len(asked)
    return [(str(call.id), json.loads(call.arguments), answers[str(call.id)]) for call in asked]


def _answered(played: Played) -> list[str]:
    """The ids that results name, in order."""
    return [str(block.call) for block in blocks(played) if isinstance(block, Answer)]


def _text(answer: Answer) -> str:
    return "\n".join(part.text for part in answer.content if isinstance(part, Text))


def _blocks(message: Json) -> list[Json]:
    content = message["content"]
    return cast("list[Json]", content) if isinstance(content, list) else []


def _last_user_text(played: Played) -> str:
    last = blocks(played)[-1]
    assert isinstance(last, Said)
    assert last.role is Role.USER
    return [part.text for part in last.parts if isinstance(part, Text)][-1]


# --------------------------------------------------------------------------- checks


def pair(played: Played, expected: object) -> None:
    """A call with these arguments is there, once, and its result begins with this text."""
    wanted = cast("Json", expected)
    found = [result for _, arguments, result in calls(played) if arguments == json.loads(str(wanted["call"]))]
    assert 1 == len(found)
    assert found[0].startswith(str(wanted["result"]))


def pairs(played: Played, expected: object) -> None:
    for each in cast("list[object]", expected):
        pair(played, each)


def stand_in_for(played: Played, expected: object) -> None:
    """The call with these arguments is answered by the stand-in, which the record does not hold."""
    pair(played, {"call": expected, "result": NO_RESULT})
    records, _ = played.talk.history()
    assert all(NO_RESULT.encode() not in played.talk.raw(r.id) for r in records if isinstance(r.body, ToolArtifact))


def instruction(played: Played, expected: object) -> None:
    """The text is in system position, byte for byte."""
    assert expected == INSTRUCTED[played.sheet.wire](played.sheet.request())


def last_user_text(played: Played, expected: object) -> None:
    assert expected == _last_user_text(played)


def ends_on_result(played: Played, expected: object) -> None:
    found = blocks(played)
    last = found[-1]
    assert isinstance(last, Answer)
    assert _text(last).startswith(str(expected))
    before = [block for block in found if isinstance(block, Said)][-1]
    assert before.role is Role.ASSISTANT
    assert last.call in {call.id for call in before.calls}


def shows(played: Played, expected: object) -> None:
    everything = list(texts(played.sheet.request()))
    for wanted in cast("list[str]", expected):
        assert any(wanted in text for text in everything), wanted


def once(played: Played, expected: object) -> None:
    assert 1 == sum(str(expected) in text for text in texts(played.messages))


def results_in_call_order(played: Played, expected: object) -> None:
    order = [id for id, _, _ in calls(played)]
    answered = _answered(played)
    assert expected == len(answered)
    assert order == answered


def one_turn_of_results(played: Played, expected: object) -> None:
    """Anthropic: one assistant message with all calls, then one user message that begins with all results."""
    if played.provider != "anthropic":
        return
    asked = [m for m in played.messages if any(block["type"] == "tool_use" for block in _blocks(m))]
    answered = [m for m in played.messages if any(block["type"] == "tool_result" for block in _blocks(m))]
    assert 1 == len(asked) == len(answered)
    assert ["tool_result"] * cast("int", expected) == [block["type"] for block in _blocks(answered[0])]
    assert played.messages.index(answered[0]) == played.messages.index(asked[0]) + 1


def pending(played: Played, expected: object) -> None:
    assert expected == [call.provider_id for call in played.talk.pending()]


def stored(played: Played, expected: object) -> None:
    assert [str(text).encode() for text in cast("list[object]", expected)] == _stored(played)


def stored_exactly(played: Played, expected: object) -> None:
    assert list(STORED[str(expected)]) == _stored(played)


def artifacts(played: Played, expected: object) -> None:
    records, _ = played.talk.history()
    assert expected == len({record.id for record in records if isinstance(record.body, ToolArtifact)})


def _stored(played: Played) -> list[bytes]:
    records, _ = played.talk.history()
    return [played.talk.raw(record.id) for record in records if isinstance(record.body, ToolArtifact)]


def refused_at(played: Played, expected: object) -> None:
    """At this budget the request is refused before it is sent, with the sizes of its parts."""
    wanted = cast("Json", expected)
    before = played.talk.history()
    with pytest.raises(BudgetTooSmall) as caught:
        played.assemble(cast("int", wanted["budget"]))
    assert sum(caught.value.sizes.values()) > cast("int", wanted["budget"])
    assert all(name in caught.value.sizes for name in cast("list[str]", wanted.get("names", [])))
    assert all(f"{name} {size:,}" in str(caught.value) for name, size in caught.value.sizes.items())
    assert before == played.talk.history()


def fits_with(played: Played, expected: object) -> None:
    wanted = cast("dict[str, int]", expected)
    sheet = played.assemble(wanted["budget"], played.tools[: wanted["tools"]])
    assert wanted["tools"] == len(sheet.tools())


def sizes_add_up(played: Played, expected: object) -> None:
    parts = played.sheet.record.tokens
    assert parts.tools > 0
    assert played.sheet.tokens == parts.instructions + parts.tools + parts.memories + parts.window


def tokens_per_character(played: Played, expected: object) -> None:
    bounds = cast("dict[str, float]", expected)
    counter = counter_for(played.provider, MODELS[played.provider])
    assert bounds["least"] <= counter.count(JAPANESE * 400) / len(JAPANESE * 400) <= bounds["most"]


def offers(played: Played, expected: object) -> None:
    assert expected == [tool_name(tool, "tools") for tool in played.sheet.tools()]


def tool_change_recorded(played: Played, expected: object) -> None:
    """Once a reply to a request with other tools is recorded, the change is a record of the history."""
    reply = {
        "id": "r",
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Done."}}],
    }
    played.talk.record(reply, sheet=played.sheet)
    stream = next(s for s in played.runtime.ledger.streams() if s.name == played.talk.name and s.kind == "conversation")
    offered = [r.body for r in played.runtime.ledger.records(stream.key) if isinstance(r.body, ToolsOffered)]
    assert [tuple(name for name in _names(played.tools))] == [change.names for change in offered]


def _names(tools: list[Json]) -> list[str]:
    return [str(cast("Json", tool["function"])["name"]) for tool in tools]


def defects(played: Played, expected: object) -> None:
    assert expected == [defect for call in _calls(played) for defect in call.defects]


def raw_arguments(played: Played, expected: object) -> None:
    """The arguments are kept as they came."""
    (call,) = played.talk.pending()
    assert expected == call.arguments


def arguments_are_objects(played: Played, expected: object) -> None:
    assert all(isinstance(arguments, dict) for _, arguments, _ in calls(played))


def _calls(played: Played) -> list[ToolCall]:
    _, known = played.talk.history()
    return list(known.values())


CHECKS: Mapping[str, Check] = {
    check.__name__: check
    for check in (
        pair,
        pairs,
        stand_in_for,
        instruction,
        last_user_text,
        ends_on_result,
        shows,
        once,
        results_in_call_order,
        one_turn_of_results,
        pending,
        stored,
        stored_exactly,
        artifacts,
        refused_at,
        fits_with,
        sizes_add_up,
        tokens_per_character,
        offers,
        tool_change_recorded,
        defects,
        raw_arguments,
        arguments_are_objects,
    )
}

__all__ = ["CHECKS", "MODELS", "TOOLS", "Played", "texts"]
