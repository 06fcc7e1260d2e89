"""Each reason for which a provider refuses a request is found, and named with the message that gives it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.evaluate.messages import Call, Message, from_openai
from callsheet.evaluate.validity import Checker, Provider, Refusal
from tests.evaluate.conversations import Raw, call, calls, result, says, system, user


def found(*messages: Raw, goes_on: bool = False) -> list[tuple[Refusal, int]]:
    request = [from_openai(message) for message in messages]
    return [(problem.refusal, problem.at) for problem in Checker().problems(request, goes_on=goes_on)]


ASKED = calls(call("a", "t"), call("b", "t"))
RAW_CALL: Raw = {"id": "a", "function": {"name": "t"}}


def asked(arguments: object) -> Raw:
    return calls({"id": "a", "function": {"name": "t", "arguments": arguments}})


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([system("s"), user("u")], []),
        ([user("u"), ASKED, result("b", "1"), result("a", "2")], []),
        ([user("u"), says("a"), user("v")], []),
        ([], [(Refusal.NO_MESSAGE, 0)]),
        ([system("s")], [(Refusal.NO_MESSAGE, 0), (Refusal.NOTHING_TO_ANSWER, 0)]),
        ([system(" "), user("u")], [(Refusal.EMPTY_SYSTEM, 0)]),
        ([user("")], [(Refusal.EMPTY_USER, 0)]),
        ([user("u"), says("\n"), user("v")], [(Refusal.EMPTY_ASSISTANT, 1)]),
        ([user("u"), says("a")], [(Refusal.NOTHING_TO_ANSWER, 1)]),
        ([user("u"), system("s"), user("v")], [(Refusal.LATE_SYSTEM, 1)]),
        ([says("a"), user("u")], [(Refusal.FIRST_NOT_USER, 0)]),
        ([user("u"), {"role": "developer", "content": "d"}, user("v")], [(Refusal.UNKNOWN_ROLE, 1)]),
        ([user("u"), result("a", "r")], [(Refusal.RESULT_WITHOUT_CALL, 1)]),
        ([user("u"), ASKED, result("a", "1")], [(Refusal.CALL_NOT_ANSWERED, 1)]),
        ([user("u"), ASKED, user("v")], [(Refusal.CALL_NOT_ANSWERED, 1)]),
        (
            [user("u"), ASKED, user("v"), result("a", "1"), result("b", "2")],
            [(Refusal.CALL_NOT_ANSWERED, 1), (Refusal.RESULT_WITHOUT_CALL, 3), (Refusal.RESULT_WITHOUT_CALL, 4)],
        ),
        (
            [user("u"), ASKED, result("a", "1"), result("b", " "), result("a", "1"), result("z", "1")],
            [(Refusal.EMPTY_RESULT, 3), (Refusal.CALL_ANSWERED_TWICE, 4), (Refusal.RESULT_WITHOUT_CALL, 5)],
        ),
        ([user("u"), calls(call("a", "t"), call("a", "t")), result("a", "1")], [(Refusal.CALL_IDS, 1)]),
        ([user("u"), calls(call(None, "t")), result(None, "1")], [(Refusal.CALL_IDS, 1)]),
        ([user("u"), asked("{"), result("a", "1")], [(Refusal.ARGUMENTS_NOT_JSON, 1)]),
        ([user("u"), asked({}), result("a", "1")], [(Refusal.ARGUMENTS_NOT_JSON, 1)]),
        ([user("u"), asked("[" * 100_000), result("a", "1")], [(Refusal.ARGUMENTS_NOT_JSON, 1)]),
        ([user("u"), asked("null"), result("a", "1")], [(Refusal.ARGUMENTS_NOT_AN_OBJECT, 1)]),
    ],
)
def test_reasons_to_refuse(messages: list[Raw], expected: list[tuple[Refusal, int]]) -> None:
    assert found(*messages) == expected


def test_a_request_may_end_with_the_assistant_if_the_history_does() -> None:
    assert found(user("u"), says("a"), goes_on=True) == []


def test_an_image_alone_is_not_empty() -> None:
    assert found({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]}) == []
    assert found({"role": "user", "content": []}) == [(Refusal.EMPTY_USER, 0)]


def test_two_rules_are_anthropics_alone() -> None:
    alone = {refusal for refusal in Refusal if refusal.providers == {Provider.ANTHROPIC}}
    assert alone == {Refusal.LATE_SYSTEM, Refusal.FIRST_NOT_USER}
    assert all(Provider.ANTHROPIC in refusal.providers for refusal in Refusal)


IDS = st.sampled_from(["a", "b", None])
MESSAGES = st.lists(
    st.builds(
        Message,
        role=st.sampled_from(["system", "user", "assistant", "tool", "other"]),
        content=st.sampled_from([None, "", "x"]),
        calls=st.lists(
            st.builds(Call, id=IDS, name=st.just("t"), arguments=st.sampled_from(["{}", "[]", ""])), max_size=2
        ).map(tuple),
        answers=IDS,
    ),
    max_size=6,
)


@given(st.lists(MESSAGES, max_size=4))
def test_what_was_checked_before_changes_no_answer(requests: list[list[Message]]) -> None:
    checker = Checker()
    for request in [*requests, *requests]:
        assert checker.problems(request) == Checker().problems(request)
