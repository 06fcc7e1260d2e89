"""Laws of rendering, for every format, over histories with everything odd that recording lets in."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.assemble.blocks import Answer, Block, Call, Said, Text
from callsheet.assemble.standins import BEGINNING
from callsheet.errors import EmptyRequest
from callsheet.graph.enums import Role
from callsheet.wire import standins
from callsheet.wire.formats import parse_messages, render, render_messages
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.recordings import malformed_files, needs_recordings, trajectory_files
from tests.wire.histories import composed, histories, is_complete
from tests.wire.sdk import accept
from tests.wire.trajectories import trajectories

table = pytest.mark.parametrize("wire", list(Wire))
Json = dict[str, object]

CALLS = {"function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call", "mcp_approval_request"}
"""The types of the items of Responses that have to be answered."""


@table
@given(history=histories)
def test_every_composed_history_renders_to_a_valid_request(wire: Wire, history: Sequence[Block]) -> None:
    request = render(history, wire, model="m")

    assert problems(request, wire) == []
    accept(request, wire)


@table
@given(history=histories)
def test_a_request_survives_json(wire: Wire, history: Sequence[Block]) -> None:
    request = render(history, wire, model="m")

    assert json.loads(json.dumps(request, allow_nan=False).encode("utf-8")) == request
    assert msgspec.json.decode(msgspec.json.encode(request)) == request


@table
@given(history=histories)
def test_the_same_history_gives_the_same_bytes(wire: Wire, history: Sequence[Block]) -> None:
    first, second = (json.dumps(render(list(history), wire, model="m")) for _ in range(2))

    assert first == second


@table
@given(history=histories, data=st.data())
def test_more_blocks_change_no_earlier_message(wire: Wire, history: Sequence[Block], data: st.DataObject) -> None:
    ends = [end for end in range(1, len(history) + 1) if is_complete(history, end)]
    end = data.draw(st.sampled_from(ends))

    before, after = render_messages(history[:end], wire), render_messages(history, wire)

    assert extends(_without_closing(before), after, may_grow=wire in (Wire.ANTHROPIC, Wire.GEMINI))


@table
@given(history=histories)
def test_every_call_and_result_is_rendered_under_one_id(wire: Wire, history: Sequence[Block]) -> None:
    calls = [call.id for block in history if isinstance(block, Said) for call in block.calls]

    rendered = list(_call_ids(render_messages(history, wire)))

    assert len(calls) == len(rendered) == len(set(rendered))


@table
@given(history=histories)
def test_bytes_never_stand_in_text(wire: Wire, history: Sequence[Block]) -> None:
    for text in _texts(render_messages(history, wire)):
        assert not re.search(r"[A-Za-z0-9+/]{64}", text)


@table
def test_nothing_gives_no_request(wire: Wire) -> None:
    assert render_messages([], wire) == []
    with pytest.raises(EmptyRequest):
        render([], wire, model="m")


def test_ids_that_only_look_mapped_stay_distinct() -> None:
    odd = "not an id"
    (mapped,) = _call_ids(render_messages(_asking(odd), Wire.ANTHROPIC))
    history = [*_asking(odd), *_asking(mapped)]

    ids = list(_call_ids(render_messages(history, Wire.ANTHROPIC)))

    assert ids[0] == mapped
    assert len(set(ids)) == 2
    assert problems(render(history, Wire.ANTHROPIC, model="m"), Wire.ANTHROPIC) == []


def _asking(id: str) -> list[Block]:
    return [
        Said(role=Role.ASSISTANT, parts=(Call(id=id, tool="f", arguments="{}"),)),
        Answer(call=id, content=(Text(text="1"),)),
    ]


@needs_recordings
@table
@pytest.mark.parametrize("file", [*trajectory_files(), *malformed_files()], ids=lambda file: file.name)
def test_recorded_conversations_render_to_valid_requests(file: Path, wire: Wire) -> None:
    for trajectory in trajectories(file, sample=6):
        request = render(composed(parse_messages(trajectory.messages, Wire.OPENAI)), wire, model="m")

        assert problems(request, wire) == []
        accept(request, wire)


def extends(earlier: Sequence[Json], later: Sequence[Json], *, may_grow: bool) -> bool:
    """Whether the later messages begin with the earlier ones; the last of them may have grown."""
    if not earlier:
        return True
    *same, last = earlier
    if list(later[: len(same)]) != same or len(later) < len(earlier):
        return False
    grown = later[len(same)]
    if not may_grow:
        return grown == last
    shorter, longer = (message.get("content", message.get("parts")) for message in (last, grown))
    assert isinstance(shorter, list)
    assert isinstance(longer, list)
    return grown["role"] == last["role"] and longer[: len(shorter)] == shorter


def _without_closing(messages: list[Json]) -> list[Json]:
    """The messages without the words that only close an unfinished history."""
    closing = standins.CONTINUE if len(messages) > 1 else BEGINNING
    written: list[Json] = [
        {"role": "user", "content": closing},
        {"role": "user", "content": [{"type": "text", "text": closing}]},
        {"role": "user", "parts": [{"text": closing}]},
    ]
    # A message that somebody said is not mistaken for these: none of the texts made up here is such a word.
    return messages[:-1] if messages and messages[-1] in written else messages


def _call_ids(messages: Sequence[Json]) -> list[str]:
    found: list[str] = []
    for message in messages:
        calls, content, parts = message.get("tool_calls"), message.get("content"), message.get("parts")
        if message.get("type") in CALLS:
            found.append(str(message.get("call_id", message.get("id"))))
        if isinstance(calls, list):
            found += [call["id"] for call in calls]
        if isinstance(content, list):
            found += [block["id"] for block in content if block["type"] == "tool_use"]
        if isinstance(parts, list):
            asked = [part["functionCall"] for part in parts if "functionCall" in part]
            # Without ids, position tells calls apart.
            found += [call.get("id", f"at {len(found) + at}") for at, call in enumerate(asked)]
    return found


def _texts(value: object) -> list[str]:
    """Every text that a model reads as text."""
    if isinstance(value, dict):
        shown = ("text", "content", "refusal", "output")
        own = [item for key, item in value.items() if key in shown and isinstance(item, str)]
        return own + [text for item in value.values() for text in _texts(item)]
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []
