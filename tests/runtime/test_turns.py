"""Turns by their numbers: exactly those, each with its own, whether an episode tells of them or not."""

import re
from collections.abc import Iterator

import pytest

from callsheet import Conversation, Runtime
from callsheet.errors import NotFound
from callsheet.graph.enums import Privacy
from callsheet.testing import memory_runtime
from tests.runtime.replies import asks, call, result, user
from tests.runtime.test_compacting import _reclassify, ask, chat

MODEL = {"provider": "openai", "model": "gpt-5.2"}


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with memory_runtime() as opened:
        yield opened


@pytest.fixture
def talk(runtime: Runtime) -> Conversation:
    talk = runtime.conversation("quay")
    talk.record({"role": "system", "content": "You moor barges."})
    for number in range(1, 11):
        talk.record([user(f"Barge {number}?"), asks(call(f"c{number}", "moor"))])
        talk.record([result(f"c{number}", f"berth {number}"), {"role": "assistant", "content": f"Berth {number}."}])
    return talk


def lines(talk: Conversation, reference: str) -> list[str]:
    return [re.sub(r"\[.+?\] ", "", line) for line in talk.recall(reference).bytes.decode().split("\n")]


@pytest.mark.parametrize("compacted", [False, True])
def test_turns_are_those_asked_for_each_with_its_number(talk: Conversation, compacted: bool) -> None:
    if compacted:
        assert talk.compact(keep=6).episodes
    assert lines(talk, "turn 4") == ["turn 4 user: Barge 2?"]
    expected = ["turn 5 assistant: moor({})", "turn 5 result of moor: berth 2", "turn 6 assistant: Berth 2."]
    assert lines(talk, "turns 5 to 6") == lines(talk, "turns 6-5") == expected
    assert lines(talk, "turns 29 to 40")[-1] == "turn 30 assistant: Berth 10."
    assert talk.recall("turns 29 to 40").reference == "turns 29 to 30"
    assert "You moor" not in talk.recall("turns 0 to 99", limit=100_000).text
    with pytest.raises(NotFound, match="there is no turn 0; there are 30"):
        talk.recall("turn 0")
    with pytest.raises(NotFound, match="there is no turn 31; there are 30"):
        talk.recall("turn 31")


def test_a_result_belongs_to_the_turn_that_asked_for_it_however_late_it_comes(talk: Conversation) -> None:
    talk.record([asks(call("late", "moor")), user("And?"), user("Well?"), result("late", "at last")])
    assert lines(talk, "turn 31") == ["turn 31 assistant: moor({})", "turn 31 result of moor: at last"]
    assert lines(talk, "turn 33") == ["turn 33 user: Well?"]


def test_long_turns_are_read_on(talk: Conversation) -> None:
    part, read = talk.recall("turns 1 to 30", limit=200), b""
    while True:
        read += part.bytes
        if part.more is None:
            break
        part = talk.recall(part.more.reference or "", lines=part.more.lines, limit=200)
    assert read == talk.recall("turns 1 to 30", limit=100_000).bytes


def test_others_see_their_own_turns(talk: Conversation) -> None:
    talk.participant("mate").record([asks(call("m", "peek")), result("m", "private")])
    assert "private" not in talk.recall("turns 1 to 99", limit=100_000).text
    assert "private" in talk.participant("mate").recall("turns 1 to 99", limit=100_000).text


def test_a_model_reads_what_it_may_and_the_answer_is_as_private_as_the_turns(talk: Conversation) -> None:
    (secret,) = talk.record(user("The gate code is GATE-7741.")).ids
    chat(talk, 2)
    ask(talk)
    assert "GATE-7741" in talk.answer_recall({"reference": "turns 30 to 32"})
    _reclassify(talk, secret, Privacy.CONNECTED_ACCOUNT)
    ask(talk)
    told = talk.answer_recall({"reference": "turns 30 to 32"})
    assert "GATE-7741" not in told
    assert "Berth 10" in told
    assert "nothing of turn 31 may be read here" in talk.answer_recall({"reference": "turn 31"})
    own = talk.recall("turn 31").text
    assert "GATE-7741" in own
    talk.record([asks(call("r", "recall", '{"reference": "turn 31"}')), result("r", own)])
    assert "GATE-7741" not in str(ask(talk).request())


def test_what_was_recalled_is_not_found_a_second_time(talk: Conversation) -> None:
    told = talk.answer_recall({"reference": "turns 4 to 6"})
    talk.record([asks(call("r", "recall", '{"reference": "turns 4 to 6"}')), result("r", told), user("Thanks.")])
    found = talk.search("berth 2")
    assert found
    assert not any("turn 5" in one.snippet for one in found)
