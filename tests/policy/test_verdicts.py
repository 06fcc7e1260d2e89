"""Each policy as a table: what stands, the verdict's rule, the most and least detail, the reason, hard or soft."""

from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from callsheet.graph.enums import (
    ArtifactStatus,
    CallStatus,
    Freshness,
    Level,
    Policy,
    Privacy,
    Reason,
    Role,
    Visibility,
)
from callsheet.graph.values import RetryContract, Scope
from callsheet.policy.candidate import Candidate
from callsheet.policy.deciding import decide
from callsheet.policy.sets import BALANCED, FAITHFUL, LEAN, REPLAY, PolicySetDocument
from callsheet.policy.settings import ClassForms, ProviderForm, Retention, StaleAfter
from tests.policy.making import CHILD, MEMORY, MESSAGE, PILOT, PURSER, RESULT, RUN, VOLATILE, ago, boundary

OPEN_TO_NORTH = replace(
    BALANCED,
    providers=(
        ProviderForm(provider="north", privacy=Privacy.SECRET, form=Level.RAW),
        ProviderForm(provider="openai", privacy=Privacy.PERSONAL, form=Level.SAFE),
        ProviderForm(provider="openai", privacy=Privacy.DOCUMENT, form=Level.NONE),
    ),
)
CLOSED = replace(BALANCED, privacy=ClassForms(secret=Level.NONE))
NEWER = (RESULT.record,)
PRIVATE = Scope(owner=PILOT, visibility=Visibility.PARTICIPANT)


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    what: str
    rule: str
    candidate: Candidate
    most: Level | None = None
    least: Level | None = None
    reason: Reason = Reason.INCLUDED
    hard: bool = False
    policy: PolicySetDocument = BALANCED
    provider: str = "openai"


ATTRIBUTION = [
    Case(what="what nobody owns is common", rule="attribution.common", candidate=RESULT),
    Case(what="one's own", rule="attribution.own", candidate=replace(RESULT, scope=Scope(owner=PURSER))),
    Case(what="this run's", rule="attribution.own_run", candidate=replace(RESULT, scope=Scope(owner=PILOT, run=RUN))),
    Case(what="another's", rule="attribution.other", candidate=replace(RESULT, scope=Scope(owner=PILOT))),
    Case(
        what="bookkeeping is the runtime's and for no model",
        rule="attribution.runtime",
        candidate=replace(RESULT, kind="decision"),
        most=Level.NONE,
        reason=Reason.AUDIT_ONLY,
        hard=True,
    ),
]
VISIBILITY = [
    Case(what="branch context is for everyone", rule="visibility.visible", candidate=RESULT),
    Case(
        what="a participant's private work is for no other",
        rule="visibility.participant_private",
        candidate=replace(RESULT, scope=PRIVATE),
        most=Level.NONE,
        reason=Reason.PARTICIPANT_PRIVATE,
        hard=True,
    ),
    Case(what="unless shared", rule="visibility.shared", candidate=replace(RESULT, scope=PRIVATE, shared=True)),
    Case(what="or released", rule="visibility.released", candidate=replace(RESULT, scope=PRIVATE, released=True)),
    Case(
        what="a release that was taken back hides again",
        rule="visibility.withdrawn",
        candidate=replace(RESULT, scope=PRIVATE, released=False),
        most=Level.NONE,
        reason=Reason.NOT_RELEASED,
        hard=True,
    ),
    Case(
        what="also one that stood in the scope",
        rule="visibility.withdrawn",
        candidate=replace(RESULT, scope=Scope(sub_agent=CHILD, releases=(CHILD,)), released=False),
        most=Level.NONE,
        reason=Reason.NOT_RELEASED,
        hard=True,
    ),
    Case(
        what="a sub-agent keeps its own",
        rule="visibility.visible",
        candidate=replace(RESULT, scope=Scope(sub_agent=RUN, releases=(CHILD,)), released=False),
    ),
    Case(
        what="audit is opened by no release and no share",
        rule="visibility.audit_only",
        candidate=replace(RESULT, scope=Scope(visibility=Visibility.AUDIT), released=True, shared=True),
        most=Level.NONE,
        reason=Reason.AUDIT_ONLY,
        hard=True,
    ),
    Case(
        what="a share list does not stand for a release",
        rule="visibility.not_released",
        candidate=replace(RESULT, scope=Scope(sub_agent=CHILD), shared=True),
        most=Level.NONE,
        reason=Reason.NOT_RELEASED,
        hard=True,
    ),
]
PRIVACY = [
    Case(what="what is not classified goes out", rule="privacy.class", candidate=RESULT),
    *(
        Case(
            what=f"{privacy.value} stays out, but for its metadata",
            rule="privacy.class_safe",
            candidate=replace(RESULT, privacy=privacy),
            most=Level.SAFE,
            reason=Reason.PRIVACY_CLASS,
            hard=True,
        )
        for privacy in (Privacy.SECRET, Privacy.GOOGLE_DERIVED, Privacy.CONNECTED_ACCOUNT)
    ),
    Case(
        what="a provider can be opened",
        rule="privacy.provider",
        candidate=replace(RESULT, privacy=Privacy.SECRET),
        policy=OPEN_TO_NORTH,
        provider="north",
    ),
    Case(
        what="which opens no other",
        rule="privacy.class_safe",
        candidate=replace(RESULT, privacy=Privacy.SECRET),
        policy=OPEN_TO_NORTH,
        most=Level.SAFE,
        reason=Reason.PRIVACY_CLASS,
        hard=True,
    ),
    Case(
        what="a provider can be closed",
        rule="privacy.provider_safe",
        candidate=replace(RESULT, privacy=Privacy.PERSONAL),
        policy=OPEN_TO_NORTH,
        most=Level.SAFE,
        reason=Reason.PROVIDER,
        hard=True,
    ),
    Case(
        what="altogether",
        rule="privacy.provider_none",
        candidate=replace(RESULT, privacy=Privacy.DOCUMENT),
        policy=OPEN_TO_NORTH,
        most=Level.NONE,
        reason=Reason.PROVIDER,
        hard=True,
    ),
    Case(
        what="a class can be closed to all",
        rule="privacy.class_none",
        candidate=replace(RESULT, privacy=Privacy.SECRET),
        policy=CLOSED,
        most=Level.NONE,
        reason=Reason.PRIVACY_CLASS,
        hard=True,
    ),
    Case(
        what="asking for exact bytes changes nothing",
        rule="privacy.class_safe",
        candidate=replace(RESULT, privacy=Privacy.SECRET, exact_wanted=True),
        most=Level.SAFE,
        reason=Reason.PRIVACY_CLASS,
        hard=True,
    ),
]
RECOVERY = [
    Case(what="an old settled result is free", rule="recovery.settled", candidate=RESULT),
    *(
        Case(
            what=f"{role.value} instructions stand whole",
            rule="recovery.instruction",
            candidate=replace(MESSAGE, role=role),
            least=Level.RAW,
        )
        for role in (Role.SYSTEM, Role.DEVELOPER)
    ),
    Case(
        what="but for those that were replaced",
        rule="recovery.settled",
        candidate=replace(MESSAGE, role=Role.SYSTEM, superseded_by=NEWER),
    ),
    Case(
        what="the newest user turn stands whole",
        rule="recovery.newest_user_turn",
        candidate=replace(MESSAGE, role=Role.USER, turn_age=0),
        least=Level.RAW,
    ),
    Case(
        what="the last six turns stay in view",
        rule="recovery.recent_turn",
        candidate=replace(RESULT, turn_age=5),
        least=Level.GIST,
    ),
    Case(what="the seventh need not", rule="recovery.settled", candidate=replace(RESULT, turn_age=6)),
    Case(what="lean keeps four", rule="recovery.settled", candidate=replace(RESULT, turn_age=4), policy=LEAN),
    Case(
        what="an open call stays",
        rule="recovery.unresolved",
        candidate=replace(RESULT, kind="call", call=CallStatus.OPEN),
        least=Level.GIST,
    ),
    Case(
        what="one that was given up on need not",
        rule="recovery.settled",
        candidate=replace(RESULT, kind="call", call=CallStatus.ABANDONED, outcome=ArtifactStatus.UNKNOWN),
    ),
    *(
        Case(
            what=f"a result that is {status.value} stays",
            rule="recovery.unresolved",
            candidate=replace(RESULT, call=CallStatus.ANSWERED, outcome=status),
            least=Level.GIST,
        )
        for status in (ArtifactStatus.FAILED, ArtifactStatus.DEFERRED, ArtifactStatus.TIMED_OUT, ArtifactStatus.UNKNOWN)
    ),
    Case(
        what="with terms of retry",
        rule="recovery.retry",
        candidate=replace(RESULT, outcome=ArtifactStatus.FAILED, retry=RetryContract(attempts=1, limit=3)),
        least=Level.GIST,
    ),
    Case(
        what="with attempts that are used up",
        rule="recovery.retry_over",
        candidate=replace(RESULT, outcome=ArtifactStatus.FAILED, retry=RetryContract(attempts=3, limit=3)),
        least=Level.GIST,
    ),
    Case(
        what="until it is resolved",
        rule="recovery.settled",
        candidate=replace(RESULT, outcome=ArtifactStatus.FAILED, resolved=True),
    ),
    Case(
        what="what is pinned stays, by reference at least",
        rule="recovery.pinned",
        candidate=replace(RESULT, pinned=True),
        least=Level.REF,
    ),
    Case(what="replay keeps all", rule="recovery.verbatim", candidate=RESULT, policy=REPLAY, least=Level.RAW),
]
FRESHNESS = [
    Case(what="what has no class does not age", rule="freshness.ageless", candidate=RESULT),
    Case(
        what="a volatile result just read is fresh",
        rule="freshness.fresh",
        candidate=replace(VOLATILE, observed=ago(0)),
    ),
    Case(what="for a quarter hour", rule="freshness.fresh", candidate=replace(VOLATILE, observed=ago(14.99))),
    Case(
        what="then it is stale",
        rule="freshness.aged",
        candidate=replace(VOLATILE, observed=ago(15)),
        most=Level.STALE,
        reason=Reason.STALE,
    ),
    Case(
        what="without times a turn is a minute",
        rule="freshness.fresh",
        candidate=replace(VOLATILE, observed=None, turn_age=14),
    ),
    Case(
        what="and fifteen are a quarter hour",
        rule="freshness.aged",
        candidate=replace(VOLATILE, observed=None, turn_age=15),
        most=Level.STALE,
        reason=Reason.STALE,
    ),
    Case(
        what="a time that is still to come is that of a wrong clock",
        rule="freshness.aged",
        candidate=replace(VOLATILE, observed=ago(-600), turn_age=15),
        most=Level.STALE,
        reason=Reason.STALE,
    ),
    Case(
        what="and so is the end that was counted from it",
        rule="freshness.aged",
        candidate=replace(VOLATILE, observed=ago(-600), stale_after=ago(-602), turn_age=2),
        most=Level.STALE,
        reason=Reason.STALE,
    ),
    Case(
        what="a time of its own goes over the class",
        rule="freshness.aged",
        candidate=replace(VOLATILE, observed=ago(2), stale_after=ago(1)),
        most=Level.STALE,
        reason=Reason.STALE,
    ),
    Case(
        what="either way",
        rule="freshness.fresh",
        candidate=replace(VOLATILE, observed=ago(200), stale_after=ago(-1)),
    ),
    Case(
        what="a snapshot lasts a day",
        rule="freshness.fresh",
        candidate=replace(VOLATILE, freshness=Freshness.TIME_BOUNDED, observed=ago(23 * 60)),
    ),
    Case(
        what="and no longer",
        rule="freshness.aged",
        candidate=replace(VOLATILE, freshness=Freshness.TIME_BOUNDED, observed=ago(24 * 60)),
        most=Level.STALE,
        reason=Reason.STALE,
    ),
    Case(
        what="session state lasts while the session does",
        rule="freshness.fresh",
        candidate=replace(VOLATILE, freshness=Freshness.SESSION, observed=ago(10_000)),
    ),
    Case(
        what="and ends with it",
        rule="freshness.session_over",
        candidate=replace(VOLATILE, freshness=Freshness.SESSION, session_over=True),
        most=Level.STALE,
        reason=Reason.STALE,
    ),
    *(
        Case(
            what=f"what is {freshness.value} does not age",
            rule="freshness.durable",
            candidate=replace(VOLATILE, freshness=freshness, observed=ago(10**6)),
        )
        for freshness in (Freshness.DURABLE, Freshness.PERMANENT)
    ),
    Case(
        what="what is durable ages where it says when itself",
        rule="freshness.aged",
        candidate=replace(VOLATILE, freshness=Freshness.DURABLE, observed=ago(10), stale_after=ago(1)),
        most=Level.STALE,
        reason=Reason.STALE,
    ),
    Case(
        what="what is durable ages where the set says when",
        rule="freshness.aged",
        candidate=replace(VOLATILE, freshness=Freshness.DURABLE, observed=ago(10)),
        policy=replace(BALANCED, freshness=StaleAfter(durable=60)),
        most=Level.STALE,
        reason=Reason.STALE,
    ),
    Case(
        what="a mark counts for every class",
        rule="freshness.marked",
        candidate=replace(VOLATILE, freshness=Freshness.DURABLE, marked_stale=True),
        most=Level.STALE,
        reason=Reason.STALE,
    ),
    Case(
        what="exact evidence of its time is no claim about now",
        rule="freshness.exact_evidence",
        candidate=replace(VOLATILE, exact_wanted=True),
        reason=Reason.STALE,
    ),
    Case(what="replay ages nothing", rule="freshness.ageless", candidate=VOLATILE, policy=REPLAY),
]
CONFLICT = [
    Case(what="what nothing replaces is current", rule="conflict.current", candidate=MEMORY),
    Case(
        what="what is replaced stays out",
        rule="conflict.superseded",
        candidate=replace(MEMORY, superseded_by=NEWER),
        most=Level.NONE,
        reason=Reason.SUPERSEDED,
    ),
    Case(
        what="unless the older evidence is what was asked for",
        rule="conflict.exact_evidence",
        candidate=replace(RESULT, superseded_by=NEWER, exact_wanted=True),
        reason=Reason.SUPERSEDED,
    ),
    Case(
        what="what is contradicted stands, newer or not",
        rule="conflict.contradicted",
        candidate=replace(MEMORY, conflicts_with=NEWER),
        reason=Reason.CONFLICT,
    ),
    Case(
        what="replay keeps what was replaced",
        rule="conflict.current",
        candidate=replace(MEMORY, superseded_by=NEWER),
        policy=REPLAY,
    ),
]
PROMOTION = [
    Case(what="a promoted memory may be seen", rule="promotion.promoted", candidate=MEMORY),
    Case(what="words are no memories", rule="promotion.not_a_memory", candidate=MESSAGE),
    Case(what="no decision refuses nothing", rule="promotion.undecided", candidate=RESULT),
    Case(
        what="a demoted memory is left out",
        rule="promotion.demoted",
        candidate=replace(MEMORY, promoted=False),
        most=Level.NONE,
        reason=Reason.NOT_PROMOTED,
    ),
    Case(
        what="an artifact that was not promoted goes by reference",
        rule="promotion.artifact_by_reference",
        candidate=replace(RESULT, promoted=False),
        most=Level.REF,
        reason=Reason.NOT_PROMOTED,
    ),
    Case(
        what="once it has left the window",
        rule="promotion.recent_turn",
        candidate=replace(RESULT, promoted=False, turn_age=2),
    ),
    Case(
        what="and can be asked for",
        rule="promotion.asked_for",
        candidate=replace(RESULT, promoted=False, exact_wanted=True),
    ),
]
REHYDRATION = [
    Case(what="words stand as they are", rule="rehydration.text", candidate=MESSAGE),
    Case(
        what="a lossless form is enough",
        rule="rehydration.compact_is_enough",
        candidate=RESULT,
        most=Level.DENSE,
    ),
    Case(
        what="for lean a choice of it is",
        rule="rehydration.compact_is_enough",
        candidate=RESULT,
        policy=LEAN,
        most=Level.FOCUS,
    ),
    Case(
        what="until exact bytes are wanted",
        rule="rehydration.exact_wanted",
        candidate=replace(RESULT, exact_wanted=True, bytes=65_536),
    ),
    Case(
        what="more bytes than a request may load are refused",
        rule="rehydration.byte_budget",
        candidate=replace(RESULT, exact_wanted=True, bytes=65_537),
        most=Level.DENSE,
        reason=Reason.RAW_REFUSED,
    ),
    Case(
        what="faithful loads more",
        rule="rehydration.exact_wanted",
        candidate=replace(RESULT, exact_wanted=True, bytes=65_537),
        policy=FAITHFUL,
    ),
    Case(
        what="replay is verbatim whatever the size",
        rule="rehydration.verbatim",
        candidate=replace(RESULT, bytes=10**9),
        policy=REPLAY,
    ),
]
RETENTION = [
    Case(what="what is kept is kept", rule="retention.kept", candidate=RESULT),
    Case(
        what="what lies elsewhere can be read",
        rule="retention.offloaded",
        candidate=replace(RESULT, retention=Retention.OFFLOAD),
    ),
    *(
        Case(
            what=f"what retention did: {state.value}",
            rule=f"retention.{rule}",
            candidate=replace(RESULT, retention=state),
            most=most,
            reason=reason,
            hard=hard,
        )
        for state, rule, most, reason, hard in (
            (Retention.TRUNCATE, "truncated", Level.GIST, Reason.RAW_REFUSED, False),
            (Retention.ARCHIVE, "archived", Level.REF, Reason.RAW_REFUSED, False),
            (Retention.REDACT, "redacted", Level.SAFE, Reason.ERASED, True),
            (Retention.HASH_ONLY, "hash_only", Level.REF, Reason.ERASED, True),
            (Retention.DELETE, "deleted", Level.NONE, Reason.ERASED, True),
        )
    ),
    Case(
        what="what was erased is gone",
        rule="retention.erased",
        candidate=replace(RESULT, erased=True, pinned=True),
        most=Level.NONE,
        reason=Reason.ERASED,
        hard=True,
    ),
]
CASES = [
    *ATTRIBUTION,
    *VISIBILITY,
    *PRIVACY,
    *RECOVERY,
    *FRESHNESS,
    *CONFLICT,
    *PROMOTION,
    *REHYDRATION,
    *RETENTION,
]


@pytest.mark.parametrize("case", CASES, ids=[f"{case.rule}: {case.what}" for case in CASES])
def test_each_policy_says_what_the_table_says(case: Case) -> None:
    decision = decide(case.candidate, boundary(provider=case.provider), case.policy)
    policy = Policy(case.rule.partition(".")[0])
    verdict = next(verdict for verdict in decision.verdicts if verdict.policy is policy)
    found = (verdict.rule, verdict.most, verdict.least, verdict.reason, verdict.hard)
    assert (case.rule, case.most, case.least, case.reason, case.hard) == found


def test_every_rule_of_the_nine_policies_has_a_case() -> None:
    assert {case.rule for case in CASES} == RULES


RULES = {
    *(f"attribution.{rule}" for rule in ("common", "own", "own_run", "other", "runtime")),
    *(f"visibility.{rule}" for rule in ("visible", "released", "shared", "withdrawn")),
    *(f"visibility.{rule}" for rule in ("audit_only", "not_released", "participant_private")),
    *(
        f"privacy.{rule}"
        for rule in ("class", "provider", "class_safe", "class_none", "provider_safe", "provider_none")
    ),
    *(
        f"recovery.{rule}"
        for rule in ("instruction", "newest_user_turn", "verbatim", "unresolved", "retry", "retry_over")
    ),
    *(f"recovery.{rule}" for rule in ("recent_turn", "pinned", "settled")),
    *(f"freshness.{rule}" for rule in ("ageless", "fresh", "durable", "exact_evidence", "marked", "aged")),
    "freshness.session_over",
    *(f"conflict.{rule}" for rule in ("current", "contradicted", "exact_evidence", "superseded")),
    *(f"promotion.{rule}" for rule in ("promoted", "undecided", "recent_turn", "asked_for", "not_a_memory")),
    *(f"promotion.{rule}" for rule in ("artifact_by_reference", "demoted")),
    *(f"rehydration.{rule}" for rule in ("verbatim", "text", "exact_wanted", "compact_is_enough", "byte_budget")),
    *(f"retention.{rule}" for rule in ("kept", "offloaded", "truncated", "archived", "redacted", "hash_only")),
    *(f"retention.{rule}" for rule in ("deleted", "erased")),
}
