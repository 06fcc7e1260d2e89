"""What somebody said comes back when the user asks for it in a request that is appended to."""

from collections.abc import Iterator

import pytest

import callsheet
from callsheet import Conversation
from callsheet.assemble.bringing import RARE, SPOKEN

PROSE = "In that town there is a harbour, a museum that opens at ten, and a long walk along the water. " * 4


@pytest.fixture
def talk() -> Iterator[Conversation]:
    with callsheet.open(":memory:") as runtime:
        yield runtime.conversation("journey")


def exchange(talk: Conversation, text: str, answer: str = "Noted.") -> None:
    """As an agent does it: each request is assembled."""
    talk.record({"role": "user", "content": text})
    talk.record({"role": "assistant", "content": answer}, sheet=talk.assemble(provider="openai", model="gpt-5.2"))


def fill(talk: Conversation, turns: int = 40) -> None:
    """So many exchanges that what stood before them is out of view."""
    for turn in range(turns):
        exchange(talk, f"Please write a text about old town number {turn}.", PROSE)


def asked(talk: Conversation, question: str) -> str:
    """The texts of the request for it."""
    talk.record({"role": "user", "content": question})
    sheet = talk.assemble(provider="openai", model="gpt-5.2")
    return "\n".join(str(message["content"]) for message in sheet.messages())


@pytest.mark.parametrize(
    ("said", "question", "holds"),
    [
        ("We decided: the deposit is 350 EUR.", "What was the deposit?", "350 EUR"),
        ("We take the heat pump of Nordwind, 11,400 EUR.", "What does the heat pump cost?", "11,400 EUR"),
        ("Die Wärmepumpe kommt am 14.05. um acht.", "Wann kommt die Wärmepumpe?", "14.05."),
    ],
)
def test_a_statement_comes_back_for_a_word_of_it(talk: Conversation, said: str, question: str, holds: str) -> None:
    fill(talk, 10)
    exchange(talk, said)
    fill(talk)
    assert holds in asked(talk, question)
    assert [sheet.record.rewritten for sheet in talk.sheets()][-1] == "", "it was appended to"


def test_a_correction_comes_back_also_where_what_it_corrects_stands(talk: Conversation) -> None:
    exchange(talk, "Vegetarian food for Jonas please, budget 4,200 EUR.")
    fill(talk, 20)
    exchange(talk, "Jonas is no vegetarian any more.")
    fill(talk)
    request = asked(talk, "Is Jonas vegetarian?")
    assert "no vegetarian any more" in request


def test_what_is_said_all_the_time_brings_nothing(talk: Conversation) -> None:
    fill(talk, 10)
    for at in range(RARE + 1):
        exchange(talk, f"The ferry at pier {at} is late.")
    fill(talk)
    assert "pier" not in asked(talk, "Where is the ferry?")


def test_few_messages_come_back(talk: Conversation) -> None:
    fill(talk, 10)
    things = ("anchor", "beacon", "compass", "dinghy", "fender", "galley", "halyard")
    for thing in things:
        exchange(talk, f"The {thing} costs a lot.")
    fill(talk)
    request = asked(talk, f"What about {', '.join(things)}?")
    assert sum(f"The {thing} costs" in request for thing in things) == SPOKEN


def test_also_of_what_was_said_since_the_last_request(talk: Conversation) -> None:
    exchange(talk, "Vegetarian food for Jonas please, budget 4,200 EUR.")
    for turn in range(80):
        talk.record({"role": "user", "content": f"Please write a text about old town number {turn}."})
        talk.record({"role": "assistant", "content": PROSE})
        if turn == 40:
            talk.record({"role": "user", "content": "Jonas is no vegetarian any more."})
            talk.record({"role": "assistant", "content": "Noted."})
    request = asked(talk, "Is Jonas vegetarian?")
    assert "no vegetarian any more" in request
    assert len(request) < len(PROSE) * 40
