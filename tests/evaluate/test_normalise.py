"""Whatever was recorded comes out as a conversation that every provider accepts, and each repair is counted."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.evaluate.messages import from_openai, to_openai
from callsheet.evaluate.normalise import EMPTY, NO_RESULT, Repair, normalise
from callsheet.evaluate.validity import Checker, Refusal
from tests.evaluate.conversations import Raw, call, calls, result, says, system, trajectory, user


def outline(*messages: Raw) -> list[tuple[str, str | None, tuple[str | None, ...], str | None]]:
    return [
        (message.role, message.content, tuple(asked.id for asked in message.calls), message.answers)
        for message in trajectory(*messages).messages
    ]


def test_a_clean_conversation_only_gets_new_call_ids() -> None:
    talk = trajectory(system("S"), user("u"), calls(call("x", "t", a=1)), result("x", "r"), says("done"))
    assert [message.content for message in talk.system] == ["S"]
    assert talk.repairs == {}
    assert talk.steps == (1, 3)
    assert outline(user("u"), calls(call("x", "t", a=1)), result("x", "r"), says("done")) == [
        ("user", "u", (), None),
        ("assistant", None, ("call_00001",), None),
        ("tool", "r", (), "call_00001"),
        ("assistant", "done", (), None),
    ]


def test_an_assistant_message_that_opens_the_conversation_is_no_step() -> None:
    assert trajectory(says("hello"), user("u"), says("a")).steps == (2,)


def test_results_go_behind_their_calls_in_the_order_of_the_calls() -> None:
    talk = outline(user("u"), calls(call("a", "t"), call("b", "t")), result("b", "rb"), result("a", "ra"))
    assert [content for _, content, _, _ in talk[2:]] == ["ra", "rb"]


def test_an_id_that_is_used_again_later_still_finds_its_own_result() -> None:
    talk = outline(user("u"), calls(call("a", "t")), result("a", "1"), calls(call("a", "t")), result("a", "2"))
    assert [(content, answers) for _, content, _, answers in talk if answers] == [
        ("1", "call_00001"),
        ("2", "call_00002"),
    ]


def test_a_result_without_id_answers_the_first_call_that_is_still_open() -> None:
    talk = trajectory(
        user("u"), calls(call("a", "t"), call("b", "t")), result(None, "for a"), result("b", "for b"), says(".")
    )
    assert [message.content for message in talk.messages[2:4]] == ["for a", "for b"]
    assert talk.repairs == {Repair.RESULT_PAIRED_BY_ORDER: 1}


def test_a_missing_result_is_filled_unless_the_recording_ends_there() -> None:
    inside = trajectory(user("u"), calls(call("a", "t")), user("and?"), says("hm"))
    assert inside.messages[2].content == NO_RESULT
    assert inside.repairs == {Repair.MISSING_RESULT_FILLED: 1}
    at_end = trajectory(user("u"), calls(call("a", "t")))
    assert [message.role for message in at_end.messages] == ["user", "assistant"]
    assert at_end.repairs == {}


def test_a_result_without_call_becomes_user_text() -> None:
    talk = trajectory(user("u"), result("x", "42"), calls(call("a", "t")), result("a", "r"), result("z", ""), says("."))
    assert [(message.role, message.content) for message in talk.messages] == [
        ("user", "u"),
        ("user", "42"),
        ("assistant", None),
        ("tool", "r"),
        ("user", EMPTY),
        ("assistant", "."),
    ]
    assert talk.repairs == {Repair.ORPHAN_RESULT_AS_USER: 2}


def test_system_messages_at_the_start_stand_apart_and_later_ones_become_user_text() -> None:
    talk = trajectory(
        system("A"), system(""), {"role": "developer", "content": "B"}, user("u"), system("late"), says(".")
    )
    assert [message.content for message in talk.system] == ["A", "B"]
    assert [(message.role, message.content) for message in talk.messages[:2]] == [("user", "u"), ("user", "late")]
    assert talk.repairs == {Repair.SYSTEM_AS_USER: 1}


def test_empty_messages_are_filled_but_a_message_with_calls_may_say_nothing() -> None:
    talk = trajectory(user(" \n"), calls(call("a", "t"), text=""), result("a", ""), says(""))
    assert [message.content for message in talk.messages] == [EMPTY, None, EMPTY, EMPTY]
    assert talk.repairs == {Repair.EMPTY_CONTENT_FILLED: 3}


@pytest.mark.parametrize(
    ("arguments", "expected", "wrapped"),
    [
        ('{"a": 1}', '{"a": 1}', False),
        ({"a": "ä"}, '{"a": "ä"}', False),
        (None, "{}", False),
        ("[1]", '{"raw": "[1]"}', True),
        ('{"a"', '{"raw": "{\\"a\\""}', True),
        ("null", '{"raw": "null"}', True),
        ("[" * 100_000, '{"raw": "' + "[" * 100_000 + '"}', True),
    ],
)
def test_arguments_become_the_json_text_of_an_object(arguments: object, expected: str, wrapped: bool) -> None:
    asked: Raw = {"id": "a", "function": {"name": "t", "arguments": arguments}}
    talk = trajectory(user("u"), calls(asked))
    assert talk.messages[1].calls[0].arguments == expected
    assert talk.repairs == ({Repair.ARGUMENTS_WRAPPED: 1} if wrapped else {})


def test_older_shapes_are_understood() -> None:
    talk = trajectory(
        {"role": "human", "content": [{"type": "text", "text": "a"}, {"type": "image_url"}, "b"]},
        {"role": "ai", "content": None, "function_call": {"name": "t", "arguments": "{}"}},
        {"role": "function", "name": "t", "content": {"n": 1}},
        calls({"id": "c", "name": "flat", "arguments": {}}),
    )
    assert [(message.role, message.content) for message in talk.messages] == [
        ("user", "a\nb"),
        ("assistant", None),
        ("tool", '{"n": 1}'),
        ("assistant", None),
    ]
    assert [message.calls[0].name for message in talk.messages if message.calls] == ["t", "flat"]


def test_what_is_no_message_is_dropped_and_counted() -> None:
    talk = normalise({"messages": [7, {"role": "critic"}, {"role": ["user"]}, user("u"), says(".")]})
    assert len(talk.messages) == 2
    assert talk.repairs == {Repair.NOT_A_MESSAGE_DROPPED: 1, Repair.UNKNOWN_ROLE_DROPPED: 2}


def test_a_normalised_message_survives_the_openai_shape() -> None:
    talk = trajectory(user("u"), calls(call("a", "t", n=1), text="x"), result("a", "r"), says("."))
    assert tuple(from_openai(to_openai(message)) for message in talk.messages) == talk.messages


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
IDS = st.sampled_from([None, "a", "b"])
CALLS = st.lists(
    st.fixed_dictionaries(
        {"id": IDS, "function": st.fixed_dictionaries({"name": st.just("t"), "arguments": ANYTHING})}
    ),
    max_size=3,
)
MESSAGES = st.lists(
    ANYTHING
    | st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant", "tool", "critic"]), "content": ANYTHING},
        optional={"tool_calls": CALLS | ANYTHING, "tool_call_id": IDS | ANYTHING},
    ),
    max_size=8,
)


@given(MESSAGES)
def test_any_json_normalises_to_a_valid_history(messages: list[Any]) -> None:
    talk = normalise({"messages": messages})
    found = {problem.refusal for problem in Checker().problems([*talk.system, *talk.messages], goes_on=True)}
    # These depend on what the recording holds; a call may be open only at the very end.
    found -= {Refusal.FIRST_NOT_USER, Refusal.NO_MESSAGE, Refusal.EMPTY_SYSTEM}
    if found == {Refusal.CALL_NOT_ANSWERED}:
        asking = max(at for at, message in enumerate(talk.messages) if message.role == "assistant")
        assert all(message.role == "tool" for message in talk.messages[asking + 1 :])
        found = set()
    assert found == set()


@given(MESSAGES)
def test_normalising_twice_changes_nothing_more(messages: list[Any]) -> None:
    once = normalise({"messages": messages})
    again = normalise({"messages": [to_openai(message) for message in (*once.system, *once.messages)]})
    assert (again.system, again.messages) == (once.system, once.messages)
    assert again.repairs == {}
