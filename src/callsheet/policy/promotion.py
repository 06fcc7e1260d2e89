"""B5, whether a record is a memory that a model may see. What was not promoted stays recallable."""

from callsheet.graph.enums import Level, Policy, Reason
from callsheet.graph.nodes import Boundary
from callsheet.policy.candidate import Candidate
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.verdict import Verdict, allow, limit

_PROMOTED = allow(Policy.PROMOTION, "promoted")
_UNDECIDED = allow(Policy.PROMOTION, "undecided")
_RECENT = allow(Policy.PROMOTION, "recent_turn")
_ASKED = allow(Policy.PROMOTION, "asked_for")
_NOT_MEMORY = allow(Policy.PROMOTION, "not_a_memory")
_ARTIFACT = limit(Policy.PROMOTION, "artifact_by_reference", Level.REF, Reason.NOT_PROMOTED, hard=False)
_MEMORY = limit(Policy.PROMOTION, "demoted", Level.NONE, Reason.NOT_PROMOTED, hard=False)

_MEMORIES = ("tool_memory", "fact", "milestone")


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
