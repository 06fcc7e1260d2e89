"""Instructions inside the history of a Chat Completions request: the client's stand where the client put them."""

import pytest

from callsheet.wire.asked import read_request, write_request
from callsheet.wire.formats import render
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.wire.equivalence import own_blocks

Json = dict[str, object]


def _says(role: str, text: str, **more: object) -> Json:
    return {"role": role, "content": text, **more}


RULES, LATER, MORE = _says("system", "Rules."), _says("system", "Be brief."), _says("developer", "In verse.")
ASKS: Json = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}} for id in "ab"],
}
TELLS: list[Json] = [{"role": "tool", "tool_call_id": id, "content": "1"} for id in "ab"]
FIRST, REPLY, NEXT = _says("user", "Hi"), _says("assistant", "Yes?"), _says("user", "Go on")


def _written(client: list[Json], sent: list[Json]) -> object:
    """The messages of the client's request with this history."""
    asked = read_request({"model": "m", "messages": client}, Wire.OPENAI)
    other = read_request({"model": "m", "messages": sent}, Wire.OPENAI)
    body = write_request(asked, render(own_blocks(other), Wire.OPENAI, model="m"))
    assert problems(body, Wire.OPENAI) == []
    return body["messages"]


PLACED: dict[str, tuple[list[Json], list[Json]]] = {
    "behind the user": ([RULES, FIRST, LATER, REPLY, NEXT], [RULES, LATER, FIRST, REPLY, NEXT]),
    "at the end": ([FIRST, REPLY, NEXT, LATER], [LATER, FIRST, REPLY, NEXT]),
    "two": ([RULES, FIRST, LATER, MORE, REPLY, NEXT], [RULES, LATER, MORE, FIRST, REPLY, NEXT]),
    "two apart": ([RULES, FIRST, LATER, REPLY, NEXT, MORE], [RULES, LATER, MORE, FIRST, REPLY, NEXT]),
    "behind results": ([FIRST, ASKS, *TELLS, LATER, REPLY, NEXT], [LATER, FIRST, ASKS, *TELLS, REPLY, NEXT]),
    "the same as the first": ([RULES, FIRST, REPLY, NEXT, RULES], [RULES, RULES, FIRST, REPLY, NEXT]),
    "where it is": ([RULES, FIRST, LATER, REPLY, NEXT], [RULES, FIRST, LATER, REPLY, NEXT]),
}


@pytest.mark.parametrize(("client", "sent"), PLACED.values(), ids=PLACED)
def test_instructions_stand_where_the_client_put_them(client: list[Json], sent: list[Json]) -> None:
    assert _written(client, sent) == client


LEFT: dict[str, tuple[list[Json], list[Json]]] = {
    "what it stood behind is not shown": ([FIRST, REPLY, NEXT, LATER], [LATER, _says("user", "Something else")]),
    "it is not shown": ([FIRST, LATER, REPLY, NEXT], [FIRST, REPLY, NEXT]),
    "it is shown otherwise": ([FIRST, LATER, REPLY, NEXT], [_says("system", "Be"), FIRST, REPLY, NEXT]),
    "only the first of two that say the same": ([RULES, FIRST, REPLY, NEXT, RULES], [RULES, FIRST, REPLY, NEXT]),
}


@pytest.mark.parametrize(("client", "sent"), LEFT.values(), ids=LEFT)
def test_what_is_not_sure_stays_as_it_is_rendered(client: list[Json], sent: list[Json]) -> None:
    assert _written(client, sent) == sent


def test_nothing_stands_between_calls_and_results() -> None:
    client = [FIRST, ASKS, TELLS[0], TELLS[1], LATER]
    only_one = [FIRST, ASKS, TELLS[0], LATER, TELLS[1]]

    assert _written(only_one, [LATER, FIRST, ASKS, *TELLS]) == client
