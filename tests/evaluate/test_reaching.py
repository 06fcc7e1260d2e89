"""What a request lacks is asked for by one call of its recall, and only what the answer itself holds counts."""

import json
from collections.abc import Mapping, Sequence

import pytest

from callsheet.evaluate.assembled import assembled
from callsheet.evaluate.baselines import Clearing
from callsheet.evaluate.candidates import CandidateFactory
from callsheet.evaluate.reaching import Fetched, Reaching, Unfetched
from callsheet.evaluate.replay import replay
from callsheet.evaluate.report import Reachable, Row
from callsheet.evaluate.trajectory import Trajectory
from callsheet.evaluate.values import Kind, Value, value
from tests.evaluate.conversations import Raw, Words, call, calls, result, says, trajectory, user

ORDER = value(Kind.ID, "W-48213")


class Desk:
    """Recall with answers written by hand; whatever else is asked is not there."""

    def __init__(self, answers: Mapping[tuple[str, ...], str], references: Sequence[str] = ()) -> None:
        self._answers = answers
        self._references = references

    def references(self) -> Sequence[str]:
        return self._references

    def recall(self, arguments: Mapping[str, object]) -> str:
        return self._answers.get(tuple(map(str, arguments.values())), "(recall: there is no such thing)")


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        ({}, Unfetched.NOT_FOUND),
        ({("abc",): "(abc, 20 bytes)\norder W-48213"}, Fetched.REFERENCE),
        ({("abc",): "(abc, 20 bytes)\norder W-482137"}, Unfetched.NOT_FOUND),
        ({("W-48213",): '(query "W-48213": 1 found)\nart_abc (find): order W-48213'}, Fetched.QUERY),
        ({("abc", '"W-48213"'): "(abc, search: 1 match)\norder W-48213"}, Fetched.REFERENCE),
        # What was asked for is said again in the first line, and is no answer.
        ({("W-48213",): '(query "W-48213": nothing found)'}, Unfetched.NOT_FOUND),
        ({("abc", '"W-48213"'): '(abc, search "W-48213": 0 matches)'}, Unfetched.NOT_FOUND),
        (
            {("W-48213",): "(query)\nart_x (find): cut …", ("art_x",): "(art_x)\norder W-48213"},
            Unfetched.SECOND_CALL,
        ),
    ],
)
def test_what_one_call_brings_back(answers: Mapping[tuple[str, ...], str], outcome: Fetched | Unfetched) -> None:
    assert Reaching().reach(ORDER, Desk(answers, references=["abc"])) == outcome


def test_a_number_is_searched_in_each_of_its_spellings() -> None:
    amount = Value(kind=Kind.NUMBER, spellings=("1,250.00", "1250"))
    assert Reaching().reach(amount, Desk({("1250",): "(query)\nart_a: 1250"})) == Fetched.QUERY


def test_without_recall_nothing_can_be_fetched() -> None:
    assert Reaching().reach(ORDER, None) == Unfetched.NOT_OFFERED


def long_desk() -> Trajectory:
    """A list of orders is read, many others after it, and one of its first is used in the end."""

    def listed(place: int) -> Raw:
        orders = [{"order_id": f"W-{place:02}{n:03}", "state": f"packed {n}"} for n in range(40)]
        return result(f"c{place}", json.dumps(orders))

    looks: list[Raw] = []
    for place in range(12):
        looks += [user(f"Shelf {place}?"), calls(call(f"c{place}", "look", shelf=place)), listed(place), says("Seen.")]
    tool: Raw = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    return trajectory(*looks, user("Go on."), calls(call("c99", "send", order="W-00007")), tools=[tool])


def measured(candidate: CandidateFactory, *, reachable: bool = True) -> Row:
    report = replay({"desk": [long_desk()]}, {"one": candidate}, tokeniser=Words(), reachable=reachable)
    return report.rows[1]


def test_what_a_budget_leaves_out_is_one_fetch_away() -> None:
    row = measured(assembled(policy="lean", budget=1_000))
    assert row.hard.needed > row.hard.kept
    assert row.reachable is not None
    assert row.reachable.percent == 100
    assert sum(row.reachable.fetched.values()) == row.hard.needed - row.hard.kept
    assert row.reachable.shown == row.hard.kept


def test_what_a_baseline_leaves_out_is_gone() -> None:
    row = measured(lambda opening: Clearing(opening, over=100))
    assert row.reachable == Reachable(needed=1, shown=0, fetched={}, unfetched={Unfetched.NOT_OFFERED: 1})
    assert row.reachable.percent == 0


def test_it_is_told_in_the_table_and_as_values_where_it_was_asked_for() -> None:
    given = {"one": assembled(policy="lean", budget=1_000)}
    report = replay({"desk": [long_desk()]}, given, tokeniser=Words(), reachable=True)
    text = report.as_text()
    assert text.splitlines()[1].endswith("reachable %")
    assert "one, hard and fetched by: " in text
    rows = report.as_dict()["rows"]
    assert isinstance(rows, list)
    assert rows[1]["reachable"]["percent"] == 100
    assert measured(given["one"], reachable=False).reachable is None


def test_nothing_needed_has_no_share() -> None:
    assert Reachable(needed=0, shown=0, fetched={}, unfetched={}).percent is None


@pytest.mark.parametrize(("budget", "over"), [(None, False), (600, True)])
def test_a_request_that_cannot_be_made_within_its_budget_is_made_larger_and_counted(
    budget: int | None, over: bool
) -> None:
    row = measured(assembled(policy="replay", budget=budget), reachable=False)
    assert (row.over_budget > 0) == over
    assert row.hard.kept == row.hard.needed


def test_a_budget_makes_requests_smaller() -> None:
    free, bound = measured(assembled()), measured(assembled(budget=1_500))
    assert bound.tokens < free.tokens
    assert bound.over_budget == 0


def test_the_same_recording_gives_the_same_figures() -> None:
    assert measured(assembled(policy="lean")) == measured(assembled(policy="lean"))
