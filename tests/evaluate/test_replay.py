"""A replay measures every candidate at every step against plain replay, and says why something is missing."""

from collections.abc import Callable
from functools import partial

import pytest

from callsheet.errors import InvalidOption
from callsheet.evaluate.baselines import LookAhead, PlainReplay, Window
from callsheet.evaluate.billing import O200k
from callsheet.evaluate.candidates import Candidate, CandidateFactory, MissReason, Opening, Request, Step
from callsheet.evaluate.messages import Message
from callsheet.evaluate.replay import PLAIN_REPLAY, Progress, replay
from callsheet.evaluate.report import Kept, Report, Row, aligned
from callsheet.evaluate.validity import Provider, Refusal
from callsheet.evaluate.values import Value
from tests.evaluate.conversations import Words, order_desk, says, system, trajectory, user


class Newest:
    """Sends the newest message alone, behind an own first message."""

    def __init__(self, opening: Opening, why_missing: Callable[[Value], MissReason] | None = None) -> None:
        self._why_missing = why_missing

    def request(self, step: Step) -> Request:
        newest = step.history[-1]
        return Request(messages=[Message(role="user", content="(more before)"), newest], why_missing=self._why_missing)


def measured(candidates: dict[str, CandidateFactory]) -> dict[str, Row]:
    report = replay({"desk": [order_desk()]}, candidates, tokeniser=Words())
    return {row.candidate: row for row in report.rows}


def test_plain_replay_comes_first_and_is_the_measure_of_all() -> None:
    rows = measured({"newest": Newest, "same": PlainReplay})
    assert list(rows) == [PLAIN_REPLAY, "newest", "same"]
    plain = rows[PLAIN_REPLAY]
    assert (plain.recordings, plain.steps) == (1, 6)
    assert (plain.tokens_percent, plain.billed_percent) == (100.0, 100.0)
    assert plain.all == Kept(needed=4, kept=4)
    assert plain.old == plain.hard == plain.in_place == Kept(needed=2, kept=2)
    assert (plain.misses, plain.hard_misses) == ({}, {})
    assert all(refused.requests == 0 for refused in plain.refused.values())
    assert (rows["same"].tokens, rows["same"].billed, rows["same"].all) == (plain.tokens, plain.billed, plain.all)


def test_tokens_and_bills_are_means_over_all_steps_of_a_file() -> None:
    short = trajectory(user("a b"), says("c"), user("d"), says("e"))
    other = trajectory(system("s"), user("a"), says("b"))
    (row,) = replay({"f": [short, other]}, {}, tokeniser=Words()).rows
    # Requests of 2, 4 and 2 tokens; the second shares its first 2 with the one before, the third starts a conversation.
    assert row.tokens == pytest.approx(8 / 3)
    assert row.billed == pytest.approx((2 + (2 + 0.2) + 2) / 3)


def test_a_candidate_that_drops_history_loses_evidence_and_validity() -> None:
    row = measured({"newest": Newest})["newest"]
    assert row.all == Kept(needed=4, kept=2)
    assert row.hard == Kept(needed=2, kept=0)
    assert row.hard.percent == 0.0
    assert row.misses == row.hard_misses == {MissReason.BUDGET: 2}
    for provider in Provider:
        assert row.refused[provider].requests == 2
        assert row.refused[provider].reasons == {Refusal.RESULT_WITHOUT_CALL: 2}


def test_a_value_that_is_shown_bare_is_kept_but_not_in_place() -> None:
    class Dump:
        def __init__(self, opening: Opening) -> None:
            pass

        def request(self, step: Step) -> Request:
            values = " ".join(need.value.spellings[0] for need in step.foreseen)
            return Request(messages=[Message(role="user", content=f"values {values}")])

    row = measured({"dump": Dump})["dump"]
    assert row.hard == Kept(needed=2, kept=2)
    assert row.in_place == Kept(needed=2, kept=0)


def test_a_candidate_explains_its_own_misses() -> None:
    def why(value: Value) -> MissReason:
        return MissReason.BRANCH if value.spellings == ("W-48213",) else MissReason.STALE

    row = measured({"newest": partial(Newest, why_missing=why)})["newest"]
    assert row.misses == {MissReason.BRANCH: 1, MissReason.STALE: 1}


def test_a_candidate_is_built_per_conversation_and_sees_only_what_came_before() -> None:
    seen: list[tuple[str, int, int]] = []

    class Watching:
        def __init__(self, opening: Opening) -> None:
            self._id = opening.id
            seen.append((self._id, -1, -1))

        def request(self, step: Step) -> Request:
            seen.append((self._id, step.at, len(step.history)))
            return Request(messages=step.history)

    def build(opening: Opening) -> Candidate:
        return Watching(opening)

    talk = trajectory(user("a"), says("b"), user("c"), says("d"))
    replay({"f": [talk, talk]}, {"watching": build}, tokeniser=Words())
    assert seen == [("talk", -1, -1), ("talk", 1, 1), ("talk", 3, 3)] * 2


def test_progress_is_told_after_each_recording() -> None:
    told: list[Progress] = []
    replay({"one": [order_desk()] * 2, "two": [order_desk()]}, {}, tokeniser=Words(), progress=told.append)
    assert [(progress.file, progress.done, progress.total) for progress in told] == [
        ("one", 1, 3),
        ("one", 2, 3),
        ("two", 3, 3),
    ]


def test_the_name_of_plain_replay_is_taken() -> None:
    with pytest.raises(InvalidOption, match="plain replay"):
        replay({}, {PLAIN_REPLAY: PlainReplay}, tokeniser=Words())


def test_the_encoding_of_the_measures_is_exact() -> None:
    assert O200k().count("hello world") == len(O200k().encode("hello world")) == 2


def test_a_file_without_recordings_gives_rows_of_zeros() -> None:
    (row,) = replay({"empty": []}, {}, tokeniser=Words()).rows
    assert (row.steps, row.tokens, row.tokens_percent, row.all.percent) == (0, 0.0, 0.0, None)


@pytest.fixture(scope="module")
def report() -> Report:
    return replay(
        {"desk": [order_desk()], "idle": [trajectory(user("a"), says("b"))]},
        {"newest": Newest, "window": partial(Window, limit=20), "bound": LookAhead},
        tokeniser=Words(),
    )


def test_the_report_as_values_holds_every_figure(report: Report) -> None:
    rows = report.as_dict()["rows"]
    assert isinstance(rows, list)
    assert rows[1] == {
        "file": "desk",
        "candidate": "newest",
        "recordings": 1,
        "steps": 6,
        "tokens": report.rows[1].tokens,
        "billed": report.rows[1].billed,
        "tokens_percent": report.rows[1].tokens_percent,
        "billed_percent": report.rows[1].billed_percent,
        "evidence": {
            "all": {"needed": 4, "kept": 2, "percent": 50.0},
            "old": {"needed": 2, "kept": 0, "percent": 0.0},
            "hard": {"needed": 2, "kept": 0, "percent": 0.0},
            "in_place": {"needed": 2, "kept": 0, "percent": 0.0},
        },
        "refused": {
            "openai": {"requests": 2, "reasons": {"result_without_call": 2}},
            "anthropic": {"requests": 2, "reasons": {"result_without_call": 2}},
        },
        "misses": {"budget": 2},
        "hard_misses": {"budget": 2},
        "over_budget": 0,
        "reachable": None,
    }


def test_the_report_as_text_has_a_table_per_file_and_the_reasons_below(report: Report) -> None:
    desk, idle = report.as_text().split("\n\n")
    assert desk.startswith("desk: recordings 1, steps 6; values needed: all 4, old 2, hard 2\n")
    assert "  newest, missing: budget 2; 2 of them hard\n" in desk
    assert "  newest, refused by anthropic: result without call 2\n" in desk
    assert "–" in idle
    assert "missing" not in idle


def test_a_table_has_its_columns_aligned() -> None:
    assert aligned([("name", "n"), ("a", "1,000"), ("longer", "2")]) == [
        "name        n",
        "-------------",
        "a       1,000",
        "longer      2",
    ]


def test_an_empty_report_is_empty_text() -> None:
    assert Report(rows=()).as_text() == ""
