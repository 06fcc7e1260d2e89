"""What the user asks for and nothing in view tells comes back, found by the words within the names of an old result."""

import json
from collections.abc import Iterator

import pytest

import callsheet
from callsheet import Conversation

FILLER = 40
"""Turns about something else, after which the first are out of view."""

COLUMNS = ["holder_id", "first_name", "street", "zip_code", "home_phone"]


@pytest.fixture
def talk() -> Iterator[Conversation]:
    with callsheet.open(":memory:") as runtime:
        yield runtime.conversation("shelter")


def call(talk: Conversation, question: str, table: str, result: object) -> None:
    talk.record({"role": "user", "content": question})
    function = {"name": "describe", "arguments": json.dumps({"table": table})}
    request = {"id": "c", "type": "function", "function": function}
    talk.record(
        {"role": "assistant", "content": None, "tool_calls": [request]},
        sheet=talk.assemble(provider="openai", model="gpt-5.2"),
    )
    talk.record({"role": "tool", "tool_call_id": "c", "content": json.dumps(result)})
    talk.record({"role": "assistant", "content": "Done."}, sheet=talk.assemble(provider="openai", model="gpt-5.2"))


def shown(talk: Conversation, text: str) -> str:
    talk.record({"role": "user", "content": text})
    return json.dumps(talk.assemble(provider="openai", model="gpt-5.2").request()["messages"])


@pytest.fixture
def filled(talk: Conversation) -> Conversation:
    call(talk, "How many rows are there?", "t7", COLUMNS)
    for at in range(FILLER):
        listing = {"vessel": f"V-{at}", "cargo": [f"barley lot {at}-{lot} from quay {lot}" for lot in range(40)]}
        call(talk, f"What does vessel {at} carry?", f"v{at}", listing)
    return talk


def test_columns_come_back_for_the_words_in_their_names(filled: Conversation) -> None:
    assert "home_phone" in shown(filled, "Count for every town its letters grouped by zip code, with the street.")


def test_not_for_words_that_it_does_not_hold(filled: Conversation) -> None:
    assert "home_phone" not in shown(filled, "Count for every town its letters grouped by weekday, with the street.")
