"""What nine verdicts come to: the order, what is final, what is protected, and what may not matter."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from callsheet.graph.enums import (
    ArtifactStatus,
    CallStatus,
    Freshness,
    Isolation,
    Level,
    Policy,
    Privacy,
    Reason,
    Role,
    Visibility,
)
from callsheet.graph.ids import RecordId
from callsheet.graph.values import Scope
from callsheet.policy.candidate import Candidate
from callsheet.policy.deciding import decide
from callsheet.policy.rehydration import Wanted, within_budget
from callsheet.policy.sets import BALANCED, BUILT_IN, REPLAY, PolicySetDocument
from callsheet.policy.settings import Retention
from callsheet.policy.verdict import DETAIL
from tests.policy.making import MEMORY, MESSAGE, PILOT, PURSER, RESULT, RUN, VOLATILE, ago, boundary

OTHER = (RecordId("other"),)
PRIVATE = Scope(owner=PILOT, visibility=Visibility.PARTICIPANT)


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    what: str
    candidate: Candidate
    most: Level
    least: Level = Level.NONE
    reason: Reason = Reason.INCLUDED
    rule: str = ""
    most_hard: Level = Level.RAW
    policy: PolicySetDocument = BALANCED


CASES = [
    Case(what="nothing speaks against words", candidate=MESSAGE, most=Level.RAW),
    Case(
        what="a result stands in a form that tells the same",
        candidate=RESULT,
        most=Level.DENSE,
        rule="rehydration.compact_is_enough",
    ),
    Case(what="exact bytes that are wanted stand", candidate=replace(RESULT, exact_wanted=True), most=Level.RAW),
    Case(
        what="hidden before it is secret",
        candidate=replace(RESULT, scope=PRIVATE, privacy=Privacy.SECRET, pinned=True),
        most=Level.NONE,
        most_hard=Level.NONE,
        reason=Reason.PARTICIPANT_PRIVATE,
        rule="visibility.participant_private",
    ),
    Case(
        what="protection does not lift a privacy class",
        candidate=replace(RESULT, privacy=Privacy.SECRET, outcome=ArtifactStatus.FAILED),
        most=Level.SAFE,
        least=Level.SAFE,
        most_hard=Level.SAFE,
        reason=Reason.PRIVACY_CLASS,
        rule="privacy.class_safe",
    ),
    Case(
        what="stale and secret stands as secret",
        candidate=replace(VOLATILE, privacy=Privacy.SECRET),
        most=Level.SAFE,
        most_hard=Level.SAFE,
        reason=Reason.PRIVACY_CLASS,
        rule="privacy.class_safe",
    ),
    Case(
        what="stale in the window stands as stale, and softly",
        candidate=replace(VOLATILE, turn_age=1),
        most=Level.STALE,
        least=Level.STALE,
        reason=Reason.STALE,
        rule="freshness.aged",
    ),
    Case(
        what="superseded and stale is left out as superseded",
        candidate=replace(VOLATILE, superseded_by=OTHER),
        most=Level.NONE,
        reason=Reason.SUPERSEDED,
        rule="conflict.superseded",
    ),
    Case(
        what="superseded in the window stays by reference",
        candidate=replace(RESULT, superseded_by=OTHER, turn_age=1),
        most=Level.REF,
        least=Level.REF,
        reason=Reason.SUPERSEDED,
        rule="conflict.superseded",
    ),
    Case(
        what="a replaced instruction is left out",
        candidate=replace(MESSAGE, role=Role.SYSTEM, superseded_by=OTHER),
        most=Level.NONE,
        reason=Reason.SUPERSEDED,
        rule="conflict.superseded",
    ),
    Case(
        what="a demoted memory that is pinned stays by reference",
        candidate=replace(MEMORY, promoted=False, pinned=True),
        most=Level.REF,
        least=Level.REF,
        reason=Reason.NOT_PROMOTED,
        rule="promotion.demoted",
    ),
    Case(
        what="what failed can be shortened to its gist",
        candidate=replace(RESULT, outcome=ArtifactStatus.FAILED),
        most=Level.DENSE,
        least=Level.GIST,
        rule="rehydration.compact_is_enough",
    ),
    Case(
        what="what was deleted is gone, protected or not",
        candidate=replace(RESULT, call=CallStatus.OPEN, retention=Retention.DELETE),
        most=Level.NONE,
        most_hard=Level.NONE,
        reason=Reason.ERASED,
        rule="retention.deleted",
    ),
    Case(
        what="exact but private bytes stay safe",
        candidate=replace(RESULT, exact_wanted=True, privacy=Privacy.GOOGLE_DERIVED),
        most=Level.SAFE,
        most_hard=Level.SAFE,
        reason=Reason.PRIVACY_CLASS,
        rule="privacy.class_safe",
    ),
    Case(
        what="replay shows all as it was",
        candidate=replace(VOLATILE, superseded_by=OTHER, promoted=False, privacy=Privacy.SECRET, bytes=10**9),
        most=Level.RAW,
        least=Level.RAW,
        policy=REPLAY,
    ),
    Case(
        what="but not what another may not see",
        candidate=replace(RESULT, scope=PRIVATE),
        most=Level.NONE,
        most_hard=Level.NONE,
        reason=Reason.PARTICIPANT_PRIVATE,
        rule="visibility.participant_private",
        policy=REPLAY,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case.what for case in CASES])
def test_the_decision_is_what_the_table_says(case: Case) -> None:
    found = decide(case.candidate, boundary(), case.policy)
    assert (case.most, case.least, case.reason) == (found.most, found.least, found.reason)
    assert (case.rule, case.most_hard) == (found.rule, found.most_hard)


# --------------------------------------------------------------------------- laws

_ids = st.sampled_from([RecordId(name) for name in ("a", "b", "c", "d")])
_who = st.sampled_from([None, PURSER, PILOT])
_scopes = st.builds(
    Scope,
    visibility=st.sampled_from(Visibility),
    owner=_who,
    isolation=st.sampled_from(Isolation),
    shared_with=st.sampled_from([(), (PURSER,)]),
    sub_agent=st.sampled_from([None, RUN, RecordId("child")]),
    releases=st.sampled_from([(), (RecordId("release"),)]),
)
_relations = st.sampled_from([(), OTHER])
_candidates = st.builds(
    Candidate,
    record=_ids,
    kind=st.sampled_from(["message", "call", "artifact", "tool_memory", "fact", "run"]),
    scope=_scopes,
    privacy=st.sampled_from(Privacy),
    role=st.sampled_from([None, *Role]),
    turn_age=st.integers(0, 30),
    freshness=st.sampled_from([None, *Freshness]),
    observed=st.sampled_from([None, ago(1), ago(60), ago(10_000), ago(-5)]),
    stale_after=st.sampled_from([None, ago(1), ago(-1)]),
    marked_stale=st.booleans(),
    session_over=st.booleans(),
    call=st.sampled_from([None, *CallStatus]),
    outcome=st.sampled_from([None, *ArtifactStatus]),
    resolved=st.booleans(),
    superseded_by=_relations,
    conflicts_with=_relations,
    pinned=st.booleans(),
    promoted=st.sampled_from([None, True, False]),
    released=st.sampled_from([None, True, False]),
    shared=st.booleans(),
    erased=st.booleans(),
    retention=st.sampled_from(Retention),
    bytes=st.sampled_from([0, 10, 10**6]),
    exact_wanted=st.booleans(),
)
_sets = st.sampled_from(list(BUILT_IN.values()))


@given(candidate=_candidates, policy=_sets)
def test_refusals_of_the_first_three_are_final_and_end_the_hearing(
    candidate: Candidate, policy: PolicySetDocument
) -> None:
    found = decide(candidate, boundary(), policy)
    refusing = [verdict for verdict in found.verdicts[:3] if verdict.refuses]
    if refusing:
        assert found.verdicts[-1] is refusing[0]
        assert found.most is found.most_hard is found.least is Level.NONE
        assert found.reason is refusing[0].reason
    else:
        assert [verdict.policy for verdict in found.verdicts] == list(Policy)


@given(candidate=_candidates, policy=_sets)
def test_no_verdict_allows_more_than_another_and_the_least_is_within_the_most(
    candidate: Candidate, policy: PolicySetDocument
) -> None:
    found = decide(candidate, boundary(), policy)
    hard = [DETAIL[verdict.most] for verdict in found.verdicts if verdict.most is not None and verdict.hard]
    assert DETAIL[found.most_hard] == max(hard, default=0)
    assert DETAIL[found.most] >= DETAIL[found.most_hard]
    assert DETAIL[found.least] >= DETAIL[found.most]


@given(candidate=_candidates, policy=_sets)
def test_what_is_protected_is_left_out_only_by_a_hard_verdict(candidate: Candidate, policy: PolicySetDocument) -> None:
    found = decide(candidate, boundary(), policy)
    if any(verdict.least is not None for verdict in found.verdicts) and found.most_hard is not Level.NONE:
        assert found.most is not Level.NONE
        assert found.protected


@given(candidate=_candidates, policy=_sets)
def test_verdicts_are_shared_not_made(candidate: Candidate, policy: PolicySetDocument) -> None:
    again = replace(candidate, record=RecordId("again"))
    pairs = zip(decide(candidate, boundary(), policy).verdicts, decide(again, boundary(), policy).verdicts, strict=True)
    assert all(one is other for one, other in pairs)


@given(candidate=_candidates, policy=_sets)
def test_a_limit_always_says_why(candidate: Candidate, policy: PolicySetDocument) -> None:
    found = decide(candidate, boundary(), policy)
    assert (found.most is Level.RAW) == (found.rule == "")
    assert found.reason is not Reason.INCLUDED or found.most in (Level.RAW, policy.history)


def test_exact_bytes_are_loaded_up_to_the_byte_budget_in_the_order_asked() -> None:
    policy = replace(BALANCED, rehydrate=1_000)
    wanted = [Wanted(RecordId(f"w{size}"), size) for size in (600, 500, 400, 1)]
    assert within_budget(wanted, policy) == ("w600", "w400")


def test_of_what_is_wanted_what_is_not_settled_has_its_bytes_first() -> None:
    policy = replace(BALANCED, rehydrate=1_000)
    settled, failed = Wanted(RecordId("a"), 900), Wanted(RecordId("b"), 900, unsettled=True)
    small = Wanted(RecordId("c"), 100)
    assert within_budget([settled, failed, small], policy) == ("b", "c")


def test_what_is_too_large_alone_takes_no_bytes_from_the_others() -> None:
    policy = replace(BALANCED, rehydrate=1_000)
    wanted = [Wanted(RecordId("large"), 1_001, unsettled=True), Wanted(RecordId("other"), 1_000)]
    assert within_budget(wanted, policy) == ("large", "other")


@given(
    wanted=st.lists(
        st.builds(Wanted, _ids, st.integers(0, 1_500), st.booleans()), max_size=8, unique_by=lambda w: w.record
    ),
    budget=st.integers(0, 1_200),
)
def test_the_byte_budget_holds(wanted: list[Wanted], budget: int) -> None:
    policy = replace(BALANCED, rehydrate=budget)
    chosen = within_budget(wanted, policy)
    assert list(chosen) == [one.record for one in wanted if one.record in chosen]
    assert sum(one.bytes for one in wanted if one.record in chosen and one.bytes <= budget) <= budget
    assert {one.record for one in wanted if one.bytes > budget} <= set(chosen)
