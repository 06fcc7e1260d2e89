"""System messages in the middle of a Messages request: the client's stay what they are where that is sure."""

import pytest

from callsheet.wire.asked import read_request, write_request
from callsheet.wire.formats import render
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.wire.equivalence import everything, own_blocks

Json = dict[str, object]

NOTED = "[system note]\n"


def _says(role: str, *texts: str, **extras: object) -> Json:
    return {"role": role, "content": [{"type": "text", "text": text} for text in texts], **extras}


ADDED: Json = {"type": "tool_addition", "tool": {"type": "tool_reference", "tool_name": "f"}}
TOOLS: Json = {"role": "system", "content": [ADDED]}
LATER = _says("system", "Be brief.", clear_at="next_user_message")
FIRST, REPLY = _says("user", "Hi"), _says("assistant", "Yes?")


def _body(client: list[Json], sent: list[Json] | None = None) -> Json:
    """A client's request, with its own history or another one, without cache marks."""
    asked = read_request({"model": "m", "max_tokens": 9, "messages": client}, Wire.ANTHROPIC)
    other = read_request({"model": "m", "messages": sent or client}, Wire.ANTHROPIC)
    body = write_request(asked, render(own_blocks(other), Wire.ANTHROPIC, model="m"), passes=everything)
    assert problems(body, Wire.ANTHROPIC) == []
    for message in _messages(body):
        for block in message["content"]:  # type: ignore[attr-defined]
            block.pop("cache_control", None)
    return body


def _messages(body: Json) -> list[Json]:
    messages = body["messages"]
    assert isinstance(messages, list)
    return messages


def _written(client: list[Json], sent: list[Json] | None = None) -> list[Json]:
    return _messages(_body(client, sent))


KEPT: dict[str, list[Json]] = {
    "at the end": [FIRST, LATER],
    "before a turn of the model": [FIRST, LATER, REPLY, _says("user", "Go on")],
    "several": [FIRST, LATER, REPLY, _says("user", "Go on"), TOOLS],
    "tools that come": [FIRST, TOOLS, REPLY, _says("user", "Go on")],
    "twice the same": [FIRST, LATER, REPLY, _says("user", "Go on"), LATER],
}


@pytest.mark.parametrize("messages", KEPT.values(), ids=KEPT)
def test_system_messages_of_the_client_stay_system_messages(messages: list[Json]) -> None:
    assert _written(messages) == messages


def test_marks_in_them_make_way_for_ours() -> None:
    marked: Json = {
        "role": "system",
        "content": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    }

    assert _written([FIRST, marked])[1] == _says("system", "Be brief.")


def test_they_stand_behind_the_turn_of_the_user_that_they_are_in() -> None:
    shown = [FIRST, LATER, _says("user", "More")]

    assert _written([FIRST, LATER], shown) == [_says("user", "Hi", "More"), LATER]


def test_what_has_no_turn_of_the_user_before_it_stays_a_note() -> None:
    shown = [FIRST, REPLY, LATER]

    messages = _written([FIRST, LATER], shown)

    assert messages[-1] == _says("user", NOTED + "Be brief.")


def test_one_that_is_not_shown_does_not_take_the_place_of_another_that_says_the_same() -> None:
    client = [FIRST, LATER, REPLY, _says("user", "Go on"), LATER]

    assert _written(client, [FIRST, REPLY, *client[3:]]) == [FIRST, REPLY, *client[3:]]


def test_what_is_shown_before_everything_else_goes_back_to_its_place() -> None:
    client = [FIRST, LATER, REPLY, _says("user", "Go on"), TOOLS]
    sent = [_says("system", "Rules."), _says("system", "Be brief."), FIRST, REPLY, _says("user", "Go on")]

    body = _body(client, sent)

    assert body["system"] == "Rules."
    assert body["messages"] == client


def test_tools_that_do_not_pass_do_not_come() -> None:
    asked = read_request({"model": "m", "max_tokens": 9, "messages": [FIRST, TOOLS]}, Wire.ANTHROPIC)

    body = write_request(asked, render(own_blocks(asked), Wire.ANTHROPIC, model="m"))

    assert [message["role"] for message in _messages(body)] == ["user"]


def test_what_is_not_shown_is_not_said() -> None:
    assert _written([FIRST, LATER], [FIRST]) == [FIRST]


def test_what_was_never_the_clients_stays_a_note() -> None:
    messages = _written([FIRST], [FIRST, LATER])

    assert messages == [_says("user", "Hi", NOTED + "Be brief.")]
