"""B5, whether a record is a memory that a model may see. What was not promoted stays recallable."""

from enum import StrEnum

from callsheet.graph.enums import ArtifactStatus, Level, Policy, Privacy, Reason
from callsheet.graph.nodes import Boundary
from callsheet.graph.values import Value
from callsheet.policy.candidate import Candidate
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.settings import Retention
from callsheet.policy.verdict import Verdict, allow, limit

_PROMOTED = allow(Policy.PROMOTION, "promoted")
_UNDECIDED = allow(Policy.PROMOTION, "undecided")
_RECENT = allow(Policy.PROMOTION, "recent_turn")
_ASKED = allow(Policy.PROMOTION, "asked_for")
_NOT_MEMORY = allow(Policy.PROMOTION, "not_a_memory")
_ARTIFACT = limit(Policy.PROMOTION, "artifact_by_reference", Level.REF, Reason.NOT_PROMOTED, hard=False)
_MEMORY = limit(Policy.PROMOTION, "demoted", Level.NONE, Reason.NOT_PROMOTED, hard=False)

_MEMORIES = ("tool_memory", "user_memory", "fact", "milestone")


def judge(candidate: Candidate, boundary: Boundary, policy: PolicySetDocument) -> Verdict:
    """A memory that was demoted is left out; an artifact that was not promoted goes by reference once it is old."""
    artifact = candidate.kind == "artifact"
    if not artifact and candidate.kind not in _MEMORIES:
        return _NOT_MEMORY
    if candidate.promoted is not False:
        return _PROMOTED if candidate.promoted else _UNDECIDED
    if not artifact:
        return _MEMORY
    if candidate.exact_wanted:
        return _ASKED
    return _RECENT if policy.verbatim or candidate.turn_age < policy.turns else _ARTIFACT


METADATA_ONLY = "metadata_only"
"""Among the limits of a memory: it tells that there is something, and nothing of what it says."""


class Promotable(StrEnum):
    """As what an artifact may become a memory."""

    #: One that a model may see, with values.
    MEMORY = "memory"
    #: One that says that there is something, and nothing of what it says.
    METADATA = "metadata"
    #: One for auditors.
    AUDIT_ONLY = "audit_only"
    #: None; it stays recallable as the artifact that it is.
    NONE = "none"


class PromotionVerdict(Value):
    """As what, and which rule said so."""

    as_: Promotable
    rule: str


def promotable(candidate: Candidate, policy: PolicySetDocument) -> PromotionVerdict:
    """As what an artifact may become a memory, whoever will read it: a memory outlives the request it is made in.

    Judged by its class alone, without exceptions for a provider. The first that applies: what is no result, not there
    any more, or not finished well becomes none; secrets are for auditors; a class that the set gives out as metadata
    only becomes metadata; what is replaced becomes none.
    """
    if candidate.kind != "artifact":
        return _said(Promotable.NONE, "no_artifact")
    if candidate.erased or candidate.retention in _GONE:
        return _said(Promotable.NONE, "erased")
    if candidate.outcome not in (None, ArtifactStatus.OK, ArtifactStatus.PARTIAL):
        return _said(Promotable.NONE, "not_finished")
    if candidate.privacy is Privacy.SECRET:
        return _said(Promotable.AUDIT_ONLY, "secret")
    form = policy.privacy.of(candidate.privacy)
    if form is Level.NONE:
        return _said(Promotable.AUDIT_ONLY, "class_none")
    if form is not Level.RAW:
        return _said(Promotable.METADATA, "class_safe")
    if candidate.superseded_by:
        return _said(Promotable.NONE, "superseded")
    return _said(Promotable.MEMORY, "class")


_GONE = (Retention.REDACT, Retention.HASH_ONLY, Retention.DELETE)


def _said(promotable: Promotable, rule: str) -> PromotionVerdict:
    return PromotionVerdict(as_=promotable, rule=f"promotion.{rule}")
