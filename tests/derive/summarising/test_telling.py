"""What an extract is made of: what people ask for, what was settled and done, and values; not what is said often."""

import re

import pytest

from callsheet.derive.summarising.extract import Told, extract, first_point
from callsheet.derive.summarising.telling import worth, worth_of_result
from callsheet.derive.terms import Language, language_of
from callsheet.wire.tokens import count


def tokens(text: str) -> int:
    return count(text, "o200k_base")


def told(text: str, *, person: bool = False, specific: bool = False, like: int = 0) -> int:
    words = len(set(re.findall(r"[^\W\d_]+", text.casefold())))
    return worth(text, person=person, specific=specific, terms=words, like=like, language=language_of(text))


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("We decided to keep the blue barge in bay four.", "The blue barge lies in bay four next to the crane."),
        ("The order was cancelled and the money was refunded.", "The order may be looked at again some other day."),
        ("Wir haben die Lieferung storniert und das Geld erstattet.", "Die Lieferung kommt in drei großen Kisten an."),
        ("The barge lies in bay four, next to the large crane.", "Which bay is the barge in, and who moors it there?"),
        ("The barge lies in bay four, next to the large crane.", "You are welcome."),
    ],
)
def test_what_was_settled_or_done_tells_more_than_talk_and_talk_more_than_asking_back(more: str, less: str) -> None:
    assert told(more) > told(less)


def test_what_a_person_lays_down_counts_and_what_a_model_says_must_be_does_not() -> None:
    rule = "Never e-mail the Thursday group about the harbour."
    assert told(rule, person=True) > told(rule)


def test_a_formula_tells_less_than_what_is_said_once() -> None:
    courtesy = "Please feel free to come back to me at any time."
    assert told(courtesy, like=2) < told(courtesy)


def test_a_value_counts_and_a_bare_heading_does_not() -> None:
    plain = "The whole transport comes to quite a sum."
    assert told(plain, specific=True) > told(plain)
    assert told("2. Airline cancelled flight") < told(plain) < told("84.50 EUR.", specific=True)


def test_a_failure_tells_what_came_of_a_call_and_a_line_without_its_end_little() -> None:
    assert worth_of_result("pay(id: 7) failed: no funds", cut=False) > worth_of_result("pay(id: 7): done", cut=False)
    assert worth_of_result("get(id: 7): keys: a, b …", cut=True) < 0
    assert worth("", person=False, specific=False, terms=0, like=0, language=Language.ENGLISH) < 0


SPAN = [
    Told("user", "Hello!", person=True),
    Told("assistant", "Hello! How can I help you today with your order?"),
    Told("user", "I want to send my ferry ticket back and take the later sailing.", person=True),
    *[
        Told("assistant", "Thank you for your patience with us. Please feel free to come back to me. Shall I go on?"),
        Told("user", "Yes, thank you.", person=True),
    ]
    * 12,
    Told("assistant", "The ticket was cancelled and 84.50 EUR were refunded to your card. Anything else I can do?"),
    Told("user", "No. From now on book cabins on the upper deck only.", person=True),
    Told("assistant", "Thank you for your patience with us. Please feel free to come back to me."),
]


def test_an_extract_holds_what_was_asked_what_came_of_it_and_what_holds_from_then_on() -> None:
    text = extract(SPAN, tokens)
    assert "send my ferry ticket back" in text
    assert "84.50 EUR were refunded" in text
    assert "upper deck only" in text
    assert "feel free" not in text
    assert "How can I help" not in text
    assert "Shall I go" not in text


def test_in_one_line_it_is_told_by_what_the_person_asked() -> None:
    text = extract(SPAN, tokens)
    assert first_point(text) == "user: I want to send my ferry ticket back and take the later sailing."
    assert first_point("- assistant: It is in bay 4.\n- user: Where is it?") == "user: Where is it?"
    assert first_point("- assistant: It is in bay 4.\n- result of get: bay 4") == "assistant: It is in bay 4."
    assert first_point("The customer wants a refund.\nIt is paid.") == "The customer wants a refund."


def test_what_is_little_stands_whole_whatever_it_tells() -> None:
    said = [Told("user", "Q1.", person=True), Told("assistant", "A1."), Told("user", "Q2.", person=True)]
    assert (
        extract([*said, Told("assistant", "A2.")], tokens)
        == "- user: Q1.\n- assistant: A1.\n- user: Q2.\n- assistant: A2."
    )
