"""B8, what must stay in view: instructions, the last turns, what is pinned, and what is not settled yet.

Later policies and the budget may show it in less detail, down to the level given here, and never leave it out.
"""

from callsheet.graph.enums import ArtifactStatus, CallStatus, Level, Policy, Role
from callsheet.graph.nodes import Boundary
from callsheet.policy.candidate import Candidate
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.verdict import Verdict, allow, protect

#: An instruction that is shortened is another instruction.
_INSTRUCTION = protect(Policy.RECOVERY, "instruction", Level.RAW)
_NEWEST = protect(Policy.RECOVERY, "newest_user_turn", Level.RAW)
_VERBATIM = protect(Policy.RECOVERY, "verbatim", Level.RAW)
_UNRESOLVED = protect(Policy.RECOVERY, "unresolved", Level.GIST)
_RETRY = protect(Policy.RECOVERY, "retry", Level.GIST)
_RECENT = protect(Policy.RECOVERY, "recent_turn", Level.GIST)
_PINNED = protect(Policy.RECOVERY, "pinned", Level.REF)
_FREE = allow(Policy.RECOVERY, "settled")

_INSTRUCTING = (Role.SYSTEM, Role.DEVELOPER)
_USER = Role.USER
_OPEN = CallStatus.OPEN
_ABANDONED = CallStatus.ABANDONED
_UNSETTLED = frozenset(
    {
        ArtifactStatus.FAILED,
        ArtifactStatus.TIMED_OUT,
        ArtifactStatus.PENDING,
        ArtifactStatus.DEFERRED,
        ArtifactStatus.UNKNOWN,
    }
)


def judge(candidate: Candidate, boundary: Boundary, policy: PolicySetDocument) -> Verdict:
    """The strongest protection that applies. An instruction that was replaced is not protected as one."""
    if policy.verbatim:
        return _VERBATIM
    if candidate.role is not None:
        if candidate.role in _INSTRUCTING and not candidate.superseded_by:
            return _INSTRUCTION
        if candidate.role is _USER and candidate.turn_age == 0:
            return _NEWEST
    if unresolved(candidate):
        return _RETRY if candidate.retry is not None else _UNRESOLVED
    if candidate.turn_age < policy.turns:
        return _RECENT
    return _PINNED if candidate.pinned else _FREE


def unresolved(candidate: Candidate) -> bool:
    """Whether a call is still open, or failed and may be tried again. Given up on counts as resolved."""
    if candidate.resolved or candidate.call is _ABANDONED:
        return False
    return candidate.call is _OPEN or candidate.outcome in _UNSETTLED
