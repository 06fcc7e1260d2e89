"""Results that differ in what they were asked for alone are found and brought back by that."""

import json
from collections.abc import Iterator

import pytest

import callsheet
from callsheet import Conversation

DAYS = 40
RECORDINGS = 24


@pytest.fixture
def talk() -> Iterator[Conversation]:
    with callsheet.open(":memory:") as runtime:
        yield runtime.conversation("harbour")


def call(talk: Conversation, tool: str, arguments: dict[str, object], content: str) -> str:
    asked = {"id": "c", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    sheet = talk.assemble(provider="openai", model="gpt-5.2")
    talk.record({"role": "assistant", "content": None, "tool_calls": [asked]}, sheet=sheet)
    return talk.record({"role": "tool", "tool_call_id": "c", "content": content}).ids[0]


def days(talk: Conversation) -> dict[int, str]:
    """A log for each day; the hours of every one hold every number that a day has."""
    found: dict[int, str] = {}
    for day in range(1, DAYS + 1):
        talk.record({"role": "user", "content": f"How was the weather on day {day}?"})
        rows = [
            {"hour": hour, "wind": (day * 7 + hour * 3) % 40, "seen": f"OBS-{day}-{hour}"} for hour in range(RECORDINGS)
        ]
        found[day] = call(talk, "weather", {"day": day}, json.dumps(rows))
        sheet = talk.assemble(provider="openai", model="gpt-5.2")
        talk.record({"role": "assistant", "content": "I have it."}, sheet=sheet)
    return found


def test_results_told_apart_by_their_arguments_are_found_and_brought(talk: Conversation) -> None:
    results = days(talk)
    for query in ("weather day 14", 'weather({"day": 14})', "What was the strongest wind on day 14?"):
        found = talk.search(query)
        assert (found[0].reference, found[0].call) == (results[14], 'weather({"day": 14})')
    hits = talk.answer_recall({"query": "How was the weather on day 14?"}).splitlines()
    assert any(hit.startswith(f'{results[14]} (weather({{"day": 14}}), ') for hit in hits)
    assert any(hit.endswith(": How was the weather on day 14?") and "(user, turn 40, " in hit for hit in hits)
    assert talk.answer_recall({"reference": "turn 40"}).endswith("user: How was the weather on day 14?")

    talk.record({"role": "user", "content": "What was the strongest wind on day 14?"})
    sheet = talk.assemble(provider="openai", model="gpt-5.2")
    shown = str([message["content"] for message in sheet.messages()[-2:]])
    assert [day for day in range(2, DAYS - 9) if f'weather({{"day": {day}}})' in shown] == [14]


def test_behind_what_recall_showed_stands_no_note(talk: Conversation) -> None:
    results = days(talk)
    talk.record({"role": "user", "content": "Look it up, please."})
    call(talk, "recall", {"query": "OBS-14-7"}, talk.answer_recall({"query": "OBS-14-7"}))
    assert results[14] in str(talk.assemble(provider="openai", model="gpt-5.2").messages()[-1])
    assert talk.assemble(provider="openai", model="gpt-5.2").messages()[-1]["role"] == "tool"


def test_calls_of_others_are_not_found(talk: Conversation) -> None:
    critic = talk.participant("critic")
    critic.record({"role": "user", "content": "Look."})
    hidden = call(critic, "tide", {"pier": 77}, "low")
    assert [one.reference for one in critic.search("tide pier 77")][:1] == [hidden]
    assert talk.search("tide pier 77") == []
