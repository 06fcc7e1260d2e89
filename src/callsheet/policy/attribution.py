"""B1, which participant and run own a record. What belongs to the runtime itself is for no model."""

from callsheet.graph.enums import Level, Policy, Reason
from callsheet.graph.nodes import Boundary
from callsheet.policy.candidate import Candidate
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.verdict import Verdict, allow, limit

SHOWABLE = frozenset(
    {
        "message",
        "call",
        "artifact",
        "tool_memory",
        "user_memory",
        "fact",
        "milestone",
        "episode",
        "document",
        "chunk",
        "skill",
        "skill_state",
        "checkpoint",
    }
)
"""The kinds of record that can stand in a request; every other is bookkeeping."""

_RUNTIME = limit(Policy.ATTRIBUTION, "runtime", Level.NONE, Reason.AUDIT_ONLY, hard=True)
_COMMON = allow(Policy.ATTRIBUTION, "common")
_OWN = allow(Policy.ATTRIBUTION, "own")
_RUN = allow(Policy.ATTRIBUTION, "own_run")
_OTHER = allow(Policy.ATTRIBUTION, "other")


def judge(candidate: Candidate, boundary: Boundary, policy: PolicySetDocument) -> Verdict:
    """Whose it is: the runtime's (refused), everybody's, this run's, this participant's, or another's."""
    if candidate.kind not in SHOWABLE:
        return _RUNTIME
    scope = candidate.scope
    if scope.run is not None and scope.run == boundary.run:
        return _RUN
    if scope.owner is None:
        return _COMMON
    return _OWN if scope.owner == boundary.participant else _OTHER
