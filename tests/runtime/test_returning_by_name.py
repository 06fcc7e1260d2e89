"""A task that the user returns to by naming its customer comes back with all of its results."""

import json
from collections.abc import Iterator

import pytest

import callsheet
from callsheet import Conversation, Sheet

FILLER = 40
"""Turns about another customer, after which the first is out of view."""


@pytest.fixture
def talk() -> Iterator[Conversation]:
    with callsheet.open(":memory:") as runtime:
        yield runtime.conversation("desk")


DRIVERS = ("Quillon", "Ferncastle", "Obrecht", "Tamsin", "Yarwood", "Zeller")

FAREWELL = "Thanks for your help with everything today, goodbye!"


OF_ADA = ("Marlow", "918.25", *DRIVERS)


def ask(talk: Conversation) -> Sheet:
    return talk.assemble(provider="openai", model="gpt-5.2")


def call(talk: Conversation, tool: str, arguments: dict[str, object], result: object) -> None:
    """The model asks for something instead of answering, and gets it."""
    request = {"id": "c", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    talk.record({"role": "assistant", "content": None, "tool_calls": [request]}, sheet=ask(talk))
    talk.record({"role": "tool", "tool_call_id": "c", "content": json.dumps(result)})


def answer(talk: Conversation, text: str) -> None:
    talk.record({"role": "assistant", "content": text}, sheet=ask(talk))


def turn(talk: Conversation, text: str) -> str:
    """What the request shows after the user said this."""
    talk.record({"role": "user", "content": text})
    return json.dumps(ask(talk).request()["messages"])


def begin(talk: Conversation) -> None:
    """Two customers: of the first a profile that does not hold its own id, and an order; then much of the second."""
    turn(talk, "What is on file for me?")
    call(talk, "get_profile", {"user": "ada_lovelace_17"}, {"city": "Marlow", "tier": "silver", "orders": ["QX7731"]})
    turn(talk, "And the order?")
    call(talk, "get_order", {"order": "QX7731"}, {"order": "QX7731", "total": 918.25, "carrier": "Bluebird Freight"})
    answer(talk, "It is on its way.")
    for at in range(6):
        turn(talk, f"Is there room on tour {at}?")
        call(
            talk,
            "get_tour",
            {"tour": f"T-{at}"},
            {"driver": DRIVERS[at], "stops": [1000 * at + 17 * n for n in range(60)]},
        )
    answer(talk, "There is.")
    turn(talk, "This is about user bob_noyce_99 now: list the parts that are missing in stock, please.")
    for at in range(FILLER):
        rows = [
            {"part": f"part-{at}-{row}", "bin": row * 7, "note": "counted twice in the spring"} for row in range(40)
        ]
        call(talk, "list_parts", {"page": at}, rows)
        answer(talk, f"Page {at} is done.")
        turn(talk, f"Next page, number {at + 1}, as before.")
    answer(talk, "All pages are done.")


def test_naming_a_customer_again_brings_back_their_task(talk: Conversation) -> None:
    begin(talk)
    before = turn(talk, "Thank you, that was all.")
    assert [word for word in OF_ADA if word in before] == []
    answer(talk, "You are welcome.")

    back = turn(talk, "Back to ada_lovelace_17.")

    # The profile was asked for by the id and does not hold it; the rest belongs to the task.
    assert [word for word in OF_ADA if word not in back] == []


def test_a_sentence_that_was_said_before_does_not_lead_to_another_task(talk: Conversation) -> None:
    turn(talk, "Where is the parcel with the grand piano?")
    call(talk, "get_parcel", {"parcel": "ZK4410"}, {"parcel": "ZK4410", "hall": "Harbour East", "weight": 4121})
    turn(talk, FAREWELL)
    begin(talk)
    talk.record({"role": "user", "content": FAREWELL})
    talk.record({"role": "user", "content": "Back to ada_lovelace_17."})

    back = turn(talk, "Where is the parcel with the grand piano?")

    assert [word for word in OF_ADA if word not in back] == []
    assert "Harbour East" not in back


def test_what_another_participant_keeps_to_itself_is_not_returned_to(talk: Conversation) -> None:
    critic = talk.participant("critic")
    critic.record({"role": "user", "content": "Look at ada_lovelace_17."})
    call(critic, "get_profile", {"user": "ada_lovelace_17"}, {"city": "Marlow"})
    for at in range(FILLER):
        turn(talk, f"Go on with page {at}.")
        answer(talk, f"Page {at} is done.")

    assert "Marlow" not in turn(talk, "Back to ada_lovelace_17.")
