"""What stands behind the verdicts: classes of context, terms of retry, precedence, promotion, bytes, age."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from callsheet.errors import PolicyError
from callsheet.graph.enums import (
    ArtifactStatus,
    CallStatus,
    ConfidenceSource,
    Freshness,
    Level,
    Privacy,
    Visibility,
)
from callsheet.graph.ids import RecordId
from callsheet.graph.times import Instant
from callsheet.graph.values import RetryContract, Scope
from callsheet.policy.attribution import SHOWABLE
from callsheet.policy.conflict import Precedence, Standing, precedence
from callsheet.policy.context import TREATMENTS, ContextClass, context_class
from callsheet.policy.contracts import ToolContract
from callsheet.policy.deciding import decide
from callsheet.policy.freshness import recheck
from callsheet.policy.keeping import Keeping
from callsheet.policy.promotion import Promotable, promotable
from callsheet.policy.recovery import Retry, retry
from callsheet.policy.retention import due
from callsheet.policy.sets import BALANCED, REPLAY
from callsheet.policy.settings import ClassForms, Retention
from tests.policy.making import MINUTE, NOW, RESULT, VOLATILE, ago, boundary

FAILED = replace(RESULT, outcome=ArtifactStatus.FAILED)
HOUR = 60 * MINUTE


# --------------------------------------------------------------------------- context classes


def test_every_kind_that_can_stand_in_a_request_has_a_class_with_its_treatment() -> None:
    assert set(TREATMENTS) == set(ContextClass)
    found = {kind: context_class(kind) for kind in SHOWABLE}
    assert found["message"] is ContextClass.CONVERSATIONAL
    assert found["artifact"] is found["call"] is ContextClass.OPERATIONAL
    assert found["fact"] is found["tool_memory"] is ContextClass.EPISTEMIC
    assert found["skill"] is ContextClass.PLANNING
    assert found["checkpoint"] is ContextClass.RECOVERY


@given(kind=st.text(max_size=20), call=st.none() | st.sampled_from(CallStatus), resolved=st.booleans())
def test_every_record_has_a_class(kind: str, call: CallStatus | None, resolved: bool) -> None:
    assert context_class(kind, call=call, resolved=resolved) in TREATMENTS


def test_what_is_open_or_failed_is_recovery_until_it_is_settled_or_given_up_on() -> None:
    for kind, call, outcome in (
        ("call", CallStatus.OPEN, None),
        ("artifact", CallStatus.ANSWERED, ArtifactStatus.FAILED),
        ("artifact", None, ArtifactStatus.DEFERRED),
    ):
        assert context_class(kind, call=call, outcome=outcome) is ContextClass.RECOVERY
        assert context_class(kind, call=call, outcome=outcome, resolved=True) is ContextClass.OPERATIONAL
        assert context_class(kind, call=CallStatus.ABANDONED, outcome=outcome) is ContextClass.OPERATIONAL


# --------------------------------------------------------------------------- recovery


@pytest.mark.parametrize(
    ("terms", "outcome", "expected", "minutes", "left"),
    [
        (None, ArtifactStatus.OK, Retry.SETTLED, None, None),
        (None, ArtifactStatus.FAILED, Retry.NOW, None, None),
        (None, ArtifactStatus.TIMED_OUT, Retry.RECONCILE, None, None),
        (None, ArtifactStatus.UNKNOWN, Retry.RECONCILE, None, None),
        (None, ArtifactStatus.AWAITING_APPROVAL, Retry.APPROVAL, None, None),
        (RetryContract(safe=False), ArtifactStatus.FAILED, Retry.RECONCILE, None, None),
        (RetryContract(safe=True), ArtifactStatus.TIMED_OUT, Retry.NOW, None, None),
        (RetryContract(idempotency_key="k"), ArtifactStatus.UNKNOWN, Retry.NOW, None, None),
        (RetryContract(attempts=3, limit=3, safe=True), ArtifactStatus.FAILED, Retry.EXHAUSTED, None, 0),
        (RetryContract(attempts=1, limit=3, backoff=600), ArtifactStatus.FAILED, Retry.LATER, 5, 2),
        (RetryContract(attempts=3, limit=5, backoff=600), ArtifactStatus.FAILED, Retry.LATER, 35, 2),
        (RetryContract(attempts=1, backoff=60), ArtifactStatus.FAILED, Retry.NOW, None, None),
        (RetryContract(attempts=10**6, backoff=1), ArtifactStatus.FAILED, Retry.LATER, 24 * 60 - 5, None),
        (RetryContract(backoff=math.inf), ArtifactStatus.FAILED, Retry.LATER, 24 * 60 - 5, None),
        (RetryContract(retry_after=ago(-7), backoff=1), ArtifactStatus.FAILED, Retry.LATER, 7, None),
    ],
)
def test_terms_of_retry_say_what_may_be_done_and_when(
    terms: RetryContract | None, outcome: ArtifactStatus, expected: Retry, minutes: int | None, left: int | None
) -> None:
    found = retry(replace(RESULT, outcome=outcome, retry=terms), ago(5), NOW)
    at = NOW + minutes * MINUTE if minutes is not None else None
    assert (found.retry, found.at, found.left) == (expected, at, left)


def test_what_may_not_be_tried_again_stays_in_view_until_somebody_settles_it() -> None:
    spent = replace(FAILED, retry=RetryContract(attempts=3, limit=3))
    assert decide(spent, boundary(), BALANCED).protected
    assert not decide(replace(spent, resolved=True), boundary(), BALANCED).protected


# --------------------------------------------------------------------------- freshness


@pytest.mark.parametrize(
    ("contract", "freshness", "expected"),
    [
        (None, Freshness.VOLATILE, ()),
        (ToolContract(name="berths", recheck=("harbour", "phone")), Freshness.VOLATILE, ("harbour", "phone")),
        (ToolContract(name="berths", recheck=("harbour",)), Freshness.DURABLE, ("harbour",)),
        (ToolContract(name="berths", recheck=("harbour",)), Freshness.PERMANENT, ()),
        (ToolContract(name="berths", side_effects=False), Freshness.TIME_BOUNDED, ("berths",)),
        (ToolContract(name="berths", side_effects=False), Freshness.DURABLE, ()),
        (ToolContract(name="berths", side_effects=True), Freshness.VOLATILE, ()),
        (ToolContract(name="berths"), Freshness.SESSION, ()),
        (ToolContract(name="berths", recheck=(), side_effects=False), Freshness.SESSION, ()),
    ],
)
def test_how_to_check_again(contract: ToolContract | None, freshness: Freshness, expected: tuple[str, ...]) -> None:
    assert recheck(replace(VOLATILE, contract=contract, freshness=freshness)) == expected


# --------------------------------------------------------------------------- conflict

ONE, OTHER = Standing(record=RecordId("one")), Standing(record=RecordId("other"))


@pytest.mark.parametrize(
    ("one", "other", "by"),
    [
        ({"document": "tariff", "version": "1.10"}, {"document": "tariff", "version": "1.9"}, "document_version"),
        (
            {"document": "tariff", "version": "2"},
            {"document": "tariff", "version": "1", "tainted": True},
            "document_version",
        ),
        ({}, {"tainted": True}, "provenance"),
        ({"source": ConfidenceSource.RULE}, {"source": ConfidenceSource.MODEL_SUMMARY}, "confidence_source"),
        (
            {"source": ConfidenceSource.EXACT_VALUE, "confidence": 0.1},
            {"source": ConfidenceSource.RULE},
            "confidence_source",
        ),
        ({"confidence": 0.9}, {"confidence": 0.6}, "confidence"),
        ({"confidence": 0.9}, {"confidence": math.nan}, "confidence"),
    ],
)
def test_provenance_and_confidence_decide(one: dict[str, object], other: dict[str, object], by: str) -> None:
    first, second = replace(ONE, **one), replace(OTHER, **other)
    expected = Precedence(replaces=first.record, replaced=second.record, by=by)
    assert precedence(first, second) == precedence(second, first) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {}),
        ({"confidence": 0.9}, {"confidence": 0.8}),
        ({"document": "tariff", "version": "2"}, {"document": "rota", "version": "1"}),
        ({"document": "tariff", "version": "2.0"}, {"document": "tariff", "version": "2"}),
        ({"document": "tariff", "version": "final"}, {"document": "tariff", "version": "1"}),
    ],
)
def test_what_nothing_tells_apart_stands_on_both_sides(one: dict[str, object], other: dict[str, object]) -> None:
    assert precedence(replace(ONE, **one), replace(OTHER, **other)) == Precedence()
    assert precedence(ONE, ONE) == Precedence()


_standings = st.builds(
    Standing,
    record=st.sampled_from([RecordId(name) for name in "abcd"]),
    confidence=st.floats(),
    source=st.sampled_from(ConfidenceSource),
    tainted=st.booleans(),
    document=st.none() | st.sampled_from(["tariff", "rota"]),
    version=st.none() | st.sampled_from(["1", "1.2", "10", "draft", "0"]),
)


@given(one=_standings, other=_standings)
def test_precedence_is_the_same_in_any_order_of_arrival(one: Standing, other: Standing) -> None:
    assert precedence(one, other) == precedence(other, one)


# --------------------------------------------------------------------------- promotion


@pytest.mark.parametrize(
    ("change", "expected", "rule"),
    [
        ({}, Promotable.MEMORY, "class"),
        ({"kind": "message"}, Promotable.NONE, "no_artifact"),
        ({"erased": True}, Promotable.NONE, "erased"),
        ({"retention": Retention.HASH_ONLY}, Promotable.NONE, "erased"),
        ({"outcome": ArtifactStatus.PENDING}, Promotable.NONE, "not_finished"),
        ({"outcome": ArtifactStatus.PARTIAL}, Promotable.MEMORY, "class"),
        ({"privacy": Privacy.SECRET}, Promotable.AUDIT_ONLY, "secret"),
        ({"privacy": Privacy.PERSONAL}, Promotable.AUDIT_ONLY, "class_none"),
        ({"privacy": Privacy.GOOGLE_DERIVED}, Promotable.METADATA, "class_safe"),
        ({"superseded_by": (RecordId("newer"),)}, Promotable.NONE, "superseded"),
    ],
)
def test_what_a_result_may_become(change: dict[str, object], expected: Promotable, rule: str) -> None:
    policy = replace(BALANCED, privacy=ClassForms(personal=Level.NONE))
    found = promotable(replace(RESULT, **change), policy)
    assert (found.as_, found.rule) == (expected, f"promotion.{rule}")


def test_a_secret_becomes_no_memory_under_any_set() -> None:
    assert promotable(replace(RESULT, privacy=Privacy.SECRET), REPLAY).as_ is Promotable.AUDIT_ONLY


# --------------------------------------------------------------------------- retention

KEEPS = replace(
    BALANCED,
    retention=(
        Keeping(of=ContextClass.OPERATIONAL, after=3_600, action=Retention.TRUNCATE),
        Keeping(of=ContextClass.OPERATIONAL, after=7_200, action=Retention.DELETE),
        Keeping(of=ContextClass.CONVERSATIONAL, after=0, action=Retention.ARCHIVE),
    ),
)


@pytest.mark.parametrize(
    ("change", "hours", "expected", "rule"),
    [
        ({}, 0.5, Retention.KEEP, "kept"),
        ({}, 1, Retention.TRUNCATE, "operational_after_3600"),
        ({}, 2, Retention.DELETE, "operational_after_7200"),
        ({"pinned": True}, 3, Retention.KEEP, "pinned"),
        ({"outcome": ArtifactStatus.FAILED}, 3, Retention.KEEP, "unsettled"),
        ({"outcome": ArtifactStatus.FAILED, "resolved": True}, 3, Retention.DELETE, "operational_after_7200"),
        ({"scope": Scope(visibility=Visibility.AUDIT)}, 3, Retention.KEEP, "audit_only"),
        ({"kind": "message"}, -1, Retention.ARCHIVE, "conversational_after_0"),
        ({"contract": ToolContract(name="t", retention=Retention.HASH_ONLY)}, 1, Retention.HASH_ONLY, "contract"),
        (
            {"contract": ToolContract(name="t", retention=Retention.OFFLOAD)},
            1,
            Retention.TRUNCATE,
            "operational_after_3600",
        ),
        ({"retention": Retention.REDACT}, 1, Retention.REDACT, "kept"),
        ({"erased": True}, 0, Retention.DELETE, "erased"),
    ],
)
def test_what_retention_is_due(change: dict[str, object], hours: float, expected: Retention, rule: str) -> None:
    found = due(replace(RESULT, **change), Instant(NOW - int(hours * HOUR)), NOW, KEEPS)
    assert (found.action, found.rule) == (expected, f"retention.{rule}")


def test_nothing_is_due_under_the_built_in_sets() -> None:
    assert due(RESULT, Instant(0), NOW, BALANCED).action is Retention.KEEP


@given(first=st.integers(0, 10**5), more=st.integers(0, 10**5))
def test_retention_takes_nothing_back_with_age(first: int, more: int) -> None:
    order = [Retention.KEEP, Retention.TRUNCATE, Retention.DELETE]
    ages = (first, first + more)
    young, old = (due(RESULT, Instant(NOW - age * 10**6), NOW, KEEPS).action for age in ages)
    assert order.index(young) <= order.index(old)


@pytest.mark.parametrize("of", [ContextClass.RECOVERY, ContextClass.POLICY])
def test_no_age_takes_what_is_open_or_what_scopes_rest_on(of: ContextClass) -> None:
    with pytest.raises(PolicyError, match="whatever their age"):
        Keeping(of=of, after=1, action=Retention.DELETE)
