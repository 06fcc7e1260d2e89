"""What a careless or hostile caller passes is refused by name; nobody's private records shape another's."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

import callsheet
from callsheet import Conversation
from callsheet.errors import CallsheetError, InputError, InvalidOption, NotAStore
from callsheet.testing import memory_runtime
from tests.runtime.replies import asks, call, openai_reply, result, user

BOTH = pytest.mark.parametrize("policy", ["balanced", "replay"])


@pytest.mark.parametrize("name", ["provider", "model", "persona"])
def test_a_participant_that_could_not_be_read_back_is_refused(name: str) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("x")
        with pytest.raises(InvalidOption, match=name):
            cast("Any", talk).participant("a", **{name: 3})
        assert {} == talk.participants()
        assert talk.participant("b")


def test_one_name_makes_one_participant_however_many_ask_at_once(tmp_path: Path) -> None:
    with callsheet.open(tmp_path / "a.db") as runtime:
        talk = runtime.conversation("x")
        with ThreadPoolExecutor(8) as pool:
            made = list(pool.map(lambda _: talk.participant("writer").participant_id, range(8)))
        assert 1 == len(set(made)) == len(talk.participants())


def test_another_participants_event_does_not_swallow_mine() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("x")
        one, other = talk.participant("one"), talk.participant("other")
        talk.record(user("q"))
        one.record(asks(call("z")), event="webhook-1")
        assert other.record(user("hello"), event="webhook-1").ids
        assert () == other.record(user("hello"), event="webhook-1").ids


@BOTH
def test_whoever_answers_a_shared_call_answers_it_for_everybody(policy: str) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("x")
        talk.record([user("q"), asks(call("z"), call("z2"))])
        talk.participant("one").record(result("z", "one"))
        talk.record(result("z2", "two"))
        assert () == talk.pending()
        messages = talk.assemble(provider="openai", model="gpt-5.2", policy=policy).messages()
        assert ["one", "two"] == [message["content"] for message in messages if message["role"] == "tool"]


def test_a_sheet_answers_only_where_it_was_assembled() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("x")
        talk.record(user("q"))
        mine = talk.assemble(provider="openai", model="gpt-5.2")
        branch = talk.branch()
        with pytest.raises(InvalidOption, match="another branch or participant"):
            talk.participant("one").record(openai_reply("!"), sheet=mine)
        branch.record(openai_reply("on the branch"), sheet=mine)
        branch.record(user("more"))
        theirs = branch.assemble(provider="openai", model="gpt-5.2")
        with pytest.raises(InvalidOption, match="another branch or participant"):
            talk.record(openai_reply("!"), sheet=theirs)
        talk.record(openai_reply("!"), sheet=mine.id)


@BOTH
def test_many_parallel_calls_are_recorded_and_answered(policy: str) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("x")
        ids = [f"c{number}" for number in range(3_000)]
        talk.record([user("q"), asks(*(call(id) for id in ids))])
        assert ids == [each.provider_id for each in talk.pending()]
        talk.record([result(id, id) for id in reversed(ids)])
        messages = talk.assemble(provider="openai", model="gpt-5.2", policy=policy).messages()
        assert ids == [message["content"] for message in messages if message["role"] == "tool"]


@pytest.mark.parametrize("location", [None, 3, b"x.db", "", "a\0b", "a\ud83e.db", "postgresql://x"])
def test_a_location_that_is_none_is_refused(location: object) -> None:
    with pytest.raises(InvalidOption):
        callsheet.open(cast("Any", location))


def test_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", tmp_path):
        with pytest.raises(NotAStore):
            callsheet.open(place)
    with pytest.raises(InvalidOption, match="signer"):
        callsheet.open(":memory:", signer=cast("Any", 3))


def test_arguments_of_wrong_types_raise_our_errors() -> None:
    with memory_runtime() as runtime:
        talk = cast("Any", runtime.conversation("x"))
        talk.record(user("q"))
        before = talk.history()
        attempts: list[Callable[[], object]] = [
            lambda: talk.sheet([]),
            lambda: talk.raw([]),
            lambda: talk.on([]),
            lambda: talk.branch(at=[]),
            lambda: talk.branch(reason=3),
            lambda: talk.sheets(newest="x"),
            lambda: talk.sheets(newest=-1),
            lambda: talk.assemble(provider=[], model="m"),
            lambda: talk.assemble(provider="openai", model="m", tools=3),
            lambda: talk.record(user("x"), at=object()),
            lambda: talk.record(user("x"), wire=[]),
            lambda: talk.record(user("x"), status=[]),
            lambda: talk.record(openai_reply("x"), sheet=[]),
            lambda: cast("Any", runtime).existing([]),
            lambda: cast("Any", runtime).conversation([]),
        ]
        for attempt in attempts:
            with pytest.raises(CallsheetError):
                attempt()
        assert before == talk.history()


def test_nothing_is_stored_that_could_not_be_read_again() -> None:
    from callsheet.graph.codec import encode_body
    from callsheet.graph.nodes import Participant

    with pytest.raises(InputError, match="a participant cannot hold this"):
        encode_body(Participant(name=cast("Any", 3)))


def test_conversations_tell_what_they_are() -> None:
    with memory_runtime() as runtime:
        talk: Conversation = runtime.conversation("x")
        assert "<Conversation 'x' on 'main' for None>" == repr(talk)
        assert "<Runtime of tenant 'local'>" == repr(runtime)
