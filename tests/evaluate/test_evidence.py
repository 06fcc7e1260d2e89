"""Which values a step needs, where they come from, and which of them are old and hard."""

import json

from callsheet.evaluate.evidence import MAX_NEEDS, Evidence
from callsheet.evaluate.trajectory import Trajectory
from callsheet.evaluate.values import Kind
from tests.evaluate.conversations import Raw, call, calls, order_desk, result, says, system, trajectory, user


def needs(talk: Trajectory, step: int) -> dict[str, tuple[tuple[int, ...], bool, bool]]:
    return {need.value.spellings[0]: (need.sources, need.old, need.hard) for need in Evidence(talk).needs[step]}


def test_the_needs_of_the_order_desk() -> None:
    evidence = Evidence(order_desk())
    assert {step: [need.value.spellings for need in found] for step, found in evidence.needs.items()} == {
        1: [("mia@example.org",)],
        3: [],
        5: [],
        7: [],
        9: [("W-48213",), ("1,250", "1,250.00", "1250", "1250.0", "1250.00")],
        11: [("RF-771",)],
    }


def test_a_value_from_a_result_long_ago_is_old_and_hard() -> None:
    assert needs(order_desk(), 9)["W-48213"] == ((2,), True, True)


def test_a_value_is_recent_from_the_second_last_assistant_message_on() -> None:
    talk = trajectory(
        user("u"),
        calls(call("a", "find")),
        result("a", "K-100 and K-200"),
        says("I found K-200."),
        user("ok"),
        says("fine"),
        user("go on"),
        calls(call("b", "get", first="K-100", second="K-200")),
    )
    assert needs(talk, 7) == {"K-100": ((2,), True, True), "K-200": ((2, 3), False, False)}


def test_the_first_user_message_is_never_old_and_a_later_one_never_hard() -> None:
    talk = trajectory(
        user("for K-100"),
        says("yes"),
        user("and K-200"),
        says("yes"),
        user("now"),
        says("what"),
        user("all"),
        calls(call("b", "get", first="K-100", second="K-200")),
    )
    assert needs(talk, 7) == {"K-100": ((0,), False, False), "K-200": ((2,), True, False)}


def test_what_every_request_holds_anyway_is_no_need() -> None:
    schema: Raw = {"name": "get", "parameters": {"enum": ["K-300"]}}
    talk = trajectory(
        system("Use K-200."),
        user("K-100, K-200 and K-300"),
        calls(call("a", "get", x="K-100", y="K-200", z="K-300")),
        tools=[schema],
    )
    assert list(needs(talk, 1)) == ["K-100"]


def test_a_value_that_stands_nowhere_before_is_no_need() -> None:
    talk = trajectory(user("u"), calls(call("a", "get", x="K-100")), result("a", "K-100"))
    assert needs(talk, 1) == {}


def test_an_argument_counts_as_a_whole_or_else_by_its_parts() -> None:
    asked = user("Fly Mia Lund on 2024-05-01 from OSLO-2")
    whole = trajectory(asked, calls(call("a", "book", who="Mia Lund")))
    assert [need.value.kind for need in Evidence(whole).needs[1]] == [Kind.TEXT]
    parts = trajectory(asked, calls(call("a", "book", flight="2024-05-01 / OSLO-2 / one way")))
    assert list(needs(parts, 1)) == ["2024-05-01", "OSLO-2"]


def test_long_arguments_count_line_by_line() -> None:
    asked = user("def total(cart): \nreturn 0\nsee #A77x")
    talk = trajectory(asked, calls(call("a", "write", code="def total(cart):\n  # A comment on #A77x\nshort")))
    assert [(need.value.kind, need.value.spellings[0]) for need in Evidence(talk).needs[1]] == [
        (Kind.LINE, "def total(cart):"),
        (Kind.ID, "#A77x"),
    ]


def test_truth_values_nulls_and_small_numbers_are_no_needs() -> None:
    talk = trajectory(user("True None 12 123"), calls(call("a", "set", a=True, b=None, c=12, d="12", e="123", f=123)))
    assert list(needs(talk, 1)) == ["123"]


def test_the_text_of_a_message_counts_only_if_it_calls_nothing() -> None:
    asked = user("K-100")
    assert list(needs(trajectory(asked, says("K-100 it is")), 1)) == ["K-100"]
    assert needs(trajectory(asked, calls(call("a", "t"), text="K-100 it is")), 1) == {}


def test_values_in_escaped_arguments_are_found_decoded() -> None:
    talk = trajectory(
        user("u"), calls(call("a", "write", text="first\tK-100\nsecond")), result("a", "ok"), says("K-100 is written")
    )
    assert needs(talk, 3)["K-100"][0] == (1,)


def test_no_step_has_more_needs_than_the_limit() -> None:
    ids = [f"K-{number}" for number in range(100, 100 + MAX_NEEDS + 20)]
    talk = trajectory(user(json.dumps(ids)), calls(call("a", "get", ids=ids)))
    assert list(needs(talk, 1)) == ids[:MAX_NEEDS]
