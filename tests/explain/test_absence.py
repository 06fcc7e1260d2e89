"""Every record has one answer to why it does not stand in a request."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from callsheet.explain.absence import Evidence, Outcome, WhyNot, why_not
from callsheet.explain.facts import Known, Worth
from callsheet.graph.enums import Level, Policy, Privacy, Reason, Role
from callsheet.graph.ids import RecordId
from callsheet.policy.candidate import Candidate
from callsheet.policy.deciding import decide
from callsheet.policy.sets import BALANCED
from callsheet.policy.settings import ClassForms
from tests.explain.making import boundary, fact, place

SHEET = RecordId("sheet_1")
KNOWN = fact("art_1", tool="moisture")
WORTH = Worth(needed=0.01, age=30, size=400, saves=12.0, costs=680.0)


def asked(evidence: Evidence) -> WhyNot:
    return why_not(SHEET, boundary(), "balanced@1", evidence)


def evidence(known: Known | None = KNOWN, **more: object) -> Evidence:
    return replace(Evidence(record=RecordId("art_1"), known=known, cut=50), **more)


def test_a_record_that_there_is_not() -> None:
    assert asked(evidence(None)).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("found", "outcome", "said"),
    [
        (evidence(cut=8), Outcome.LATER, "recorded at position 9, and the request saw up to 8"),
        (evidence(on_lineage=False), Outcome.BRANCH, "does not inherit"),
        (evidence(erased=True), Outcome.ERASED, "erased"),
        (evidence(), Outcome.OUT_OF_VIEW, "nothing new named it"),
        (evidence(left_out=Reason.OVER_BUDGET), Outcome.OVER_BUDGET, "pass the budget"),
        (
            evidence(left_out=Reason.NOT_RELEVANT, worth=WORTH, since=RecordId("sheet_0")),
            Outcome.NOT_WORTH,
            "when sheet sheet_0 was written anew: last used 30 turns ago, needed with P = 0.010",
        ),
        (evidence(selection=place("art_1", Level.DENSE)), Outcome.STANDS, "the dense form tells the same"),
        (evidence(selection=place("art_1", Level.GIST, note=2)), Outcome.SHORTENED, "stands shortened, in a line"),
    ],
)
def test_each_cause_is_told_apart(found: Evidence, outcome: Outcome, said: str) -> None:
    why = asked(found)
    assert why.outcome is outcome
    assert said in why.sentence


def test_a_refusal_names_policy_rule_and_reason() -> None:
    secret = Candidate(record=RecordId("art_1"), kind="artifact", privacy=Privacy.SECRET, turn_age=20)
    decision = decide(secret, boundary(), replace(BALANCED, privacy=ClassForms(secret=Level.NONE)))
    assert decision.refused
    why = asked(evidence(decision=decision))
    assert (why.outcome, why.policy, why.reason) == (Outcome.REFUSED, Policy.PRIVACY, Reason.PRIVACY_CLASS)
    assert why.rule == decision.rule
    assert decision.rule in why.sentence


def test_what_could_only_stand_shortened_says_so_and_why() -> None:
    secret = Candidate(record=RecordId("art_1"), kind="artifact", privacy=Privacy.SECRET, turn_age=20)
    decision = decide(secret, boundary(), BALANCED)
    why = asked(evidence(decision=decision, left_out=Reason.NOT_RELEVANT))
    assert why.rule == "privacy.class_safe"
    assert "could be shown as a mark that it is withheld at most, because its class of data" in why.sentence
    assert "(privacy.class_safe)" in why.sentence


def test_what_was_erased_after_it_was_shown_says_so() -> None:
    why = asked(evidence(selection=place("art_1", Level.DENSE), erased=True))
    assert why.outcome is Outcome.STANDS
    assert why.sentence.endswith("; its content was erased since.")


def test_bookkeeping_stands_in_no_request() -> None:
    run = Known(record=RecordId("run_1"), kind="run", position=3)
    assert asked(evidence(run)).outcome is Outcome.BOOKKEEPING


@given(
    known=st.builds(fact, st.just("art_1"), role=st.sampled_from([None, *Role]), position=st.integers(0, 100)),
    cut=st.integers(0, 100),
    seen=st.tuples(st.booleans(), st.booleans()),
    left_out=st.sampled_from([None, *Reason]),
    level=st.sampled_from([None, *Level]),
)
def test_there_is_always_one_answer_in_one_sentence(
    known: Known, cut: int, seen: tuple[bool, bool], left_out: Reason | None, level: Level | None
) -> None:
    selection = place("art_1", level) if level is not None else None
    on_lineage, erased = seen
    why = asked(evidence(known, cut=cut, on_lineage=on_lineage, erased=erased, left_out=left_out, selection=selection))
    assert (why.outcome in (Outcome.STANDS, Outcome.SHORTENED)) == (selection is not None)
    assert why.sentence.endswith(".")
    assert "\n" not in why.sentence
